"""What all adapters share: whose session it is, where it works, what happened."""

import json
from typing import Any

from recollect.hosts import hooks
from recollect.hosts.payloads import Capture, Payload


def captured(event: str, data: dict[str, Any], host: str = "claude-code", **more: Any) -> Capture:
    return hooks.capture(Payload(host, event, stdin=json.dumps(data).encode(), **more))


def test_a_session_id_that_cannot_be_stored_is_replaced_by_its_digest() -> None:
    first, second = (
        captured("Stop", {"session_id": "s" * 300 + tail}).session_id for tail in ("", "x")
    )
    assert first and second and first != second
    assert len(first) == 64
    assert len(captured("Stop", {"session_id": "a\nb"}).session_id or "") == 64


def test_a_session_id_may_come_from_the_environment() -> None:
    env = {"GEMINI_SESSION_ID": "from env"}
    assert captured("SessionEnd", {}, host="gemini", env=env).session_id == "from env"
    assert captured("SessionEnd", {}, host="gemini").session_id is None
    assert captured("SessionEnd", {"session_id": 7}, host="gemini").session_id == "7"


def test_only_an_absolute_directory_is_a_project() -> None:
    assert captured("Stop", {"cwd": "relative"}, cwd="/here").cwd == "/here"
    assert captured("Stop", {"cwd": "/x" * 2000}, cwd="also relative").cwd == ""
    assert captured("Stop", {"workspace_roots": [7, "/root"]}, host="cursor").cwd == "/root"


def test_events_are_found_whatever_their_spelling() -> None:
    for event in ("SessionEnd", "sessionEnd", "session-end", "session_end"):
        assert captured(event, {}).signal == "session-end"


def test_an_event_without_a_name_is_named_by_its_payload() -> None:
    assert captured("", {"hook_event_name": "SessionEnd"}).signal == "session-end"


def test_a_prompt_of_only_foreign_text_is_nobody_speaking() -> None:
    data = {"prompt": "<task-notification>done</task-notification>\n"}
    capture = captured("UserPromptSubmit", data)
    assert (capture.drafts, capture.wants, capture.note) == ((), None, "empty prompt")


def test_a_prompt_of_another_shape_is_read_or_is_empty() -> None:
    parts = [{"type": "text", "text": "read me"}, {"type": "image"}]
    assert captured("UserPromptSubmit", {"prompt": parts}).query == "read me"
    shapes: list[Any] = [7, None, True, [], {"x": 1}]
    for nonsense in shapes:
        assert captured("UserPromptSubmit", {"prompt": nonsense}).note == "empty prompt"


def test_an_answer_is_stripped_as_a_prompt_is() -> None:
    answer = 'done\n<recollect id="a1">\nquoted\n</recollect id="a1">'
    [draft] = captured("Stop", {"last_assistant_message": answer}).drafts
    assert "quoted" not in str(draft.body)


def test_a_transcript_is_named_only_when_it_can_be_one() -> None:
    for path, usable in (
        ("/t.jsonl", True),
        ("t.jsonl", False),
        ("/etc/passwd", False),
        (7, False),
    ):
        assert bool(captured("Stop", {"transcript_path": path}).transcript) == usable


def test_an_empty_payload_of_a_known_event_still_counts() -> None:
    capture = hooks.capture(Payload("codex", "SessionStart", cwd="/p"))
    assert (capture.signal, capture.reason, capture.damaged) == ("session-start", "startup", False)


def test_half_a_tool_call_keeps_its_command() -> None:
    raw = (
        b'{"session_id":"s","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"s'
    )
    capture = hooks.capture(Payload("claude-code", "PostToolUse", stdin=raw, truncated=True))
    assert capture.drafts[0].tool is not None
    assert capture.drafts[0].tool.command == "make"
    assert capture.damaged
