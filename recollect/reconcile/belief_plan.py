"""Decides what new statements do to the beliefs that are held: end, replace or dispute them.

In: the beliefs that a batch states, in order, with its claims. Out: a `BeliefPlan`: the new beliefs
as they are to be written, and a change for each stored belief that one of them concerns. Reads
only; the push writes.

A sentence that ends something (`EndClaim`) is compared with all beliefs that stand: if one
candidate is clear, it ends and the sentence takes its place; if several may be meant, they are
disputed by the newer one. What is only proposed can be ended too. A statement about the same
subject with another value replaces the older one. Only the user's own words do any of this, and
only to what was said before them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from recollect.core.entity_keys import key
from recollect.core.projects import everywhere
from recollect.core.values import Record
from recollect.extract.interface import Claim, EndClaim, PreferenceClaim
from recollect.extract.normalised_text import content_words
from recollect.extract.rules.grammar import family
from recollect.extract.statement_match import same_statement, word_hashes
from recollect.reconcile.belief_changes import BeliefChange, disputing, ended, ending, replacing
from recollect.reconcile.dedupe import ClusterPlan, EmbeddedRecord
from recollect.reconcile.related_beliefs import cosines, rarity, standing, words_of
from recollect.store.interface import Store, with_content

MEANT = (
    0.55  # the share of what a sentence says of known things that a belief must have to be meant
)
CLEAR = 0.12  # how much better than the next one a candidate is that is clear
NEAR = 0.4  # the cosine of two statements that may be about one thing: unrelated ones have .2
NAMED = 3  # words of a name; longer ones are a sentence
FRAME = 2  # words besides their values, for two statements to be about one thing
_ADVERBS = word_hashes("always only must please remember actually instead")
# Words for rules, and for ending them: they name no rule.
_ABOUT_RULES = word_hashes(
    "rule rules convention requirement policy restriction forget scrap drop dropped stop ignore "
    "lift lifted gone over longer need have ask anymore now again about"
)
_NEGATED = re.compile(
    r"\b(?:not|no|never|don'?t|without|avoid|stop|nicht|kein\w{0,2}|nie)\b", re.IGNORECASE
)


@dataclass
class BeliefPlan:
    plans: list[ClusterPlan] = field(default_factory=list)
    changes: list[BeliefChange] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


def plan_beliefs(
    store: Store, namespace: str, plans: Sequence[ClusterPlan], claims: Sequence[Claim]
) -> BeliefPlan:
    """What the new beliefs among these plans do to the others."""
    new = [
        one for plan in plans for one in plan.members
        if one.record.traits.is_belief and not plan.derived
    ]  # fmt: skip
    ends = [one for one in claims if isinstance(one, EndClaim) and one.author == "user"]
    if not new and not ends:
        return BeliefPlan(list(plans), [], list(claims))
    return _Planner(store, namespace, new).plan(plans, ends, claims)


class _Planner:
    def __init__(self, store: Store, namespace: str, new: Sequence[EmbeddedRecord]) -> None:
        self._store = store
        self._held = {
            one.record_id: one
            for one in standing(store, (namespace, everywhere(namespace)), proposed=True)
        }  # fmt: skip
        self._stored = frozenset(self._held)
        self._new = sorted(new, key=lambda one: (one.record.valid_from, one.record.position or 0))
        self._written = {one.record.record_id: one.record for one in new}
        self._changes: dict[str, BeliefChange] = {}
        self._gone: list[Record] = []  # of this batch, and ended in it

    def plan(
        self, plans: Sequence[ClusterPlan], ends: Sequence[EndClaim], claims: Sequence[Claim]
    ) -> BeliefPlan:
        asked = list(ends)
        for one in self._new:
            record = self._written[one.record.record_id]
            mine = [end for end in asked if _is_of(end, record)]
            asked = [end for end in asked if end not in mine]
            self._take(one, mine)
        for end in asked:  # the sentence itself was not kept, or was known
            self._withdrawn(end, None)
        done = [
            ClusterPlan(
                tuple(
                    replace(one, record=self._written.get(one.record.record_id, one.record))
                    for one in plan.members
                ),
                plan.fusion,
                plan.derived,
            )
            for plan in plans
        ]
        return BeliefPlan(done, list(self._changes.values()), list(self._still_claimed(claims)))

    def _take(self, one: EmbeddedRecord, ends: Sequence[EndClaim]) -> None:
        record = self._written[one.record.record_id]
        if record.state == "current":
            self._confirm_proposed(record)
        if record.author == "user" and record.state == "current":
            for end in ends:
                self._withdrawn(end, record, one)
            for older in list(self._held.values()):
                if _is_before(older, record) and _replaces(record, older):
                    self._replace(older, record)
        elif record.author == "user" and record.state == "proposed":
            for end in ends:
                self._doubted(end, record)
        if record.state != "ended":
            self._held[record.record_id] = self._written[record.record_id]

    def _confirm_proposed(self, record: Record) -> None:
        """The same words that were only proposed so far."""
        known = with_content(self._store.records, record.namespace, record.content_hash)
        if known is not None and known.state == "proposed":
            change = BeliefChange(
                known.namespace, "stated since",
                changed=(ended(known, record.record_id, record.valid_from),),
            )  # fmt: skip
            self._changes[known.record_id] = change

    def _withdrawn(
        self, end: EndClaim, record: Record | None, made: EmbeddedRecord | None = None
    ) -> None:
        found = self._meant(end, record, made)
        if not found:
            return
        best = found[0][1]
        close = [one for one, score in found if best - score < CLEAR]
        held = [one for one in close if one.stands]
        if len(held) > 1 and record is not None:
            self._dispute(held, record)
        # Of what is only proposed nothing is lost when all of it ends.
        for one in close:
            if one.stands and len(held) > 1:
                continue
            if record is not None:
                self._replace(one, record)
            else:
                self._end(one, end)

    def _doubted(self, end: EndClaim, record: Record) -> None:
        """It may end something: what it names is not told until somebody decides."""
        found = self._meant(end, record)
        close = [one for one, score in found if found[0][1] - score < CLEAR and one.stands]
        if close:
            self._dispute(close, record)

    def _meant(
        self, end: EndClaim, record: Record | None, made: EmbeddedRecord | None = None
    ) -> list[tuple[Record, float]]:
        """The beliefs that a sentence may end, best first."""
        held = [
            one
            for one in self._held.values()
            if one.valid_from <= end.at
            and set(end.event_ids).isdisjoint(one.source_event_ids)
            and (record is None or _may_end(record, one))
        ]
        weight = rarity(held)
        old = word_hashes(end.ends) - _ABOUT_RULES
        said = word_hashes(f"{end.text} {end.subject}") - _ABOUT_RULES
        known = frozenset(word for word in said if weight(frozenset((word,))) > 0)
        near = {}
        if made is not None and made.vectors:
            near = cosines(self._store, held, made.vectors[0], made.model)
        by_name = 0 < len(old) <= NAMED
        found = []
        for one in held:
            words = words_of(one)
            if by_name and not old <= words:
                continue
            shared = words & known
            if not shared or not known:
                continue
            score = weight(shared) / weight(known)
            if by_name:
                score = (1 + score) / 2
            score = (score + max(0.0, near.get(one.record_id, 0.0)) / 4) / (1.25 if near else 1)
            if score >= MEANT:
                found.append((one, score))
        found.sort(key=lambda pair: (-pair[1], pair[0].record_id))
        return found or _nearest(held, near)

    # --- what becomes of a belief ---

    def _replace(self, older: Record, record: Record) -> None:
        self._gone_from(older)
        if older.record_id in self._stored:
            change = replacing(self._store.graph, older, record, _said(record))
            self._changes[older.record_id] = change
        else:
            self._over(ended(older, record.record_id, record.valid_from))

    def _end(self, older: Record, end: EndClaim) -> None:
        self._gone_from(older)
        by = next(iter(end.event_ids), "user")
        if older.record_id in self._stored:
            change = ending(self._store.graph, older, by, end.at, _shortened(end.text))
            self._changes[older.record_id] = change
        else:
            self._over(ended(older, by, end.at))

    def _dispute(self, older: Sequence[Record], record: Record) -> None:
        self._written[record.record_id] = msgspec.structs.replace(record, state="disputed")
        for one in older:
            self._gone_from(one)
            doubted = msgspec.structs.replace(one, state="disputed", ended_by=record.record_id)
            if one.record_id in self._stored:
                change = disputing(self._store.graph, one, record, _said(record))
                self._changes[one.record_id] = change
            else:
                self._over(doubted)

    def _over(self, record: Record) -> None:
        self._written[record.record_id] = record
        self._gone.append(record)

    def _gone_from(self, older: Record) -> None:
        self._held.pop(older.record_id, None)

    def _still_claimed(self, claims: Iterable[Claim]) -> Iterable[Claim]:
        """Without preferences that were withdrawn in the same batch, or that stand in a change."""
        put = [one for change in self._changes.values() for one in change.preferences]
        over = [(set(one.source_event_ids), word_hashes(one.title)) for one in self._gone]
        over += [(set(one.source_event_ids), word_hashes(one.value)) for one in put]
        for claim in claims:
            if isinstance(claim, EndClaim):
                continue
            if isinstance(claim, PreferenceClaim) and any(
                not events.isdisjoint(claim.event_ids)
                and same_statement(words, word_hashes(claim.value))
                for events, words in over
            ):
                continue
            yield claim


def _nearest(held: Sequence[Record], near: Mapping[str, float]) -> list[tuple[Record, float]]:
    """The belief that no word names, but that is by far the nearest in meaning."""
    ranked = sorted(held, key=lambda one: -near.get(one.record_id, 0.0))[:2]
    scores = [near.get(one.record_id, 0.0) for one in ranked] + [0.0, 0.0]
    clear = scores[0] >= NEAR and scores[0] - scores[1] >= CLEAR
    return [(ranked[0], scores[0])] if clear else []


def _is_of(end: EndClaim, record: Record) -> bool:
    same = not set(end.event_ids).isdisjoint(record.source_event_ids)
    return same and same_statement(word_hashes(end.text), word_hashes(record.title))


def _may_end(record: Record, older: Record) -> bool:
    """What is said for a branch or a session ends only what was said for the same."""
    wide = record.scope in ("project", "everywhere")
    same = (older.scope, older.scope_name) == (record.scope, record.scope_name)
    return older.record_id != record.record_id and (wide or same)


def _is_before(older: Record, record: Record) -> bool:
    apart = set(older.source_event_ids).isdisjoint(record.source_event_ids)
    return older.record_id != record.record_id and apart and older.valid_from <= record.valid_from


def _replaces(record: Record, older: Record) -> bool:
    """Whether two statements about one thing cannot both hold."""
    if (older.scope, older.scope_name) != (record.scope, record.scope_name):
        return False  # what holds on a branch or for a while ends nothing that holds elsewhere
    if record.value and older.value and _same_name(record.subject, older.subject):
        differs = key(record.value) != key(older.value)
        return differs if record.polarity == older.polarity else not differs
    return _other_value(record.title, older.title)


def _same_name(one: str, other: str) -> bool:
    return bool(other) and word_hashes(one) == word_hashes(other) != frozenset()


def _other_value(new: str, old: str) -> bool:
    """Whether two sentences differ in alternatives of one kind or in a number, and in nothing else
    that both name."""
    if bool(_NEGATED.search(new)) != bool(_NEGATED.search(old)):
        return False  # "use pnpm" and "never use npm" can both hold
    mine, theirs = content_words(new), content_words(old)
    kinds = (family, _number)
    fresh = {kind(word) for kind in kinds for word in mine if word not in theirs} - {""}
    gone = {kind(word) for kind in kinds for word in theirs if word not in mine} - {""}
    if not fresh & gone:
        return False
    frame, before = (
        word_hashes(" ".join(word for word in some if not _is_value(word)))
        for some in (mine, theirs)
    )
    shorter, longer = sorted((frame, before), key=len)
    return len(shorter) >= FRAME and shorter <= longer | _ADVERBS


def _is_value(word: str) -> bool:
    return bool(family(word) or _number(word))


def _number(word: str) -> str:
    """The kind of a number: its unit, or that it has none."""
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyz%")
    unit = word[len(digits) :]
    return f"number {unit}" if digits and digits.replace(".", "").isdigit() else ""


def _said(record: Record) -> str:
    return _shortened(f"now: {record.title}")


def _shortened(text: str) -> str:
    return " ".join(text.split())[:200]
