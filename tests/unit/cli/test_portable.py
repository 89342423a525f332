"""What the commands that bring, move and erase say."""

from typing import Any

import pytest

from recollect.cli import import_, output, selection_options
from recollect.client import Client, NotRunning
from recollect.core.settings import Settings


def test_rows_are_counted_in_words() -> None:
    counts = {"event": 9, "memory": 1, "checkpoint": 1, "waiting_claims": 1, "operation": 2}
    assert selection_options.count_rows(counts) == (
        "9 events, 1 memory, 1 checkpoint, 1 claim heard only once, 2 log entries (their words)"
    )


class Dying(Client):
    """A daemon that begins an import and is gone when it is asked how far it is."""

    def ask(self, method: str, path: str, body: object = None, **more: Any) -> dict[str, Any]:
        return {"state": "running", "total": 1, "done": 0}

    def get(self, path: str, **more: Any) -> dict[str, Any]:
        raise NotRunning


def test_an_import_whose_daemon_dies_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(import_, "LOOK_S", 0.0)
    with pytest.raises(NotRunning, match="what is stored is kept") as told:
        import_.run(Dying(settings), {}, as_json=True)
    assert "Run the same command again" in told.value.hint


def test_who_wants_json_is_not_asked_in_the_middle_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert output.agreed("Really?", yes=True, as_json=True)
    assert not output.agreed("Really?", yes=False, as_json=True)
    told = capsys.readouterr()
    assert told.out == "" and "--yes" in told.err
