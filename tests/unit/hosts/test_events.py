"""The installers' table of events against what the adapters understand."""

import pytest

from recollect.capture.hosts import HOSTS
from recollect.hosts.events import EVENTS


@pytest.mark.parametrize("host", sorted(EVENTS))
def test_a_host_is_asked_for_what_its_adapter_understands(host: str) -> None:
    asked = [(one.event, one.matcher) for one in EVENTS[host]]
    assert asked == [(one.event, one.matcher) for one in HOSTS[host].events]


def test_codex_is_asked_for_no_more_time_at_the_end_than_it_gives() -> None:
    limits = {one.event: one.timeout_s for one in EVENTS["codex"]}
    assert limits["SessionEnd"] <= 3
