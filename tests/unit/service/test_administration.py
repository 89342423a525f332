"""Projects, settings and the sample project, as the dashboard manages them."""

import pathlib
from datetime import timedelta

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, Conflict, NotFound
from recollect.core.projects import ProjectPlace
from recollect.daemon.runtime import Runtime
from recollect.service import administration, context, read, sample_project, search, write
from recollect.service.administration import ProjectChange
from tests.make import arrival


def test_projects_are_listed_with_what_they_hold_and_the_global_one_last(
    runtime: Runtime, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "Makefile").touch()
    write.add_note(runtime, write.NewNote(text="here", project_path=str(tmp_path)))
    write.add_note(runtime, write.NewNote(text="everywhere"))
    mine, everywhere = administration.all_projects(runtime)
    assert (mine.name, mine.records) == (tmp_path.name, 1)
    assert {one.kind for one in mine.marks} >= {"root"}
    assert (everywhere.name, everywhere.project_id, everywhere.records) == ("global", "", 1)


def test_a_project_was_last_seen_with_its_last_event(
    runtime: Runtime, clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    namespaces = {}
    for name in ("old", "new"):
        place = tmp_path / name
        place.mkdir()
        (place / "Makefile").touch()
        write.add_note(runtime, write.NewNote(text=name, project_path=str(place)))
        namespaces[name] = runtime.namespaces.of(str(place))
        clock.advance(hours=1)
    assert [one.name for one in administration.all_projects(runtime)][:2] == ["new", "old"]
    runtime.store.events.put([arrival("again", namespace=namespaces["old"])])
    first, second, _ = administration.all_projects(runtime)
    assert (first.name, first.last_seen) == ("old", clock.now())
    assert second.last_seen == clock.now() - timedelta(hours=1)


def test_a_question_about_a_directory_makes_no_project(
    runtime: Runtime, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "Makefile").touch()
    place = str(tmp_path)
    write.add_note(runtime, write.NewNote(text="the heron nests everywhere"))
    before = runtime.store.projects.namespaces()
    found = search.search(runtime, search.SearchQuery(query="heron", project_path=place))
    assert [one.record.title for one in found.items] == ["the heron nests everywhere"]
    context.context(runtime, context.ContextQuery(query="heron", project_path=place))
    assert read.timeline(runtime, read.TimelineQuery(project_path=place)).items == ()
    assert runtime.store.projects.all() == []
    assert runtime.store.projects.namespaces() == before
    write.add_note(runtime, write.NewNote(text="it nests here", project_path=place))
    (mine,) = runtime.store.projects.all()
    assert mine.name == tmp_path.name


def test_a_project_is_known_by_its_remote_too(runtime: Runtime) -> None:
    key = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    change = ProjectChange(alias="git@example.org:team/shop.git", name="till")
    changed = administration.change_project(runtime, key, change)
    assert changed.name == "till"
    assert ("remote", "example.org/team/shop") in {(one.kind, one.value) for one in changed.marks}


def test_a_change_without_sense_is_refused(runtime: Runtime) -> None:
    key = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    other = runtime.store.projects.resolve(ProjectPlace(root="/work/till"))
    with pytest.raises(BadInput, match="give a name or an alias"):
        administration.change_project(runtime, key, ProjectChange())
    with pytest.raises(BadInput, match="absolute path or the URL"):
        administration.change_project(runtime, key, ProjectChange(alias="shop"))
    with pytest.raises(Conflict, match="belongs to project"):
        administration.change_project(runtime, other, ProjectChange(alias="/work/shop"))
    with pytest.raises(NotFound, match="there is no project 'nowhere'") as told:
        administration.change_project(runtime, "nowhere", ProjectChange(name="x"))
    assert "shop" in told.value.hint and "till" in told.value.hint


def test_a_setting_is_changed_in_the_file_and_holds_from_the_next_start_on(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pathlib.Path(runtime.settings.path("settings.toml"))
    before = runtime.settings.start_tokens
    changed = administration.change_setting(runtime, "start_tokens", "123")
    assert (changed["value"], changed["saved"], changed["changeable"]) == (before, 123, True)
    assert "start_tokens = 123" in path.read_text()
    for name, value, error, words in (
        ("start_tokens", "-1", BadInput, "out of range"),
        ("start_tokens", "many", BadInput, "not of type int"),
        ("acp_command", "sh -c true", BadInput, "in a terminal only"),
        ("start_token", "1", NotFound, "did you mean start_tokens"),
    ):
        with pytest.raises(error, match=words):
            administration.change_setting(runtime, name, value)
    assert administration.change_setting(runtime, "start_tokens", None)["saved"] == 400
    monkeypatch.setenv("RECOLLECT_START_TOKENS", "5")
    with pytest.raises(Conflict, match="RECOLLECT_START_TOKENS"):
        administration.change_setting(runtime, "start_tokens", "7")


def test_settings_are_shown_without_their_secrets(runtime: Runtime) -> None:
    shown = {one["name"]: one["value"] for one in administration.all_settings(runtime)}
    assert shown["actor"] == "ada" and "port" in shown
    assert administration._without_secret("api_key", "sk-1") == "(set)"
    assert administration._without_secret("api_key", "") == ""
    assert administration._without_secret("port", 7325) == 7325


def test_the_sample_is_added_once_and_leaves_nothing_but_itself_behind(runtime: Runtime) -> None:
    write.add_note(runtime, write.NewNote(text="mine"))
    first = sample_project.add(runtime)
    assert sample_project.add(runtime) == first and first.memories == 8
    assert sample_project.remove(runtime).memories == 8
    assert sample_project.remove(runtime).memories == 0
    (mine,) = runtime.store.records.page("/actor/ada/", limit=9).items
    assert mine.title == "mine"
