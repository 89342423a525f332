"""What the hook does itself about sessions and projects that are kept out.

In: a hook's input, its environment, the data directory. Out: whether the event may be spooled, and
a note of each session that the environment makes private. Standard library only.
"""

import json
import os
import time
import tomllib
from collections.abc import Mapping
from typing import Any

from recollect.core import keepout_rules
from recollect.core.private_sessions import (
    ENVIRONMENT,
    WORD,
    PrivateSessions,
    privacy_word,
    session_key,
)

PROMPT_FIELDS = ("prompt", "user_prompt", "userPrompt", "message")
EVENT_FIELDS = ("hook_event_name", "hookName", "hookEventName")
# --- made from hosts/*/facts.py and adapter.py: python -m tests.docs --write ---
# Where payloads name their session.
SESSION_FIELDS = (
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "trajectory_id",
    "taskId",
    "conversationId",
    "task_id",
    "thread-id",
)
# Variables that name it.
SESSION_VARIABLES = (
    "AUGMENT_CONVERSATION_ID",
    "CLAUDE_CODE_SESSION_ID",
    "GEMINI_SESSION_ID",
    "QWEN_CODE_SESSION_ID",
)
# Events that end it, in letters and digits alone.
SESSION_ENDS = (
    "sessiondeleted",
    "sessionend",
    "sessionshutdown",
    "taskcancel",
)
# --- end of what is made ---
# As much of a session's name is used.
_LONGEST = 256
# A session may have begun so long before its first hook was heard, and go on in its transcript so
# long after the last one.
_LATE_MS = 60_000


def session_in(stdin: bytes, environ: Mapping[str, str]) -> str | None:
    """The session that a host names in a hook's input, as its adapter would read it."""
    told = _object(stdin)
    for name in SESSION_FIELDS:
        if isinstance(value := told.get(name), str) and value.strip():
            return value.strip()[:_LONGEST]
    return next((environ[name] for name in SESSION_VARIABLES if environ.get(name)), None)


def keep_private(
    directory: str, host: str, event: str, stdin: bytes, cwd: str, now_ms: int
) -> None:
    """Note that the environment makes this session private, and until when, so that no import of
    the host's transcript brings it in later."""
    session_id = session_in(stdin, os.environ)
    key, private = session_key(host, session_id, cwd), PrivateSessions(directory)
    private.begin(key, host, now_ms - _LATE_MS, ENVIRONMENT)
    if is_session_end(event, stdin):
        private.end(key, host, now_ms + _LATE_MS)


def is_session_end(event: str, stdin: bytes) -> bool:
    """Whether a hook was called at the end of a session; some hosts name the event in its input."""
    if not event:
        told = _object(stdin)
        named = (told.get(name) for name in EVENT_FIELDS)
        event = next((one for one in named if isinstance(one, str)), "")
    return "".join(filter(str.isalnum, event[:100].lower())) in SESSION_ENDS


def may_spool(directory: str, host: str, stdin: bytes, env: Mapping[str, str], cwd: str) -> bool:
    """Whether what the daemon did not take may be kept on disk until it does. A prompt that makes
    its session private takes effect here. Only the adapter knows which of a host's directories is
    the project, so one that is kept out is enough."""
    own = keepout_rules.rules(_setting(os.path.join(directory, "settings.toml")))
    reader = keepout_rules.ProjectRulesReader()
    told = _object(stdin)
    named = [cwd, told.get("cwd"), *env.values()]
    if any(isinstance(one, str) and reader.rules_for(one, own).off for one in named):
        return False
    cwd = next((one for one in named[1:2] if isinstance(one, str) and os.path.isabs(one)), cwd)
    private, key = PrivateSessions(directory), session_key(host, session_in(stdin, env), cwd)
    now_ms = time.time_ns() // 1_000_000
    word = _word_in(told)
    if word == "private":
        private.begin(key, host, now_ms, WORD)
    elif word == "public" or private.open(key) == ENVIRONMENT:
        private.end(key, host, now_ms)  # without the variable, this session goes on in the open
    return not word and not private.open(key)


def _object(stdin: bytes) -> dict[str, Any]:
    try:
        data = json.loads(stdin)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _word_in(told: Mapping[str, Any]) -> str:
    for name in PROMPT_FIELDS:
        if isinstance(text := told.get(name), str) and (word := privacy_word(text)):
            return word
    return ""


def _setting(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            given = tomllib.load(file).get("ignore", [])
    except (OSError, ValueError):
        return []
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
