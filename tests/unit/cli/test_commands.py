"""Commands as a person types them, in this process: what they print, refuse and return."""

import json
import os
import pathlib
import re
import time

import apsw
import pytest

from recollect import Memory
from recollect.capture import paths
from recollect.cli import status
from recollect.client import TIMEOUT_S
from recollect.core import oslayer
from recollect.core.errors import RecollectError
from recollect.ingest.messages import RecallQuestion
from tests.fakes.runtime import RuntimeHome
from tests.make import NAMESPACE, arrival, record
from tests.unit.cli.conftest import Terminal
from tests.unit.extract.session import Told


def test_an_unknown_host_names_the_known_ones(alone: Terminal) -> None:
    done = alone("install", "emacs")
    assert done.returncode == 2
    assert "claude-code" in done.stderr and "emacs" in done.stderr


def test_the_service_file_is_written_and_removed(alone: Terminal, tmp_path: pathlib.Path) -> None:
    assert alone("service", "show").returncode == 1
    assert alone("service", "install", "--no-start").returncode == 0
    unit = tmp_path / "person" / ".config" / "systemd" / "user" / "recollect.service"
    assert "up --foreground" in unit.read_text() and str(alone.home) in unit.read_text()
    assert alone("service", "show").returncode == 0
    assert alone("service", "uninstall").returncode == 0
    assert not unit.exists()
    alone.patch.delenv("XDG_RUNTIME_DIR", raising=False)
    failed = alone("service", "install")
    assert failed.returncode == 1 and "no systemd user session" in failed.stderr
    assert "the first agent session starts Recollect" in failed.stderr and not unit.exists()
    unit.parent.rmdir()
    unit.parent.parent.rmdir()
    assert alone("service", "install").returncode == 1 and not unit.parent.parent.exists()


def test_the_status_of_a_daemon_that_hangs_comes_within_seconds(alone: Terminal) -> None:
    assert status.ANSWER_S <= 5
    alone.patch.setattr(status, "ANSWER_S", 0.1)
    alone.home.mkdir()
    lock = oslayer.FileLock(str(alone.home / "lock"))
    assert lock.acquire()
    began = time.monotonic()
    with oslayer.listen_local(paths.socket_path(str(alone.home), "recollect.sock")):
        told = alone("status")
        found = alone("doctor")
    assert time.monotonic() - began < TIMEOUT_S
    words = f"does not answer: process {os.getpid()}"
    assert told.returncode == 1 and words in told.stdout
    assert words in " ".join(found.stdout.split())


def test_the_status_names_projects_as_their_user_knows_them(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    (project := tmp_path / "billing").mkdir()
    (project / "Makefile").touch()
    note = {"text": "a note", "project": str(project)}
    added = runtime_home.client.ask("POST", "/api/notes", note)
    namespace = added["record"]["namespace"]
    learning = runtime_home.runtime.learning()
    state = {**learning.status(), "breakers": {namespace: "open"},
             "by_rules_because": {namespace: "enough for today"},
             "judge_breakers": [namespace]}  # fmt: skip
    terminal.patch.setattr(learning, "status", lambda: state)
    told = terminal("status").stdout
    assert "billing goes on by rules: enough for today" in told
    assert "The breaker of billing is open" in told and "The judge of billing" in told
    assert namespace not in told


def test_settings_are_shown_and_a_bad_one_is_refused(alone: Terminal) -> None:
    told = json.loads(alone("settings", "list", "--json").stdout)
    assert {"name", "value", "default", "allowed", "help", "type"} == set(told[0])
    assert "reserve_mb" in alone("settings", "list").stdout
    alone.patch.setenv("RECOLLECT_RESERVE_MB", "-1")
    for command in (["settings", "list"], ["status"], ["up"]):
        bad = alone(*command)
        assert bad.returncode == 1
        assert "reserve_mb = '-1' is out of range" in bad.stderr


def test_the_model_says_what_is_missing(alone: Terminal, tmp_path: pathlib.Path) -> None:
    here = os.environ["RECOLLECT_MODEL_DIR"]
    alone.patch.setenv("RECOLLECT_MODEL_DIR", str(tmp_path / "none"))
    missing = alone("model", "show")
    assert missing.returncode == 1 and "recollect model fetch" in missing.stdout
    alone.patch.setenv("RECOLLECT_MODEL_DIR", here)
    assert alone("model", "show").returncode == 0


def test_a_wrong_call_is_told_apart_from_a_failure(alone: Terminal) -> None:
    assert alone("no-such-command").returncode == 2
    assert alone("status", "--no-such-option").returncode == 2
    assert "no-such-command" in alone("no-such-command").stderr
    assert "did you mean search?" in alone("serach").stderr
    assert "did you mean" not in alone("bogus").stderr
    assert "did you mean port?" in alone("settings", "show", "prot").stderr


def test_no_color_means_no_colour(alone: Terminal) -> None:
    assert "\x1b[" not in alone("doctor").stdout
    assert "\x1b[" not in alone("install", "--dry-run").stdout


def test_the_doctor_finds_an_index_without_its_rows_and_makes_it_anew(
    terminal: Terminal, runtime_home: RuntimeHome
) -> None:
    def told(*arguments: str) -> tuple[str, str]:
        found = json.loads(terminal("doctor", "--json", *arguments).stdout)
        return next((one["verdict"], one["told"]) for one in found if one["what"] == "database")

    assert terminal("add", "The zebra crossing is closed", "-p", "global").returncode == 0
    assert told()[0] == "ok"
    file = apsw.Connection(str(runtime_home.home / "recollect.db"))
    file.execute("INSERT INTO memory_records_fts (memory_records_fts) VALUES ('delete-all')")
    file.close()
    assert "zebra" not in terminal("search", "--raw", "zebra").stdout
    verdict, problem = told()
    assert verdict == "fail" and "1 rows of memory_records are missing" in problem
    assert told("--fix") == ("ok", f"repaired ({problem})")
    assert "zebra" in terminal("search", "--raw", "zebra").stdout
    assert told()[0] == "ok"


def test_a_projects_name_may_look_like_a_path(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    for place in ("one/cli", "two/cli", "here"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "Makefile").touch()
        assert terminal("add", f"A note of {place}", "-p", str(tmp_path / place)).returncode == 0
    names = {one["name"] for one in runtime_home.client.get("/api/projects")["items"]}
    assert "one/cli" in names
    terminal.patch.chdir(tmp_path / "here")
    assert "A note of one/cli" in terminal("search", "note", "-p", "one/cli").stdout
    assert "A note of here" not in terminal("search", "note", "-p", "one/cli").stdout
    for command in (("search", "note"), ("report",), ("resume",), ("add", "Another")):
        unknown = terminal(*command, "-p", "nosuch/name")
        assert unknown.returncode == 1 and "there is no project 'nosuch/name'" in unknown.stderr
    terminal.patch.chdir(tmp_path)
    assert "A note of one/cli" in terminal("search", "note", "-p", "./one/cli").stdout
    assert "A note of one/cli" in terminal("search", "note", "-p", "one/cli").stdout


def test_the_doctor_sees_plugins_that_an_agent_installed(
    alone: Terminal, tmp_path: pathlib.Path
) -> None:
    def told() -> tuple[str, str]:
        found = json.loads(alone("doctor", "--json").stdout)
        return next((one["verdict"], one["told"]) for one in found if one["what"] == "gemini")

    alone.home.mkdir()
    extension = tmp_path / "person" / ".gemini" / "extensions" / "recollect"
    extension.mkdir(parents=True)
    assert told() == ("ok", "connected by its plugin")
    assert alone("install", "gemini", "-y").returncode == 0
    verdict, twice = told()
    assert verdict == "warn" and twice.startswith("connected twice")
    extension.rmdir()
    assert told() == ("ok", "connected")


def test_a_type_says_what_kind_it_is_of(terminal: Terminal) -> None:
    def added(*more: str) -> dict[str, str]:
        done = terminal("add", f"Never on Fridays {more}", *more, "--json")
        record: dict[str, str] = json.loads(done.stdout)["record"]
        return record

    assert added("--type", "constraint")["knowledge_type"] == "constraint"
    assert added("--type", "error")["observation_type"] == "error"
    assert added("--type", "decision")["knowledge_type"] == "decision"
    seen = added("--type", "decision", "--kind", "observation")
    assert (seen["kind"], seen["observation_type"]) == ("observation", "decision")
    for kind in ("note", "observation", "summary"):
        refused = terminal("add", "x", "--kind", kind, "--type", "constraint")
        assert refused.returncode == 2 and "has no --type constraint" in refused.stderr


def test_a_path_that_is_nowhere_is_refused(terminal: Terminal, tmp_path: pathlib.Path) -> None:
    shop = tmp_path / "emporium"
    shop.mkdir()
    (shop / "Makefile").touch()
    assert terminal("add", "-p", str(shop), "kept for ever").returncode == 0
    gone = "/no/such/place"
    for arguments in (("add", "-p", gone, "ghost"), ("search", "-p", gone, "ghost"),
                      ("resume", "-p", gone), ("context", "-p", gone, "ghost"),
                      ("export", "--project", gone), ("why", "--project", gone),
                      ("forget", "--all", "--project", gone, "-y")):  # fmt: skip
        refused = terminal(*arguments)
        assert refused.returncode == 1, arguments
        assert gone in refused.stderr and "emporium" in refused.stderr, arguments
    assert "emporium" in terminal("search", "-p", "nope", "x").stderr
    (shop / "Makefile").unlink()
    shop.rmdir()
    assert "kept for ever" in terminal("search", "-p", str(shop), "kept").stdout
    assert terminal("search", "-p", str(shop / "src"), "kept").returncode == 0


def test_bad_input_is_told_in_plain_words(terminal: Terminal, tmp_path: pathlib.Path) -> None:
    def told(*arguments: str) -> str:
        done = terminal(*arguments)
        assert done.returncode != 0, arguments
        return done.stderr

    assert terminal("add", "-p", "global", "deploy on fridays").returncode == 0
    assert "query must not be empty" in told("search", "")
    assert "query must not be empty" in told("search", "   ")
    assert "is not the id of a memory" in told("forget", "deploy on fridays", "--for-good")
    assert "there is no memory zzzz9" in told("why", "--never", "zzzz9")
    assert "there is no memory zzzz9" in told("forget", "zzzz9", "-y")
    assert "FTS5" in told("search", "--raw", "AND (")
    assert "no directory" in told("export", str(tmp_path / "none" / "all.jsonl"))
    (tmp_path / "all.jsonl").write_text("mine")
    assert "--force" in told("export", str(tmp_path / "all.jsonl"))
    assert (tmp_path / "all.jsonl").read_text() == "mine"
    assert terminal("export", "--force", str(tmp_path / "all.jsonl")).returncode == 0


def test_a_wrong_call_ends_with_two_and_says_what_was_wrong(terminal: Terminal) -> None:
    for arguments, words in (
        (("install", "nosuch"), "there is no host 'nosuch'"),
        (("settings", "set", "nosuch", "1"), "there is no setting 'nosuch'"),
        (("settings", "set", "port", "many"), "port"),
        (("settings", "set", "daily_usd", "-1"), "it takes 0 to 10000"),
        (("settings", "set", "daily_usd", "--jsn"), "No such option"),
        (("forget", "--all", "-y"), "--project"),
        (("forget", "--text", "", "-y"), "--text is empty"),
        (("import", "nosuch"), "'nosuch' is neither a source nor a file"),
        (("add",), "there is nothing to store"),
    ):
        done = terminal(*arguments, typed="")
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)
    assert "did you mean daily_usd?" in terminal("settings", "set", "daily_us", "1").stderr
    assert "did you mean" not in terminal("settings", "set", "nope", "x").stderr


def test_what_is_named_and_does_not_exist_ends_with_one_at_every_command(
    terminal: Terminal,
) -> None:
    for arguments in (
        ("show",), ("edit", "--title", "x"), ("pin",), ("forget", "-y"),
        ("forget", "--for-good", "-y"), ("move", "--to", "global"),
        ("why", "--useful"), ("why", "--wrong"), ("why", "--never"),
    ):  # fmt: skip
        for name, words in (
            ("mr_nope", "'mr_nope' is not the id of a memory"),
            ("mr_01KHB35JZ96GZ0H5BP0PDPRHV0", "no memory mr_01KHB35JZ96GZ0H5BP0PDPRHV0"),
        ):
            done = terminal(*arguments, name)
            assert done.returncode == 1, (arguments, name, done)
            assert words in done.stderr or "matches this selection" in done.stderr, done
    assert terminal("undo", "nope").returncode == terminal("why", "zebra").returncode == 1


def test_undo_and_its_list_agree(terminal: Terminal, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "ledger"
    place.mkdir()
    (place / "Makefile").touch()

    def listed() -> list[str]:
        shown = terminal("change", "list", "-p", str(place), "--json")
        return [one["op_id"] for one in json.loads(shown.stdout)["items"]]

    def undone(*which: str) -> dict[str, str]:
        done = terminal("undo", "-p", str(place), *which, "--json")
        told: dict[str, str] = json.loads(done.stdout)
        return told

    added = terminal("add", "-p", str(place), "to and fro", "--json")
    first = json.loads(added.stdout)["op_id"]
    assert listed() == [first]
    back = undone()
    assert back["undoes"] == first and listed() == [back["op_id"]]
    anew = undone(back["op_id"])
    assert listed() == [anew["op_id"]]
    last = undone()
    assert last["undoes"] == anew["op_id"] and listed() == [last["op_id"]]
    shown = terminal("change", "list", "-p", str(place)).stdout
    assert last["op_id"] in shown and first not in shown and "repeats the change" in shown


def test_a_list_of_changes_is_as_long_as_it_was_asked_for(
    terminal: Terminal, tmp_path: pathlib.Path
) -> None:
    ids = [json.loads(terminal("add", f"Note number {n}", "-p", "global", "--json").stdout)
           for n in range(6)]  # fmt: skip
    for one in ids[3:]:  # each leaves an entry of the log that is not shown
        terminal("forget", one["record"]["record_id"], "-y")

    def listed(*more: str) -> list[str]:
        shown = terminal("change", "list", "-p", "global", "--json", *more).stdout
        return [one["op_id"] for one in json.loads(shown)["items"]]

    assert len(listed()) == 6 and listed("-n", "4") == listed()[:4]
    first = json.loads(terminal("change", "list", "-p", "global", "-n", "4", "--json").stdout)
    rest = Memory("global")._ask(
        "GET", "/api/operations",
        query={"project": "global", "undoable": True, "limit": 4, "before": first["next"]},
    )  # fmt: skip
    assert [one["op_id"] for one in rest["items"]] == listed()[4:]


def test_undo_takes_back_what_was_done_in_the_project_and_nothing_else(
    terminal: Terminal, tmp_path: pathlib.Path
) -> None:
    proj, shop = tmp_path / "proj", tmp_path / "webshop"
    for place in (proj, shop):
        place.mkdir()
        (place / "Makefile").touch()
    older = json.loads(terminal("add", "-p", str(shop), "older", "--json").stdout)
    newer = json.loads(terminal("add", "-p", str(proj), "newer", "--json").stdout)
    done = terminal("undo", "-p", "webshop", "--json")
    assert json.loads(done.stdout)["undoes"] == older["op_id"]
    again = terminal("undo", "-p", "webshop", "--yes")
    assert again.returncode == 1 and "there is nothing to undo here" in again.stderr
    unknown = terminal("undo", "-p", "nosuch")
    assert unknown.returncode == 1 and "nosuch" in unknown.stderr and "proj" in unknown.stderr
    memory = Memory(str(shop), home=str(terminal.home))
    with pytest.raises(RecollectError, match="nothing to undo here"):
        memory.undo()
    assert memory.undo(project=str(proj)).undoes == newer["op_id"]


def test_answers_name_projects_and_take_ages(terminal: Terminal, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "observatory"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    added = terminal("add", "-p", str(place), "The dome opens at dusk", "--json")
    record_id = json.loads(added.stdout)["record"]["record_id"]
    assert "The dome" in terminal("search", "-p", str(place), "--since", "20y").stdout
    wrong = terminal("search", "--since", "lately")
    assert wrong.returncode == 2 and "7d" in wrong.stderr
    assert "is now in global." in terminal("move", record_id, "global").stdout
    back = terminal("move", record_id, str(place)).stdout
    assert "is now in observatory." in back
    assert "observatory" in terminal("status").stdout
    told = json.loads(terminal("status", "--json").stdout)
    assert told["memories"][json.loads(added.stdout)["record"]["kind"]] >= 1
    terminal.patch.chdir(place)
    offered = terminal("import")
    assert "recollect import git" in offered.stdout


def test_forget_shows_what_it_would_do_without_for_good(terminal: Terminal) -> None:
    added = terminal("add", "-p", "global", "--json", "the drawer opens on tuesdays")
    assert added.returncode == 0, added.stderr
    (memory,) = set(re.findall(r"mr_\w{26}", added.stdout))
    shown = terminal("forget", memory, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "the drawer opens on tuesdays" in shown.stdout
    assert "This memory would be forgotten; recollect undo would take that back." in shown.stdout
    assert "With --for-good it would erase: " in shown.stdout and "1 memory" in shown.stdout
    data = json.loads(terminal("forget", memory, "--dry-run", "--json").stdout)
    assert [one["record_id"] for one in data["memories"]] == [memory]
    erasing = terminal("forget", memory, "--dry-run", "--for-good").stdout
    assert "would be forgotten" not in erasing and "global: " in erasing
    assert "drawer" in terminal("search", "-p", "global", "drawer").stdout, "kept"

    # no answer to the first question
    stopped = terminal("forget", memory, typed="")
    assert stopped.returncode == 1 and "Stopped; nothing was done." in stopped.stderr
    assert "drawer" in terminal("search", "-p", "global", "drawer").stdout, "kept"


def test_what_is_added_in_a_private_shell_is_refused(terminal: Terminal) -> None:
    terminal.patch.setenv("RECOLLECT_PRIVATE", "1")
    refused = terminal("add", "about my health")
    assert refused.returncode == 1 and "RECOLLECT_PRIVATE is set" in refused.stderr
    assert "Nothing was found" in terminal("search", "-p", "all").stdout
    terminal.patch.setenv("RECOLLECT_PRIVATE", "0")
    assert "Stored: mr_" in terminal("add", "a").stdout


def test_maintain_shows_what_is_due_does_it_once_and_says_so(
    terminal: Terminal, runtime_home: RuntimeHome
) -> None:
    past = runtime_home.clock.now()
    text = "We decided to use port 7325 because nothing else does."
    turn = record("A turn", kind="episode", detail=text, session_id="s", valid_from=past)
    runtime_home.runtime.store.records.put([turn])
    runtime_home.clock.advance(days=3)
    shown = json.loads(terminal("maintain", "--dry-run", "--json").stdout)
    assert shown["preview"] is True and shown["counts"]["turns compressed"] == 1
    done = json.loads(terminal("maintain", "--json").stdout)
    assert (done["counts"], done["finished"]) == (shown["counts"], True)
    stale = record("The port is 7325", freshness="drifted", valid_from=past)
    runtime_home.runtime.store.records.put([stale])
    again = terminal("maintain")
    assert again.returncode == 0 and "Nothing was due." in again.stdout
    assert f"1 memory, for example:\n  {stale.record_id} The port is 7325" in again.stdout


def test_maintain_makes_the_indexes_anew(terminal: Terminal, runtime_home: RuntimeHome) -> None:
    store = runtime_home.runtime.store
    store.events.put([arrival("Mend the retry loop", session_id="s")])
    done = terminal("maintain", "--rebuild")
    assert done.returncode == 0 and "the work index was rebuilt: 1 turns" in done.stdout
    assert [one.session_id for one in store.turn_works.stream(NAMESPACE)] == ["s"]
    assert len(json.loads(terminal("maintain", "--rebuild", "--json").stdout)["done"]) == 2
    assert terminal("maintain", "--rebuild", "--dry-run").returncode == 2


def test_backups_are_created_and_listed(terminal: Terminal) -> None:
    assert "no backup yet" in terminal("backup", "list").stdout
    made = json.loads(terminal("backup", "create", "--json").stdout)
    assert made["path"] in [
        one["path"] for one in json.loads(terminal("backup", "list", "--json").stdout)
    ]
    listed = terminal("backup", "list").stdout
    assert os.path.basename(made["path"])[:20] in listed and "MB" in listed
    assert "verified" in terminal("backup", "create").stdout


def test_an_injection_is_explained_rated_and_listed(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    place = tmp_path / "billing"
    place.mkdir()
    (place / "Makefile").touch()
    terminal.patch.chdir(place)
    assert "Nothing was injected" in terminal("why").stdout
    added = json.loads(terminal("add", "Retries of the billing API stop at five", "--json").stdout)
    memory = added["record"]["record_id"]
    recall = runtime_home.runtime.loaded_recall
    assert recall is not None
    recall.recall_now.limit_ms = 5000
    question = "why do the retries of the billing API stop at five?"
    spaces = (added["record"]["namespace"], "/actor/ada/")
    recall.recall_now(RecallQuestion("prompt", question, spaces, "s", None, 9500))
    recall.receipts.flush()
    listed = json.loads(terminal("receipt", "list", "--json").stdout)
    assert [one["query"] for one in listed] == [question]
    receipt_id = listed[0]["receipt_id"]
    assert receipt_id in terminal("receipt", "list", "-n", "1").stdout
    for call in (("why",), ("why", "billing", "retries"), ("receipt", "show", receipt_id)):
        assert memory[-5:].lower() in terminal(*call).stdout, call
    assert terminal("why", "zebra").returncode == 1
    assert f"{memory} was useful" in terminal("why", "--useful", memory[-8:]).stdout
    never = terminal("why", "--never", f"[{memory[-5:].lower()}]").stdout
    assert "is never injected again" in never
    assert terminal("undo", re.findall(r"op_\w+", never)[0]).returncode == 0


def test_settings_are_written_shown_and_unset(alone: Terminal) -> None:
    file = alone.home / "settings.toml"
    alone.home.mkdir()
    file.write_text("# mine\ncommit_rows = 7\nport = 7400  # not the default\n")
    assert alone("settings", "set", "port", "7401").returncode == 0
    assert file.read_text() == "# mine\ncommit_rows = 7\nport = 7401  # not the default\n"
    assert alone("settings", "show", "port").stdout == "7401\n"
    ignored = f"commit_rows in {file} is no longer a setting and is ignored"
    assert ignored in alone("settings", "list").stderr
    assert ignored in alone("doctor").stdout
    assert alone("settings", "unset", "commit_rows").returncode == 0
    assert alone("settings", "unset", "port").returncode == 0
    assert file.read_text() == "# mine\n" and alone("settings", "list").stderr == ""
    assert "RECOLLECT_HOME changes it" in alone("settings", "set", "home", "/x").stderr


def test_the_queue_is_listed_run_and_retried(terminal: Terminal, runtime_home: RuntimeHome) -> None:
    assert "no agent has sent anything yet" in terminal("queue", "list").stdout
    told = Told().ask("From now on always use pnpm, never npm, in packages/ui.").answer("Done.")
    runtime_home.put(told.signal("session-end").events)
    (waiting,) = json.loads(terminal("queue", "list", "--json").stdout)["items"]
    assert waiting["events"] > 0
    runtime_home.start_extraction()
    ran = terminal("queue", "run").stdout
    assert f"{waiting['events']} events extracted" in ran and "1 memory made" in ran, ran
    (done,) = json.loads(terminal("queue", "run", "--json").stdout)["items"]
    assert done["events"] == 0
    assert "Back in line: 0 events." in terminal("queue", "retry").stdout


def test_settings_that_are_all_taken_back_leave_no_empty_file(alone: Terminal) -> None:
    assert alone("settings", "set", "backup_days", "3").returncode == 0
    assert alone("settings", "unset", "backup_days").returncode == 0
    written = alone.home / "settings.toml"
    assert written.read_text() == "# Every setting is at its default.\n"
    assert alone("settings", "set", "backup_days", "3").returncode == 0
    assert written.read_text() == "backup_days = 3\n"
    assert alone("settings", "unset", "backup_days").returncode == 0
    assert (alone.home / "settings.toml").stat().st_size > 0
    assert alone("settings", "list").returncode == 0


@pytest.mark.parametrize(("given", "why"), [("/", "belongs to no project"), ("/x/y", "not exist")])
def test_what_cannot_be_separated_is_said(terminal: Terminal, given: str, why: str) -> None:
    done = terminal("separate", given)
    assert done.returncode in (1, 2) and why in done.stderr


def test_data_is_not_deleted_under_an_agent_that_still_calls_the_hook(
    alone: Terminal, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "person" / ".claude").mkdir()
    assert alone("install", "--yes", "claude-code").returncode == 0
    kept = alone("uninstall", "--delete-data", typed="n\ny\n")
    assert kept.returncode == 1 and "Nothing is deleted" in kept.stderr
    assert alone.home.exists()
    project = tmp_path / "project"
    project.mkdir()
    assert alone("install", "--yes", "--project", str(project), "claude-code").returncode == 0
    assert alone("uninstall", "--yes", "--delete-data").returncode == 0
    assert not alone.home.exists() and list(project.rglob("*.json")) == []
    again = alone("uninstall", "--yes", "--delete-data")
    assert again.returncode == 0 and "nothing to delete" in again.stdout


def test_a_data_directory_that_cannot_be_used_is_told_with_a_way_out(alone: Terminal) -> None:
    alone.patch.setenv("RECOLLECT_HOME", "/proc/nope")
    nowhere = alone("up")
    assert nowhere.returncode == 1 and "/proc/nope" in nowhere.stderr
    assert "RECOLLECT_HOME=DIR" in nowhere.stderr
