"""Every host's transcript tells the same two turns."""

import json
import pathlib
import shutil

import pytest

from recollect.core.values import JsonBody, MessageBody, TextBody
from recollect.hosts import registry
from recollect.hosts.transcript import TranscriptEvent
from tests.fakes import transcripts as made
from tests.fakes.transcripts import ANSWERS, ASIDE, COMMAND, FAILING, MAKERS, PROMPTS, START, notes

CWD = "/nowhere/shop"


def read(home: pathlib.Path, host: str) -> list[TranscriptEvent]:
    (found,) = list(registry.readers()[host].find(str(home), {}))
    assert found.cwd == CWD and found.host == host
    assert found.messages > 3 and found.bytes > 0
    assert found.began is not None and abs((found.began - START).total_seconds()) <= 1
    assert found.ended is not None and (found.ended - START).total_seconds() == 14
    return list(found.events())


@pytest.mark.parametrize("host", sorted(MAKERS))
def test_a_transcript_tells_prompts_calls_and_answers_in_order(
    host: str, tmp_path: pathlib.Path
) -> None:
    MAKERS[host](tmp_path, CWD)
    told = read(tmp_path, host)
    kinds = [one.draft.kind for one in told]
    assert kinds == [
        "prompt", "tool_use", "tool_use", "session_summary", "prompt", "tool_use",
        "session_summary",
    ]  # fmt: skip
    prompts = [one.draft.body for one in told if one.draft.kind == "prompt"]
    assert prompts == [TextBody(content=text) for text in PROMPTS]
    calls = [one.draft for one in told if one.draft.kind == "tool_use"]
    assert [call.tool.command for call in calls[:2] if call.tool] == [COMMAND, FAILING]
    assert [call.tool.failed for call in calls if call.tool] == [False, True, False]
    assert calls[2].tool is not None and calls[2].tool.files == (notes(CWD),)
    assert calls[2].tool.tool_class == "file-write"
    answers = [one.draft.body for one in told if one.draft.kind == "session_summary"]
    said = [[turn.content for turn in body.turns] for body in answers
            if isinstance(body, MessageBody)]  # fmt: skip
    assert said == [[ASIDE, ANSWERS[0]], [ANSWERS[1]]]
    assert [one.at for one in told] == sorted(one.at for one in told)
    assert len({one.key for one in told}) == len(told)


@pytest.mark.parametrize("host", sorted(MAKERS))
def test_reading_again_gives_the_same_keys_and_times(host: str, tmp_path: pathlib.Path) -> None:
    MAKERS[host](tmp_path, CWD)
    assert read(tmp_path, host) == read(tmp_path, host)


@pytest.mark.parametrize("host", sorted(MAKERS))
def test_a_home_without_the_host_has_no_transcripts(host: str, tmp_path: pathlib.Path) -> None:
    assert list(registry.readers()[host].find(str(tmp_path), {})) == []


def test_a_task_of_clines_extension_is_read_too(tmp_path: pathlib.Path) -> None:
    made.cline_task(tmp_path, CWD)
    told = read(tmp_path, "cline")
    prompts = [one.draft.body for one in told if one.draft.kind == "prompt"]
    assert prompts == [TextBody(content=text) for text in PROMPTS]
    assert [one.draft.kind for one in told].count("tool_use") == 3


def test_opencodes_earlier_files_are_read_too(tmp_path: pathlib.Path) -> None:
    made.opencode_files(tmp_path, CWD)
    told = read(tmp_path, "opencode")
    assert [one.draft.kind for one in told].count("tool_use") == 3


def test_a_session_that_is_in_both_of_opencodes_places_is_read_once(
    tmp_path: pathlib.Path,
) -> None:
    made.opencode(tmp_path, CWD, "ses_both")
    made.opencode_files(tmp_path, CWD, "ses_both")
    assert len(list(registry.readers()["opencode"].find(str(tmp_path), {}))) == 1


def test_opencodes_database_is_left_as_it_is(tmp_path: pathlib.Path) -> None:
    path = made.opencode(tmp_path, CWD)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    read(tmp_path, "opencode")
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before


def test_codexs_earlier_transcripts_tell_prompts_as_events(tmp_path: pathlib.Path) -> None:
    path = made.codex(tmp_path, CWD)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    spoken = {"timestamp": made.at(3), "type": "event_msg",
              "payload": {"type": "user_message", "message": PROMPTS[0]}}  # fmt: skip
    lines[4] = spoken
    made.write_lines(path, lines)
    prompts = [one for one in read(tmp_path, "codex") if one.draft.kind == "prompt"]
    assert [one.draft.body for one in prompts] == [TextBody(content=PROMPTS[0])]


def test_geminis_earlier_files_are_one_object(tmp_path: pathlib.Path) -> None:
    path = made.gemini(tmp_path, CWD)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    messages = [line for line in lines if "type" in line]
    whole = {"sessionId": "s", "startTime": made.at(0), "lastUpdated": made.at(14),
             "messages": messages}  # fmt: skip
    path.unlink()
    path.with_suffix(".json").write_text(json.dumps(whole))
    assert len(read(tmp_path, "gemini")) == 7


def test_the_environment_may_say_where_hosts_keep_their_files(tmp_path: pathlib.Path) -> None:
    made.claude_code(tmp_path, CWD)
    shutil.move(tmp_path / ".claude", tmp_path / "elsewhere")
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert len(list(registry.readers()["claude-code"].find(str(tmp_path), env))) == 1


def test_broken_lines_are_passed_over_and_glued_ones_are_both_read(tmp_path: pathlib.Path) -> None:
    path = made.claude_code(tmp_path, CWD)
    lines = path.read_text().splitlines()
    whole = read(tmp_path, "claude-code")
    broken = [lines[0], lines[1] + lines[2], *lines[3:9], '{"type":"user","mess', *lines[9:]]
    path.write_text("\n".join([*broken, "", "\x00\x00", "[]"]))
    assert [one.draft for one in read(tmp_path, "claude-code")] == [one.draft for one in whole]


def test_a_summary_that_replaced_the_conversation_is_not_the_users(tmp_path: pathlib.Path) -> None:
    path = made.claude_code(tmp_path, CWD)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    summary = {**lines[1], "isCompactSummary": True, "uuid": "summary"}
    summary["message"] = {"role": "user", "content": "This session is being continued: clocks."}
    made.write_lines(path, [*lines[:9], summary, *lines[9:]])
    notes_ = [one for one in read(tmp_path, "claude-code") if one.draft.kind == "note"]
    (body,) = [one.draft.body for one in notes_]
    assert isinstance(body, JsonBody) and body.data["signal"] == "compacted"
    assert notes_[0].draft.author == "assistant"


def test_the_branch_is_told_where_the_host_notes_it(tmp_path: pathlib.Path) -> None:
    recorded = pathlib.Path("tests/data/hosts/claude-code/transcript.jsonl")
    (transcript,) = registry.readers()["claude-code"].in_file(str(recorded))
    assert {event.branch for event in transcript.events()} == {"master"}
