"""The pipeline with a real store: what hooks send, in the order and at the pace of real hosts."""

import json
import pathlib
import threading
import time
from typing import Any

import pytest

from recollect.capture import frames
from recollect.capture.frames import Frame
from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.values import MessageBody, TextBody
from recollect.ingest import pipeline as module
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Recalled, RecallQuestion, Reply
from recollect.ingest.pipeline import Pipeline
from recollect.store.sqlite import SqliteStore

SESSION = "c4d991d4-f950-4d02-876d-66098e9dc814"


def made(host: str, event: str, **payload: Any) -> tuple[Frame, bytes]:
    frame = Frame(
        ulid=ids.new_ulid(),
        boot_id="boot",
        mono_ns=time.monotonic_ns(),
        wall_ns=time.time_ns(),
        argv=(host.encode(), event.encode()),
        cwd=b"/",
        env=(),
        stdin=json.dumps(payload).encode(),
    )
    return frame, frames.digest(frames.encode_payload(frame))


class Hooks:
    """Sends frames as hook processes do, and knows what was stored."""

    def __init__(self, store: SqliteStore, clock: ManualClock) -> None:
        self._store = store
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        self.pipeline = Pipeline(self._store, self._clock, "ada", Counters(self._clock))

    def send(self, host: str, event: str, *, live: bool = True, **payload: Any) -> Reply:
        frame, digest = made(host, event, **payload)
        if live:
            return self.pipeline.frame(frame, digest)
        return self.pipeline.spooled([(frame, digest)])[0]

    def stored(self) -> list[str]:
        """Prompts, answers and signals, oldest first."""
        page = self._store.events.page("/actor/ada/", limit=100)
        told: list[str] = []
        for row in reversed(page.items):
            body: Any = row.event.body
            match body:
                case TextBody():
                    told.append(body.content)
                case MessageBody():
                    told.append(body.turns[-1].content)
                case _:
                    told.append(body.data.get("signal", "tool"))
        return told


@pytest.fixture
def hooks(store: SqliteStore, clock: ManualClock) -> Hooks:
    return Hooks(store, clock)


# --- signals -------------------------------------------------------------------------------------


def test_a_start_that_fires_twice_is_one_start(hooks: Hooks) -> None:
    for _ in range(2):
        hooks.send("codex", "SessionStart", session_id=SESSION, source="startup")
    assert hooks.stored() == ["session-start"]


def test_a_session_that_is_resumed_at_once_begins_and_ends_again(hooks: Hooks) -> None:
    for _ in range(3):
        hooks.send("codex", "SessionStart", session_id=SESSION, source="resume")
        hooks.send("codex", "SessionEnd", session_id=SESSION, reason="other")
        hooks.send("codex", "SessionEnd", session_id=SESSION, reason="other")
    assert hooks.stored() == ["session-start", "session-end"] * 3


# --- answers that stand in a transcript ----------------------------------------------------------


def written(transcript: pathlib.Path, *said: tuple[str, str, int]) -> None:
    lines = [
        {"type": kind, "data": {"content": text}, "timestamp": f"2026-11-15T19:14:{second}.000Z"}
        for kind, text, second in said
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))


def stop(hooks: Hooks, transcript: pathlib.Path, second: int = 20, *, live: bool = True) -> Reply:
    return hooks.send(
        "copilot",
        "agentStop",
        live=live,
        sessionId=SESSION,
        transcriptPath=str(transcript),
        timestamp=f"2026-11-15T19:14:{second}.000Z",
    )


def test_a_transcript_that_is_written_a_moment_later_is_waited_for(
    hooks: Hooks, tmp_path: pathlib.Path
) -> None:
    transcript = tmp_path / "events.jsonl"
    said = ("user.message", "do it", 10), ("assistant.message", "done", 15)
    threading.Timer(0.05, written, (transcript, *said)).start()
    assert stop(hooks, transcript).status == frames.STORED
    assert hooks.stored() == ["done"]


def test_a_stop_whose_answer_is_not_written_yet_comes_back_through_the_spool(
    hooks: Hooks, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TRANSCRIPT_WAIT_S", 0.0)
    transcript = tmp_path / "events.jsonl"
    assert stop(hooks, transcript).status == frames.NOT_NOW
    written(transcript, ("user.message", "do it", 10), ("assistant.message", "done", 15))
    assert stop(hooks, transcript, live=False).status == frames.STORED
    assert hooks.stored() == ["done"]


def test_a_stop_that_is_read_late_has_the_answer_of_its_own_turn(
    hooks: Hooks, tmp_path: pathlib.Path
) -> None:
    transcript = tmp_path / "events.jsonl"
    first = ("user.message", "one", 10), ("assistant.message", "first", 15)
    second = ("user.message", "two", 30), ("assistant.message", "second", 35)
    written(transcript, *first, *second)
    stop(hooks, transcript, 20, live=False)
    stop(hooks, transcript, 40, live=False)
    assert hooks.stored() == ["first", "second"]


def test_a_stop_that_is_read_with_its_prompt_has_the_answer_of_its_own_turn(
    hooks: Hooks, tmp_path: pathlib.Path
) -> None:
    """Both were spooled: where the turn began is known only once its prompt is stored."""
    transcript = tmp_path / "events.jsonl"
    first = ("user.message", "one", 10), ("assistant.message", "first", 15)
    written(transcript, *first)
    prompt = {"prompt": "two", "timestamp": "2026-11-15T19:14:29.000Z"}
    stopped = {"transcriptPath": str(transcript), "timestamp": "2026-11-15T19:14:40.000Z"}
    hooks.pipeline.spooled(
        [
            made("copilot", "userPromptSubmitted", sessionId=SESSION, **prompt),
            made("copilot", "agentStop", sessionId=SESSION, **stopped),
        ]
    )
    assert hooks.stored() == ["two"]  # not the answer of the turn before


def test_the_answer_of_the_turn_before_is_not_taken_for_this_one(
    hooks: Hooks, tmp_path: pathlib.Path
) -> None:
    transcript = tmp_path / "events.jsonl"
    first = ("user.message", "one", 10), ("assistant.message", "first", 15)
    second = ("user.message", "two", 30), ("assistant.message", "second", 35)
    written(transcript, *first)
    at = "2026-11-15T19:14:29.000Z"
    hooks.send("copilot", "userPromptSubmitted", sessionId=SESSION, prompt="two", timestamp=at)
    threading.Timer(0.05, written, (transcript, *first, *second)).start()
    stop(hooks, transcript, 40)
    assert hooks.stored() == ["two", "second"]


def test_a_transcript_that_can_never_come_is_not_waited_for(
    hooks: Hooks, tmp_path: pathlib.Path
) -> None:
    assert stop(hooks, tmp_path / "nowhere" / "events.jsonl").status == frames.STORED
    assert hooks.stored() == []


# --- prompts that stand in a file ----------------------------------------------------------------


def cline(hooks: Hooks, event: str, **payload: Any) -> Reply:
    return hooks.send("cline", event, sessionContext={"rootSessionId": "17_ab"}, **payload)


def test_a_prompt_of_clines_cli_is_read_once_from_its_file_and_recalled_with_the_first_tool(
    hooks: Hooks, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".cline/data/sessions/17_ab/17_ab.messages.json"
    file.parent.mkdir(parents=True)
    said = [{"type": "text", "text": '<user_input mode="act">mend the "pump"</user_input>'}]
    hook = [{"type": "text", "text": "<hook_context>not typed</hook_context>"}]
    messages = [
        {"id": "m1", "role": "user", "content": said},
        {"id": "m2", "role": "user", "content": hook},
    ]
    asked: list[str] = []

    def recall(question: RecallQuestion) -> Recalled:
        asked.append(question.trigger)
        return Recalled()

    hooks.pipeline.recall = recall
    cline(hooks, "TaskStart", taskStart={})
    file.write_text(json.dumps({"messages": messages}))
    for number in range(2):
        cline(hooks, "PreToolUse", preToolUse={"toolName": "run_commands"})
        told = {"id": f"call_{number}", "input": {"commands": ["ls"]}, "output": "ok"}
        cline(hooks, "PostToolUse", postToolUse={"toolName": "run_commands"}, tool_result=told)
    cline(hooks, "TaskComplete", turn={"outputText": "It is mended."})
    kept = [one for one in hooks.stored() if one != "tool"]
    assert kept == ["session-start", 'mend the "pump"', "It is mended."]
    assert asked == ["prompt", "tool", "tool"]
    messages.append({"id": "m3", "role": "user", "content": said})  # the same words again
    file.write_text(json.dumps({"messages": messages}))
    for _ in range(2):
        cline(hooks, "PreToolUse", preToolUse={"toolName": "run_commands"})
        hooks.restart()  # the next daemon knows no key of the turn
    cline(hooks, "TaskComplete", turn={"outputText": "And again."})
    kept = [one for one in hooks.stored() if one != "tool"]
    assert kept[2:] == ["It is mended.", 'mend the "pump"', "And again."]


def test_an_empty_prompt_of_kiro_is_read_from_its_session(
    hooks: Hooks, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / f".kiro/sessions/cli/{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    content = [{"kind": "text", "data": "add a retry"}]
    line = {"version": "v1", "kind": "Prompt", "data": {"message_id": "m1", "content": content}}
    file.write_text(json.dumps(line) + "\n")
    hooks.send("kiro-cli", "UserPromptSubmit", session_id=SESSION, prompt="")
    assert hooks.stored() == ["add a retry"]


def test_an_event_of_kiro_that_both_kinds_of_hooks_report_is_kept_once(hooks: Hooks) -> None:
    told: dict[str, Any] = {"session_id": SESSION, "prompt": "add a retry", "cwd": "/"}
    hooks.send("kiro-cli", "userPromptSubmit", hook_event_name="userPromptSubmit", **told)
    hooks.send("kiro-ide", "UserPromptSubmit", hook_event_name="UserPromptSubmit", **told)
    for host in ("kiro-cli", "kiro-ide"):
        hooks.send(host, "Stop", session_id=SESSION, assistant_response="Done.", cwd="/")
    assert hooks.stored() == ["add a retry", "Done."]
