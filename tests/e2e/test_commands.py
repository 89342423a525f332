"""The command line as a person uses it, against a real daemon and a home with agents in it."""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys

import pytest

from recollect import Memory
from recollect.cli import COMMANDS
from recollect.core.errors import RecollectError
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S

RECOLLECT = pathlib.Path(sys.executable).parent / "recollect"


@pytest.fixture
def person(tmp_path: pathlib.Path) -> RealDaemon:
    """A home with Claude Code and Gemini in it, and a data directory that is not there yet."""
    for folder in (".claude", ".gemini"):
        (tmp_path / folder).mkdir()
    daemon = RealDaemon(tmp_path / ".recollect")
    daemon.environment |= {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    return daemon


def run(
    daemon: RealDaemon, *arguments: str, typed: str | None = None
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [str(RECOLLECT), *arguments], env=daemon.environment, cwd="/", input=typed,
        capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    return done


def files(home: pathlib.Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and ".recollect" not in path.parts
    }


def test_install_prove_and_uninstall(person: RealDaemon, tmp_path: pathlib.Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text('{\n  // mine\n  "model": "opus",\n}\n')
    before = files(tmp_path)
    shown = run(person, "install", "--dry-run")
    assert shown.returncode == 0 and files(tmp_path) == before
    declined = run(person, "install", typed="n\nn\n")
    assert "declined" in declined.stdout and files(tmp_path) == before
    assert "doctor --prove" not in declined.stdout
    done = run(person, "install", "--yes")
    assert done.returncode == 0, done.stderr
    assert "claude-code: connected" in done.stdout and "gemini: connected" in done.stdout
    assert "// mine" in settings.read_text()
    again = run(person, "install", "--yes")
    assert "claude-code: was connected already" in again.stdout
    assert run(person, "up").returncode == 0
    try:
        proof = run(person, "doctor", "--prove")
        assert "prove claude-code: a marker came through" in proof.stdout, proof.stdout
        assert "prove gemini: a marker came through" in proof.stdout
        assert proof.returncode == 0
        told = json.loads(run(person, "doctor", "--json").stdout)
        assert {one["what"] for one in told} >= {"daemon", "database", "permissions", "claude-code"}
        removed = run(person, "uninstall", "--yes")
        assert removed.returncode == 0
        assert files(tmp_path) == before
        assert (tmp_path / ".recollect" / "recollect.db").exists()
    finally:
        run(person, "down")
    gone = run(person, "uninstall", "--yes", "--delete-data")
    assert gone.returncode == 0 and not (tmp_path / ".recollect").exists()


def test_an_unknown_host_names_the_known_ones(person: RealDaemon) -> None:
    done = run(person, "install", "emacs")
    assert done.returncode == 2
    assert "claude-code" in done.stderr and "emacs" in done.stderr


def test_the_doctor_finds_and_mends(person: RealDaemon) -> None:
    ill = run(person, "doctor")
    assert ill.returncode == 1 and "recollect up" in ill.stdout
    assert run(person, "up").returncode == 0
    try:
        os.chmod(person.home / "recollect.db", 0o644)
        (person.home / "bin" / "recollect-hook").unlink()
        assert run(person, "doctor").returncode == 1
        mended = run(person, "doctor", "--fix")
        assert "mended" in mended.stdout
        assert run(person, "doctor").returncode == 0
        assert oct((person.home / "recollect.db").stat().st_mode & 0o777) == "0o600"
    finally:
        run(person, "down")


def test_the_service_file_is_written_and_removed(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    assert run(person, "service", "show").returncode == 1
    assert run(person, "service", "install", "--no-start").returncode == 0
    unit = tmp_path / ".config" / "systemd" / "user" / "recollect.service"
    assert "up --foreground" in unit.read_text() and str(person.home) in unit.read_text()
    assert run(person, "service", "show").returncode == 0
    assert run(person, "service", "uninstall").returncode == 0
    assert not unit.exists()


def test_the_foreground_daemon_is_the_process_itself(person: RealDaemon) -> None:
    process = subprocess.Popen(
        [str(RECOLLECT), "up", "--foreground"], env=person.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        while not person.client.alive():
            assert process.poll() is None
        assert person.client.get("/healthz")["pid"] == process.pid
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr is not None
        process.stderr.close()


def test_settings_are_shown_and_a_bad_one_is_refused(person: RealDaemon) -> None:
    told = json.loads(run(person, "settings", "list", "--json").stdout)
    assert {"name", "value", "default", "allowed", "help", "type"} == set(told[0])
    assert "reserve_mb" in run(person, "settings", "list").stdout
    person.environment["RECOLLECT_RESERVE_MB"] = "-1"
    for command in (["settings", "list"], ["status"], ["up"]):
        bad = run(person, *command)
        assert bad.returncode == 1
        assert "reserve_mb = '-1' is out of range" in bad.stderr


def test_the_model_says_what_is_missing(person: RealDaemon, tmp_path: pathlib.Path) -> None:
    person.environment["RECOLLECT_MODEL_DIR"] = str(tmp_path / "none")
    missing = run(person, "model", "show")
    assert missing.returncode == 1 and "recollect model fetch" in missing.stdout
    person.environment["RECOLLECT_MODEL_DIR"] = os.environ["RECOLLECT_MODEL_DIR"]
    assert run(person, "model", "show").returncode == 0


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(person: RealDaemon, command: str) -> None:
    done = run(person, command, "--help")
    assert done.returncode == 0 and "usage: recollect" in done.stdout.lower()
    assert not person.home.exists()


def test_a_wrong_call_is_told_apart_from_a_failure(person: RealDaemon) -> None:
    assert run(person, "no-such-command").returncode == 2
    assert run(person, "status", "--no-such-option").returncode == 2
    assert "no-such-command" in run(person, "no-such-command").stderr
    assert "did you mean search?" in run(person, "serach").stderr
    assert "did you mean" not in run(person, "bogus").stderr
    assert "did you mean port?" in run(person, "settings", "show", "prot").stderr


def test_help_costs_at_most_twice_a_bare_python(person: RealDaemon) -> None:
    def cpu(command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=person.environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    pairs = [
        (cpu([str(RECOLLECT), "--help"]), cpu([sys.executable, "-c", "pass"])) for _ in range(15)
    ]
    ours, bare = (sorted(column)[7] for column in zip(*pairs, strict=True))
    assert ours <= 2 * bare, f"{ours * 1000:.1f} ms against {bare * 1000:.1f} ms"


def test_logs_say_where_they_are_when_there_are_none(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    assert "no log yet" in run(person, "logs").stdout
    with real_daemon(tmp_path / "other") as daemon:
        assert "ready for hooks" in run(daemon, "logs", "-n", "5").stdout


def test_data_is_not_deleted_under_an_agent_that_still_calls_the_hook(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    assert run(person, "install", "--yes", "claude-code").returncode == 0
    kept = run(person, "uninstall", "--delete-data", typed="n\ny\n")
    assert kept.returncode == 1 and "Nothing is deleted" in kept.stderr
    assert person.home.exists()
    project = tmp_path / "project"
    project.mkdir()
    assert run(person, "install", "--yes", "--project", str(project), "claude-code").returncode == 0
    assert run(person, "uninstall", "--yes", "--delete-data").returncode == 0
    assert not person.home.exists() and list(project.rglob("*.json")) == []
    again = run(person, "uninstall", "--yes", "--delete-data")
    assert again.returncode == 0 and "nothing to delete" in again.stdout


def test_a_bad_setting_does_not_keep_a_daemon_running(person: RealDaemon) -> None:
    assert run(person, "up").returncode == 0
    (person.home / "settings.toml").write_text('backup_days = "x"')
    assert run(person, "status").returncode == 1
    assert "is down" in run(person, "down").stdout


def test_no_color_means_no_colour(person: RealDaemon) -> None:
    assert "\x1b[" not in run(person, "doctor").stdout
    assert "\x1b[" not in run(person, "install", "--dry-run").stdout


@pytest.mark.parametrize(("ci", "opened"), [("", True), ("1", False)])
def test_the_dashboard_opens_after_an_installation_at_a_terminal(
    person: RealDaemon, tmp_path: pathlib.Path, ci: str, opened: bool
) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    browser.chmod(0o755)
    person.environment |= {"BROWSER": str(browser), "CI": ci, "TERM": "xterm"}
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [str(RECOLLECT), "install", "--yes", "claude-code"], env=person.environment, cwd="/",
            stdin=theirs, stdout=theirs, stderr=theirs, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0
        assert seen.exists() == opened
        assert not opened or "/open?code=" in seen.read_text()
    finally:
        os.close(ours)
        os.close(theirs)
        run(person, "down")


def test_a_type_says_what_kind_it_is_of(shared_daemon: RealDaemon) -> None:
    def added(*more: str) -> dict[str, str]:
        done = run(shared_daemon, "add", f"Never on Fridays {more}", *more, "--json")
        record: dict[str, str] = json.loads(done.stdout)["record"]
        return record

    assert added("--type", "constraint")["knowledge_type"] == "constraint"
    assert added("--type", "error")["observation_type"] == "error"
    assert added("--type", "decision")["knowledge_type"] == "decision"
    seen = added("--type", "decision", "--kind", "observation")
    assert (seen["kind"], seen["observation_type"]) == ("observation", "decision")
    for kind in ("note", "observation", "summary"):
        refused = run(shared_daemon, "add", "x", "--kind", kind, "--type", "constraint")
        assert refused.returncode == 2 and "has no --type constraint" in refused.stderr


def test_a_path_that_is_nowhere_is_refused(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    shop = tmp_path / "emporium"
    shop.mkdir()
    (shop / "Makefile").touch()
    assert run(shared_daemon, "add", "-p", str(shop), "kept for ever").returncode == 0
    gone = "/no/such/place"
    for arguments in (("add", "-p", gone, "ghost"), ("search", "-p", gone, "ghost"),
                      ("resume", "-p", gone), ("context", "-p", gone, "ghost"),
                      ("export", "--project", gone), ("why", "--project", gone),
                      ("forget", "--all", "--project", gone, "-y")):  # fmt: skip
        refused = run(shared_daemon, *arguments)
        assert refused.returncode == 1, arguments
        assert gone in refused.stderr and "emporium" in refused.stderr, arguments
    assert "emporium" in run(shared_daemon, "search", "-p", "nope", "x").stderr
    (shop / "Makefile").unlink()
    shop.rmdir()
    assert "kept for ever" in run(shared_daemon, "search", "-p", str(shop), "kept").stdout
    assert run(shared_daemon, "search", "-p", str(shop / "src"), "kept").returncode == 0


def test_bad_input_is_told_in_plain_words(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    def told(*arguments: str) -> str:
        done = run(shared_daemon, *arguments)
        assert done.returncode != 0, arguments
        return done.stderr

    assert run(shared_daemon, "add", "-p", "global", "deploy on fridays").returncode == 0
    assert "query must not be empty" in told("search", "")
    assert "query must not be empty" in told("search", "   ")
    assert "is not the id of a memory: mr_" in told("forget", "deploy on fridays", "--for-good")
    assert "no memory in this project's receipts begins with 'mr_bad'" in told(
        "why", "--never", "mr_bad"
    )
    assert "FTS5" in told("search", "--raw", "AND (")
    assert "no directory" in told("export", str(tmp_path / "none" / "all.jsonl"))
    (tmp_path / "all.jsonl").write_text("mine")
    assert "--force" in told("export", str(tmp_path / "all.jsonl"))
    assert (tmp_path / "all.jsonl").read_text() == "mine"
    assert run(shared_daemon, "export", "--force", str(tmp_path / "all.jsonl")).returncode == 0


def test_a_wrong_call_ends_with_two_and_says_what_was_wrong(shared_daemon: RealDaemon) -> None:
    for arguments, words in (
        (("install", "nosuch"), "there is no host 'nosuch'"),
        (("settings", "set", "nosuch", "1"), "there is no setting 'nosuch'"),
        (("settings", "set", "port", "many"), "port"),
        (("forget", "--all", "-y"), "--project"),
        (("forget", "--text", "", "-y"), "--text is empty"),
        (("forget", "mr_nope", "-y"), "'mr_nope' is not the id of a memory"),
        (("forget", "mr_nope", "--for-good", "-y"), "'mr_nope' is not the id of a memory"),
        (("move", "mr_nope", "global"), "'mr_nope' is not the id of a memory"),
        (("import", "nosuch"), "'nosuch' is no source and no file"),
        (("add",), "there is nothing to store"),
    ):
        done = run(shared_daemon, *arguments, typed="")
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)


def test_a_data_directory_that_cannot_be_used_is_told_with_a_way_out(person: RealDaemon) -> None:
    person.environment["RECOLLECT_HOME"] = "/proc/nope"
    nowhere = run(person, "up")
    assert nowhere.returncode == 1 and "/proc/nope" in nowhere.stderr
    assert "RECOLLECT_HOME=DIR" in nowhere.stderr


def test_undo_and_its_list_agree(shared_daemon: RealDaemon, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "ledger"
    place.mkdir()
    (place / "Makefile").touch()

    def listed() -> list[str]:
        shown = run(shared_daemon, "change", "list", "-p", str(place), "--json")
        return [one["op_id"] for one in json.loads(shown.stdout)["items"]]

    def undone(*which: str) -> dict[str, str]:
        done = run(shared_daemon, "undo", "-p", str(place), *which, "--json")
        told: dict[str, str] = json.loads(done.stdout)
        return told

    added = run(shared_daemon, "add", "-p", str(place), "to and fro", "--json")
    first = json.loads(added.stdout)["op_id"]
    assert listed() == [first]
    back = undone()
    assert back["undoes"] == first and listed() == [back["op_id"]]
    anew = undone(back["op_id"])
    assert listed() == [anew["op_id"]]
    last = undone()
    assert last["undoes"] == anew["op_id"] and listed() == [last["op_id"]]
    shown = run(shared_daemon, "change", "list", "-p", str(place)).stdout
    assert last["op_id"] in shown and first not in shown and "repeats the change" in shown


def test_undo_takes_back_what_was_done_in_the_project_and_nothing_else(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    proj, shop = tmp_path / "proj", tmp_path / "webshop"
    for place in (proj, shop):
        place.mkdir()
        (place / "Makefile").touch()
    older = json.loads(run(shared_daemon, "add", "-p", str(shop), "older", "--json").stdout)
    newer = json.loads(run(shared_daemon, "add", "-p", str(proj), "newer", "--json").stdout)
    done = run(shared_daemon, "undo", "-p", "webshop", "--json")
    assert json.loads(done.stdout)["undoes"] == older["op_id"]
    again = run(shared_daemon, "undo", "-p", "webshop")
    assert again.returncode == 1 and "there is nothing to undo here" in again.stderr
    unknown = run(shared_daemon, "undo", "-p", "nosuch")
    assert unknown.returncode == 1 and "nosuch" in unknown.stderr and "proj" in unknown.stderr
    memory = Memory(str(shop), home=str(shared_daemon.home))
    with pytest.raises(RecollectError, match="nothing to undo here"):
        memory.undo()
    assert memory.undo(project=str(proj)).undoes == newer["op_id"]


def test_a_reader_that_goes_away_is_no_failure(shared_daemon: RealDaemon) -> None:
    """Like `| head -1`: its end of the pipe is closed before anything is written."""
    run(shared_daemon, "add", "-p", "global", "somebody reads only the first line")
    for arguments in (
        ["search", "-p", "global"],
        ["settings", "list"],
        ["settings", "list", "--json"],
    ):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [str(RECOLLECT), *arguments], env=shared_daemon.environment, cwd="/",
            stdout=write, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(write)
        _, told = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, told) == (0, b""), arguments


def test_answers_name_projects_and_take_ages(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    place = tmp_path / "observatory"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    added = run(shared_daemon, "add", "-p", str(place), "The dome opens at dusk", "--json")
    record_id = json.loads(added.stdout)["record"]["record_id"]
    assert "The dome" in run(shared_daemon, "search", "-p", str(place), "--since", "7d").stdout
    wrong = run(shared_daemon, "search", "--since", "lately")
    assert wrong.returncode == 2 and "7d" in wrong.stderr
    assert "is now in global." in run(shared_daemon, "move", record_id, "global").stdout
    back = run(shared_daemon, "move", record_id, str(place)).stdout
    assert "is now in observatory." in back
    assert "observatory" in run(shared_daemon, "status").stdout
    offered = subprocess.run(
        [str(RECOLLECT), "import"], env=shared_daemon.environment, cwd=place, timeout=PATIENCE_S,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "recollect import git" in offered.stdout


def test_forget_shows_what_it_would_do_without_for_good(shared_daemon: RealDaemon) -> None:
    added = run(shared_daemon, "add", "-p", "global", "--json", "the drawer opens on tuesdays")
    assert added.returncode == 0, added.stderr
    (memory,) = set(re.findall(r"mr_\w{26}", added.stdout))
    shown = run(shared_daemon, "forget", memory, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "the drawer opens on tuesdays" in shown.stdout
    assert "This memory would be forgotten; recollect undo would take that back." in shown.stdout
    assert "With --for-good it would erase: " in shown.stdout and "1 memory" in shown.stdout
    data = json.loads(run(shared_daemon, "forget", memory, "--dry-run", "--json").stdout)
    assert [one["record_id"] for one in data["memories"]] == [memory]
    erasing = run(shared_daemon, "forget", memory, "--dry-run", "--for-good").stdout
    assert "would be forgotten" not in erasing and "global: " in erasing
    assert "drawer" in run(shared_daemon, "search", "-p", "global", "drawer").stdout, "kept"

    # no answer to the first question
    stopped = run(shared_daemon, "forget", memory, typed="")
    assert stopped.returncode == 1 and "Stopped; nothing was done." in stopped.stderr
    assert "drawer" in run(shared_daemon, "search", "-p", "global", "drawer").stdout, "kept"
