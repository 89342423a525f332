"""The commands that import, export, move, scrub and erase."""

import json
import pathlib
from typing import Any
from urllib.parse import urlencode

import pytest

from recollect.cli import import_, output, selection_options
from recollect.client import Client, NotRunning
from recollect.core.projects import ProjectPlace
from recollect.core.settings import Settings
from tests.fakes import transcripts as made
from tests.fakes.runtime import RuntimeHome
from tests.make import arrival, record
from tests.torture import repositories
from tests.unit.cli.conftest import Terminal

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_rows_are_counted_in_words() -> None:
    counts = {"event": 9, "memory": 1, "checkpoint": 1, "waiting_claims": 1, "operation": 2}
    assert selection_options.count_rows(counts) == (
        "9 events, 1 memory, 1 checkpoint, 1 claim made only once, 2 log entries (their words)"
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


# --- with a Runtime ------------------------------------------------------------------------------


@pytest.fixture
def person(terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path) -> Terminal:
    """A home with sessions of every agent, and a project in it."""
    runtime_home.clock.advance(days=365)  # the sessions are over
    project = tmp_path / "work" / "shop"
    project.mkdir(parents=True)
    (project / "Makefile").touch()
    for make in made.MAKERS.values():
        make(tmp_path / "person", str(project))
    terminal.patch.setattr(import_, "LOOK_S", 0.01)
    return terminal


def json_of(person: Terminal, *arguments: str) -> object:
    done = person(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_files(home: pathlib.Path, text: str) -> list[str]:
    return [
        str(path.relative_to(home))
        for path in sorted(home.rglob("*"))
        if path.is_file() and text.lower().encode() in path.read_bytes().lower()
    ]


def test_history_comes_in_goes_out_and_comes_back(
    person: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    asked = person("import")
    assert asked.returncode == 1 and "claude-code" in asked.stdout and "--yes" in asked.stderr
    counted = person("import", "--dry-run")
    assert "7 would be new" in counted.stdout
    first = person("import", "--yes")
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("7 read in 1 session; 7 new.") == len(made.MAKERS)
    assert "there was nothing new" in person("import", "--yes").stdout
    again = json_of(person, "import", "--yes")
    assert isinstance(again, dict)
    assert all(one["stored"] == 0 for one in again["sources"].values())

    out = tmp_path / "all.jsonl"
    written = person("export", str(out))
    assert written.returncode == 0 and out.stat().st_mode & 0o077 == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert sum(row.get("is") == "event" for row in rows) == 7 * len(made.MAKERS)
    shown = person("export", "--format", "markdown", "--project", str(tmp_path / "work/shop"))
    assert "## shop" in shown.stdout and made.PROMPTS[0] in shown.stdout
    wrong = person("export", "--rows", "spaceships")
    assert wrong.returncode == 2 and "spaceships" in wrong.stderr

    other = RuntimeHome(tmp_path / "elsewhere")
    person.lead_to(other)
    would = person("import", str(out), "--dry-run").stdout
    assert "would be new." in would and "there already" not in would
    taken = person("import", str(out), "--yes")
    assert taken.returncode == 0, taken.stderr
    assert other.client.get("/healthz")["unextracted"]["events"] == 7 * len(made.MAKERS)
    other.close()


def test_forget_scrub_and_move_by_hand(
    person: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "person" / ".claude"
    (line_file,) = path.rglob("*.jsonl")
    line_file.write_text(line_file.read_text().replace("declined", "zanzibarcanary"))
    person("import", "claude-code", "codex", "--yes")
    assert in_files(person.home, "zanzibarcanary")

    nothing = person("forget")
    assert nothing.returncode == 2 and "name exactly one" in nothing.stderr
    unknown = person("forget", "--text", "no such words here", "--yes")
    assert unknown.returncode == 1 and "nothing matches this selection" in unknown.stderr
    shown = person("forget", "--text", "zanzibarcanary", "--dry-run")
    assert "shop: " in shown.stdout and in_files(person.home, "zanzibarcanary")
    declined = person("forget", "--text", "zanzibarcanary", typed="n\n")
    assert declined.returncode == 1 and in_files(person.home, "zanzibarcanary")
    done = person("forget", "--text", "zanzibarcanary", "--yes", "--backups")
    assert done.returncode == 0 and "Erased" in done.stdout, done.stderr
    assert in_files(person.home, "zanzibarcanary") == []
    again = person("import", "claude-code", "--yes")
    assert "forgotten once, left out" in again.stdout
    assert in_files(person.home, "zanzibarcanary") == []

    assert "No secrets" in person("scrub", "--yes").stdout
    other = tmp_path / "work" / "other"
    other.mkdir()
    (other / "Makefile").touch()
    moved = person("move", "--session", "c0ffee00-codex", "--to", str(other), "--yes")
    assert moved.returncode == 0 and "Moved" in moved.stdout, moved.stderr
    page = runtime_home.client.get(f"/v1/events?project_path={other}&limit=50")
    assert {row["event"]["session_id"] for row in page["items"]} == {"c0ffee00-codex"}
    all_of_it = person("forget", "--all", "--project", str(other), "--yes")
    assert all_of_it.returncode == 0, all_of_it.stderr
    assert in_files(person.home, "c0ffee00-codex") == []


def test_what_was_forgotten_before_goes_from_backups_and_archive(
    person: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    person("add", "-p", "global", "zanzibarcanary secret word")
    person("backup", "create")
    first = person("forget", "--text", "zanzibarcanary", "-y")
    assert "--backups erases it there now" in first.stdout
    again = person("forget", "--text", "zanzibarcanary", "-y", "--backups")
    assert again.returncode == 0 and "Erased in 1 backup" in again.stdout, again.stderr
    assert in_files(person.home, "zanzibarcanary") == []
    added = json_of(person, "add", "-p", "global", "quaggacanary secret word")
    assert isinstance(added, dict)
    record_id = added["record"]["record_id"]
    assert person("forget", record_id, "-y").returncode == 0
    assert in_files(person.home, "quaggacanary")
    done = person("forget", record_id, "--for-good", "-y")
    assert done.returncode == 0, done.stderr
    assert in_files(person.home, "quaggacanary") == []


def test_old_secrets_are_scrubbed_from_a_running_store(
    person: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    """An export that was edited by hand would be cleaned; so a row is put past everything."""
    store = runtime_home.runtime.store
    store.events.put([arrival(f"token {SECRET}")])
    store.records.put([record("About it", detail=f"token {SECRET}")])
    shop = store.projects.resolve(ProjectPlace(root="/srv/shop"))
    store.projects.update(shop, name=f"shop {SECRET}", mark=("root", f"/srv/{SECRET}"))
    words = urlencode({"q": f"<private>heron</private> {SECRET}"})
    searches = json.dumps([{"name": f"by {SECRET}", "filters": words}])
    (person.home / "searches.json").write_text(searches)
    shown = person("scrub", "--dry-run")
    assert "github-token" in shown.stdout and "1 event, 1 memory" in shown.stdout
    assert "1 project, 1 saved search" in shown.stdout and "1 x private span" in shown.stdout
    assert SECRET not in shown.stdout
    done = person("scrub", "--yes")
    assert done.returncode == 0 and in_files(person.home, SECRET) == []
    assert in_files(person.home, "heron") == []
    (project,) = [one for one in store.projects.all() if one.project_id == shop]
    assert project.name.startswith("shop [REDACTED") and project.roots == ("/srv/shop",)


def test_install_offers_history_and_takes_none_by_itself(
    person: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    done = person("install", "claude-code", "--yes")
    assert done.returncode == 0 and "recollect import" in done.stdout
    assert runtime_home.client.get("/healthz")["unextracted"]["events"] == 0


def test_a_hostile_repository_runs_nothing_through_any_door(
    person: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    base = repositories.repository(tmp_path / "base")
    canaries = []
    for name in ("lazy fetch, core.sshCommand", "lazy fetch, uploadpack", "hooks"):
        path = tmp_path / "work" / name.replace(" ", "-") / "shop"
        path.parent.mkdir()
        canaries.append(repositories.lay(name, base, path, "127.0.0.1:1"))
        assert person("import", f"git:{path}", "--dry-run").returncode == 0
        asked = {"sources": [f"git:{path}"]}
        assert "offers" in runtime_home.client.ask("POST", "/api/import/offers", asked)
        assert person("import", f"git:{path}", "--yes").returncode == 0
    assert not any(canary.exists() for canary in canaries)
