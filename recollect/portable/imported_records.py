"""Imports memories that were made elsewhere: from commits, and from other programs' stores.

In: drafts of records. Out: records, scrubbed and deduplicated by content and by id, which is
derived from the source. A draft that exceeds the limits is cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from recollect import privacy
from recollect.core import ids
from recollect.core.one_line import one_line
from recollect.core.values import Author, Citation, Record, check
from recollect.extract.content_hash import hash_of_import
from recollect.extract.tombstones import Tombstones
from recollect.hosts.reading import plain_text
from recollect.ingest.memories import Memories
from recollect.portable.foreign.cells import ForeignItem
from recollect.portable.transcript_import import derived_id
from recollect.store.interface import Store, with_content

_DETAIL = 64_000


@dataclass(frozen=True, kw_only=True)
class FoundRecord(ForeignItem):
    """A memory of another program, and where it belongs here."""

    program: str
    namespace: str
    author: Author = "assistant"
    commit: str = ""


class RecordImporter:
    def __init__(self, store: Store, memories: Memories, *, dry_run: bool = False) -> None:
        self._dry_run = dry_run
        self._store = store
        self._memories = memories
        self._stones = Tombstones(store)

    def store_new(self, found: Sequence[FoundRecord]) -> tuple[int, int]:
        """Store those that are new; returns how many were new, and how many were known or
        refused."""
        records = [(_record(one), _earlier_id(one)) for one in found]
        new: dict[str, Record] = {}
        for namespace in dict.fromkeys(one.namespace for one, _ in records):
            here = [(one, earlier) for one, earlier in records if one.namespace == namespace]
            wanted = [name for one, earlier in here for name in (one.record_id, earlier)]
            known = {one.record_id for one in self._store.records.get(namespace, wanted)}
            seen: set[str] = set()
            for record, earlier in here:
                told = record.content_hash in seen or with_content(
                    self._store.records, namespace, record.content_hash
                )
                if self._stones.refused(namespace, record.title):
                    continue  # somebody said never again
                if not known.intersection((record.record_id, earlier)) and not told:
                    new[record.record_id] = record
                    seen.add(record.content_hash)
        if new and not self._dry_run:
            self._memories.add(list(new.values()))
        return len(new), len(records) - len(new)


def _record(found: FoundRecord) -> Record:
    texts = {
        "title": found.title,
        "summary": found.summary,
        "detail": found.detail,
        "facts": list(found.facts),
        "concepts": list(found.concepts),
        "files": list(found.files),
    }
    clean: dict[str, Any] = privacy.scrub_tree(_plain(texts))
    files = tuple(dict.fromkeys(path[:500] for path in clean["files"] if path))[:50]
    record = Record(
        # Two clones that are two projects hold the same commits.
        record_id=ids.RECORD + derived_id(found.at, found.program, found.namespace + found.key),
        namespace=found.namespace,
        kind=found.kind or "observation",
        title=one_line(clean["title"], 200) or one_line(clean["detail"], 200) or "(untitled)",
        summary=clean["summary"][:4000],
        detail=clean["detail"][:_DETAIL],
        facts=tuple(fact[:500] for fact in clean["facts"] if fact),
        concepts=tuple(dict.fromkeys(one[:100] for one in clean["concepts"] if one)),
        files=files,
        observation_type=found.observation_type,
        category=found.category,
        strategy="import",
        author=found.author,
        session_id=(found.session_id or "")[:256] or None,
        importance=max(1, min(10, found.importance)),
        valid_from=found.at,
        citations=tuple(Citation(path=path, commit=found.commit) for path in files[:10])
        if found.commit
        else (),
    )
    return check(msgspec.structs.replace(record, content_hash=hash_of_import(record)))


def _earlier_id(found: FoundRecord) -> str:
    """The id that an earlier version gave, before clones could be separate projects."""
    return ids.RECORD + derived_id(found.at, found.program, found.key)


def _plain(texts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: plain_text(value) if isinstance(value, str) else [plain_text(one) for one in value]
        for name, value in texts.items()
    }
