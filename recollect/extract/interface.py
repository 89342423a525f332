"""The result of extraction: memories and claims that are not written yet.

In: a batch of unextracted events. Out: an Extraction. An extractor writes nothing: until the push
phase commits, a crash leaves everything as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recollect.core.values import Author, Candidate, Checkpoint, SourceType
from recollect.store.interface import Batch


@dataclass(frozen=True)
class EntityClaim:
    """A named entity: a project, service, tool, library, file, person, decision."""

    name: str
    type: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    event_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class FactClaim:
    """Subject, predicate, object and confidence; names are not resolved yet."""

    subject: str
    predicate: str
    object: str
    at: datetime
    author: Author
    source_type: SourceType
    confidence: float = 0.7
    event_ids: tuple[str, ...] = ()
    named: bool = False  # by the user or a file of the project: one turn is enough


@dataclass(frozen=True)
class ChangeClaim:
    """A sentence of the user that may say that something has changed, and that no pattern matches.
    Its meaning follows from the stored facts about the entities it names."""

    text: str
    plain: bool  # it has a word of change
    at: datetime
    source_type: SourceType
    event_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class EndClaim:
    """Words of the user that end or replace a belief. Which one follows from the beliefs that are
    held: `text` is the sentence, `ends` the words in it for what no longer holds (the whole
    sentence where it names no old value), `value` what holds instead, if anything does. Where it is
    not `sure`, the sentence only has a word that many changes have ("now")."""

    text: str
    ends: str
    subject: str
    value: str
    at: datetime
    author: Author
    source_type: SourceType
    event_ids: tuple[str, ...] = ()
    session_id: str = ""
    sure: bool = True


@dataclass(frozen=True)
class RelationClaim:
    """Two entities by name, and how the first is related to the second."""

    source: str
    target: str
    type: str
    at: datetime
    source_type: SourceType
    confidence: float = 0.7
    event_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class PreferenceClaim:
    """What the user wants; only the user's own words may become one."""

    category: str
    key: str
    value: str
    at: datetime
    source_type: SourceType
    strength: float = 0.8
    everywhere: bool = False  # holds in every project, not only in this one
    event_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProcedureClaim:
    """Steps that worked, and what they are for."""

    name: str
    trigger: str
    steps: tuple[str, ...]
    at: datetime
    confidence: float = 0.5
    successes: int = 0
    failures: int = 0
    event_ids: tuple[str, ...] = ()
    new: int | None = None  # successes not counted by an earlier batch; None: all


Claim = (
    EntityClaim
    | FactClaim
    | ChangeClaim
    | EndClaim
    | RelationClaim
    | PreferenceClaim
    | ProcedureClaim
)


@dataclass(frozen=True)
class Dropped:
    """What the quality gate kept out; `reason` is one of a few short texts, which are counted."""

    title: str
    reason: str


@dataclass(frozen=True)
class Extraction:
    """What one batch gave. `derived` names the candidates whose id follows from the events: they
    replace their earlier version (a session's summary as it grows). `reworded` names the candidates
    that replace a stored note because later turns of its session changed what it says, `ended` the
    stored notes of which nothing is left. `turns` maps an event to its turn; `sifted` tells that
    the candidates passed the quality gate."""

    candidates: tuple[Candidate, ...] = ()
    claims: tuple[Claim, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    derived: frozenset[str] = field(default_factory=frozenset)
    reworded: frozenset[str] = field(default_factory=frozenset)
    ended: tuple[str, ...] = ()
    turns: Mapping[str, str] = field(default_factory=dict)
    sifted: bool = False


class Extractor(Protocol):
    """Rules, or a model."""

    def extract(self, batch: Batch) -> Extraction:
        """May read the store beyond the batch. Raises ExtractionFailed without a usable answer; an
        empty Extraction means that nothing was worth keeping."""
