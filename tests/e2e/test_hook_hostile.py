"""The hook as a real process, compiled and in Python, when everything around it is wrong."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.capture import frames, paths, spool
from tests.e2e import conditions
from tests.e2e.conditions import CONDITIONS, Condition
from tests.fakes import frame_server
from tests.fakes.frame_server import ANSWER, FrameServer
from tests.fakes.hooks import KINDS, Hook, Result, install
from tests.fakes.waiting import PATIENCE_S

CASES = [(condition, kind) for condition in CONDITIONS for kind in condition.kinds]


@pytest.fixture(scope="module")
def outcomes(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[tuple[str, str], "Future[None]"]]:
    """All conditions, several at a time: most of them only wait for a deadline."""
    prepared = [
        (condition, conditions.prepare(condition, kind, tmp_path_factory.mktemp("hook")))
        for condition, kind in CASES
    ]
    with ThreadPoolExecutor(8) as pool:
        yield {
            (condition.name, hook.kind): pool.submit(conditions.run, condition, hook)
            for condition, hook in prepared
        }


@pytest.mark.parametrize(
    ("condition", "kind"), CASES, ids=[f"{condition.name}-{kind}" for condition, kind in CASES]
)
def test_the_hook_survives(
    condition: Condition, kind: str, outcomes: dict[tuple[str, str], "Future[None]"]
) -> None:
    outcomes[condition.name, kind].result(120)


def test_there_are_enough_calls() -> None:
    assert len(CONDITIONS) >= 40
    assert sum(len(condition.events) for condition, _ in CASES) + 4 * 200 >= 500


@pytest.mark.parametrize("kind", KINDS)
def test_200_at_once_are_all_answered_or_spooled(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    with FrameServer(hook.socket, backlog=16) as server:
        results = at_once(hook, 200)
    names = {b"%d" % index for index in range(200)}
    assert {frame.argv[2] for frame in conditions.wait_for_all(hook, server, names)} == names
    assert all(result.stdout in (b"", ANSWER) for result in results)


@pytest.mark.parametrize("kind", KINDS)
def test_200_at_once_without_a_daemon_are_all_spooled(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    results = at_once(hook, 200)
    assert all(result.stdout == b"" for result in results)
    assert {frame.argv[2] for frame in conditions.wait_for_spool(hook, 200)} == {
        b"%d" % index for index in range(200)
    }
    assert not [name for name in os.listdir(tmp_path / "data" / "spool") if ".tmp" in name]


def at_once(hook: Hook, count: int) -> list[Result]:
    running = [hook.start("codex", "Stop", str(index)) for index in range(count)]
    results = []
    for process in running:
        out, err = process.communicate(conditions.PROMPT, 30)
        results.append(Result(process.returncode, out, err))
        assert (process.returncode, err) == (0, b"")
    return results


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_hook_that_is_told_to_stop_spools_at_once(
    tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    hook = install(kind, tmp_path / "data")
    with (
        FrameServer(hook.socket, frame_server.hanging) as server,
        hook.start("codex", "Stop") as process,
    ):
        assert process.stdin
        process.stdin.write(conditions.PROMPT)
        process.stdin.close()
        until = time.monotonic() + PATIENCE_S
        while not server.taken and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr and process.stderr.read() == b""
    assert [frame.stdin for frame in conditions.wait_for_spool(hook, 1)] == [conditions.PROMPT]


@pytest.mark.parametrize("kind", KINDS)
def test_stdin_that_comes_in_small_pieces_is_waited_for(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    with (
        FrameServer(hook.socket) as server,
        hook.start("codex", "Stop") as process,
        conditions.dribble(process, b"0123456789", 0.01),
    ):
        assert process.wait(PATIENCE_S) == 0
        frame = conditions.wait_for_frame(server)
    assert (frame.stdin, frame.flags) == (b"0123456789", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_that_never_reads_does_not_hold_the_hook(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    long_answer = frame_server.answering(b"x" * frames.MAX_ANSWER)
    with FrameServer(hook.socket, long_answer), hook.start("codex", "Stop") as process:
        assert process.stdin and process.stderr
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_that_has_gone_does_not_matter(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    with FrameServer(hook.socket) as server, hook.start("codex", "Stop") as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr.read() == b""
    assert len(server.taken) == 1
    assert hook.spooled() == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_with_a_full_queue_costs_no_event(tmp_path: Path, kind: str) -> None:
    import socket

    hook = install(kind, tmp_path / "data")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(hook.socket)
        listener.listen(0)  # and nobody ever accepts
        for result in at_once(hook, 6):
            assert result.stdout == b""
    assert len(conditions.wait_for_spool(hook, 6)) == 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_directory_too_long_for_a_socket_uses_the_runtime_directory(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # short, wherever tests run
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    hook = install(kind, tmp_path / ("long" * 40))
    env = hook.environment(XDG_RUNTIME_DIR=str(runtime))
    assert hook.call("codex", "Stop", "0", env=env).stdout == b""
    path = paths.socket_path(str(hook.directory))
    paths.prepare_socket_directory(path, str(hook.directory))
    with FrameServer(path) as server:
        assert hook.call("codex", "Stop", "1", env=env).stdout == ANSWER
        assert len(server.taken) == 1
        os.chmod(os.path.dirname(path), 0o777)  # anyone's: not to be trusted
        assert hook.call("codex", "Stop", "2", env=env).stdout == b""
        assert len(server.taken) == 1
    assert {frame.argv[2] for frame in conditions.wait_for_spool(hook, 2)} == {b"0", b"2"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_directory_that_is_missing_is_made(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    elsewhere = tmp_path / "elsewhere"
    result = hook.call("codex", "Stop", env=hook.environment(RECOLLECT_HOME=str(elsewhere)))
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert len(conditions.wait_for_spool(install(kind, elsewhere), 1)) == 1
    assert elsewhere.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kind", KINDS)
def test_a_directory_that_was_removed_under_the_hook_is_no_reason_to_fail(
    tmp_path: Path, kind: str
) -> None:
    hook = install(kind, tmp_path / "data")
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    run = subprocess.run(
        ["/bin/sh", "-c", script, "sh", gone, hook.program, "codex", "Stop"],
        env=hook.environment(),
        capture_output=True,
        input=conditions.PROMPT,
        timeout=PATIENCE_S,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    (frame,) = conditions.wait_for_spool(hook, 1)
    assert frame.cwd == b""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("argv", [(), ("codex",), ("", ""), ("--frame",), ("x",) * 300])
def test_any_arguments_are_survived(tmp_path: Path, kind: str, argv: tuple[str, ...]) -> None:
    hook = install(kind, tmp_path / "data")
    result = hook.call(*argv, stdin=b"in")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_spool_drops_its_oldest_events_and_counts_them(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    (hook.directory / "spool").mkdir(mode=0o700)
    for index in range(3):
        with open(hook.directory / "spool" / f"{index:013d}-{index:020d}-x.frame", "wb") as old:
            old.truncate(100 << 20)
    assert hook.call("codex", "Stop", "new", stdin=b"x" * (1 << 20)).code == 0
    until = time.monotonic() + PATIENCE_S
    while not spool.statistics(str(hook.directory)).dropped and time.monotonic() < until:
        time.sleep(0.02)
    found = spool.statistics(str(hook.directory))
    assert (found.count, found.dropped) == (3, 1)
    assert not os.path.exists(hook.directory / "spool" / f"{0:013d}-{0:020d}-x.frame")


@pytest.mark.parametrize("kind", KINDS)
def test_no_secret_reaches_the_spool(tmp_path: Path, kind: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    hook = install(kind, tmp_path / "data")
    env = hook.environment(USER_PROMPT=f"use {secret}")
    hook.call("kiro-ide", "prompt", secret, stdin=f'{{"p": "{secret}"}}'.encode(), env=env)
    (frame,) = conditions.wait_for_spool(hook, 1)
    assert frame.stdin.startswith(b'{"p": "')
    for folder, _, names in os.walk(tmp_path):
        for name in names:
            assert secret.encode() not in Path(folder, name).read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_python_works_where_it_cannot_keep_its_compiled_files(tmp_path: Path, kind: str) -> None:
    import shutil

    package = tmp_path / "package" / "recollect"
    shutil.copytree(
        Path(paths.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in ("", "capture", "privacy"):
        (package / folder / "__pycache__").write_text("in the way")
    hook = install(kind, tmp_path / "data")
    here, there = str(Path(paths.__file__).parents[2]), str(package.parent)
    # Only the package moves: the Python of a checkout lies inside it and stays.
    lines = (hook.directory / "launcher").read_text().splitlines()
    lines[1:] = [line.replace(here, there) for line in lines[1:]]
    (hook.directory / "launcher").write_text("\n".join(lines) + "\n")
    if kind == "python":
        program = Path(hook.program)
        program.write_text(program.read_text().replace(repr(here), repr(there)))
    result = hook.call("codex", "Stop", stdin=b"in")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert len(conditions.wait_for_spool(hook, 1)) == 1


def test_nothing_of_the_hook_stays_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    hook = install("compiled", tmp_path / "data")
    for _ in range(5):
        assert hook.call("codex", "Stop").code == 0
    assert len(hook.spooled()) == 5
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout
    assert str(tmp_path).encode() not in listing
    assert threading.active_count() == before
