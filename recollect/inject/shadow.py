"""Sessions in which memory is silent, so that its effect can be measured.

In: the setting `shadow`, and a brief with its session. Out: the brief, or nothing, and a mark for
the receipt. The arm of a session is a keyed hash of its id: it needs no state, is the same after a
restart, a resume or a compaction, and cannot be guessed from the id. Without a key that can be read
or written, shadow mode is off and the log says so.
"""

import hashlib
import logging
import re
import secrets
from typing import Any

from recollect.core import oslayer, safe_files
from recollect.core.settings import Settings
from recollect.core.text_words import count_tokens
from recollect.hosts.proof import SESSION_PREFIX
from recollect.inject.receipts import TEXT_KEPT

log = logging.getLogger(__name__)

KEY_FILE = "shadow.key"
_KEY = re.compile(r"[0-9a-f]{64}\n?")
_KEY_BYTES = 65
_HASHES = 2**64


class Shadow:
    def __init__(self, settings: Settings) -> None:
        self._share = settings.shadow
        self._key = b""
        if self._share:
            path = settings.path(KEY_FILE)
            try:
                self._key = _read_or_make(path)
            except OSError as error:
                log.warning("shadow mode is off: %s cannot be used (%s)", path, error.strerror)
                self._share = 0.0

    def silences(self, session_id: str) -> bool:
        """Whether this session is in the shadow arm; the answer for an id never changes."""
        if not self._share or session_id.startswith(SESSION_PREFIX):
            return False
        digest = hashlib.blake2b(session_id.encode(), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest) < self._share * _HASHES

    def applied(
        self, session_id: str, notes: dict[str, Any], text: str, injected: tuple[str, ...]
    ) -> tuple[str, tuple[str, ...]]:
        """The brief that the session gets. While shadow mode is on, `notes` of the receipt get the
        arm and the share, and in a silent session what it would have been told."""
        if not self._share or session_id.startswith(SESSION_PREFIX):
            return text, injected
        silent = self.silences(session_id)
        notes["shadow"] = silent
        notes["shadow_share"] = self._share
        if not silent:
            return text, injected
        notes["shadow_injected"] = list(injected)
        notes["shadow_tokens"] = count_tokens(text)
        notes["shadow_text"] = text[:TEXT_KEPT]
        return "", ()


def _read_or_make(path: str) -> bytes:
    """The key of this store. A file with anything else in it is replaced."""
    try:
        found = safe_files.read_whole(path, _KEY_BYTES).decode("ascii", "replace")
    except FileNotFoundError:
        found = ""
    if not _KEY.fullmatch(found):
        found = secrets.token_hex(32)
        oslayer.replace_file(path, f"{found}\n".encode())
    return bytes.fromhex(found.strip())
