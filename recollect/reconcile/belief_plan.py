"""Decides what new statements do to the beliefs that are held: end, replace or dispute them.

In: the beliefs that a batch states, in order, with its claims. Out: a `BeliefPlan`: the new beliefs
as they are to be written, and a change for each stored belief that one of them concerns. Reads
only; the push writes.

Every statement of the user is compared with all beliefs that stand (`ending_pairs.py`): if it is
clear that it ends one, that one ends and the statement takes its place; what it may end is disputed
by it. A statement that is itself only proposed ends nothing, but disputes. What is only proposed
can be ended too. A statement about the same subject with another value replaces the older one. Only
the user's own words do any of this, and only to what was said before them.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec

from recollect.core.entity_keys import key
from recollect.core.projects import everywhere
from recollect.core.tuning import ENDINGS
from recollect.core.values import Record, TextBody
from recollect.extract.interface import Claim, EndClaim, PreferenceClaim
from recollect.extract.normalised_text import content_words
from recollect.extract.rules.grammar import family
from recollect.extract.rules.patterns import UNSURE
from recollect.extract.rules.statements import own_sentences
from recollect.extract.statement_match import same_statement, word_hashes
from recollect.reconcile.belief_changes import (
    BeliefChange,
    disputing,
    ended,
    ending,
    in_state,
    of_turn,
    replacing,
    said_again,
)
from recollect.reconcile.dedupe import ClusterPlan, EmbeddedRecord
from recollect.reconcile.ending_pairs import (
    change,
    least_share,
    may_be_about,
    may_change,
    only_orders,
    read,
    same_slot,
    shares,
)
from recollect.reconcile.ending_pairs import score as ending_score
from recollect.reconcile.recorded_statements import doubles, recorded_before
from recollect.reconcile.related_beliefs import (
    cosine,
    cosines,
    ended_since,
    rarity,
    refused,
    standing,
    words_of,
)
from recollect.reconcile.restatements import restates
from recollect.reconcile.same_sense import adds
from recollect.reconcile.unread_statements import as_belief, stating_turns
from recollect.store.interface import Store, with_content

PROPOSED = 0.5  # what is proposed with less confidence has a veto against it
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
    store: Store,
    namespace: str,
    plans: Sequence[ClusterPlan],
    claims: Sequence[Claim],
    perhaps: Sequence[EmbeddedRecord] = (),
) -> BeliefPlan:
    """What the new beliefs among these plans do to the others. `perhaps`: what the rules could not
    read; it becomes a belief only if it seems to change another one."""
    new = [
        one for plan in plans for one in plan.members
        if one.record.traits.is_belief and not plan.derived
    ]  # fmt: skip
    ends = [one for one in claims if isinstance(one, EndClaim) and one.author == "user"]
    if not new and not ends and not perhaps:
        return BeliefPlan(list(plans), [], list(claims))
    return _Planner(store, namespace, [*new, *perhaps]).plan(plans, ends, claims, perhaps)


class _Planner:
    def __init__(self, store: Store, namespace: str, new: Sequence[EmbeddedRecord]) -> None:
        self._store = store
        self._namespace = namespace
        self._held = {
            one.record_id: one
            for one in standing(store, (namespace, everywhere(namespace)), proposed=True)
        }  # fmt: skip
        self._stored = frozenset(self._held)
        self._doubles = doubles(self._held.values())  # an agent recorded what the rules had read
        for some in self._doubles.values():
            for one in some:
                self._held.pop(one.record_id, None)
        self._new = sorted(new, key=lambda one: (one.record.valid_from, one.record.position or 0))
        self._written = {one.record.record_id: one.record for one in new}
        self._changes: dict[str, BeliefChange] = {}
        self._unread: set[str] = set()  # what the rules could not read
        self._gone: list[Record] = []  # of this batch, and ended in it
        self._repeated: dict[str, Record] = {}  # what only says again what is held
        here = (namespace, everywhere(namespace))
        self._recorded = recorded_before(store, here, [one.record for one in self._new])
        self._in_users_words = set[str]()  # what was recorded, and what was read holds instead
        self._over = [one for where in here for one in ended_since(store, where)]
        self._refused = [words_of(one) for one in refused(store, namespace)]

    def plan(
        self,
        plans: Sequence[ClusterPlan],
        ends: Sequence[EndClaim],
        claims: Sequence[Claim],
        perhaps: Sequence[EmbeddedRecord],
    ) -> BeliefPlan:
        asked = list(ends)
        plans = [one for one in plans if not self._was_refused(one)]
        self._unread = {one.record.record_id for one in perhaps}
        for one in self._new:
            record = self._written[one.record.record_id]
            mine = [end for end in asked if _is_of(end, record)]
            asked = [end for end in asked if end not in mine]
            self._take(one, mine)
            now = self._written[record.record_id]
            if now.state == "proposed" and record.record_id in self._unread:
                self._held.pop(record.record_id, None)
        for end in asked:  # the sentence itself was not kept, or was known
            self._withdrawn(end)
        plans += [
            ClusterPlan((one,))
            for one in perhaps
            if self._written[one.record.record_id].state != "proposed"
        ]
        done = [
            ClusterPlan(
                tuple(
                    replace(one, record=self._written.get(one.record.record_id, one.record))
                    for one in plan.members
                    if plan.fusion or one.record.record_id not in self._repeated
                ),
                plan.fusion,
                plan.derived,
            )
            for plan in plans
        ]
        done = [plan for plan in done if plan.members]
        return BeliefPlan(done, list(self._changes.values()), list(self._still_claimed(claims)))

    def _was_refused(self, plan: ClusterPlan) -> bool:
        """Whether it would propose what the user refused before, in whatever words."""
        records = [one.record for one in plan.members]
        return bool(records) and all(
            one.traits.is_belief
            and one.state == "proposed"
            and any(same_statement(words_of(one), words) for words in self._refused)
            for one in records
        )

    def _take(self, one: EmbeddedRecord, ends: Sequence[EndClaim]) -> None:
        record = self._written[one.record.record_id]
        if self._is_recorded(one, ends):
            self._repeated[record.record_id] = record
            return
        said_before = next((old for old in self._held.values() if _covers(old, record)), None)
        if said_before is not None:
            self._strengthen(said_before, record)
            for end in ends:
                self._withdrawn(end, one)
            return
        if record.state == "current":
            self._confirm_proposed(record)
        self._change_others(record, ends, one)
        if self._written[record.record_id].state != "ended":
            self._held[record.record_id] = self._written[record.record_id]

    def _change_others(
        self, record: Record, ends: Sequence[EndClaim], made: EmbeddedRecord
    ) -> None:
        if record.author == "user" and record.state in ("current", "proposed"):
            self._say_again(record)
            if record.state == "current":
                for older in list(self._held.values()):
                    if _is_before(older, record) and _replaces(record, older):
                        self._replace(older, record)
            self._end_meant(record, ends, made)

    def _say_again(self, record: Record) -> None:
        """What ended a statement ends when that is said again; it is disputed if it was only
        proposed."""
        ended_by = {
            one.ended_by
            for one in self._over
            if _is_before(one, record) and restates(record.title, one.title)
        }
        ended_it = [
            one
            for one in self._held.values()
            if one.record_id in ended_by and _is_before(one, record) and _same_scope(one, record)
        ]
        if record.state == "current":
            for one in ended_it:
                self._replace(one, record)
        elif ended_it and record.confidence >= PROPOSED:
            self._dispute(ended_it, record)

    def _is_recorded(self, one: EmbeddedRecord, ends: Sequence[EndClaim]) -> bool:
        """Whether an agent recorded the statement, so that it is no second belief. If the agent
        added something, the user's own words take the place of the agent's."""
        record = self._written[one.record.record_id]
        recorded = self._recorded.get(record.record_id)
        if recorded is None or recorded.record_id in self._in_users_words:
            return False
        if not recorded.stands and recorded.state != "proposed":
            return True
        if record.state == "current" and self._adds(recorded):
            self._in_users_words.add(recorded.record_id)
            self._replace(recorded, record)
            return False
        self._take_as_recorded(recorded, one, ends)
        return True

    def _take_as_recorded(
        self, recorded: Record, one: EmbeddedRecord, ends: Sequence[EndClaim]
    ) -> None:
        """An agent recorded the statement before the rules read it: that belief changes others by
        the words that were read, and as surely as they were."""
        read = one.record
        same = self._held.get(recorded.record_id, recorded)
        if same.state == "proposed" and read.state == "current":
            same = in_state(same, "current")  # only proposed, as it was said in no project
        if read.is_rule and not same.is_rule:
            same = msgspec.structs.replace(same, knowledge_type=read.knowledge_type)
        if not same.value:
            same = msgspec.structs.replace(
                same, subject=read.subject, value=read.value, polarity=read.polarity
            )
        meant = msgspec.structs.replace(
            same, title=read.title, summary=read.summary,
            state=read.state, confidence=read.confidence,
        )  # fmt: skip
        self._written[same.record_id] = meant
        self._change_others(meant, ends, one)
        if self._written.pop(same.record_id).state == "disputed":
            same = in_state(same, "disputed")
        if same != recorded:
            change = BeliefChange(same.namespace, _shortened(f"again: {read.title}"), (same,))
            self._changes[same.record_id] = change
        self._held[same.record_id] = same

    def _adds(self, recorded: Record) -> bool:
        """Whether an agent recorded more than what was said, by the prompts and what was read."""
        said = [
            f"{one.record.title} {one.record.summary}"
            for one in self._new
            if self._recorded.get(one.record.record_id) == recorded
        ]
        for event_id in recorded.source_event_ids:
            stored = self._store.events.get(recorded.namespace, event_id)
            if stored is not None and isinstance(stored.event.body, TextBody):
                said += own_sentences(stored.event.body.content)
        return adds(f"{recorded.title} {recorded.summary}", " ".join(said))

    def _confirm_proposed(self, record: Record) -> None:
        """The same words that were only proposed so far."""
        known = with_content(self._store.records, record.namespace, record.content_hash)
        if known is not None and known.state == "proposed":
            change = BeliefChange(
                known.namespace, "stated since",
                changed=(ended(known, record.record_id, record.valid_from),),
            )  # fmt: skip
            self._changes[known.record_id] = change

    def _end_meant(self, record: Record, ends: Sequence[EndClaim], made: EmbeddedRecord) -> None:
        """End what a statement ends, and dispute what it may end."""
        text = f"{record.title} {record.summary}"
        held = [
            one for one in self._held.values() if _is_before(one, record) and _may_end(record, one)
        ]
        if made.vectors:
            turns = stating_turns(self._store, self._namespace, record.valid_from)
            held += [one for one in turns if _is_before(one, record)]
        found = self._meant(held, text, ends, made, self._bar(record))
        if record.state == "proposed" and made.vectors:  # it may be a task
            is_unread = record.record_id in self._unread
            changes = change(text, made.vectors[0])
            found = [
                (one, share)
                for one, share in found
                if _read_as_end(ends, text, one)
                or may_change(
                    record.title,
                    one.title,
                    0.0 if is_unread and only_orders(record.title, one.title) else changes,
                )
            ]
        standing = [share for one, share in found if one.stands and one.traits.is_belief]
        certain = sum(share for _, share in found) >= ENDINGS.clear
        is_clear = not standing or (len(standing) == 1 and standing[0] >= ENDINGS.clear / 2)
        if record.state == "current" and certain and is_clear:
            for one, _ in found:  # of what is only proposed nothing is lost when all of it ends
                self._replace(one, record)
        elif found:
            self._dispute([one for one, _ in found], record)

    def _bar(self, record: Record) -> float:
        """The share of certainty that a statement needs to put an older one in doubt: more if it
        may be a task, or somebody else's words."""
        if record.state == "current":
            return ENDINGS.doubt
        text = record.title.rstrip()
        if record.confidence < PROPOSED:
            return 1.0 if UNSURE.search(text) or text.endswith("?") else ENDINGS.vetoed
        return ENDINGS.unread if record.record_id in self._unread else ENDINGS.unsure

    def _withdrawn(self, end: EndClaim, made: EmbeddedRecord | None = None) -> None:
        """A sentence that ends something, and that is no belief itself, or was one before."""
        held = [
            one
            for one in self._held.values()
            if one.valid_from <= end.at
            and set(end.event_ids).isdisjoint(one.source_event_ids)
            and not restates(end.text, one.title)
        ]
        text = f"{end.text} {end.subject}"
        for one, share in self._meant(held, text, [end], made, ENDINGS.doubt):
            if share >= ENDINGS.clear or not one.stands:
                self._end(one, end)

    def _meant(
        self,
        held: Sequence[Record],
        text: str,
        ends: Sequence[EndClaim],
        made: EmbeddedRecord | None,
        bar: float,
    ) -> list[tuple[Record, float]]:
        """The beliefs that a sentence may end, with their share of certainty."""
        old = [one.ends for one in ends]
        held = [one for one in held if may_be_about(text, one.title)]
        names = [word_hashes(one) - _ABOUT_RULES for one in old]
        whole = word_hashes(text) - _ABOUT_RULES
        names = [one for one in names if 0 < len(one) <= NAMED and one != whole]
        named = [one for one in held if any(name <= words_of(one) for name in names)]
        if named or any(one[:1].isupper() or read(one).kinds for one in old):
            held = named if names else held
        else:
            names = []  # "no more lines to maintain" names nothing that was stated
        near = _by_words(held, text)
        if made is not None and made.vectors:
            near.update(cosines(self._store, held, made.vectors[0], made.model))
            near.update(self._near_in_batch(held, made.vectors[0]))
        new = read(text)
        changes = change(text, made.vectors[0] if made is not None and made.vectors else None)
        scores, bars = [], []
        for one in held:
            is_end = _read_as_end(ends, text, one)
            told = max(changes, ENDINGS.read_as_end) if is_end else changes
            score = ending_score(new, read(one.title), near[one.record_id], told)
            scores.append(score + ENDINGS.named * bool(names))
            sure = is_end and bar == ENDINGS.doubt
            least = ENDINGS.doubt_end if sure else least_share(bar, told)
            least += ENDINGS.doubt_of_many * math.log(len(held))
            bars.append(max(least, ENDINGS.unread) if one.traits.is_turn else least)
        found = zip(held, shares(scores), bars, strict=True)
        return [(one, share) for one, share, least in found if share >= least]

    def _near_in_batch(self, held: Sequence[Record], vector: bytes) -> dict[str, float]:
        """The cosines of beliefs that are not stored yet."""
        fresh = {one.record.record_id: one.vectors[0] for one in self._new if one.vectors}
        return {
            one.record_id: cosine(vector, fresh[one.record_id])
            for one in held
            if one.record_id in fresh
        }

    # --- what becomes of a belief ---

    def _strengthen(self, older: Record, record: Record) -> None:
        """The same statement again is evidence for what is held, and no second belief."""
        firmer = said_again(older, record.source_event_ids)
        self._held[older.record_id] = firmer
        self._repeated[record.record_id] = record
        if older.record_id in self._stored:
            change = BeliefChange(older.namespace, _shortened(f"again: {record.title}"), (firmer,))
            self._changes[older.record_id] = change
        else:
            self._written[older.record_id] = firmer

    def _replace(self, older: Record, record: Record) -> None:
        if older.traits.is_turn:
            over = ended(as_belief(older), record.record_id, record.valid_from)
            self._changes[over.record_id] = replace(
                of_turn(self._store.graph, as_belief(older), record, _said(record)), made=(over,)
            )
            return
        for one in self._with_doubles(older):
            over = ended(one, record.record_id, record.valid_from)
            self._becomes(over, partial(replacing, self._store.graph, one, record, _said(record)))
            self._over.append(over)

    def _end(self, older: Record, end: EndClaim) -> None:
        by = next(iter(end.event_ids), "user")
        reason = _shortened(end.text)
        for one in self._with_doubles(older):
            over = ended(one, by, end.at)
            self._becomes(over, partial(ending, self._store.graph, one, by, end.at, reason))

    def _with_doubles(self, belief: Record) -> list[Record]:
        return [belief, *self._doubles.get(belief.record_id, ())]

    def _dispute(self, older: Sequence[Record], record: Record) -> None:
        self._written[record.record_id] = msgspec.structs.replace(record, state="disputed")
        for one in older:
            if one.traits.is_turn:
                lost = in_state(as_belief(one), "disputed", record.record_id)
                change = of_turn(self._store.graph, as_belief(one), record, _said(record))
                self._changes[lost.record_id] = replace(change, made=(lost,))
                continue
            for same in self._with_doubles(one):
                doubted = in_state(same, "disputed", record.record_id)
                graph = self._store.graph
                self._becomes(doubted, partial(disputing, graph, same, record, _said(record)))

    def _becomes(self, record: Record, change: Callable[[], BeliefChange]) -> None:
        """A belief that is held no more: a change if it is stored, else it is written so."""
        self._held.pop(record.record_id, None)
        if record.record_id in self._stored:
            self._changes[record.record_id] = change()
        else:
            self._written[record.record_id] = record
            self._gone.append(record)

    def _still_claimed(self, claims: Iterable[Claim]) -> Iterable[Claim]:
        """Without preferences that were withdrawn in the same batch, or that stand in a change."""
        put = [one for change in self._changes.values() for one in change.preferences]
        over = [(set(one.source_event_ids), word_hashes(one.title)) for one in self._gone]
        over += [(set(one.source_event_ids), word_hashes(one.value)) for one in put]
        over += [
            (set(one.source_event_ids), word_hashes(one.title)) for one in self._repeated.values()
        ]
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


def _by_words(held: Sequence[Record], text: str) -> dict[str, float]:
    """How near beliefs are by words alone: the share of a sentence's words that a belief has."""
    weight = rarity(held)
    said = word_hashes(text) - _ABOUT_RULES
    known = frozenset().union(*map(words_of, held)) if held else frozenset()
    whole = weight(said) + len(said - known) * math.log(2)
    return {
        one.record_id: ENDINGS.by_words * weight(words_of(one) & said) / whole if whole else 0.0
        for one in held
    }


def _covers(older: Record, record: Record) -> bool:
    """Whether a belief that is held says already what a new statement says, as far as it is meant
    to hold. What was only proposed is confirmed by a statement, not by another proposal; a rule
    says more than a decision in the same words."""
    if not (_is_before(older, record) and older.author == record.author == "user"):
        return False
    wide = older.scope == "everywhere" and record.scope == "project"
    same = (older.scope, older.scope_name) == (record.scope, record.scope_name)
    firm = older.state == "current" or older.state == record.state == "proposed"
    news = record.state == "current" and record.is_rule and not older.is_rule
    return (wide or same) and firm and not news and restates(record.title, older.title)


def _read_as_end(ends: Sequence[EndClaim], text: str, older: Record) -> bool:
    """Whether the rules read that a sentence ends an older one. What is so "now" changes only what
    said something else of the same: about one subject many things hold at once."""
    return any(end.sure or same_slot(text, older.title) for end in ends)


def _is_of(end: EndClaim, record: Record) -> bool:
    same = not set(end.event_ids).isdisjoint(record.source_event_ids)
    return same and same_statement(word_hashes(end.text), word_hashes(record.title))


def _may_end(record: Record, older: Record) -> bool:
    """What is said for a branch or a session ends only what was said for the same; nothing ends
    what says the same."""
    wide = record.scope in ("project", "everywhere")
    same = (older.scope, older.scope_name) == (record.scope, record.scope_name)
    says = (key(record.value), record.polarity) == (key(older.value), older.polarity)
    repeats = bool(record.value) and says and _same_name(record.subject, older.subject)
    return older.record_id != record.record_id and (wide or same) and not repeats


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
    return may_be_about(record.title, older.title) and _other_value(record.title, older.title)


def _same_scope(one: Record, other: Record) -> bool:
    return (one.scope, one.scope_name) == (other.scope, other.scope_name)


def _same_name(one: str, other: str) -> bool:
    return bool(other) and word_hashes(one) == word_hashes(other) != frozenset()


def _other_value(new: str, old: str) -> bool:
    """Whether two sentences differ in alternatives of one kind or in a number, and in nothing else
    that both name."""
    if bool(_NEGATED.search(new)) != bool(_NEGATED.search(old)):
        return False  # "use pnpm" and "never use npm" can both hold
    mine, theirs = content_words(new), content_words(old)
    fresh = {kind for word in mine if word not in theirs for kind in _kinds(word)}
    gone = {kind for word in theirs if word not in mine for kind in _kinds(word)}
    if not fresh & gone:
        return False
    frame, before = (
        word_hashes(" ".join(word for word in some if not (family(word) or _number(word))))
        for some in (mine, theirs)
    )
    shorter, longer = sorted((frame, before), key=len)
    return len(shorter) >= FRAME and shorter <= longer | _ADVERBS


def _kinds(word: str) -> Iterable[str]:
    """What a word is one of: npm and pnpm are alternatives, npm and pip are not."""
    return read(word).kinds.keys() or {family(word), _number(word)} - {""}


def _number(word: str) -> str:
    """The kind of a number: its unit, or that it has none."""
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyz%")
    unit = word[len(digits) :]
    return f"number {unit}" if digits and digits.replace(".", "").isdigit() else ""


def _said(record: Record) -> str:
    return _shortened(f"now: {record.title}")


def _shortened(text: str) -> str:
    return " ".join(text.split())[:200]
