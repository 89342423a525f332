"""What every host's adapter promises, over its recorded payloads.

Run as a program, it writes the golden files anew, to be read before they are committed:
`python -m tests.contract.host_contract`
"""

import json
import os
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec

from recollect.core.ids import new_ulid
from recollect.core.values import EVENT_BODY_BYTES, Event, EventSource, check, encode
from recollect.hosts import hooks
from recollect.hosts.payloads import Capture, Draft, Payload

DATA = os.path.join(os.path.dirname(__file__), os.pardir, "data", "hosts")
GOLDEN = os.path.join(DATA, "golden")
FENCED = '<recollect id="7f3a">\nNotes from earlier work.\n- secret\n</recollect id="7f3a">'


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


def event_of(capture: Capture, draft: Draft) -> Event:
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
    with open(os.path.join(GOLDEN, f"{host}.json"), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
        return data


def captured(host: str) -> dict[str, Any]:
    return {
        name: json.loads(json.dumps(told(hooks.capture(payload)), sort_keys=True))
        for name, payload in payloads(host).items()
    }


def _quoted(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


class HostContract:
    """Inherit, name the host, and say how it reads an answer."""

    name: ClassVar[str]
    verified: ClassVar[bool] = True
    # What the host is told when there is nothing to tell.
    silence: ClassVar[dict[str, bytes]] = {}
    prompt: ClassVar[str]
    stops: ClassVar[tuple[str, ...]] = ("Stop",)

    def context_in(self, answer: bytes, event: str) -> str:
        """Read an answer as strictly as the host does; return what it would inject."""
        raise NotImplementedError

    def test_every_recorded_payload_gives_what_its_golden_file_says(self) -> None:
        assert captured(self.name) == golden(self.name)

    def test_every_draft_is_a_valid_event(self) -> None:
        for payload in payloads(self.name).values():
            check_capture(hooks.capture(payload))

    def test_it_is_found_by_its_name_and_its_aliases(self) -> None:
        host = hooks.ADAPTERS[self.name]
        assert all(hooks.adapter(alias) is host for alias in (self.name, *host.facts.aliases))
        assert bool(host.facts.verified) == self.verified

    def test_every_hook_that_is_installed_is_understood(self) -> None:
        host = hooks.ADAPTERS[self.name]
        for spec in host.facts.hooks:
            capture = hooks.capture(Payload(self.name, spec.event))
            assert capture.note != "event not used", spec
            assert spec.timeout_ms == spec.timeout_s * 1000

    def test_every_hook_that_injects_answers_in_the_hosts_format(self) -> None:
        host = hooks.ADAPTERS[self.name]
        for spec in host.facts.hooks:
            if spec.injects:
                assert self.context_in(host.answer(spec.event, FENCED), spec.event) == FENCED

    def test_without_context_nothing_is_said_but_what_must_be(self) -> None:
        host = hooks.ADAPTERS[self.name]
        for spec in host.facts.hooks:
            assert host.answer(spec.event, "") == self.silence.get(spec.event, b"")

    def test_a_stop_is_never_answered_with_context(self) -> None:
        for event in self.stops:
            assert b"secret" not in hooks.ADAPTERS[self.name].answer(event, FENCED)

    def test_an_answer_survives_any_text(self) -> None:
        host = hooks.ADAPTERS[self.name]
        for spec in host.facts.hooks:
            host.answer(spec.event, 'quote " \\ \ud800 \x00 line\n').decode()

    def test_what_recollect_injected_is_not_captured_again(self) -> None:
        payload = payloads(self.name)[self.prompt]
        said = hooks.capture(payload).query
        again = said + "\n\n" + FENCED
        stdin = payload.stdin.replace(_quoted(f'"{said}"'), _quoted(again))
        if stdin == payload.stdin:
            stdin = payload.stdin.replace(_quoted(said), _quoted(again))
        assert stdin != payload.stdin
        capture = hooks.capture(replace(payload, stdin=stdin))
        assert capture.query == said
        assert b"secret" not in encode(capture.drafts[0].body)

    def test_the_same_payload_again_has_the_same_keys_and_other_words_have_others(self) -> None:
        payload = payloads(self.name)[self.prompt]
        first, again = hooks.capture(payload), hooks.capture(payload)
        assert first.dedupe_key and first.dedupe_key == again.dedupe_key
        other = replace(payload, stdin=payload.stdin.replace(first.query[:4].encode(), b"Else"))
        assert hooks.capture(other).dedupe_key not in (None, first.dedupe_key)

    def test_half_a_payload_still_gives_session_and_project(self) -> None:
        payload = payloads(self.name)[self.prompt]
        whole = hooks.capture(payload)
        half = replace(payload, stdin=payload.stdin.rstrip()[:-2], truncated=True)
        capture = hooks.capture(half)
        assert (capture.session_id, capture.cwd) == (whole.session_id, whole.cwd)
        assert capture.query[:8] == whole.query[:8]
        assert capture.damaged

    def test_what_cannot_be_read_is_noted(self) -> None:
        capture = hooks.capture(Payload(self.name, "PostToolUse", stdin=b"\xff\xfe garbage"))
        assert not capture.drafts
        assert capture.note
        assert capture.damaged


def write_golden_files() -> None:
    os.makedirs(GOLDEN, exist_ok=True)
    for host in hooks.ADAPTERS:
        with open(os.path.join(GOLDEN, f"{host}.json"), "w", encoding="utf-8") as file:
            json.dump(captured(host), file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")


if __name__ == "__main__":
    write_golden_files()
