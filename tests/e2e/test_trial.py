"""`recollect trial` as a user calls it, over small recorded transcripts."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import REPOSITORY
from tests.fakes.waiting import PATIENCE_S

RECORDED = os.path.join(REPOSITORY, "tests", "data", "trial")


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """A person's home without a data directory, and a place for temporary files."""
    for name in ("person", "temporary"):
        (tmp_path / name).mkdir()
    return {
        "HOME": str(tmp_path / "person"), "TMPDIR": str(tmp_path / "temporary"),
        "PATH": os.environ["PATH"], "NO_COLOR": "1",
    }  # fmt: skip


def start(environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", "trial", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Who runs the tests in the background ignores it, and what they start would, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def trial(environment: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    process = start(environment, *arguments)
    out, err = process.communicate(timeout=PATIENCE_S * 4)
    return process.returncode, out, err


def nothing_is_left(environment: dict[str, str]) -> bool:
    return not os.listdir(environment["TMPDIR"]) and ".recollect" not in os.listdir(
        environment["HOME"]
    )


def test_a_folder_is_replayed_on_one_screen(
    environment: dict[str, str], tmp_path: pathlib.Path
) -> None:
    log = tmp_path / "told.jsonl"
    code, out, err = trial(environment, RECORDED, "--no-embedding", "--log", str(log))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "What Recollect would have done in 6 sessions of 1 project (9 prompts)"
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert "\x1b" not in out
    assert "a needed file among 5 named" in out and "Learned " in out
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["session"][:13], one["turn"]) for one in told] == [
        ("a1c0ffee-0001", 0), ("a1c0ffee-0001", 1), ("b0b0b0b0-0002", 0), ("a1c0ffee-0003", 0),
        ("a1c0ffee-0003", 1), ("a1c0ffee-0004", 0), ("b0b0b0b0-0005", 0), ("b0b0b0b0-0005", 1),
        ("a1c0ffee-0006", 0),
    ]  # fmt: skip
    assert all(set(one) == {"session", "turn", "text"} for one in told)
    assert told[0]["text"] == "", "the first session has nothing to remember"
    assert "Likely files: invoice.py" in told[-1]["text"]
    assert nothing_is_left(environment)


def test_own_sessions_are_found_and_reported_as_json(environment: dict[str, str]) -> None:
    place = pathlib.Path(environment["HOME"], ".claude", "projects", "-Users-ana-src-ledger")
    shutil.copytree(RECORDED, place)
    code, out, err = trial(environment, "claude", "--no-embedding", "--sessions", "4", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["sessions"], found["left_out"], found["projects"]) == (4, 2, 2)
    assert found["product"]["prompts"] == found["most_touched"]["prompts"] > 0
    assert found["product"]["files_hit"] <= found["product"]["need"]
    assert sum(found["learned"]["counts"].values()) > 0
    assert nothing_is_left(environment)


def test_few_sessions_are_called_few(environment: dict[str, str]) -> None:
    code, out, _ = trial(environment, RECORDED, "--no-embedding", "--sessions", "1")
    assert code == 0
    assert "No session had an earlier one of its project" in out
    assert "With fewer than 5 sessions these figures say little." in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_trial_that_was_stopped(
    number: signal.Signals, environment: dict[str, str], tmp_path: pathlib.Path
) -> None:
    log = tmp_path / "told.jsonl"
    for _ in range(10):  # on a busy machine it may be done before the signal comes
        process = start(environment, RECORDED, "--no-embedding", "--log", str(log))
        deadline = time.monotonic() + PATIENCE_S
        while not _database(environment) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, number)  # as a terminal does
        _, err = process.communicate(timeout=PATIENCE_S)
        if process.returncode:
            break
    assert process.returncode == 1
    assert err.strip() == "Stopped; nothing more was done."
    assert nothing_is_left(environment)


def _database(environment: dict[str, str]) -> bool:
    return any(pathlib.Path(environment["TMPDIR"]).glob("*/home/recollect.db"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], 2, "nowhere is neither a folder nor an agent; agents whose sessions can be"),
        (["cursor"], 2, "the sessions of cursor cannot be read; agents whose sessions can be"),
        (["--split"], 2, "--split and --history go with a folder of transcripts"),
        ([RECORDED, "--history", "nowhere"], 2, "nowhere is not a folder"),
        ([RECORDED, "--log", "/nowhere/at/all"], 2, "/nowhere/at/all cannot be written: No such"),
        ([RECORDED, "--sessions", "0"], 2, "0 is not in the range"),
        ([], 1, "No sessions were found in ~/.claude, "),
        (["codex"], 1, "No sessions were found in ~/.codex."),
        ([os.path.dirname(__file__)], 1, "(*.jsonl, *.jsonl.gz)"),
    ],
)
def test_a_wrong_call_is_refused_in_words(
    arguments: list[str], code: int, words: str, environment: dict[str, str]
) -> None:
    ended, out, err = trial(environment, *arguments)
    assert (ended, out) == (code, "")
    assert words in err and "Traceback" not in err
    assert nothing_is_left(environment)
