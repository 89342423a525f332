"""The bytes that hook, daemon and spool exchange; hook.c writes the same.

In: what a hook saw, or bytes from anywhere. Out: a frame as bytes, or a `Frame`. Whatever the
bytes are, decoding gives a frame or raises FrameError, nothing else.

    request  RCLQ  u8 version  u8 flags   u16 0  u32 length  payload
    answer   RCLA  u8 version  u8 status  u16 0  u32 length  bytes for stdout
    spooled  RCLS  u8 version  3 x 0  16 bytes digest  a whole request, scrubbed

    payload  26 ULID, 36 boot id (NUL-padded), u64 monotonic ns, u64 wall ns,
             u16 n + n x item (argv after the program), item (cwd),
             u16 n + n x item (NAME=value), item (stdin);  item = u32 length + bytes

All numbers are little-endian. What else a hook or the spool writer may come to say of a call goes
among the NAME=value items: they are read by name, so an older daemon passes over the others. This
module is on the hook's fast path: it imports nothing.
"""

VERSION = 1
REQUEST_MAGIC = b"RCLQ"
ANSWER_MAGIC = b"RCLA"
SPOOL_MAGIC = b"RCLS"
HEADER_BYTES = 12
SPOOL_HEADER_BYTES = 24
DIGEST_BYTES = 16

# Flags of a request.
TRUNCATED = 1  # something was longer than what a frame takes, and was cut
LATE = 2  # stdin never came to its end; what had come of it is here
DROPPED = 4  # something could not be scrubbed, so it was left out of the spool

# What the daemon answers.
STORED = 0  # print the bytes
REFUSED = 1  # for good: do not spool, print nothing
NOT_NOW = 2  # spool it

MAX_PAYLOAD = 8 << 20
MAX_STDIN = 4 << 20
MAX_ARGV_BYTES = 2 << 20
MAX_ENV_BYTES = 3 << 19
MAX_ITEMS = 64
MAX_ANSWER = 1 << 20

# --- made from hosts/*/facts.py and adapter.py: python -m tests.docs --write ---
# The variables that are sent; hook_lists.h has the same.
ENVIRONMENT = (
    b"AUGMENT_CONVERSATION_ID",
    b"AUGMENT_PROJECT_DIR",
    b"CLAUDECODE",
    b"CLAUDE_CODE_SESSION_ID",
    b"CLAUDE_PROJECT_DIR",
    b"CONTINUE_PROJECT_DIR",
    b"COPILOT_PROJECT_DIR",
    b"CURSOR_PROJECT_DIR",
    b"CURSOR_VERSION",
    b"DEVIN_PROJECT_DIR",
    b"FACTORY_PROJECT_DIR",
    b"GEMINI_PROJECT_DIR",
    b"GEMINI_SESSION_ID",
    b"QWEN_CODE_SESSION_ID",
    b"QWEN_PROJECT_DIR",
    b"USER_PROMPT",
)
# Events that may start the daemon and may wait longer.
SESSION_STARTS = (
    b"agentspawn",
    b"session-start",
    b"session.created",
    b"session.resumed",
    b"sessionstart",
    b"taskresume",
    b"taskstart",
)
# Events that start a daemon which is down, but never wait for it.
PROMPTS = (
    b"beforeagent",
    b"beforesubmitprompt",
    b"chat.message",
    b"pre_user_prompt",
    b"promptsubmit",
    b"userpromptsubmit",
    b"userpromptsubmitted",
)
# What a host must be told when no daemon says anything: host, event or all, text.
FIXED_ANSWERS = (
    (b"cline", b"", b'{"cancel":false,"contextModification":"","errorMessage":""}'),
    (b"cursor", b"beforesubmitprompt", b'{"continue":true}'),
    (b"cursor", b"userpromptsubmit", b'{"continue":true}'),
)
# --- end of what is made ---

BRANCH = b"RECOLLECT_BRANCH="  # added by the spool writer

_ULID_BYTES = 26
BOOT_BYTES = 36
# Where the boot stands in a spool file.
SPOOL_BOOT = SPOOL_HEADER_BYTES + HEADER_BYTES + _ULID_BYTES
_FIXED_BYTES = _ULID_BYTES + BOOT_BYTES + 8 + 8
_CROCKFORD = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class FrameError(ValueError):
    """These bytes are no frame."""


class UnknownVersion(FrameError):
    """A frame of a version that this program does not know."""


class Frame:
    """One call of a hook: who called, when, where, and what it was given."""

    __slots__ = ("argv", "boot_id", "cwd", "env", "flags", "mono_ns", "stdin", "ulid", "wall_ns")

    def __init__(
        self,
        *,
        ulid: str,
        boot_id: str,
        mono_ns: int,
        wall_ns: int,
        argv: tuple[bytes, ...] = (),
        cwd: bytes = b"",
        env: tuple[bytes, ...] = (),
        stdin: bytes = b"",
        flags: int = 0,
    ) -> None:
        self.ulid = ulid
        self.boot_id = boot_id
        self.mono_ns = mono_ns
        self.wall_ns = wall_ns
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.stdin = stdin
        self.flags = flags

    @property
    def host(self) -> bytes:
        return self.argv[0] if self.argv else b""

    @property
    def event(self) -> bytes:
        return self.argv[1] if len(self.argv) > 1 else b""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Not the payload: a frame holds what a user typed, and reprs end up in logs.
        return f"<Frame {self.ulid} {self.argv[:2]} stdin={len(self.stdin)} flags={self.flags}>"


# --- requests -----------------------------------------------------------------------------------


def request(payload: bytes, flags: int = 0) -> bytes:
    """A payload with its header: what goes over the socket."""
    if len(payload) > MAX_PAYLOAD:
        raise FrameError(f"a payload of {len(payload)} bytes; {MAX_PAYLOAD} are allowed")
    return _header(REQUEST_MAGIC, flags, len(payload)) + payload


def encode_payload(frame: Frame) -> bytes:
    boot = frame.boot_id.encode("ascii", "replace")[:BOOT_BYTES]
    parts = [
        frame.ulid.encode("ascii"),
        boot.ljust(BOOT_BYTES, b"\0"),
        frame.mono_ns.to_bytes(8, "little"),
        frame.wall_ns.to_bytes(8, "little"),
    ]
    _add_items(parts, frame.argv)
    _add_item(parts, frame.cwd)
    _add_items(parts, frame.env)
    _add_item(parts, frame.stdin)
    return b"".join(parts)


def encode(frame: Frame) -> bytes:
    """A whole request."""
    return request(encode_payload(frame), frame.flags)


def decode(data: bytes) -> Frame:
    """The frame of a whole request, no byte more."""
    flags, length = request_header(data[:HEADER_BYTES])
    if len(data) != HEADER_BYTES + length:
        raise FrameError(f"a frame of {len(data)} bytes says it has {HEADER_BYTES + length}")
    return decode_payload(data[HEADER_BYTES:], flags)


def request_header(header: bytes) -> tuple[int, int]:
    """Flags and length of the payload that follows."""
    return _read_header(header, REQUEST_MAGIC, MAX_PAYLOAD)


def decode_payload(payload: bytes, flags: int = 0) -> Frame:
    if len(payload) < _FIXED_BYTES:
        raise FrameError(f"a payload of {len(payload)} bytes is too short")
    ulid = payload[:_ULID_BYTES]
    if ulid[0] > 0x37 or any(byte not in _CROCKFORD for byte in ulid):
        raise FrameError("the frame's id is no ULID")
    boot = payload[_ULID_BYTES : _ULID_BYTES + BOOT_BYTES].rstrip(b"\0")
    if any(not 0x20 < byte < 0x7F for byte in boot):
        raise FrameError("the frame's boot id is not printable")
    at = _ULID_BYTES + BOOT_BYTES
    mono_ns = int.from_bytes(payload[at : at + 8], "little")
    wall_ns = int.from_bytes(payload[at + 8 : at + 16], "little")
    argv, at = _take_items(payload, at + 16)
    cwd, at = _take_item(payload, at)
    env, at = _take_items(payload, at)
    stdin, at = _take_item(payload, at)
    if at != len(payload):
        raise FrameError(f"{len(payload) - at} bytes after the end of the payload")
    return Frame(
        ulid=ulid.decode("ascii"),
        boot_id=boot.decode("ascii"),
        mono_ns=mono_ns,
        wall_ns=wall_ns,
        argv=argv,
        cwd=cwd,
        env=env,
        stdin=stdin,
        flags=flags,
    )


def told_cut(flags: int) -> str:
    """What is missing of a call, in words; empty when nothing is."""
    reasons = (
        (TRUNCATED, "it was larger than a hook may send"),
        (LATE, "its input never came to an end"),
        (DROPPED, "it could not be scrubbed"),
    )
    return ", ".join(reason for flag, reason in reasons if flags & flag)


def noted_branch(frame: Frame) -> str:
    """The branch that was checked out when a frame was spooled, as the spool writer saw it."""
    for item in frame.env:
        if item.startswith(BRANCH):
            return item[len(BRANCH) :].decode("utf-8", "replace")
    return ""


def argv_of(payload: bytes) -> tuple[bytes, ...]:
    return _take_items(payload, _FIXED_BYTES)[0]


def digest(payload: bytes) -> bytes:
    """What recognises a repeat: of the payload as the hook made it, before any scrubbing."""
    try:
        from _blake2 import blake2b  # what hashlib gives, without 3 ms of OpenSSL
    except ImportError:
        from hashlib import blake2b

    return blake2b(payload, digest_size=DIGEST_BYTES).digest()


def is_session_start(argv: tuple[bytes, ...]) -> bool:
    return len(argv) > 1 and argv[1].lower() in SESSION_STARTS


def fixed_answer(argv: "list[bytes]") -> bytes:
    """What the host must be told although there is nothing to tell."""
    host, event = (*(one.lower() for one in argv[:2]), b"", b"")[:2]
    for known, name, text in FIXED_ANSWERS:
        if known == host and name in (b"", event):
            return text
    return b""


def is_prompt(argv: tuple[bytes, ...]) -> bool:
    return len(argv) > 1 and argv[1].lower() in PROMPTS


# --- answers ------------------------------------------------------------------------------------


def encode_answer(status: int, body: bytes = b"") -> bytes:
    if len(body) > MAX_ANSWER:
        raise FrameError(f"an answer of {len(body)} bytes; {MAX_ANSWER} are allowed")
    return _header(ANSWER_MAGIC, status, len(body)) + body


def answer_header(header: bytes) -> tuple[int, int]:
    """Status and length of the bytes that follow."""
    status, length = _read_header(header, ANSWER_MAGIC, MAX_ANSWER)
    if status > NOT_NOW:
        raise FrameError(f"an answer with the unknown status {status}")
    return status, length


# --- the spool ----------------------------------------------------------------------------------


def encode_spooled(frame: Frame, original: bytes) -> bytes:
    """A spool file: a scrubbed frame and the digest of what it was before."""
    return SPOOL_MAGIC + bytes((VERSION, 0, 0, 0)) + original + encode(frame)


def decode_spooled(data: bytes) -> tuple[Frame, bytes]:
    """The scrubbed frame of a spool file and the digest of the original payload."""
    if len(data) < SPOOL_HEADER_BYTES or data[:4] != SPOOL_MAGIC:
        raise FrameError("not a spooled frame")
    _check_version(data[4])
    if data[5:8] != b"\0\0\0":
        raise FrameError("a spooled frame whose reserved bytes are set")
    return decode(data[SPOOL_HEADER_BYTES:]), data[8:SPOOL_HEADER_BYTES]


# --- pieces -------------------------------------------------------------------------------------


def _header(magic: bytes, byte: int, length: int) -> bytes:
    return magic + bytes((VERSION, byte, 0, 0)) + length.to_bytes(4, "little")


def _read_header(header: bytes, magic: bytes, limit: int) -> tuple[int, int]:
    if len(header) != HEADER_BYTES or header[:4] != magic:
        raise FrameError(f"this does not begin with {magic.decode()}")
    _check_version(header[4])
    if header[6:8] != b"\0\0":
        raise FrameError("a header whose reserved bytes are set")
    length = int.from_bytes(header[8:12], "little")
    if length > limit:
        raise FrameError(f"{length} bytes announced; {limit} are allowed")
    return header[5], length


def _check_version(version: int) -> None:
    if version != VERSION:
        raise UnknownVersion(f"version {version}; this program knows {VERSION}")


def _add_items(parts: list[bytes], items: tuple[bytes, ...]) -> None:
    if len(items) > MAX_ITEMS:
        raise FrameError(f"{len(items)} items; {MAX_ITEMS} are allowed")
    parts.append(len(items).to_bytes(2, "little"))
    for item in items:
        _add_item(parts, item)


def _add_item(parts: list[bytes], item: bytes) -> None:
    parts.append(len(item).to_bytes(4, "little"))
    parts.append(item)


def _take_items(data: bytes, at: int) -> tuple[tuple[bytes, ...], int]:
    if at + 2 > len(data):
        raise FrameError("the payload ends within a count")
    count = int.from_bytes(data[at : at + 2], "little")
    if count > MAX_ITEMS:
        raise FrameError(f"{count} items; {MAX_ITEMS} are allowed")
    items = []
    at += 2
    for _ in range(count):
        item, at = _take_item(data, at)
        items.append(item)
    return tuple(items), at


def _take_item(data: bytes, at: int) -> tuple[bytes, int]:
    if at + 4 > len(data):
        raise FrameError("the payload ends within a length")
    start = at + 4
    end = start + int.from_bytes(data[at:start], "little")
    if end > len(data):
        raise FrameError("the payload ends within an item")
    return data[start:end], end
