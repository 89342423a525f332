"""The quality gate: keeps out candidates that are not worth remembering, and counts them.

In: candidates of the rules or of a model, and two functions that tell what is stored or refused.
Out: those that pass, and one Dropped with a short reason for each that does not. Nothing is
written. Public stores without a gate were measured at 90 % junk.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from recollect.core.kinds import TYPES
from recollect.core.values import Candidate, Record, ToolClass
from recollect.extract.interface import (
    ChangeClaim,
    Claim,
    Dropped,
    EndClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
    RelationClaim,
)
from recollect.extract.normalised_text import content_words, distinct_words, hash_of_words, names

MOST_PER_BATCH = 60
MOST_PER_TURN = 4
FEWEST_WORDS = 3
MOST_EVIDENCE = 20

# The same content of a tool again within this time is a repetition (A30); content without a tool
# is a repetition at any time.
WINDOWS: dict[ToolClass, timedelta] = {
    "file-read": timedelta(seconds=60),
    "file-write": timedelta(seconds=10),
    "command": timedelta(seconds=30),
    "research": timedelta(seconds=120),
    "delegation": timedelta(seconds=60),
    "tool-use": timedelta(seconds=30),
}

# Announcements of what is about to be done.
_RESIDUE = re.compile(
    r"^(?:(?:now|next|first|ok(?:ay)?|so|also|good)[,.]? )?(?:let me|let's see|let us|i'll|i will|"
    r"i'm going to|i am going to|i need to|going to|about to|trying to|i should|i can)\b"
    r"|^(?:running|checking|reading|looking (?:at|into)|searching|investigating|working on)\b"
    r"|^(?:continue|continuing|proceed)",
    re.IGNORECASE,
)
# Sentences without specific content.
_EMPTY = re.compile(
    r"^(?:the )?(?:user|assistant|agent|ai|model|developer|system|tool) (?:asked|wants?|requested|"
    r"said|is|was|has|uses?|used|ran|executed|worked|provided|needs?|mentioned|confirmed|thanked|did)\b"
    r"[^.]{0,40}$"
    r"|^(?:(?:the|a|some|various|several|all) )?(?:changes?|files?|code|tests?|work|task|issue|fix|"
    r"updates?|things?|stuff|project|feature)s? (?:was|were|is|are|has been|have been|got)? ?"
    r"(?:made|done|updated|changed|edited|fixed|completed|finished|successful\w*|passed|passing|"
    r"working|improved|added|ready)\W*$"
    r"|^(?:fix|update|change|edit|improve|wip|misc|cleanup|clean up|refactor|tests?|lint|format)\w*"
    r"(?: (?:the|some|it|this|that|stuff|things|code|files?|lint|tests?|bugs?|issues?|typos?))*"
    r"\W*$",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|thanks?|thank you|you'?re welcome|great|perfect|glad|happy to help|"
    r"any ?time|good (?:morning|question|point|idea)|no problem|sure|got it|understood)\b"
    r"[^.]{0,40}$",
    re.IGNORECASE,
)
# Phrases that occur in every session.
_BOILERPLATE = re.compile(
    r"\b(?:all tests pass\w*|no response requested|session (?:started|ended)|co-authored-by|"
    r"generated with|as an ai|i don't have access|this session is being continued)\b",
    re.IGNORECASE,
)

REDACTED = "[REDACTED"

FindByHash = Callable[[str], Record | None]
Refused = Callable[[str], bool]


def filter_candidates(
    candidates: Iterable[Candidate],
    *,
    known: FindByHash,
    refused: Refused = lambda value: False,
    turns: Mapping[str, str] = MappingProxyType({}),
    most: int = MOST_PER_BATCH,
) -> tuple[list[Candidate], list[Dropped]]:
    """The candidates that pass, in order, and those that do not. `known` finds a stored memory by
    content hash; `refused` tells whether the user refused a text for good; `turns` maps an event to
    its turn. When there are too many, the most important are kept, and summaries first."""
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    seen: dict[str, Record] = {}
    for candidate in candidates:
        record = candidate.record
        reason = fault(record) or _repeats(record, seen, known)
        if not reason and any(map(refused, (record.title, *record.facts))):
            reason = "refused"
        if reason:
            dropped.append(Dropped(record.title, reason))
            continue
        kept.append(candidate)
        seen[hash_of(record)] = record
    over = _beyond_caps(kept, turns, most)
    dropped += [Dropped(one.record.title, "cap") for one in kept if one.record.record_id in over]
    return [one for one in kept if one.record.record_id not in over], dropped


def fault(record: Record) -> str:
    """Why a candidate is not worth keeping; empty when it is."""
    title, whole = record.title, f"{record.title} {record.summary}"
    type_ = TYPES.get(record.knowledge_type or "")
    if record.author != "user" and type_ is not None and type_.users_words_only:
        return "not the user's words"
    if _GREETING.match(title):
        return "greeting"
    if _RESIDUE.match(title):
        return "residue"
    if _EMPTY.match(title) and len(names(whole)) < 3:
        return "empty"
    users = record.traits.is_belief and record.author == "user"
    if _BOILERPLATE.search(title) and not users:  # "never write Co-Authored-By" is a rule
        return "boilerplate"
    if record.state == "proposed" and REDACTED in whole:
        return "redacted"  # nobody can decide about what is not there
    words = distinct_words(whole)
    # The summary of a session may name no more than the file that was edited.
    fewest = FEWEST_WORDS - users
    if len(words) < fewest and not (record.traits.is_summary and record.files):
        return "unspecific"
    # A belief that the rules found names an alternative or a reason, so it may be short.
    stated = record.traits.is_belief and (record.author == "user" or record.strategy == "rules")
    if not stated and not record.files and not names(whole) and len(words) < 2 * FEWEST_WORDS:
        return "unspecific"
    return ""


def hash_of(record: Record) -> str:
    return record.content_hash or hash_of_words(record.title, record.summary)


def filter_claims(
    claims: Iterable[Claim], *, refused: Refused = lambda value: False
) -> tuple[list[Claim], list[Dropped]]:
    """Claims, each once with all its evidence, without empty and refused ones."""
    kept: dict[Claim, Claim] = {}
    dropped: list[Dropped] = []
    for claim in claims:
        value = ""
        match claim:
            case PreferenceClaim():
                value = claim.value
            case ChangeClaim() | EndClaim():
                value = claim.text
            case FactClaim():
                value = f"{claim.subject} {claim.predicate} {claim.object}"
                if not content_words(claim.object) or not content_words(claim.subject):
                    dropped.append(Dropped(value[:200], "empty"))
                    continue
        if value and refused(value):
            dropped.append(Dropped(value[:200], "refused"))
        else:
            key = replace(claim, event_ids=(), **_UNTIMED.get(type(claim), {}))
            first = kept.get(key, claim)
            events = dict.fromkeys((*first.event_ids, *claim.event_ids))
            kept[key] = replace(claim, event_ids=tuple(events)[:MOST_EVIDENCE])
    return list(kept.values()), dropped


# Claims are compared without their time: the same claim later is the same claim.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNTIMED: dict[type[Claim], dict[str, Any]] = {
    kind: {"at": _EPOCH}
    for kind in (FactClaim, ChangeClaim, EndClaim, RelationClaim, PreferenceClaim, ProcedureClaim)
}


def _repeats(record: Record, seen: dict[str, Record], known: FindByHash) -> str:
    digest = hash_of(record)
    before = seen.get(digest)
    if before is not None and before.record_id == record.record_id:
        return "known"  # twice in one batch
    for other in (before, known(digest)):
        if other is None or other.record_id == record.record_id or record.outdoes(other):
            continue
        if record.tool_class is None:
            return "known"
        if abs(record.valid_from - other.valid_from) <= WINDOWS[record.tool_class]:
            return "repeated"
    return ""


def _beyond_caps(kept: Sequence[Candidate], turns: Mapping[str, str], most: int) -> set[str]:
    """The ids beyond the caps: the least important of a turn, then of the batch. What came from
    several turns, as all does for which a model cites nothing, and a session's summary count for
    no turn."""
    ranked = sorted(
        kept, key=lambda one: (not one.record.traits.is_summary, -one.record.importance)
    )
    per_turn: dict[str, int] = {}
    over: set[str] = set()
    left = most
    for one in ranked:
        record = one.record
        first = next(iter(record.source_event_ids), record.record_id)
        origins = {turns.get(each, turns.get(first, first)) for each in record.source_event_ids}
        of_one = len(origins) == 1 and not record.traits.is_summary
        origin = origins.pop() if of_one else record.record_id
        per_turn[origin] = per_turn.get(origin, 0) + 1
        if left <= 0 or per_turn[origin] > MOST_PER_TURN:
            over.add(record.record_id)
        else:
            left -= 1
    return over
