"""`/metrics` in Prometheus' text format, and the Grafana dashboard that shows it."""

import json
import pathlib
import re

from recollect.core.clock import ManualClock
from recollect.ingest.counters import Counters
from tests.fakes.runtime import RuntimeHome

DASHBOARD = pathlib.Path(__file__).parents[3] / "docs" / "howto" / "grafana-dashboard.json"
LABEL = r'[a-z]+="(?:[^"\\\n]|\\.)*"'
SAMPLE = re.compile(rf"(recollect_[a-z_]+)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?[\d.e+-]+|\+Inf)")


def scraped(home: RuntimeHome) -> dict[str, float]:
    """Every sample by its name and labels; each family is announced before its samples."""
    status, headers, body = home.http("GET", "/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    family = ""
    for line in body.decode().splitlines():
        if line.startswith("# TYPE "):
            family = line.split()[2]
        elif not line.startswith("# HELP "):
            sample = SAMPLE.fullmatch(line)
            assert sample is not None, line
            assert sample[1].startswith(family)
            assert line.rpartition(" ")[0] not in found
            found[line.rpartition(" ")[0]] = float(sample[3])
    return found


def test_what_happened_is_counted_and_nothing_of_it_is_told(runtime_home: RuntimeHome) -> None:
    before = scraped(runtime_home)
    prompt = {"session_id": "s1", "prompt": "canary words of a prompt", "cwd": "/tmp"}
    runtime_home.run_hook("claude-code", "UserPromptSubmit", prompt)
    after = scraped(runtime_home)
    assert after["recollect_healthy"] == 1 and after["recollect_uptime_seconds"] >= 0
    assert after['recollect_counted_total{name="events stored"}'] == 1
    assert after["recollect_unextracted_events"] == before["recollect_unextracted_events"] + 1
    assert after["recollect_recall_seconds_count"] == 1
    assert after['recollect_recall_seconds_bucket{le="+Inf"}'] == 1
    assert 'recollect_last_event_timestamp_seconds{agent="claude-code"}' in after
    assert "canary" not in str(after)


def test_it_needs_the_token(runtime_home: RuntimeHome) -> None:
    assert runtime_home.http("GET", "/metrics", token=False)[0] == 401


def test_the_names_of_counters_cannot_break_a_line(runtime_home: RuntimeHome) -> None:
    runtime_home.runtime.counters.count('a "name"\nwith \\ in it')
    assert 'recollect_counted_total{name="a \\"name\\"\\nwith \\\\ in it"}' in scraped(runtime_home)


def test_durations_are_counted_in_every_bucket_that_holds_them() -> None:
    counters = Counters(ManualClock())
    for seconds in (0.004, 0.03, 0.5, 2.0):
        counters.recalled(seconds)
    taken = counters.recalls()
    assert taken.up_to == {
        0.005: 1, 0.01: 1, 0.025: 1, 0.05: 2, 0.1: 2, 0.25: 2, 0.5: 3, 1.0: 3,
    }  # fmt: skip
    assert taken.count == 4 and round(taken.seconds, 3) == 2.534


def test_the_dashboard_asks_only_for_what_there_is(runtime_home: RuntimeHome) -> None:
    there_is = set(re.findall(r"recollect_\w+", runtime_home.http("GET", "/metrics")[2].decode()))
    panels = json.loads(DASHBOARD.read_text())["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"recollect_\w+", query)}
    assert len(asked) > 10 and asked <= there_is
