"""Laws of the frame: decoding is total, encoding loses nothing, and both hooks speak alike."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture import frames
from recollect.capture.frames import Frame, FrameError
from recollect.core import ids
from recollect.core.clock import system_boot_id
from tests.fakes.frame_server import ANSWER, FrameServer, decode_answer
from tests.fakes.hooks import KINDS, Hook, install

U64 = st.integers(0, 2**64 - 1)
ITEMS = st.lists(st.binary(max_size=40), max_size=64).map(tuple)

FRAMES = st.builds(
    Frame,
    ulid=st.integers(0, 2**128 - 1).map(lambda value: ids.join_ulid(value >> 80, value)),
    boot_id=st.text("0123456789abcdef-", max_size=36),
    mono_ns=U64,
    wall_ns=U64,
    argv=ITEMS,
    cwd=st.binary(max_size=100),
    env=ITEMS,
    stdin=st.binary(max_size=3000),
    flags=st.integers(0, 255),
)


@given(FRAMES)
def test_what_is_encoded_decodes_to_the_same(frame: Frame) -> None:
    assert frames.decode(frames.encode(frame)) == frame
    digest = frames.digest(frames.encode_payload(frame))
    assert frames.decode_spooled(frames.encode_spooled(frame, digest)) == (frame, digest)


@given(st.integers(0, 2), st.binary(max_size=2000))
def test_answers_decode_to_the_same(status: int, body: bytes) -> None:
    assert decode_answer(frames.encode_answer(status, body)) == (status, body)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good frame, answer or spool file with bytes changed, cut out and put in."""
    frame = draw(FRAMES)
    good = draw(
        st.sampled_from(
            [
                frames.encode(frame),
                frames.encode_answer(0, frame.stdin),
                frames.encode_spooled(frame, bytes(16)),
            ]
        )
    )
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(good)))
        good = good[:at] + draw(st.binary(max_size=5)) + good[at + draw(st.integers(0, 5)) :]
    return good


@settings(max_examples=400)
@given(st.one_of(st.binary(max_size=400), damaged()))
def test_any_bytes_give_a_frame_or_a_frame_error(data: bytes) -> None:
    for decode in (frames.decode, decode_answer, frames.decode_spooled):
        try:
            decode(data)
        except FrameError as error:
            assert str(error)


@pytest.fixture(scope="module")
def hooks() -> Iterator[list[tuple[Hook, FrameServer]]]:
    scratch = Path(tempfile.mkdtemp())
    installed = [install(kind, scratch / kind) for kind in KINDS]
    with FrameServer(installed[0].socket) as fast, FrameServer(installed[1].socket) as slow:
        yield list(zip(installed, (fast, slow), strict=True))
    shutil.rmtree(scratch)


ARGUMENT = st.binary(max_size=50).filter(lambda item: b"\0" not in item)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    argv=st.lists(ARGUMENT, max_size=70),
    stdin=st.binary(max_size=5000),
    environment=st.dictionaries(
        st.sampled_from([*frames.ENVIRONMENT, b"OTHER", b"CLAUDE_PROJECT_DIRECTORY"]),
        ARGUMENT,
        max_size=14,
    ),
)
def test_both_hooks_send_what_they_were_given(
    hooks: list[tuple[Hook, FrameServer]],
    argv: list[bytes],
    stdin: bytes,
    environment: dict[bytes, bytes],
) -> None:
    expected = tuple(
        name + b"=" + environment[name] for name in frames.ENVIRONMENT if name in environment
    )
    for hook, server in hooks:
        more = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
        call: list[str | bytes] = ["host", "Stop", *argv]
        result = hook.call(*call, stdin=stdin, env=hook.environment(**more), cwd=hook.directory)
        assert (result.code, result.stdout, result.stderr) == (0, ANSWER, b"")
        frame = server.taken.pop()
        assert frame.argv == (b"host", b"Stop", *argv)[: frames.MAX_ITEMS]
        assert frame.env == expected
        assert frame.stdin == stdin
        assert frame.cwd == os.fsencode(hook.directory)
        assert frame.boot_id == system_boot_id()
        assert ids.ulid_ms(frame.ulid) == frame.wall_ns // 1_000_000
        assert bool(frame.flags & frames.TRUNCATED) == (len(argv) > 62)
        assert not frame.flags & frames.LATE
