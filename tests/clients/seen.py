"""What was captured, in a few words per event, and what should have been.

In: stored events. Out: a list such as start, prompt, command, answer, end, and complaints.
"""

import json
from dataclasses import dataclass
from typing import Any

from tests.clients.clients import Client
from tests.clients.recalling_daemon import MARK

Event = dict[str, Any]


@dataclass(frozen=True)
class Typed:
    """One turn as the user and the fake model made it."""

    turn: str
    again: bool = False

    @property
    def prompt(self) -> str:
        return f'{self.turn}: do the "three steps", it\'s easy – äöü\nthen say so'

    @property
    def answer(self) -> str:
        return f"All is done. ANSWER-{self.turn.removeprefix('TURN-')}"


def word(event: Event) -> str:
    """An event in a word or two."""
    body = event["body"]
    match event["kind"]:
        case "prompt":
            return f"prompt {body['content']!r}"
        case "session_summary":
            return f"answer {body['turns'][-1]['content']!r}"
        case "note":
            return str(body["data"].get("signal"))
        case "tool_use":
            data = body["data"]
            what = data["command"] or ", ".join(data["files"])
            return f"{data['class']} {what!r}{' failed' if data['failed'] else ''}"
        case other:
            return str(other)


def wanted(client: Client, project: str, typed: list[Typed]) -> list[str]:
    """The events of a session in which this was typed, in order."""
    words = []
    for one in typed:
        words.append("session-start")
        words.append(f"prompt {one.prompt!r}")
        words.append(
            f"command {f'echo canary-{one.turn} > {one.turn}.txt && cat {one.turn}.txt'!r}"
        )
        words.append(f"file-write {f'{project}/written-{one.turn}.txt'!r}")
        failed = " failed" if client.says_failures else ""
        words.append(f"command {f'cat no-such-file-{one.turn}.txt'!r}{failed}")
        words.append(f"answer {one.answer!r}")
        if client.says_end:
            words.append("session-end")
    return words


def complaints(
    client: Client, project: str, events: list[Event], typed: list[Typed]
) -> dict[str, list[str]]:
    """What is wrong with a session's events, by column of the table."""
    found: dict[str, list[str]] = {
        name: [] for name in ("session", "prompt", "tools", "answer", "end")
    }
    # In the order of the host or the hook, whenever it was stored. Copilot may run the hooks of a
    # start and of the first prompt side by side: then only the host's own time tells.
    events = sorted(events, key=lambda event: (event["valid_time"], event["event_id"]))
    have, want = [word(event) for event in events], wanted(client, project, typed)
    for text in sorted({*have, *want}):
        if have.count(text) != want.count(text):
            told = f"{have.count(text)} x instead of {want.count(text)} x {text}"
            found[_column(text)].append(told)
    if not any(found.values()) and have != want:
        found["session"].append(f"order: {have}")
    for name in ("session_id", "namespace"):
        values = {event[name] for event in events}
        if len(values) > 1:
            found["session"].append(f"several of {name}: {sorted(values)}")
    if any("/project/" not in event["namespace"] for event in events):
        found["session"].append("not in the project's namespace")
    if any(event["source"]["surface"] != client.host for event in events):
        found["session"].append("from another host")
    for one in typed:
        _check_outputs(events, one, found["tools"])
    if MARK in json.dumps(events) or "[recollect " in json.dumps(events):
        found["prompt"].append("Recollect's own text was captured")
    return found


def _check_outputs(events: list[Event], typed: Typed, found: list[str]) -> None:
    for event in events:
        data = event["body"].get("data", {}) if event["kind"] == "tool_use" else {}
        if f"echo canary-{typed.turn}" not in str(data.get("command")):
            continue
        if f"canary-{typed.turn}" not in json.dumps(data["output"]):
            found.append(f"the command's output is not there: {data['output']!r}")


def _column(text: str) -> str:
    first = text.split()[0]
    known = {"session-start": "session", "session-end": "end", "prompt": "prompt"}
    return known.get(first, "answer" if first == "answer" else "tools")
