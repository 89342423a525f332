"""Whatever a host sends, its adapter gives a capture that can be stored, and raises nothing."""

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.hosts import hooks
from recollect.hosts.payloads import Capture, Payload
from tests import hook_lists
from tests.contract.host_contract import check_capture, payloads

NAMES = sorted([*hooks.ADAPTERS, "unheard-of"])
EVENTS = sorted(
    {"", "notify", "event", "PostToolUseFailure", "SubagentStop", "agentStop", "nonsense \ud800"}
    | {spec.event for host in hooks.ADAPTERS.values() for spec in host.facts.hooks}
)
RECORDED = [payload for name in hooks.ADAPTERS for payload in payloads(name).values()]
# Every field that some adapter looks at, so that wrong types land where they hurt.
FIELDS = sorted({key for payload in RECORDED for key in json.loads(payload.stdin or b"{}")})
FIELDS += ["input", "output", "parts", "properties", "info", "args", "text", "command", "edits"]

JUNK: list[Any] = [
    *(None, True, False, 0, -1, 7, 2**70, 1.5, "", "x", "\ud800", "\x00", "9" * 400, "/", "/abs"),
    *([], {}, [[]], [{}], [None, 1, "a"], {"a": {"b": {"c": []}}}, {"text": 7}, [{"type": "text"}]),
    *('<recollect id="a">\n', "<system-reminder>x</system-reminder>", '{"a":', "Bash", "TodoWrite"),
    *("2026-13-45T99:99:99Z", "1" * 300, {"command": ["bash", "-lc", 7]}, {"path": "x" * 9000}),
]
for _ in range(40):
    JUNK.append({"a": JUNK[-1]})

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(FIELDS), values, max_size=8)


def captured(payload: Payload) -> Capture:
    capture = hooks.capture(payload)
    check_capture(capture)
    assert isinstance(hooks.adapter(capture.host).answer(capture.event, ""), bytes)
    assert isinstance(hooks.answered_from_transcript(capture, payload.stdin), Capture)
    return capture


@given(st.sampled_from(NAMES), st.sampled_from(EVENTS), st.binary(max_size=200), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_bytes(host: str, event: str, stdin: bytes, truncated: bool) -> None:
    captured(Payload(host, event, stdin=stdin, truncated=truncated))


@given(st.sampled_from(NAMES), st.sampled_from(EVENTS), objects)
@settings(max_examples=300, deadline=None)
def test_any_object(host: str, event: str, data: dict[str, Any]) -> None:
    captured(Payload(host, event, stdin=json.dumps(data).encode()))


@given(st.sampled_from(NAMES), st.text(), st.text(), st.text(), st.lists(st.text(), max_size=3))
@settings(max_examples=200, deadline=None)
def test_any_surroundings(host: str, event: str, cwd: str, value: str, args: list[str]) -> None:
    env = dict.fromkeys(hook_lists.environment(), value)
    captured(Payload(host, event, tuple(args), cwd, env))


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_any_name_of_a_host(name: str) -> None:
    captured(Payload(name, "UserPromptSubmit", stdin=b'{"prompt": "x"}'))


def test_recorded_payloads_with_wrong_types_in_every_field() -> None:
    for payload in RECORDED:
        data = json.loads(payload.stdin or b"{}")
        for path in _paths(data):
            for junk in random.Random(repr(path)).sample(JUNK, 5):
                stdin = json.dumps(_replaced(data, path, junk)).encode()
                captured(Payload(payload.host, payload.event, payload.args, "/p", {}, stdin))


def test_recorded_payloads_cut_anywhere() -> None:
    chance = random.Random(3)
    for payload in RECORDED:
        for _ in range(12):
            stdin = payload.stdin[: chance.randrange(len(payload.stdin) + 1)]
            captured(Payload(payload.host, payload.event, (), "/p", {}, stdin, truncated=True))


def test_recorded_payloads_with_flipped_bytes() -> None:
    chance = random.Random(5)
    for payload in RECORDED:
        for _ in range(12):
            raw = bytearray(payload.stdin or b"{}")
            for _ in range(chance.randrange(1, 6)):
                raw[chance.randrange(len(raw))] = chance.randrange(256)
            captured(Payload(payload.host, payload.event, (), "/p", {}, bytes(raw)))


def test_recorded_payloads_with_huge_texts() -> None:
    one_of_each = {(payload.host, payload.event): payload for payload in RECORDED}
    for payload in one_of_each.values():
        if not hooks.capture(payload).drafts or not payload.stdin:
            continue
        data = json.loads(payload.stdin)
        for path, text in zip(
            _paths(data)[:-4:-1], ("\x01" * 200_000, "ä" * 600_000), strict=False
        ):
            stdin = json.dumps(_replaced(data, path, text), ensure_ascii=False).encode()
            captured(Payload(payload.host, payload.event, payload.args, "/p", {}, stdin))


def test_nesting_near_the_limit_of_the_interpreter_is_stored_all_the_same() -> None:
    for depth in (100, 500, 900, 950, 990, 2_000, 100_000):
        deep = "[" * depth + "]" * depth
        stdin = f'{{"session_id":"s","tool_name":"Bash","tool_input":{{"a":{deep}}}}}'.encode()
        capture = captured(Payload("claude-code", "PostToolUse", stdin=stdin))
        assert capture.session_id == "s"
        assert capture.drafts


def _paths(data: Any, depth: int = 0) -> list[tuple[Any, ...]]:
    """Every place in the data, down to the third level."""
    if depth == 3:
        return []
    items = data.items() if isinstance(data, dict) else enumerate(data) if _is_list(data) else ()
    found: list[tuple[Any, ...]] = []
    for key, value in items:
        found.append((key,))
        found += [(key, *rest) for rest in _paths(value, depth + 1)]
    return found


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = _replaced(copy[path[0]], path[1:], value)
    return copy
