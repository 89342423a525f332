"""How full a session's context is, as hosts write it into their transcripts."""

import json
from typing import Any

import pytest

from recollect.hosts import hooks
from recollect.hosts.payloads import ContextSize, Payload


def size(host: str, *lines: dict[str, Any]) -> ContextSize | None:
    transcript = "\n".join(json.dumps(one) for one in lines)
    return hooks.adapter(host).context_size(f'half a line"}}\n{transcript}\n'.encode())


def claude(tokens: int, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": tokens - 10,
        "cache_creation_input_tokens": 7,
        "output_tokens": 50,
    }
    return {"type": "assistant", "message": {"model": "opus", "usage": usage}, **more}


def codex(tokens: int, window: int | None = 258_400) -> dict[str, Any]:
    info = {
        "total_token_usage": {"total_tokens": 9 * tokens},  # of the whole session
        "last_token_usage": {"input_tokens": tokens - 10, "total_tokens": tokens},
        "model_context_window": window,
    }
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def gemini(tokens: int) -> dict[str, Any]:
    told = {"input": tokens - 10, "output": 10, "total": tokens}
    return {"id": "a", "type": "gemini", "content": "", "tokens": told, "model": "pro"}


def test_claude_code_tells_it_with_each_answer() -> None:
    user = {"type": "user", "message": {"role": "user", "content": "go on"}}
    assert size("claude-code", claude(90_000), claude(120_000), user) == ContextSize(
        120_000, "opus"
    )
    subagent = claude(9_000, isSidechain=True)
    error = {"type": "assistant", "message": {"model": "<synthetic>", "usage": {"input_tokens": 0}}}
    assert size("claude-code", claude(120_000), subagent, error) == ContextSize(120_000, "opus")


def test_what_was_said_before_a_compaction_is_no_size() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary"}
    summary = {"type": "user", "isCompactSummary": True, "message": {"content": "This session"}}
    for mark in (boundary, summary):
        assert size("claude-code", claude(160_000), mark) is None
        after = size("claude-code", claude(160_000), mark, claude(30_000))
        assert after == ContextSize(30_000, "opus")


def test_codex_tells_it_with_its_window_and_again_after_a_compaction() -> None:
    assert size("codex", codex(130_010)) == ContextSize(130_010, compacts_at=244_800)
    compacted = {"type": "compacted", "payload": {"message": "A summary"}}
    after = size("codex", codex(240_000), compacted, codex(9_000))
    assert after == ContextSize(9_000, compacts_at=244_800)
    assert size("codex", codex(130_010, window=None)) == ContextSize(130_010)
    started = {"type": "event_msg", "payload": {"type": "token_count", "info": None}}
    assert size("codex", started) is None


def test_gemini_tells_it_with_each_answer() -> None:
    user = {"id": "b", "type": "user", "content": "go on"}
    assert size("gemini", gemini(1_000), gemini(400_000), user) == ContextSize(400_000, "pro")
    assert size("gemini", user) is None


@pytest.mark.parametrize("value", [None, "many", -5, True, 1.5, [], {}])
def test_what_is_no_number_tells_nothing(value: Any) -> None:
    usage = {"message": {"usage": {"input_tokens": value}}}
    assert size("claude-code", {"type": "assistant", **usage}) is None
    info = {"last_token_usage": {"total_tokens": value}, "model_context_window": value}
    assert size("codex", {"payload": {"type": "token_count", "info": info}}) is None
    assert size("gemini", {"type": "gemini", "tokens": {"total": value}}) is None


@pytest.mark.parametrize(
    ("host", "event", "named"),
    [
        ("claude-code", "UserPromptSubmit", True),
        ("codex", "UserPromptSubmit", True),
        ("gemini", "BeforeAgent", True),
        ("qwen", "UserPromptSubmit", False),  # its transcripts were not measured
        ("factory-droid", "UserPromptSubmit", False),
    ],
)
def test_a_prompt_names_the_file_where_it_tells_the_size(
    host: str, event: str, named: bool
) -> None:
    for path, usable in (("/home/ada/s.jsonl", True), ("s.jsonl", False), ("/etc/shadow", False)):
        given = {"session_id": "s", "cwd": "/work", "prompt": "hi", "transcript_path": path}
        payload = Payload(host, event, stdin=json.dumps(given).encode())
        wanted = path if named and usable else None
        assert hooks.capture(payload).size_file == wanted
