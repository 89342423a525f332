"""Recorded payloads of every host, what becomes of each, and what each hook is answered.

Run as a program, it writes the golden files anew, to be read before they are committed:
`python -m tests.contract.host_contract`
"""

import json
import os
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from recollect.core.ids import new_ulid
from recollect.core.values import EVENT_BODY_BYTES, Event, EventSource, check, encode
from recollect.hosts import hooks, registry
from recollect.hosts.payloads import Capture, EventDraft, Payload

DATA = os.path.join(os.path.dirname(__file__), os.pardir, "data", "hosts")
REPOSITORY = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir)
GOLDEN = os.path.join(DATA, "golden")
ANSWERS = "answers"
FENCED = "[recollect 7f3a]\nNotes from earlier work.\n- secret\n[/recollect 7f3a]"


def payloads(host: str) -> dict[str, Payload]:
    """Every stored payload of a host, by the name of its file."""
    folder = os.path.join(DATA, host)
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found[name.removesuffix(".json")] = payload_of(host, json.load(file))
    return found


def payload_of(host: str, recorded: dict[str, Any]) -> Payload:
    stdin = json.dumps(recorded["stdin"]).encode() if recorded["stdin"] else b""
    args = tuple(recorded["args"])
    return Payload(host, recorded["event"], args, recorded["cwd"], recorded["env"], stdin)


def has_transcript(host: str) -> bool:
    return os.path.exists(os.path.join(DATA, host, "transcript.jsonl"))


def transcript(host: str) -> bytes:
    with open(os.path.join(DATA, host, "transcript.jsonl"), "rb") as file:
        return file.read()


def told(capture: Capture) -> dict[str, Any]:
    """A capture as plain data, without what is empty."""
    data = asdict(replace(capture, drafts=()))
    data["happened_at"] = capture.happened_at and capture.happened_at.isoformat()
    drafts = []
    for draft in capture.drafts:
        body = msgspec.to_builtins(draft.body)
        drafts.append({**asdict(replace(draft, body=None)), "body": body})  # type: ignore[arg-type]
    data["drafts"] = drafts
    return {key: value for key, value in data.items() if value not in (None, "", [], False)}


def event_of(capture: Capture, draft: EventDraft) -> Event:
    """The event that the pipeline would make of a draft."""
    return Event(
        event_id=new_ulid(),
        session_id=capture.session_id or "continued",
        actor_id="someone",
        namespace="/actor/someone/",
        kind=draft.kind,
        body=draft.body,
        valid_time=datetime.now(UTC),
        source=EventSource(surface=capture.host, project_path=capture.cwd or None),
    )


def check_capture(capture: Capture) -> None:
    """What must hold for any capture of anything."""
    for draft in capture.drafts:
        check(event_of(capture, draft))
        assert len(encode(draft.body)) <= EVENT_BODY_BYTES
        assert (draft.tool is not None) == (draft.kind == "tool_use")
    assert capture.drafts or capture.note or capture.signal
    assert capture.wants is None or capture.drafts
    assert capture.cwd == "" or os.path.isabs(capture.cwd)


def golden(host: str) -> dict[str, Any]:
    with open(_golden_path(host), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
        return data


def _golden_path(host: str) -> str:
    return os.path.join(GOLDEN, f"{host}.json")


def missing(host: str) -> list[str]:
    """What a host lacks to be tested, a sentence each."""
    known = registry.facts()[host]
    folder = os.path.join("tests", "data", "hosts", host)
    there = os.path.join(DATA, host)
    stored = payloads(host) if os.path.isdir(there) else {}
    lacking = []
    if known.prompts and known.prompts[0] not in stored:
        lacking.append(f"{host} has no recorded prompt: {folder}/{known.prompts[0]}.json")
    captures = [hooks.capture(payload) for payload in stored.values()]
    hooked = bool(known.hooks or known.prompts)
    if hooked and not any(draft.tool for capture in captures for draft in capture.drafts):
        lacking.append(f"{host} has no recorded tool call in {folder}")
    if known.prompts and not any(capture.signal == "stop" for capture in captures):
        lacking.append(f"{host} has no recorded end of a turn in {folder}")
    if hooked and not os.path.exists(_golden_path(host)):
        lacking.append(f"{host} has no golden file: python -m tests.contract.host_contract")
    cases = os.path.join("tests", "data", "install", host)
    for case in ("empty", "existing"):
        if not os.path.isdir(os.path.join(REPOSITORY, cases, case, "before")):
            lacking.append(f"{host} has no install case: {cases}/{case}/before")
    return lacking


def captured(host: str) -> dict[str, Any]:
    """Every payload's capture; under `answers` what each hook prints with and without context."""
    found: dict[str, Any] = {
        name: json.loads(json.dumps(told(hooks.capture(payload)), sort_keys=True))
        for name, payload in payloads(host).items()
    }
    adapter = hooks.ADAPTERS[host]
    found[ANSWERS] = {
        hook.event: [adapter.answer(hook.event, text).decode() for text in (FENCED, "")]
        for hook in adapter.facts.hooks
    }
    return found


def write_golden_files() -> None:
    os.makedirs(GOLDEN, exist_ok=True)
    for host in registry.adapters():
        with open(_golden_path(host), "w", encoding="utf-8") as file:
            json.dump(captured(host), file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")


if __name__ == "__main__":
    write_golden_files()
