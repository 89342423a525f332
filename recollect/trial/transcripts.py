"""Finds transcripts and makes sessions of projects from them.

In: the places where agents keep their sessions, or a folder of transcripts, packed or not. Out:
sessions with their turns, each of one project. Work trees are cut off, and so are the folders of
people whose directories do not exist here. A message that an earlier transcript holds, because its
session was resumed, is left out of the later one.
"""

import contextlib
import gzip
import hashlib
import os
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core import keepout_rules, projects, safe_files
from recollect.core.clock import EPOCH
from recollect.core.values import IMPORTED, Event, EventSource, TextBody
from recollect.hosts import registry
from recollect.hosts.transcript import Transcript, TranscriptEvent
from recollect.portable.transcript_import import derived_id, without_private

ACTOR = "trial"
_ENDINGS = (".jsonl", ".jsonl.gz")
_WORK_TREE = re.compile(r"/(?:\.worktrees|\.claude/worktrees|worktrees)/.*")


@dataclass(frozen=True)
class ProjectRoot:
    """The project of a transcript, and the root of the work tree that it was written in."""

    key: str
    root: str

    @property
    def namespace(self) -> str:
        digest = hashlib.blake2b(self.key.encode("utf-8", "replace"), digest_size=12)
        return projects.namespace(ACTOR, digest.hexdigest())


@dataclass(frozen=True)
class PastSession:
    """One transcript: its events by turn. `ended` is when the whole transcript ended, with what
    is left out of it here."""

    name: str  # of its file, or its id where several sessions share a file name
    project: ProjectRoot
    turns: tuple[tuple[Event, ...], ...]
    ended: datetime
    history_only: bool = False

    @property
    def session_id(self) -> str:
        return self.turns[0][0].session_id

    @property
    def started(self) -> datetime:
        return self.turns[0][0].valid_time

    @property
    def events(self) -> list[Event]:
        return [event for turn in self.turns for event in turn]


def prompt_text(turn: Sequence[Event]) -> str:
    body = turn[0].body
    return body.content if isinstance(body, TextBody) else ""


@dataclass(frozen=True)
class Source:
    """A transcript, whose it is, and whether it is asked about or only remembered."""

    transcript: Transcript
    project: ProjectRoot
    history_only: bool = False


# --- finding ---


def of_agents(
    hosts: Iterable[str], home: str, env: Mapping[str, str], newest: int
) -> tuple[list[Source], int]:
    """The newest sessions that agents keep on this machine, and how many were left out."""
    readers = registry.readers()
    found = [one for host in hosts for one in readers[host].find(home, env)]
    kept = _newest(found, newest)
    roots = _projects_here(kept, home)
    return [Source(*pair) for pair in zip(kept, roots, strict=True)], len(found) - len(kept)


def in_folder(
    folder: str, unpack_into: str, newest: int, *, split: bool = False, history: str = ""
) -> tuple[list[Source], int]:
    """The newest sessions in a folder and below it, and how many were left out. It is one project,
    unless it is to be split by the names of the roots. Packed transcripts are unpacked into another
    folder."""
    found = list(_described(folder, os.path.join(unpack_into, "asked")))
    kept = _newest(found, newest)
    past = list(_described(history, os.path.join(unpack_into, "history"))) if history else []
    both = [*kept, *past]
    known = _roots(one.cwd for one in both)
    roots = [_root_of(one.cwd, known) for one in both]
    name = os.path.basename(os.path.abspath(folder))
    places = [ProjectRoot(os.path.basename(root) if split else name, root) for root in roots]
    sources = [
        Source(one, place, history_only=number >= len(kept))
        for number, (one, place) in enumerate(zip(both, places, strict=True))
    ]
    return sources, len(found) - len(kept)


def _newest(found: Sequence[Transcript], most: int) -> list[Transcript]:
    by_end = sorted(found, key=lambda one: one.ended or EPOCH, reverse=True)
    return by_end[:most]


def _described(folder: str, unpack_into: str) -> Iterator[Transcript]:
    for number, path in enumerate(_files_below(folder)):
        if path.endswith(".gz"):
            path = _unpacked(path, os.path.join(unpack_into, str(number)))
        yield from registry.transcripts_in(path)


def _files_below(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(here, name) for name in sorted(names) if name.endswith(_ENDINGS))


def _unpacked(path: str, into: str) -> str:
    """The unpacked copy; what comes after a damage is missing from it."""
    os.makedirs(into)
    plain = os.path.join(into, os.path.basename(path).removesuffix(".gz"))
    with (
        contextlib.suppress(OSError, EOFError, zlib.error),
        open(plain, "wb") as file,
        safe_files.open_plain(path) as packed,
        gzip.GzipFile(fileobj=packed) as lines,
    ):
        shutil.copyfileobj(lines, file)
    return plain


# --- projects ---


def _projects_here(transcripts: Sequence[Transcript], home: str) -> list[ProjectRoot]:
    """As capture finds them; a directory that is gone belongs to the highest one recorded above
    it."""
    gone = _roots(one.cwd for one in transcripts)
    known = {cwd: _project_here(cwd, gone, home) for cwd in {one.cwd for one in transcripts}}
    return [known[one.cwd] for one in transcripts]


def _project_here(cwd: str, gone: Sequence[str], home: str) -> ProjectRoot:
    directory = cwd if os.path.isdir(cwd) else _WORK_TREE.sub("", cwd)
    if os.path.isdir(directory):
        place = projects.locate(directory, home)
        return ProjectRoot(place.root, place.top or directory)
    root = _root_of(cwd, gone)
    return ProjectRoot(root, root)


def _roots(directories: Iterable[str]) -> list[str]:
    """Where the repository lay for each person: work trees cut off, folders inside it too."""
    found = sorted({_WORK_TREE.sub("", one) for one in directories if one}, key=len)
    kept: list[str] = []
    for one in found:
        if not any(one.startswith(root + "/") for root in kept):
            kept.append(one)
    return kept


def _root_of(cwd: str, roots: Sequence[str]) -> str:
    return next((root for root in roots if cwd == root or cwd.startswith(root + "/")), cwd)


# --- sessions ---


def read(sources: Sequence[Source], ignore: Sequence[str] = ()) -> list[PastSession]:
    """Sessions in order of their end. `ignore` is the setting: what is kept out of memory is kept
    out here too."""
    names = Counter(os.path.basename(one.transcript.path) for one in sources)
    kept_out = {
        cwd: bool(keepout_rules.rules_in(cwd, ignore).off)
        for cwd in {one.transcript.cwd for one in sources}
    }
    found = []
    for one in sources:
        events = list(without_private(one.transcript.events()))
        if events and not kept_out[one.transcript.cwd]:
            last = max(event.at for event in events)
            found.append((max(one.transcript.ended or last, last), one, events))
    found.sort(key=lambda item: item[0])
    seen: set[str] = set()
    sessions = []
    for ended, one, events in found:
        new = [event for event in events if event.key not in seen]
        seen.update(event.key for event in new)
        name = os.path.basename(one.transcript.path)
        if names[name] > 1:
            name = one.transcript.session_id
        turns = _turns(one, new, name)
        if turns:
            sessions.append(PastSession(name, one.project, turns, ended, one.history_only))
    return sessions


def _turns(
    source: Source, events: Sequence[TranscriptEvent], name: str
) -> tuple[tuple[Event, ...], ...]:
    """The events from the first prompt on, by the prompts that start turns."""
    turns: list[list[Event]] = []
    for one in events:
        if one.draft.kind == "prompt" and one.starts_turn:
            turns.append([])
        if turns:
            turns[-1].append(_event(source, one, name.split(".")[0][:256]))
    return tuple(map(tuple, turns))


def _event(source: Source, one: TranscriptEvent, session_id: str) -> Event:
    transcript = source.transcript
    return Event(
        event_id=derived_id(one.at, transcript.host, f"{session_id} {one.key}"),
        session_id=session_id,
        actor_id=ACTOR,
        namespace=source.project.namespace,
        kind=one.draft.kind,
        body=one.draft.body,
        valid_time=one.at,
        source=EventSource(
            surface=transcript.host,
            client_id=IMPORTED,
            project_path=transcript.cwd[:2048] or None,
            branch=one.branch[: projects.BRANCH_CHARS],
            root=source.project.root[:2048],
        ),
    )
