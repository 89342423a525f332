"""The token that every TCP request needs, the smaller one of a hook, and the pass of a browser.

In: the data directory. Out: a 256-bit token in a private file, read again when it changes, so that
rotation needs no restart. Comparison takes the same time for every guess. A browser exchanges a
code, good once and for a minute, for a signed pass that outlives the daemon but not the token.
"""

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable
from typing import Literal

from recollect.core import oslayer

Scope = Literal["admin", "hook", "browser"]

CODE_S = 60
CODES = 20
PASS_S = 30 * 24 * 3600


class Tokens:
    def __init__(self, path: str, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now
        self._codes: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._token = ""
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

    def scope(self, given: str) -> Scope | None:
        """What a token allows; None for a wrong one."""
        raw = given.encode("utf-8", "replace")
        admin = hmac.compare_digest(raw, self.current().encode())
        hook = hmac.compare_digest(raw, self.hook_token().encode())
        return "admin" if admin else "hook" if hook else None

    # --- browsers ---

    def new_code(self) -> str:
        """A code for `/open`, good once and for a minute."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            waiting = sorted(self._codes.items(), key=lambda one: one[1])[-CODES + 1 :]
            self._codes = {**dict(waiting), _digest(code): self._now() + CODE_S}
        return code

    def redeem(self, code: str) -> str | None:
        """The pass for a code; None when it was used, is too old, or never was one."""
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


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()


def derived(token: str, scope: str) -> str:
    return hashlib.blake2b(token.encode(), digest_size=32, person=scope.encode()).hexdigest()
