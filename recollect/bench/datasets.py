"""Reads benchmark sets from disk.

In: a folder with `docs.jsonl.gz`, `stores.json.gz` and `queries.jsonl.gz`. Out: a `BenchSet`. A
folder without these files is not a set; an unreadable file raises BadInput that names it.
"""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from recollect.core.clock import to_micros
from recollect.core.errors import BadInput

_FILES = ("docs.jsonl.gz", "stores.json.gz", "queries.jsonl.gz")
_TIMES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y-%m-%d")

Level = str  # "doc" or "group"


@dataclass(frozen=True, slots=True)
class BenchMessage:
    """One document: a message of a session."""

    id: str
    text: str
    session: str
    position: int
    author: str
    time: int | None


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    id: str
    store: str
    text: str
    type: str
    gold: frozenset[str]
    gold_groups: frozenset[str]
    abstention: bool
    time: int | None

    def golds(self, level: Level) -> frozenset[str]:
        return self.gold if level == "doc" else self.gold_groups


@dataclass(frozen=True)
class BenchSet:
    name: str
    messages: tuple[BenchMessage, ...]
    stores: dict[str, tuple[str, ...] | None]  # None: every message
    questions: tuple[BenchQuestion, ...]

    @cached_property
    def by_id(self) -> dict[str, BenchMessage]:
        return {message.id: message for message in self.messages}

    def store(self, name: str) -> list[BenchMessage]:
        ids = self.stores[name]
        return list(self.messages) if ids is None else [self.by_id[id] for id in ids]

    def levels(self) -> list[Level]:
        return [level for level in ("doc", "group") if any(self.scored(level))]

    def scored(self, level: Level) -> list[BenchQuestion]:
        """Questions that have an answer at this level."""
        return [ask for ask in self.questions if ask.golds(level) and not ask.abstention]

    def by_store(self) -> Iterator[tuple[str, list[BenchQuestion]]]:
        groups: dict[str, list[BenchQuestion]] = {}
        for ask in self.questions:
            groups.setdefault(ask.store, []).append(ask)
        yield from groups.items()


def sets_in(directory: str) -> list[str]:
    """The folders of a directory that hold a set, by name."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise BadInput(f"{directory} cannot be read: {error}", field="data") from error
    return [name for name in names if _is_set(os.path.join(directory, name))]


def read(directory: str, name: str) -> BenchSet:
    folder = os.path.join(directory, name)
    try:
        docs = list(_lines(os.path.join(folder, _FILES[0])))
        with gzip.open(os.path.join(folder, _FILES[1]), "rt", encoding="utf-8") as file:
            stores = json.load(file)
        questions = tuple(map(_question, _lines(os.path.join(folder, _FILES[2]))))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise BadInput(f"{folder} is not a benchmark set: {error!r}", field="data") from error
    whole = {store: None if ids == "*" else tuple(ids) for store, ids in stores.items()}
    return BenchSet(name, tuple(_messages(docs)), whole, questions)


def moment(text: str | None) -> int | None:
    """A time in any of the forms the sources use; None where there is none."""
    if not text:
        return None
    for form in _TIMES:
        try:
            return to_micros(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    found = datetime.fromisoformat(text)
    return to_micros(found if found.tzinfo else found.replace(tzinfo=UTC))


def _messages(docs: list[dict[str, Any]]) -> Iterator[BenchMessage]:
    position: dict[str, int] = {}
    for doc in docs:
        group = doc["group"]
        at = position.get(group, 0)
        position[group] = at + 1
        author = doc.get("role") or ""
        yield BenchMessage(doc["id"], doc["text"], group, at, author, moment(doc.get("ts")))


def _question(row: dict[str, Any]) -> BenchQuestion:
    return BenchQuestion(
        row["id"],
        row["store"],
        row["query"],
        row.get("type") or "",
        frozenset(row.get("gold") or ()),
        frozenset(row.get("gold_groups") or ()),
        bool(row.get("abstention")),
        moment(row.get("date")),
    )


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _is_set(folder: str) -> bool:
    return all(os.path.exists(os.path.join(folder, name)) for name in _FILES)
