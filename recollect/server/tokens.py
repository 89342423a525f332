"""The token that every TCP request needs, the narrower token of hooks, and browsers' passes.

In: the data directory. Out: a 256-bit token in a private file, read again when it changes, so that
rotation needs no restart. A file with any other content is replaced, and a warning says so.
Comparison takes constant time. A browser exchanges a code, valid once and for a minute, for a
signed pass (a cookie) that survives a restart of the daemon, but not a new token.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable
from typing import Literal

from recollect.core import oslayer, safe_files

log = logging.getLogger(__name__)

Scope = Literal["admin", "hook", "browser"]

CODE_S = 60
CODES = 20
PASS_S = 30 * 24 * 3600
_TOKEN_BYTES = 65
_TOKEN = re.compile(rb"[0-9a-f]{64}\n?")
_Stamp = tuple[int, int, int, int]


class _NoToken(ValueError):
    """The token file holds no token, or others could read it."""


class Tokens:
    def __init__(
        self,
        path: str,
        now: Callable[[], float] = time.time,
        on_renewal: Callable[[str], object] = lambda reason: None,
    ) -> None:
        """`on_renewal` gets the reason when a token had to be replaced."""
        self._path = path
        self._now = now
        self._on_renewal = on_renewal
        self._codes: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stamp: _Stamp | None = None
        self._token = ""
        self.renewed = ""  # why the last token was replaced, if it was
        if not os.path.lexists(path):
            self.rotate()
        self.current()  # replaces a damaged file at the start

    def rotate(self) -> str:
        """Make a new token; the old one is no longer valid."""
        with self._lock:
            return self._rotate()

    def current(self) -> str:
        """The token. A file with any other content is replaced; if that fails, the token is a
        random one that nobody knows, so that nobody gets in."""
        with self._lock:
            try:
                stamp = _stamp(os.lstat(self._path))
                if stamp == self._stamp:
                    return self._token
                self._token = _read(self._path)
                self._stamp = stamp
            except (OSError, _NoToken) as error:
                self._renew(error)
            return self._token

    def _renew(self, reason: Exception) -> None:
        self._stamp, self._token = None, secrets.token_hex(32)
        why = f"The token file {_what_was_wrong(reason)}"
        try:
            self._rotate()
            reason_text = f"{why}, so a new token was made. Sign browsers in again: recollect open."
        except OSError as error:
            reason_text = (
                f"{why}, and a new one cannot be written ({error.strerror}): "
                f"TCP requests are refused until {self._path} can be written."
            )
        if reason_text != self.renewed:
            log.warning("%s", reason_text)
            self._on_renewal(reason_text)
        self.renewed = reason_text

    def _rotate(self) -> str:
        token = secrets.token_hex(32)
        oslayer.replace_file(self._path, f"{token}\n".encode())
        self._stamp, self._token = _stamp(os.lstat(self._path)), token
        return token

    def hook_token(self) -> str:
        return derived(self.current(), "hook")

    def scope(self, given: str) -> Scope | None:
        """What a token allows; None for a wrong one."""
        raw = given.encode("utf-8", "replace")
        admin = hmac.compare_digest(raw, self.current().encode())
        hook = hmac.compare_digest(raw, self.hook_token().encode())
        return "admin" if admin else "hook" if hook else None

    # --- browsers ---

    def new_code(self) -> str:
        """A code for `/open`, valid once and for a minute."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            waiting = sorted(self._codes.items(), key=lambda one: one[1])[-CODES + 1 :]
            self._codes = {**dict(waiting), _digest(code): self._now() + CODE_S}
        return code

    def redeem(self, code: str) -> str | None:
        """The pass for a code; None when the code was used, is too old, or is wrong."""
        with self._lock:
            until = self._codes.pop(_digest(code), None)
        if until is None or until < self._now():
            return None
        return self._signed(f"{int(self._now()) + PASS_S}.{secrets.token_hex(16)}")

    def is_pass(self, given: str) -> bool:
        claim, _, _ = given.rpartition(".")
        until = claim.partition(".")[0]
        genuine = hmac.compare_digest(given.encode(), self._signed(claim).encode())
        return genuine and until.isdecimal() and int(until) > self._now()

    def _signed(self, claim: str) -> str:
        key = derived(self.current(), "browser").encode()
        return f"{claim}.{hmac.new(key, claim.encode(), hashlib.sha256).hexdigest()}"


def _what_was_wrong(reason: Exception) -> str:
    if isinstance(reason, FileNotFoundError):
        return "was missing"
    if isinstance(reason, OSError):
        return f"could not be read ({reason.strerror or reason})"
    return str(reason)


def _read(path: str) -> str:
    with safe_files.open_plain(path, follow=False) as file:
        status = os.fstat(file.fileno())
        content = file.read(_TOKEN_BYTES + 1)
        if status.st_uid != oslayer.user_id():
            raise _NoToken("belonged to another user")
        if _open_to_others(status):
            # Others may have read it. On a file system without modes fchmod changes nothing; there
            # the token is kept.
            oslayer.set_mode(file.fileno(), oslayer.FILE_MODE)
            if not _open_to_others(os.fstat(file.fileno())):
                raise _NoToken("could be read by others")
    if not _TOKEN.fullmatch(content):
        raise _NoToken("was damaged" if content.strip() else "was empty")
    return content.decode("ascii").rstrip("\n")


def _open_to_others(status: os.stat_result) -> bool:
    return bool(status.st_mode & 0o077)


def _stamp(status: os.stat_result) -> _Stamp:
    return (status.st_ino, status.st_mtime_ns, status.st_size, status.st_ctime_ns)


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()


def derived(token: str, scope: str) -> str:
    return hashlib.blake2b(token.encode(), digest_size=32, person=scope.encode()).hexdigest()
