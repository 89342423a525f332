"""The token that every TCP request needs, and the smaller one that a hook may have.

In: the data directory. Out: a 256-bit token in a private file, read again when it changes, so that
rotation needs no restart. Comparison takes the same time for every guess.
"""

import hashlib
import hmac
import os
import secrets
import threading
from typing import Literal

from recollect.core import oslayer

Scope = Literal["admin", "hook"]


class Tokens:
    def __init__(self, path: str) -> None:
        self._path = path
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


def derived(token: str, scope: str) -> str:
    return hashlib.blake2b(token.encode(), digest_size=32, person=scope.encode()).hexdigest()
