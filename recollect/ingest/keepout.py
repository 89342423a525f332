"""Decides what the write path does not take: kept out by the user, by a project, or by a private
session.

In: captures of hooks, or events. Out: a reason, which is counted, or nothing. The setting `ignore`
is read again when its file changes, so that a new rule holds at once.
"""

import os
import threading
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.core import keepout_rules, private_sessions, settings
from recollect.core.clock import to_micros
from recollect.core.errors import BadSetting
from recollect.core.keepout_rules import DirectoryRules, ProjectRulesReader
from recollect.core.settings import Settings
from recollect.core.values import Event, JsonBody, TextBody
from recollect.hosts.payloads import Capture
from recollect.ingest.counters import Counters

PROJECT, FILE, TOOL, PRIVATE = "project", "file", "tool", "private session"
NOW_PRIVATE = (
    "This session is private from here on: Recollect stores nothing of it and brings nothing back, "
    f"until a prompt says `{private_sessions.PUBLIC_LINE}` or the session ends."
)
NOW_PUBLIC = "This session is no longer private: Recollect remembers what comes after this prompt."


@dataclass(frozen=True)
class Refusal:
    """Why something is not taken, and the message for the host."""

    reason: str
    message: str = ""


class KeepOut:
    def __init__(self, chosen: Settings, counters: Counters) -> None:
        self._settings = chosen
        self._file = chosen.path("settings.toml")
        self._counters = counters
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._rules = keepout_rules.rules(chosen.ignore)
        self._reader = ProjectRulesReader()
        self._warned: set[str] = set()
        self.private = private_sessions.PrivateSessions(chosen.directory)

    def rules_for(self, directory: str) -> DirectoryRules:
        """The current rules for a directory. While the settings are broken, the user's last ones
        hold. What is wrong with the file of a project is reported once."""
        try:
            about = os.stat(self._file)
            seen = (about.st_ino, about.st_mtime_ns, about.st_size)
        except OSError:
            seen = (0, 0, 0)
        with self._lock:
            if seen != self._seen:
                try:
                    loaded = settings.load(flags={"home": self._settings.home})
                    self._rules = keepout_rules.rules(loaded.ignore)
                except BadSetting as error:
                    self._counters.error(f"settings: {error}")
                self._seen = seen
        found = self._reader.rules_for(directory, self._rules)
        for warning in found.warnings:
            if warning not in self._warned and len(self._warned) < 1000:
                self._warned.add(warning)
                self._counters.error(warning)
        return found

    # --- captures of hooks ---

    def refusal_of(self, captured: Capture, session_id: str | None, at: datetime) -> Refusal | None:
        """Why nothing of a capture is taken, or None. A prompt may make its session private or
        public again; the end of a session ends its privacy, too."""
        key = private_sessions.session_key(captured.host, session_id, captured.cwd)
        prompts = (one.body for one in captured.drafts if one.kind == "prompt")
        texts = (body.content for body in prompts if isinstance(body, TextBody))
        word = next(filter(None, map(private_sessions.privacy_word, texts)), "")
        at_ms = to_micros(at) // 1000
        if word == "private":
            self.private.begin(key, captured.host, at_ms, private_sessions.WORD)
            return Refusal(PRIVATE, NOW_PRIVATE)
        by = self.private.open(key)
        if by == private_sessions.ENVIRONMENT:
            # Hooks of a session that is private by its environment never come here: the variable is
            # gone.
            self.private.end(key, captured.host, at_ms)
        elif by:
            self.private.note_activity(key)
            if word == "public" or captured.signal == "session-end":
                self.private.end(key, captured.host, at_ms)
            return Refusal(PRIVATE, NOW_PUBLIC if word == "public" else "")
        if word == "public":
            return Refusal(PRIVATE)
        if captured.cwd and self.rules_for(captured.cwd).off:
            return Refusal(PROJECT)
        return None

    def without_kept_out(self, captured: Capture) -> Capture:
        """The capture without the drafts that are kept out, which are counted."""
        kept = []
        for draft in captured.drafts:
            data = draft.body.data if isinstance(draft.body, JsonBody) else None
            name = draft.tool.name if draft.tool else ""
            reason = self._tool(name, data, captured.cwd) if draft.kind == "tool_use" else ""
            if reason:
                self._counters.count(f"kept out: {reason}")
            else:
                kept.append(draft)
        # Nothing is said about a command that nobody may know of.
        silent = len(kept) < len(captured.drafts) and captured.wants == "tool"
        return replace(captured, drafts=tuple(kept), wants=None if silent else captured.wants)

    # --- events of other doors ---

    def reason_against(self, event: Event) -> str:
        """Why an event of the API or of an import is not taken, or nothing."""
        where, key, host = event.source.project_path or "", event.session_id, event.source.surface
        at_ms = to_micros(event.valid_time) // 1000
        said = event.body.content if isinstance(event.body, TextBody) else ""
        word = private_sessions.privacy_word(said) if event.kind == "prompt" else ""
        if word == "private":
            self.private.begin(key, host, at_ms, private_sessions.WORD)
        elif word == "public":
            self.private.end(key, host, at_ms)
        if word or self.private.covers(key, at_ms):
            return PRIVATE
        if where and self.rules_for(where).off:
            return PROJECT
        if event.kind == "tool_use" and isinstance(event.body, JsonBody):
            data = event.body.data
            name = data.get("tool") if isinstance(data, dict) else ""
            return self._tool(name if isinstance(name, str) else "", data, where)
        return ""

    def _tool(self, name: str, data: object, cwd: str) -> str:
        files = self.rules_for(cwd).files
        if name and self._rules.tool(name):
            return TOOL
        return FILE if files and keepout_rules.matching_file_pattern(files, cwd, data) else ""
