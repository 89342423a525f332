"""The kinds of memory: what each is called, and what may be done with it.

In: the name of a kind or type, as it stands in rows and on the wire. Out: its line of a table. Code
asks for a property (`record.traits.is_turn`) and compares no names, so that a new kind is stored,
searched, shown, kept and exported by one more line here; to be added by hand it needs a function in
`service/write.py` and its route. `tests/unit/core/test_kinds.py` fails where a name is compared
elsewhere, and for a route that does not exist.
"""

from dataclasses import dataclass, replace
from typing import Literal

RecordKind = Literal["knowledge", "observation", "summary", "episode"]
ObservationType = Literal[
    "discovery", "decision", "error", "pattern", "tool_use", "session_summary"
]
KnowledgeType = Literal["constraint", "decision", "heuristic", "rejected"]
Level = Literal["raw", "compressed", "distilled"]

Tone = Literal["", "info", "accent", "violet", "warn"]

PROFILE = "profile"  # the category of a belief about the person, told first at every start

EDITABLE = (
    "title", "summary", "detail", "facts", "concepts", "files", "importance", "confidence", "pinned"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Type:
    """What a note or a belief is about: the column `observation_type` or `knowledge_type`."""

    name: str
    label: str
    plural: str
    importance: int = 5  # of one that the rules extract
    importance_by_hand: int = 5
    start_weight: float = 1.0  # of a belief, when memories are ranked without a question
    tone: Tone = ""  # of its badge; empty: the tone of its kind
    users_words_only: bool = False  # it instructs an agent, so only the user may have said it
    is_rule: bool = False  # it is told at the start of every session
    is_lesson: bool = False  # a report lists it under what was learned
    tells_cause: bool = False  # what came of it needs its second sentence: why, and what helped


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of memory."""

    name: RecordKind
    label: str
    plural: str
    icon: str  # an SVG path in a square of 24 units, for the dashboard
    tone: Tone
    retention_days: int  # unless the setting `retention` says otherwise; 0: for ever
    start_weight: float  # when memories are ranked without a question
    types: tuple[str, ...] = ()
    # The words of a turn as they were said; every other kind is derived from turns.
    is_turn: bool = False
    # It holds until something contradicts it, for every task and not only where it was said.
    is_belief: bool = False
    # It repeats in short what a session holds: no echo of its turns, no part of a checkpoint.
    is_summary: bool = False
    # Search reads `detail` alone; else title, summary, facts, concepts and detail.
    text_in_detail: bool = False
    # The section of a brief it may stand in; empty: it is never put before an agent.
    section: Literal["", "history"] = "history"
    # What the live feed calls a new one.
    news: Literal["memory", "summary"] = "memory"
    editable: tuple[str, ...] = EDITABLE
    # Where a person adds one; empty: only the daemon makes it.
    route: str = ""


TYPES: dict[str, Type] = {
    one.name: one
    for one in (
        Type("constraint", "Rule", "Rules", importance=8, importance_by_hand=9,
             start_weight=1.3, users_words_only=True, is_rule=True),
        Type("decision", "Decision", "Decisions", importance=7, importance_by_hand=8,
             start_weight=1.25, is_lesson=True),
        Type("heuristic", "Heuristic", "Heuristics", importance=7, importance_by_hand=6,
             start_weight=1.15, users_words_only=True),
        Type("rejected", "Rejected option", "Rejected options", importance=6, importance_by_hand=7,
             start_weight=1.1, tone="warn"),
        Type("discovery", "Discovery", "Discoveries", importance=6, is_lesson=True,
             tells_cause=True),
        Type("error", "Error and fix", "Errors and fixes", importance=6, tone="warn",
             tells_cause=True),
        Type("pattern", "Pattern", "Patterns"),
        Type("tool_use", "Work done", "Work done", importance=4),
        Type("session_summary", "Session summary", "Session summaries"),
    )
}  # fmt: skip

# In the order in which they are listed.
KINDS: dict[str, Kind] = {
    one.name: one
    for one in (
        Kind("knowledge", "belief", "beliefs", tone="accent",
             icon="M6 3h12v18l-6-4-6 4z",
             retention_days=0, start_weight=1.2, is_belief=True, route="/api/knowledge",
             types=("constraint", "decision", "heuristic", "rejected")),
        Kind("observation", "note", "notes", tone="info",
             icon="M5 3h14v18H5zM9 8h6M9 12h6M9 16h3",
             retention_days=90, start_weight=1.05, route="/api/observations",
             types=("discovery", "decision", "error", "pattern", "tool_use")),
        Kind("summary", "summary", "summaries", tone="violet",
             icon="M4 6h16M4 12h10M4 18h6",
             retention_days=365, start_weight=1.15, is_summary=True, news="summary",
             route="/api/summaries", types=("session_summary",)),
        Kind("episode", "turn", "turns", tone="",
             icon="M4 5h16v11H9l-5 4z",
             retention_days=30, start_weight=1.0, is_turn=True, text_in_detail=True),
    )
}  # fmt: skip
TURN = KINDS["episode"]
NOTE = KINDS["observation"]
BELIEF = KINDS["knowledge"]
SUMMARY = KINDS["summary"]
# A kind that only a newer version knows: it is found and shown, but neither told nor edited.
UNKNOWN = replace(NOTE, label="memory", plural="memories", types=(), section="", editable=())
BELIEF_TYPES = tuple(type_ for one in KINDS.values() if one.is_belief for type_ in one.types)


def traits(kind: str) -> Kind:
    return KINDS.get(kind, UNKNOWN)


def kind_of(observation_type: str, knowledge_type: str | None) -> RecordKind:
    """The kind that has this type; a note when there is none."""
    wanted = knowledge_type or observation_type
    belongs = (one.name for one in KINDS.values() if wanted in one.types
               and one.is_belief == bool(knowledge_type))  # fmt: skip
    return next(belongs, "observation")
