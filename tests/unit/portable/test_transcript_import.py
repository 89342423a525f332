"""Imported sessions: once each, at the right time and place, beside what hooks captured."""

import os
import pathlib
import shutil
from datetime import timedelta

import msgspec
import pytest

from recollect.capture.frames import Frame
from recollect.core.errors import BadInput
from recollect.core.values import StoredEvent, TextBody
from recollect.portable.importing import ImportRequest
from tests.fakes import transcripts as made
from tests.fakes.transcripts import ANSWERS, MAKERS, PROMPTS, START
from tests.fakes.waiting import PATIENCE_S
from tests.unit.portable.conftest import NOW, Desk


def shape(events: list[StoredEvent]) -> list[tuple[object, ...]]:
    """What of events must be the same however often they were imported."""
    return [(one.event, one.seq, one.prompt_number) for one in events]


@pytest.mark.parametrize("host", sorted(MAKERS))
def test_importing_twice_equals_importing_once(desk: Desk, project: str, host: str) -> None:
    MAKERS[host](desk.home, project)
    first = desk.take(host)[host]
    assert (first.sessions, first.read, first.stored) == (1, 7, 7)
    before = shape(desk.events())
    again = desk.take(host)[host]
    assert (again.stored, again.known) == (0, 7)
    assert shape(desk.events()) == before


def test_all_hosts_at_once_and_their_turns_become_episodes(desk: Desk, project: str) -> None:
    for make in MAKERS.values():
        make(desk.home, project)
    done = desk.take()
    assert set(done) == set(MAKERS) and sum(one.stored for one in done.values()) == 7 * len(MAKERS)
    namespace = desk.namespace(project)
    episodes = desk.store.records.page(namespace, limit=50).items
    assert len(episodes) == 2 * len(MAKERS)
    assert {one.valid_from for one in episodes} <= {
        START + timedelta(seconds=s) for s in (0, 1, 3, 11)
    }
    assert any(ANSWERS[0] in one.detail for one in episodes)


def test_times_are_those_of_the_transcript_and_wait_for_extraction(
    desk: Desk, project: str
) -> None:
    made.claude_code(desk.home, project)
    desk.take("claude-code")
    events = desk.events()
    assert events[0].event.valid_time == START + timedelta(seconds=1)
    assert events[0].transaction_time == NOW
    assert desk.store.events.backlog()[0].count == len(events)
    session = desk.store.sessions.get(desk.namespace(project), "c0ffee00-claude")
    assert session is not None and session.surface == "claude-code"


def test_host_blocks_and_secrets_do_not_come_in(desk: Desk, project: str) -> None:
    path = made.claude_code(desk.home, project)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path.write_text(path.read_text().replace("declined", f"token {secret}"))
    desk.take("claude-code")
    stored = msgspec.json.encode([one.event for one in desk.events()]).decode()
    assert secret not in stored and "likes brevity" not in stored and "internal" not in stored


def test_what_hooks_captured_of_a_session_is_not_doubled(desk: Desk, project: str) -> None:
    """The hooks told the first turn, then fell silent; the transcript has both."""
    made.claude_code(desk.home, project)
    session = "c0ffee00-claude"
    about = {"session_id": session, "cwd": project}
    hook(desk, "UserPromptSubmit", 1, {**about, "prompt": f"{PROMPTS[0]}\n{made.REMINDER}"})
    hook(desk, "PostToolUse", 2, {
        **about, "tool_name": "Bash", "tool_use_id": "toolu_4",
        "tool_input": {"command": made.COMMAND, "description": "look"},
        "tool_response": {"stdout": "declined", "stderr": "", "interrupted": False},
    })  # fmt: skip
    hook(desk, "Stop", 3, {**about, "last_assistant_message": ANSWERS[0]})
    tally = desk.take("claude-code")["claude-code"]
    assert (tally.captured, tally.stored) == (3, 4)
    prompts = [one.event.body for one in desk.events() if one.event.kind == "prompt"]
    assert prompts == [TextBody(content=text) for text in PROMPTS]
    again = desk.take("claude-code")["claude-code"]
    assert (again.captured, again.known, again.stored) == (3, 4, 0)


def hook(desk: Desk, event: str, number: int, payload: dict[str, object]) -> None:
    frame = Frame(
        ulid=f"01KJQZ0000000000000000000{number}",
        boot_id="boot",
        mono_ns=number,
        wall_ns=int((START + timedelta(seconds=number)).timestamp() * 1e9),
        argv=(b"claude-code", event.encode()),
        cwd=b"/",
        stdin=msgspec.json.encode(payload),
    )
    desk.pipeline.frame(frame, bytes([number]) * 16)


def test_a_repeated_prompt_is_kept_as_often_as_it_was_said(desk: Desk, project: str) -> None:
    path = made.claude_code(desk.home, project)
    path.write_text(path.read_text().replace(PROMPTS[1], PROMPTS[0]))
    desk.take("claude-code")
    prompts = [one for one in desk.events() if one.event.kind == "prompt"]
    assert len(prompts) == 2


def test_the_last_turn_of_a_live_session_waits_until_it_is_whole(desk: Desk, project: str) -> None:
    path = made.claude_code(desk.home, project)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    desk.clock.jump(seconds=-(NOW - START).total_seconds() + 30)  # half a minute after it
    assert desk.take("claude-code")["claude-code"].stored == 4
    path.write_text("".join(lines))
    desk.clock.jump(minutes=30)
    assert desk.take("claude-code")["claude-code"].stored == 3
    answers = [one for one in desk.events() if one.event.kind == "session_summary"]
    assert len(answers) == 2


def test_a_resumed_session_that_repeats_an_earlier_ones_lines_adds_only_its_own(
    desk: Desk, project: str
) -> None:
    path = made.claude_code(desk.home, project)
    copy = path.with_name("resumed.jsonl")
    copy.write_text(path.read_text().replace('"sessionId":"c0ffee00-claude"', '"sessionId":"two"'))
    tally = desk.take("claude-code")["claude-code"]
    assert (tally.stored, tally.known) == (7, 7)


# --- where it belongs ---


def test_a_directory_that_is_gone_keeps_its_project(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, f"{project}/src", "one")
    known = desk.namespace(project)
    shutil.rmtree(project)
    desk.take("claude-code")
    assert {one.event.namespace for one in desk.events()} == {known}


def test_directories_that_were_never_here_become_one_project(desk: Desk) -> None:
    made.claude_code(desk.home, "/Users/somebody/shop/src/api", "one")
    made.codex(desk.home, "/Users/somebody/shop", "two")
    made.qwen(desk.home, "/Users/somebody/other", "three")
    desk.take()
    by_session = {one.event.session_id: one.event.namespace for one in desk.events()}
    assert by_session["one"] == by_session["two"] != by_session["three"]
    names = {one.name for one in desk.store.projects.all()}
    assert names == {"shop", "other"}


def test_a_session_in_the_home_itself_belongs_to_no_project(desk: Desk) -> None:
    made.claude_code(desk.home, str(desk.home))
    desk.take("claude-code")
    assert {one.event.namespace for one in desk.events()} == {"/actor/ada/"}


def test_a_path_that_tells_a_secret_is_not_kept(desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    made.claude_code(desk.home, f"/srv/{secret}/shop")
    desk.take("claude-code")
    stored = msgspec.json.encode([one.event for one in desk.events()]).decode()
    assert secret not in stored
    assert not any(secret in str(one.identities) for one in desk.store.projects.all())


# --- what is wanted ---


def test_projects_and_periods_select(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    made.codex(desk.home, "/nowhere/else")
    assert desk.take(project=project)["claude-code"].stored == 7
    assert {one.event.source.surface for one in desk.events()} == {"claude-code"}
    late = desk.take("codex", since=START + timedelta(seconds=10))["codex"]
    assert late.stored == 3
    assert desk.take("codex", since=START + timedelta(days=1)) == {}


def test_an_offer_tells_counts_dates_and_projects(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    made.claude_code(desk.home, "/nowhere/else", "second")
    (offer,) = desk.importing.offers(ImportRequest(home=str(desk.home)))
    assert (offer.source, offer.sessions) == ("claude-code", 2)
    assert offer.first == START + timedelta(seconds=1) and offer.last == START + timedelta(
        14 / 86400
    )
    assert offer.projects == {"shop": 1, "else": 1}
    assert desk.events() == []


def test_projects_of_one_name_are_told_apart_by_where_they_lie(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    made.claude_code(desk.home, "/nowhere/shop", "second")
    made.claude_code(desk.home, "/nowhere/else", "third")
    (offer,) = desk.importing.offers(ImportRequest(home=str(desk.home)))
    assert offer.projects == {project: 1, "/nowhere/shop": 1, "else": 1}


def test_a_dry_run_counts_and_stores_nothing(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    assert desk.take("claude-code", dry_run=True)["claude-code"].stored == 7
    assert desk.events() == []
    assert desk.store.projects.all() == []


@pytest.mark.parametrize("source", ["no-such-thing", "/no/such/file", "git:/nowhere"])
def test_a_source_that_is_none_is_named(desk: Desk, source: str) -> None:
    with pytest.raises(BadInput, match=r"no-such-thing|no/such|nowhere"):
        desk.take(source)


def test_a_file_that_is_nothing_known_is_refused(desk: Desk, tmp_path: pathlib.Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"hello": 1}\n')
    with pytest.raises(BadInput, match="neither an export"):
        desk.take(str(odd))


def test_a_single_transcript_can_be_named_by_its_path(desk: Desk, project: str) -> None:
    path = made.claude_code(desk.home, project)
    made.claude_code(desk.home, project, "second")
    assert desk.take(str(path))["claude-code"].sessions == 1


@pytest.mark.parametrize("host", made.MAKERS)
def test_a_transcript_is_recognised_wherever_it_lies(
    desk: Desk, project: str, tmp_path: pathlib.Path, host: str
) -> None:
    path = made.MAKERS[host](tmp_path / "old-home", project)
    there = desk.take(str(path))
    assert {name: one.stored for name, one in there.items()} == {host: 7}
    copy = tmp_path / f"{'kilo' if host == 'kilo' else 'a'}-copy{path.suffix}"
    shutil.copy2(path, copy)
    os.utime(copy, (made.millis(14) / 1000,) * 2)  # nobody writes to it any more
    (found,) = desk.importing.offers(ImportRequest(sources=(str(copy),)))
    assert (found.source, found.sessions) == (host, 1)
    again = desk.take(str(copy))[host]
    assert (again.read, again.stored) == (7, 0)


# --- catching up ---


def test_catching_up_finds_what_silent_hooks_missed_and_nothing_earlier(
    desk: Desk, project: str
) -> None:
    made.claude_code(desk.home, project)
    made.codex(desk.home, project)
    desk.clock.jump(seconds=-(NOW - START).total_seconds() + 86400)
    connected = {"claude-code": START + timedelta(seconds=10)}
    done = desk.importing.catch_up(connected, str(desk.home), {})
    assert done is not None and done.sources["claude-code"].stored == 3
    assert {one.event.source.surface for one in desk.events()} == {"claude-code"}
    again = desk.importing.catch_up(connected, str(desk.home), {})
    assert again is not None and again.sources == {}


def test_catching_up_leaves_old_sessions_and_erased_ones_alone(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    connected = {"claude-code": START - timedelta(days=1)}
    long_after = desk.importing.catch_up(connected, str(desk.home), {})
    assert long_after is not None and long_after.sources == {}
    desk.clock.jump(seconds=-(NOW - START).total_seconds() + 86400)
    desk.importing.catch_up(connected, str(desk.home), {})
    assert desk.turn_writer.wait(PATIENCE_S) and len(desk.events()) == 7
    from recollect.portable.erasure import ErasureSelection

    desk.erasure.forget(ErasureSelection(session_id="c0ffee00-claude"), "ada")
    assert desk.events() == []
    back = desk.importing.catch_up(connected, str(desk.home), {})
    assert back is not None and back.sources["claude-code"].forgotten == 7
    assert desk.events() == []
