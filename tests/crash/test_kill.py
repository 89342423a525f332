"""A1: an acknowledged write survives the death of the process, once and in order."""

from tests.crash import kill


def test_sixty_kills_under_four_clients_lose_nothing_and_double_nothing(seed: int) -> None:
    report = kill.run(cycles=60, seed=seed)
    assert not report.findings, report.findings
    assert report.cycles == 60
    assert report.acknowledged > 600
