"""The token that every TCP request needs, and the smaller one that a hook may have.

In: the data directory. Out: a 256-bit token in a private file, read again when it changes, so that
rotation needs no restart. Comparison takes the same time for every guess.
"""

import hashlib
import hmac
import os
import secrets
import threading
import time
from typing import Literal

from recollect.core import oslayer

Scope = Literal["admin", "hook", "dashboard"]

COOKIE = "recollect"
COOKIE_S = 7 * 86_400
CODE_S = 60
_CODES = 20


class Tokens:
    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._token = ""
        self._codes: dict[bytes, float] = {}
        if not os.path.exists(path):
            self.rotate()

    def rotate(self) -> str:
        """A new token; the old one is worthless from this moment."""
        token = secrets.token_hex(32)
        oslayer.replace_file(self._path, f"{token}\n".encode())
        return token

    def current(self) -> str:
        with self._lock:
            status = os.stat(self._path)
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                with open(self._path, encoding="ascii") as file:
                    self._token = file.read().strip()
                self._stamp = stamp
            return self._token

    def hook_token(self) -> str:
        return derived(self.current(), "hook")

    def new_code(self) -> tuple[str, int]:
        """A code that lets one browser in, once, within so many seconds."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[_digest(code)] = time.monotonic() + CODE_S
            while len(self._codes) > _CODES:
                self._codes.pop(next(iter(self._codes)))
        return code, CODE_S

    def redeem(self, code: str) -> str | None:
        """The cookie for a code; None when it is unknown, used or too old."""
        with self._lock:
            until = self._codes.pop(_digest(code), 0.0)
        if time.monotonic() >= until:
            return None
        expires = str(int(time.time()) + COOKIE_S)
        return f"{expires}.{self._seal(expires)}"

    def knows(self, cookie: str) -> bool:
        """Whether a cookie is one that we gave and that still holds; a new token ends all."""
        expires, _, seal = cookie.partition(".")
        sealed = hmac.compare_digest(seal.encode("utf-8", "replace"), self._seal(expires).encode())
        return sealed and expires.isdecimal() and int(expires) > time.time()

    def _seal(self, expires: str) -> str:
        key = derived(self.current(), "dashboard").encode()
        return hmac.new(key, expires.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def scope(self, given: str) -> Scope | None:
        """What a token allows; None for a wrong one."""
        raw = given.encode("utf-8", "replace")
        admin = hmac.compare_digest(raw, self.current().encode())
        hook = hmac.compare_digest(raw, self.hook_token().encode())
        return "admin" if admin else "hook" if hook else None


def _digest(code: str) -> bytes:
    """Codes are looked up by their hash, so that no comparison tells how much of one was right."""
    return hashlib.sha256(code.encode("utf-8", "replace")).digest()


def derived(token: str, scope: str) -> str:
    return hashlib.blake2b(token.encode(), digest_size=32, person=scope.encode()).hexdigest()
