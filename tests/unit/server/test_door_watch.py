"""What health says of doors that do not answer."""

from recollect.core.clock import ManualClock
from recollect.ingest.counters import Counters
from recollect.server.door_watch import Door, DoorWatch


def test_a_door_that_does_not_answer_is_noted_once_and_forgotten_when_it_does() -> None:
    counters = Counters(ManualClock())
    watch = DoorWatch(ManualClock(), counters)
    failing = True
    reopened: list[str] = []

    def knock() -> None:
        if failing:
            raise ConnectionRefusedError(111, "Connection refused")

    watch._doors = {
        "hooks": Door(knock, lambda: reopened.append("hooks")),
        "tcp": Door(lambda: None),
    }
    for _ in range(3):
        watch.look()
    status = watch.status()
    assert status["tcp"] == {"answers": True, "since": None, "problem": ""}
    assert status["hooks"]["problem"] == "Connection refused" and reopened == ["hooks"] * 3
    assert len(counters.errors_last_hour()) == 1
    failing = False
    watch.look()
    assert watch.status()["hooks"]["answers"]
