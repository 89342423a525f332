"""A plugin that keeps memories as Markdown files, both ways: files follow memories, and what a
person edits in a file is edited in the memory. Obsidian, an editor and git can work on them.

In: plugins/vault.toml with `directory`, and optionally `kinds` and `deletes`. Out: one file per
memory in a folder per project. A file that a person wrote becomes a note. What changed on both
sides is taken from the file: the other version is kept, as with every edit. A file that is gone
deletes nothing, unless `deletes = true`.
"""

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from recollect.client import Client, Refused
from recollect.core import oslayer, safe_files, settings
from recollect.plugins import Json, Plugin

FILE_BYTES = 256 << 10
KINDS = ("knowledge", "observation")
DELETES = 20  # more files gone at once are an accident: another branch, a disk that is away
_MODE = 0o644
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_HEADINGS = {"## Detail": "detail", "## Facts": "facts"}


class Vault(Plugin):
    def __init__(self, options: Json) -> None:
        super().__init__(options)
        chosen = options.get("directory")
        if not isinstance(chosen, str) or not chosen:
            raise ValueError('vault.toml needs directory = "…", the folder for the files')
        self._directory = os.path.abspath(os.path.expanduser(chosen))
        self._kinds = tuple(options.get("kinds", KINDS))
        self._deletes = options.get("deletes") is True
        loaded = settings.load()
        self._client = Client(loaded)
        self._state_file = loaded.path("plugins", "vault-state.json")
        self._lock = threading.RLock()
        # By memory: the file below the directory, and the digest of what was written there.
        self._written: dict[str, list[str]] = {}
        self._projects: dict[str, tuple[str, str]] = {}  # namespace: folder, project
        self._complete = False

    def start(self) -> None:
        os.makedirs(self._directory, exist_ok=True)
        with suppress(FileNotFoundError):
            raw = safe_files.read_whole(self._state_file, 64 << 20)
            state = json.loads(raw)
            if state.get("directory") == self._directory:
                self._written = state["written"]

    # --- from memories to files ---

    def memory_made(self, memory: Json) -> None:
        with self._lock:
            if memory.get("removed"):
                self._remove(memory["record_id"])
            else:
                self._write(memory)
            self._save()

    def tick(self) -> None:
        with self._lock:
            if not os.path.isdir(self._directory):
                return  # a disk that is away: nothing was edited, and nothing is gone
            self._read_edits()
            if not self._complete:
                for memory in self._all_memories():
                    self._write(memory)
                self._complete = True
            self._save()

    def _all_memories(self) -> Iterator[Json]:
        for kind in self._kinds:
            before = None
            while True:
                page = self._client.get(
                    "/api/memories", kind=kind, project="all", limit=200, before=before
                )
                yield from page["items"]
                before = page.get("next")
                if not before:
                    break

    def _write(self, memory: Json) -> None:
        if memory["kind"] not in self._kinds:
            return
        known = self._written.get(memory["record_id"])
        place = known[0] if known else self._new_place(memory)
        path = os.path.join(self._directory, place)
        text = rendered(memory)
        there = self._content(path)
        if there is not None and known is not None and _digest(there) != known[1]:
            return  # edited: the next tick reads it
        if there != text:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            oslayer.replace_file(path, text.encode(), _MODE)
        self._written[memory["record_id"]] = [place, _digest(text)]

    def _remove(self, record_id: str) -> None:
        known = self._written.pop(record_id, None)
        if known is not None:
            path = os.path.join(self._directory, known[0])
            there = self._content(path)
            if there is not None and _digest(there) == known[1]:
                os.unlink(path)

    def _new_place(self, memory: Json) -> str:
        folder = self._project(memory["namespace"])[0]
        return os.path.join(folder, f"{_name(memory['title'])}-{memory['record_id'][-6:]}.md")

    def _project(self, namespace: str) -> tuple[str, str]:
        if namespace not in self._projects:
            for one in self._client.get("/api/projects")["items"]:
                folder = f"{_name(one['name'])}-{one['project_id'][-4:]}"
                self._projects[one["namespace"]] = (folder, one["project_id"])
        return self._projects.setdefault(namespace, ("global", "global"))

    # --- from files to memories ---

    def _read_edits(self) -> None:
        by_place = {place: record_id for record_id, (place, _) in self._written.items()}
        found = set()
        for path in sorted(oslayer.files_under(self._directory)):
            place = os.path.relpath(path, self._directory)
            if not place.endswith(".md") or place.startswith(".") or f"{os.sep}." in place:
                continue
            found.add(place)
            text = self._content(path)
            if text is None:
                continue
            front, edit = parsed(text)
            record_id = front.get("id") or by_place.get(place, "")
            if not record_id:
                self._adopt(path, place, text)
            elif record_id not in self._written or _digest(text) != self._written[record_id][1]:
                self._edit(record_id, place, text, edit)
        if self._deletes:
            self._delete([by_place[place] for place in by_place if place not in found])

    def _edit(self, record_id: str, place: str, text: str, edit: dict[str, Any]) -> None:
        known = self._written.get(record_id)
        if known is not None and known[0] != place:
            moved = self._content(os.path.join(self._directory, known[0])) is None
            if not moved:
                return  # a copy of a file that is still there
        try:
            memory = self._client.get(f"/api/memories/{record_id}")
            change = {name: value for name, value in edit.items() if memory[name] != value}
            if change:
                change["reason"] = "edited in the vault"
                memory = self._client.ask("PATCH", f"/api/memories/{record_id}", change)["record"]
        except Refused as error:
            if error.status not in (400, 404):
                raise
            # It says what a memory cannot be, or the memory is gone: the file stays as it is.
            self._written[record_id] = [place, _digest(text)]
            return
        self._written[record_id] = [place, _digest(text)]
        self._write(memory)

    def _adopt(self, path: str, place: str, text: str) -> None:
        """A file of a person becomes a note, and is given its id."""
        if not text.strip():
            return
        folder = place.split(os.sep)[0] if os.sep in place else ""
        if not self._projects:
            self._project("")
        ours = dict(self._projects.values())
        body = {"text": text, "project": ours.get(folder, "global")}
        memory = self._client.ask("POST", "/api/notes", body)["record"]
        self._written[memory["record_id"]] = [place, _digest(text)]
        self._write(memory)

    def _delete(self, record_ids: list[str]) -> None:
        if record_ids and len(record_ids) <= DELETES:
            body = {"ids": record_ids, "reason": "its file was deleted in the vault"}
            self._client.ask("POST", "/api/memories/delete", body)
            for one in record_ids:
                self._written.pop(one, None)

    # --- parts ---

    def _save(self) -> None:
        state = {"directory": self._directory, "written": self._written}
        oslayer.private_directory(os.path.dirname(self._state_file))
        oslayer.replace_file(self._state_file, json.dumps(state).encode())

    @staticmethod
    def _content(path: str) -> str | None:
        try:
            return safe_files.read_whole(path, FILE_BYTES, follow=False).decode()
        except (OSError, UnicodeDecodeError):
            return None  # not there, too large, or no text: not ours


def rendered(memory: Json) -> str:
    """A memory as a file."""
    kind = memory.get("knowledge_type") or memory.get("observation_type") or memory["kind"]
    front = {"id": memory["record_id"], "type": kind, "created": str(memory["created_at"])[:10]}
    if memory.get("state") not in (None, "current"):
        front["state"] = memory["state"]
    if memory.get("files"):
        front["files"] = ", ".join(memory["files"])
    if memory.get("concepts"):
        front["concepts"] = ", ".join(memory["concepts"])
    blocks = ["\n".join(["---", *(f"{name}: {value}" for name, value in front.items()), "---"])]
    blocks.append(f"# {memory['title']}")
    if memory.get("summary"):
        blocks.append(memory["summary"])
    if memory.get("detail"):
        blocks += ["## Detail", memory["detail"]]
    if memory.get("facts"):
        blocks += ["## Facts", "\n".join(f"- {one}" for one in memory["facts"])]
    return "\n\n".join(blocks) + "\n"


def parsed(text: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The front matter of a file, and what it says its memory is."""
    lines = text.split("\n")
    front: dict[str, str] = {}
    if lines[0] == "---" and "---" in lines[1:]:
        end = lines.index("---", 1)
        for line in lines[1:end]:
            name, colon, value = line.partition(":")
            if colon:
                front[name.strip()] = value.strip()
        lines = lines[end + 1 :]
    parts: dict[str, list[str]] = {"summary": [], "detail": [], "facts": []}
    title, first = "", "summary"
    part = first
    for line in lines:
        if not title and part == first and line.startswith("# "):
            title = line[2:].strip()
        elif line.rstrip() in _HEADINGS and not parts[_HEADINGS[line.rstrip()]]:
            part = _HEADINGS[line.rstrip()]
        else:
            parts[part].append(line)
    facts = [one.strip()[2:].strip() for one in parts["facts"] if one.strip().startswith("- ")]
    edit: dict[str, Any] = {
        "summary": "\n".join(parts["summary"]).strip(),
        "detail": "\n".join(parts["detail"]).strip(),
        "facts": [one for one in facts if one],
    }
    return front, {"title": title, **edit} if title else edit


def _name(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text.lower()[:200]).strip("-")[:50].strip("-") or "untitled"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
