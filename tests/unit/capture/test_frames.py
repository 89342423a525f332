import re
import subprocess
import sys

import pytest

from recollect.capture import frames
from recollect.capture.frames import Frame, FrameError, UnknownVersion
from recollect.hosts import hooks
from recollect.hosts.adapter import Adapter, event_key
from recollect.hosts.hooks import ADAPTERS
from recollect.hosts.payloads import Payload
from tests import hook_lists
from tests.fakes.frame_server import decode_answer
from tests.fakes.hooks import SOURCE

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def a_frame(**changes: object) -> Frame:
    values: dict[str, object] = {
        "ulid": ULID,
        "boot_id": "0f3a1b9e-1111-2222-3333-444455556666",
        "mono_ns": 5,
        "wall_ns": 1_700_000_000_000_000_000,
        "argv": (b"claude-code", b"Stop"),
        "cwd": b"/tmp/\xff",
        "env": (b"USER_PROMPT=x=y",),
        "stdin": b'{"a": 1}',
        "flags": frames.LATE,
        **changes,
    }
    return Frame(**values)  # type: ignore[arg-type]


def test_a_frame_comes_back_as_it_was() -> None:
    frame = a_frame()
    assert frames.decode(frames.encode(frame)) == frame
    assert (frame.host, frame.event) == (b"claude-code", b"Stop")


def test_a_frame_of_known_bytes_is_laid_out_as_documented() -> None:
    data = frames.encode(a_frame(argv=(b"h",), cwd=b"/", env=(), stdin=b"in", boot_id="b"))
    assert data[:8] == b"RCLQ\x01\x02\x00\x00"
    assert int.from_bytes(data[8:12], "little") == len(data) - 12
    assert data[12:38] == ULID.encode()
    assert data[38:74] == b"b" + bytes(35)
    assert data[74:82] == (5).to_bytes(8, "little")
    assert data[90:] == b"\1\0\1\0\0\0h" + b"\1\0\0\0/" + b"\0\0" + b"\2\0\0\0in"


def test_an_answer_comes_back_as_it_was() -> None:
    for status in (frames.STORED, frames.REFUSED, frames.NOT_NOW):
        assert decode_answer(frames.encode_answer(status, b"out")) == (status, b"out")


def test_a_spooled_frame_keeps_the_digest_of_its_original() -> None:
    original = frames.digest(frames.encode_payload(a_frame(stdin=b"a secret")))
    data = frames.encode_spooled(a_frame(stdin=b"[redacted]"), original)
    frame, digest = frames.decode_spooled(data)
    assert frame.stdin == b"[redacted]"
    assert digest == original
    assert len(digest) == 16


def test_a_newer_version_is_told_from_garbage() -> None:
    data = bytearray(frames.encode(a_frame()))
    data[4] = 2
    with pytest.raises(UnknownVersion):
        frames.decode(bytes(data))
    spooled = bytearray(frames.encode_spooled(a_frame(), bytes(16)))
    spooled[4] = 9
    with pytest.raises(UnknownVersion):
        frames.decode_spooled(bytes(spooled))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RCLQ",
        b"RCLQ\x01\x00\x01\x00\x00\x00\x00\x00",
        b"RCLQ\x01\x00\x00\x00\xff\xff\xff\xff",
        b"RCLQ\x01\x00\x00\x00\x00\x00\x00\x00",
        frames.encode(a_frame())[:-1],
        frames.encode(a_frame()) + b"x",
        frames.encode(a_frame(ulid="8" + ULID[1:])),
        frames.encode(a_frame(ulid=ULID[:-1] + "U")),
        frames.encode(a_frame(boot_id="two words")),
        frames.request(frames.encode_payload(a_frame())[:80]),
        frames.request(frames.encode_payload(a_frame())[:78] + b"\x41\x00"),
        frames.request(frames.encode_payload(a_frame())[:78] + b"\x01\x00\xff\xff\xff\xff"),
        frames.request(frames.encode_payload(a_frame())[:78] + b"\x01\x00\xff"),
        frames.request(frames.encode_payload(a_frame()) + b"more"),
    ],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        frames.decode(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"RCLA", frames.encode_answer(3), frames.encode_answer(0, b"x") + b"y", b"\0" * 12],
)
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        decode_answer(data)


def test_what_is_no_spooled_frame_is_refused() -> None:
    good = frames.encode_spooled(a_frame(), bytes(16))
    for data in (b"", good[:23], b"X" + good[1:], good[:5] + b"\1" + good[6:], good[:-1]):
        with pytest.raises(FrameError):
            frames.decode_spooled(data)


def test_too_much_of_anything_cannot_be_encoded() -> None:
    with pytest.raises(FrameError):
        frames.encode(a_frame(argv=(b"x",) * 65))
    with pytest.raises(FrameError):
        frames.encode(a_frame(stdin=bytes(frames.MAX_PAYLOAD)))
    with pytest.raises(FrameError):
        frames.encode_answer(frames.STORED, bytes(frames.MAX_ANSWER + 1))


def test_the_largest_call_fits_a_frame() -> None:
    whole = frames.MAX_STDIN + frames.MAX_ARGV_BYTES + frames.MAX_ENV_BYTES + 4096
    assert whole + 4 * (2 * frames.MAX_ITEMS + 4) + 100 < frames.MAX_PAYLOAD


def test_session_starts_are_known_whatever_their_case() -> None:
    for event in (
        b"SessionStart",
        b"sessionStart",
        b"agentSpawn",
        b"session.created",
        b"TaskStart",
    ):
        assert frames.is_session_start((b"host", event))
    assert not frames.is_session_start((b"host", b"UserPromptSubmit"))
    assert not frames.is_session_start((b"SessionStart",))


def test_a_frame_does_not_show_its_payload_when_printed() -> None:
    assert "secret" not in repr(a_frame(stdin=b"secret", env=(b"A=secret",), cwd=b"secret"))


def test_frames_of_other_kinds_are_not_equal() -> None:
    assert a_frame() != a_frame(stdin=b"other")
    assert a_frame() != "a frame"


def test_the_compiled_hook_has_the_same_lists_and_limits() -> None:
    names = ("hook.c", "hook_frame.h", "hook_lists.h")
    source = "".join(SOURCE.with_name(name).read_text() for name in names)

    def strings(name: str) -> tuple[bytes, ...]:
        found = re.search(rf"{name}\[\] = \{{(.*?)\}};", source, re.DOTALL)
        assert found
        return tuple(item.encode() for item in re.findall(r'"([^"]*)"', found[1]))

    def number(name: str) -> int:
        found = re.search(rf"\b{name} = (\d+)(?: << (\d+))?,", source)
        assert found
        return int(found[1]) << int(found[2] or 0)

    assert strings("environment") == frames.ENVIRONMENT
    assert strings("session_starts") == frames.SESSION_STARTS
    assert number("VERSION") == frames.VERSION
    assert number("MAX_STDIN") == frames.MAX_STDIN
    assert number("MAX_ARGV") == frames.MAX_ARGV_BYTES
    assert number("MAX_ENV") == frames.MAX_ENV_BYTES
    assert number("MAX_ITEMS") == frames.MAX_ITEMS
    assert number("MAX_ANSWER") == frames.MAX_ANSWER


def test_the_fast_path_imports_nothing_slow() -> None:
    code = (
        "import sys; sys.path.append('.'); import recollect.capture.fallback;"
        "print(*{'json', 're', 'socket', 'signal', 'enum', 'typing', 'dataclasses', 'hashlib',"
        " 'struct', 'collections'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-ISE", "-c", code], capture_output=True, check=True)
    assert run.stdout.split() == []


def test_the_lists_in_the_hook_are_those_of_the_hosts() -> None:
    for path, text in hook_lists.files().items():
        assert path.read_text() == text, f"{path} is not current: {hook_lists.COMMAND}"


def test_every_event_that_wants_the_start_of_a_session_may_start_the_daemon() -> None:
    for host in ADAPTERS.values():
        for spec in host.facts.hooks:
            captured = hooks.capture(Payload(host.name, spec.event, cwd="/", stdin=b'{"a": 1}'))
            if captured.wants == "session-start":
                assert spec.event.lower().encode() in frames.SESSION_STARTS, (host.name, spec)


def test_every_prompt_of_every_host_is_known_as_one() -> None:
    for host in ADAPTERS.values():
        assert isinstance(host, Adapter)
        for spec in host.facts.hooks:
            is_prompt = host.routes.get(event_key(spec.event)) == "on_prompt"
            argv = (host.name.encode(), spec.event.encode())
            assert frames.is_prompt(argv) == is_prompt, argv
    assert not frames.is_prompt((b"host",))


def test_a_spooled_frame_may_say_more_of_its_call_than_this_version_knows() -> None:
    frame = a_frame(env=(b"USER_PROMPT=x", b"RECOLLECT_SOMETHING_NEW=1"))
    found, _ = frames.decode_spooled(frames.encode_spooled(frame, bytes(16)))
    assert found == frame


def test_what_is_missing_of_a_call_is_told_in_words() -> None:
    assert frames.told_cut(0) == ""
    assert "larger" in frames.told_cut(frames.TRUNCATED)
    told = frames.told_cut(frames.LATE | frames.DROPPED)
    assert "never came to an end" in told and "scrubbed" in told
