"""What was stated: rules, corrections, decisions, things turned down, facts, and what ends one.
Only the user's own words may become a rule; an answer may state a decision, nothing else.

In: a turn and the answer before it. Out: BeliefStatements, at most a few. Vetoes come first: what
somebody else wrote, what was taken back, questions and what-ifs, what holds this once. Then two
readers vote, cues and the grammar of the sentence: where both agree it is `current`, where only one
of them is sure it is `proposed`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recollect.core.kinds import PROFILE, KnowledgeType
from recollect.core.tuning import STATEMENTS
from recollect.core.values import Author, SourceType
from recollect.extract.normalised_text import content_words, names
from recollect.extract.rules import patterns, predicates, vetoes
from recollect.extract.rules.belief_terms import terms
from recollect.extract.rules.cues import Cue, StatementKind, cue
from recollect.extract.rules.prose import capitalised, cut, options, placed_sentences, sentences
from recollect.extract.rules.sentence_kind import kinds, speaks_english
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.extract.standing import standing

# Cues that are unmistakable.
PLAIN = ("from now on", "always and never", "every one must", "what was asked for is over")
# Cues of what may be left from now on, and of what became otherwise.
RELEASES = ("what was asked for is over", "no longer needed", "allowed again")
CHANGED = ("changed my mind", "moved to")
_TAKES_BACK = 2  # sentences before it
_TITLE_CHARS = 190
_REASON_CHARS = 400

Scope = Literal["turn", "session", "branch", "project", "everywhere"]
State = Literal["proposed", "current"]


@dataclass(frozen=True)
class BeliefStatement:
    type: KnowledgeType
    text: str
    reason: str  # why, or what was chosen; the whole sentence when the title had to be cut
    author: Author
    source_type: SourceType
    event_id: str
    rule: bool = False
    said: tuple[str, ...] = ()  # the sentences it was made of
    state: State = "current"
    scope: Scope = "project"
    scope_name: str = ""  # the branch or the session
    subject: str = ""
    value: str = ""
    polarity: Literal["", "do", "avoid"] = ""
    ends: str = ""  # the words for what it withdraws or replaces
    surely_ends: bool = False  # it says so, and not only since when something else holds
    vetoed: bool = False  # a veto makes it unsure: it is proposed, and changes nothing


@dataclass(frozen=True)
class _Reading:
    """One sentence as it was read."""

    kind: StatementKind
    state: State
    scope: Scope
    bound: str  # the words that bind it to its scope
    cue: str  # the name of the cue, if it has one
    vetoed: bool = False  # a veto makes it unsure


def statements_of(turn: Turn, answer_before: str) -> list[BeliefStatement]:
    found: list[BeliefStatement] = []
    for event_id, text in turn.prompts:
        found += _from_prompt(turn, event_id, text, answer_before)
    for call in turn.calls:
        if call.refusing_words:
            found += [
                replace(one, source_type="corrected")
                for one in _from_prompt(turn, call.event_id, call.refusing_words, "")
            ]
    for event_id, text in turn.answers:
        found += _from_answer(event_id, text)
    planned = [one for call in turn.calls if call.plan for one in _from_plan(call)]
    if len(found) > STATEMENTS.most:  # what is sure stays, in the order in which it was said
        stays = sorted(range(len(found)), key=lambda at: found[at].state != "current")
        found = [found[at] for at in sorted(stays[: STATEMENTS.most])]
    return found + planned[: STATEMENTS.planned]


def _from_plan(call: ToolCall) -> list[BeliefStatement]:
    """What an approved plan decided: the sentences under its headings for decisions and for what
    stays as it is. Its steps are work, which is told when it is done."""
    return [
        BeliefStatement(
            "decision",
            cut(one.text, _TITLE_CHARS),
            cut(one.text, _REASON_CHARS) if len(one.text) > _TITLE_CHARS else "",
            "assistant",
            "inferred",
            call.event_id,
            said=(one.text,),
        )
        for one in placed_sentences(call.plan)
        if patterns.PLAN_DECIDES.search(one.heading)
        and not one.is_heading
        and len(content_words(one.text)) > 2
        and not one.text.endswith(("?", ":"))
    ]


def own_sentences(text: str) -> list[str]:
    """The user's own words: all of a short prompt, the beginning and end of a long one. A request
    at the end of a sentence is one of its own: "the api is on 3100, can you set the proxy?"."""
    all_of_it = [
        part
        for one in sentences(vetoes.own_words(text))
        for part in vetoes.ASKS_AT_ITS_END.split(one, maxsplit=1)
    ]
    if patterns.DOCUMENT.search(text[:4000]):
        return all_of_it[:1] if not text.lstrip().lower().startswith("implement the") else []
    lines = text.strip().count("\n")
    if len(text) > STATEMENTS.document_chars or lines >= STATEMENTS.document_lines:
        return all_of_it[: STATEMENTS.own_sentences] + all_of_it[-1:]
    return all_of_it


def standing_sentences(text: str) -> list[str]:
    """The user's own sentences that no veto speaks against, for facts."""
    own = own_sentences(text)
    effects = [vetoes.effects(one) for one in own]
    taken_back = _taken_back(own, effects)
    return [
        one
        for at, one in enumerate(own)
        if at not in taken_back
        and effects[at].keys().isdisjoint(("nothing", "turn", "session", "branch"))
        and not one.rstrip().endswith("?")
    ]


def _taken_back(own: Sequence[str], effects: Sequence[dict[vetoes.Effect, str]]) -> set[int]:
    """The places of the sentences that a later one takes back, or laughs at."""
    return {
        at - back
        for at, effect in enumerate(effects)
        if "takes back" in effect or vetoes.LAUGHS.search(own[at])
        for back in range(1 if _goes_on(own[at], effect) else 0, _TAKES_BACK + 1)
    }


Bound = Literal["", "turn", "session", "branch"]
_BOUND: tuple[Bound, ...] = ("turn", "session", "branch")
_UNBOUND: Bound = ""


@dataclass(frozen=True)
class OwnSentence:
    """A sentence that the user typed, and how it is meant."""

    text: str
    unmeant: str = ""  # what it is instead of a statement of the user's: "a question"
    bound: Bound = ""  # it was said for no longer than that
    unsure: bool = False


def meant_sentences(text: str) -> list[OwnSentence]:
    """The user's own sentences of a prompt, with what speaks against taking each at its word."""
    own = own_sentences(text)
    effects = [vetoes.effects(one) for one in own]
    back = _taken_back(own, effects)
    found = []
    for at, (one, effect) in enumerate(zip(own, effects, strict=True)):
        unmeant = vetoes.unmeant(one)
        if not unmeant and vetoes.QUESTION.search(patterns.FILLER.sub("", one)):
            unmeant = "a question"
        if not unmeant and vetoes.TO_OTHERS.search(one):
            unmeant = "what the user told somebody else"
        ends = at in back and "takes back" in effect and _is_end(_reading(one, effect))
        if not unmeant and at in back and not ends:
            unmeant = "taken back in the same prompt"
        bound = next((reach for reach in _BOUND if reach in effect), _UNBOUND)
        unsure = not effect.keys().isdisjoint(("unsure", "passing"))
        found.append(OwnSentence(one, unmeant, bound, unsure))
    return found


@dataclass(frozen=True)
class ChangeReading:
    """How the rules read a sentence that may change or withdraw something."""

    state: State | None = None  # None: it states nothing
    is_end: bool = False
    names_rule: bool = False  # it speaks of a rule, or of what was said: "drop the rule about"
    releases: bool = False  # what was asked for need not be done, or may be done again
    says_so: bool = False  # in so many words: "moved", "no longer"
    since_when: bool = False  # only since when something else holds: "now"
    old: str = ""  # the name of what no longer holds


def read_change(sentence: str) -> ChangeReading:
    reading = _reading(sentence, vetoes.effects(sentence))
    if reading is None:
        return ChangeReading(old=terms(sentence, "decision").old.strip())
    return ChangeReading(
        state=reading.state,
        is_end=reading.kind == "end",
        names_rule=reading.cue == RELEASES[0],
        releases=reading.cue in RELEASES,
        says_so=reading.cue in CHANGED or _says_so(sentence),
        since_when=patterns.CHANGES.search(sentence) is not None,
        old=terms(sentence, reading.kind).old.strip(),
    )


def instructs(text: str) -> bool:
    """Whether a text tells agents what to do, whatever it is stored as."""
    return any(_instructs(one) for one in sentences(text))


def _instructs(sentence: str) -> bool:
    bare = _bare(sentence)
    if patterns.INSTRUCTION.search(bare):
        return True
    hint = cue(sentence) or cue(bare)
    if hint is not None:
        return hint.kind == "rule"
    return speaks_english(sentence) and kinds(sentence)["rule"] >= STATEMENTS.proposed


def may_be_held(sentence: str) -> bool:
    """Whether no veto makes it unsure, and it ends nothing."""
    effects = vetoes.effects(sentence)
    unsure = not effects.keys().isdisjoint(("unsure", "passing"))
    return not unsure and not _is_end(_reading(sentence, effects))


def _from_prompt(turn: Turn, event_id: str, text: str, answer_before: str) -> list[BeliefStatement]:
    found: list[BeliefStatement] = []
    own = own_sentences(text)
    readings = _readings(own, quoted=vetoes.QUOTATION in "\n".join(own))
    heard = standing(text)
    if heard.fires:
        readings = [
            replace(one, state="current") if one and _is_bound(one, said) else one
            for one, said in zip(readings, own, strict=True)
        ]
    elif heard.probability < STATEMENTS.hardly_stated:
        readings = [
            one if one and _is_clear(one, said) else None
            for one, said in zip(readings, own, strict=True)
        ]
    joined = False
    for index, sentence in enumerate(own):
        after = own[index + 1] if index + 1 < len(own) else ""
        if joined:
            joined = False
            continue
        reading = readings[index]
        follow = readings[index + 1] if after else None
        if reading is None and follow and vetoes.EARLIER.search(sentence):
            ended = replace(follow, kind="end")
            found.append(_statement(turn, event_id, ended, (sentence, after), "", ""))
            joined = True
            continue
        joined = bool(after) and _are_one(sentence, after, reading, follow)
        if joined and follow and not (reading and reading.state == "current"):
            reading = follow
        if reading is None:
            continue
        said = (sentence, after) if joined else (sentence,)
        rest = own[index + len(said)] if index + len(said) < len(own) else ""
        found.append(_statement(turn, event_id, reading, said, rest, answer_before))
    found = [replace(one, state="current") if _is_wish(one) else one for one in found]
    if patterns.contradicts(text):  # all that it says is said against the answer before it
        found = [replace(one, source_type="corrected") for one in found]
    clear = all(vetoes.effects(one).keys() <= {"everywhere", "passing"} for one in own)
    if len(text) <= _TITLE_CHARS and clear and found and all(map(_may_be_more, found)):
        return [_whole(found, own)]
    return found


def _is_clear(reading: _Reading, sentence: str) -> bool:
    """Whether it may be kept although the detector of statements hears none: by its grammar alone,
    what is only proposed is mostly a task."""
    sure = reading.cue or reading.state == "current" or predicates.wish(sentence)
    return bool(sure) or _turns_down(sentence) or _says_so(sentence)


def _says_so(sentence: str) -> bool:
    """Whether a sentence tells of a change in so many words ("changed to"), and not only of since
    when something holds ("now")."""
    told = (found[0] for found in patterns.CHANGES.finditer(sentence))
    return any(not patterns.SINCE_WHEN.fullmatch(one) for one in told)


def _is_bound(reading: _Reading, sentence: str) -> bool:
    """Whether it says that it holds on a branch, and nothing speaks against it: where the detector
    of statements fires, too, that is enough to hold it there. Of a session people mostly tell what
    was done in it."""
    if reading.scope != "branch" or reading.vetoed:
        return False
    bare = _unbound(patterns.FILLER.sub("", sentence), reading.bound)
    only = vetoes.effects(sentence).keys() <= {"branch"}
    told = reading.kind in ("rule", "decision")  # not how things are at the moment
    return told and only and not patterns.REQUEST.match(bare)


def _is_wish(one: BeliefStatement) -> bool:
    """Whether it is a preference of a known kind: such a sentence is told, so it must be held."""
    wish = predicates.wish(one.said[0]) if len(one.said) == 1 else None
    return wish is not None and wish[0] != PROFILE and may_be_held(one.said[0])


def _may_be_more(one: BeliefStatement) -> bool:
    """Whether it was read in one sentence, without a reason, and is not sure."""
    plain = len(one.said) == 1 and not one.reason
    return plain and one.state == "proposed" and one.scope == "project"


def _whole(found: Sequence[BeliefStatement], own: Sequence[str]) -> BeliefStatement:
    """Of a short prompt that may state something, all of it: what holds and why is often in the
    sentence beside the one that was read."""
    said = tuple(one for one in own if not vetoes.QUESTION.search(one))
    text = " ".join(capitalised(_bare(one)) for one in said)
    ends = next((text if one.ends == one.text else one.ends for one in found if one.ends), "")
    sure = any(one.surely_ends for one in found)
    return replace(found[0], text=text, said=said, ends=ends, surely_ends=sure)


def _statement(
    turn: Turn,
    event_id: str,
    reading: _Reading,
    said: tuple[str, ...],
    rest: str,
    answer_before: str,
) -> BeliefStatement:
    whole = " ".join(capitalised(_bare(one)) for one in said)
    corrects = len(said) > 1 or any(map(patterns.corrects, said))
    kind: KnowledgeType = _TYPES[reading.kind]
    if kind == "decision" and _turns_down(said[0]):
        kind = "rejected"
    named = terms(said[0], reading.kind)
    is_end = reading.kind == "end"
    changes = [found[0] for found in patterns.CHANGES.finditer(said[0])]
    surely = is_end or any(not patterns.SINCE_WHEN.fullmatch(one) for one in changes)
    earlier = said[0] if len(said) > 1 and vetoes.EARLIER.search(said[0]) else ""
    return BeliefStatement(
        type=kind,
        text=cut(whole, _TITLE_CHARS),
        reason=_because(whole, rest, _chosen(said[0], answer_before)),
        author="user",
        source_type="corrected" if corrects else "stated",
        event_id=event_id,
        rule=reading.kind == "rule",
        said=said,
        state=reading.state,
        scope=reading.scope,
        scope_name=_scope_name(turn, reading),
        subject=named.subject,
        value=named.value,
        polarity=named.polarity,
        ends=earlier or named.old or (whole if is_end or changes else ""),
        surely_ends=bool(earlier or named.old or surely),
        vetoed=reading.vetoed,
    )


def _bare(sentence: str) -> str:
    """A sentence without what only leads up to its rule: "nice, and remember to always ..."."""
    bare = patterns.FILLER.sub("", sentence)
    led = patterns.LEADS_TO_RULE.match(bare)
    return bare[led.end() :] if led and not patterns.CONDITION.match(bare) else bare


_TYPES: dict[StatementKind, KnowledgeType] = {
    "rule": "constraint",
    "decision": "decision",
    "fact": "heuristic",
    "end": "decision",
}


def _scope_name(turn: Turn, reading: _Reading) -> str:
    source = turn.first.event
    if reading.scope == "session":
        return source.session_id
    if reading.scope == "branch":
        named = next((word for word in reading.bound.split() if "/" in word), "")
        return named.strip(".,;:") or source.source.branch
    return ""


def _readings(own: Sequence[str], *, quoted: bool) -> list[_Reading | None]:
    """How each sentence of a prompt reads, after what was taken back."""
    effects = [vetoes.effects(one) for one in own]
    found = [_reading(one, effect) for one, effect in zip(own, effects, strict=True)]
    for at, effect in enumerate(effects):
        earlier = any(map(vetoes.EARLIER.search, own[max(0, at - _TAKES_BACK) : at]))
        if "takes back" in effect and earlier:
            found[at - 1] = None
            found[at] = found[at] or _Reading("end", "current", "project", "", "")
        elif "takes back" in effect and (at or not _is_end(found[at])):
            first = max(0, at - _TAKES_BACK)
            found[first:at] = [None] * (at - first)
            found[at] = _proposed(found[at]) if _goes_on(own[at], effect) else None
        elif vetoes.LAUGHS.search(own[at]) and at:
            found[at - 1] = None
        elif at and vetoes.HESITATES.match(own[at]):
            found[at - 1] = _proposed(found[at - 1])
    if quoted or any(map(_unsettles, own, effects)):
        return [_proposed(one) for one in found]  # who quotes may mean the rest of it less
    return found


def _unsettles(sentence: str, effects: dict[vetoes.Effect, str]) -> bool:
    """Whether it makes the other sentences of its prompt unsure. "You keep writing npm" does not:
    it says why the rest is said."""
    blames = vetoes.BLAMES.search(sentence)
    return "nothing" in effects and not (blames and effects["nothing"] == blames[0])


def _goes_on(sentence: str, effects: dict[vetoes.Effect, str]) -> bool:
    """Whether what takes something back says what holds instead."""
    if "takes back" not in effects:
        return False
    after = sentence.partition(effects["takes back"])[2]
    return len(content_words(after)) > 2 and vetoes.effects(after).keys() != {"takes back"}


def _proposed(reading: _Reading | None) -> _Reading | None:
    return replace(reading, state="proposed", vetoed=True) if reading else None


def _is_end(reading: _Reading | None) -> bool:
    return reading is not None and reading.kind == "end"


def _reading(sentence: str, effects: dict[vetoes.Effect, str]) -> _Reading | None:
    bare = patterns.FILLER.sub("", sentence)
    if "nothing" in effects and (follows := sentence.partition(", ")[2]):
        # "Odile told me she trusts us, no need to ask her any more": the end is the user's own.
        after = _reading(follows, vetoes.effects(follows))
        return replace(after, state="proposed") if after and after.kind == "end" else None
    if "nothing" in effects or vetoes.QUESTION.search(bare):
        return None
    if sentence.removesuffix(vetoes.QUOTATION).rstrip().endswith(":"):
        return None  # it introduces what somebody or something else said
    if len(content_words(bare)) < 2 and speaks_english(bare):
        return None
    reach = next((one for one in ("everywhere", "branch", "session") if one in effects), None)
    bare = _unbound(bare, effects[reach]) if reach in ("branch", "session") else bare
    hint = cue(sentence) or cue(bare)
    guess = kinds(bare if reach in ("branch", "session") else sentence)
    stated = 1 - guess["none"]
    kind: StatementKind = hint.kind if hint else max(_TYPES, key=lambda one: guess[one])
    if (hint is None or hint.kind == "decision") and _turns_down(bare):
        kind, stated = "decision", max(stated, STATEMENTS.held_by_cue)
    foreign = not speaks_english(sentence)
    state = _state(hint, kind, stated, foreign=foreign)
    if hint is None and patterns.REQUEST.match(bare):
        # "run it with 20 workers": by its form alone, it is for now
        state = "proposed" if state and stated >= STATEMENTS.requested else None
    if state is None and reach and (foreign or stated >= STATEMENTS.hardly):
        state = "proposed"  # who says how far it holds means it to hold
    if state is None:
        return None
    if not effects.keys().isdisjoint(("unsure", "passing")) and kind != "end":
        state = "proposed"
    if "turn" in effects and kind != "end":
        return None
    name = hint.name if hint else ""
    vetoed = "unsure" in effects and kind != "end"
    return _Reading(kind, state, reach or "project", effects[reach] if reach else "", name, vetoed)


def _unbound(sentence: str, bound: str) -> str:
    """A sentence without the words before it that say how far it holds: they are no part of it, and
    what follows is read as if it began there."""
    before, _, after = sentence.partition(bound)
    rest = after.lstrip(" ,:;-–—")
    return rest if rest and len(before.split()) <= 2 else sentence


def _state(hint: Cue | None, kind: StatementKind, stated: float, *, foreign: bool) -> State | None:
    """What the two readers come to. The grammar knows English only, and has no vote elsewhere."""
    if foreign:
        if hint is None:
            return None
        return "proposed" if hint.name.startswith("our habit") else "current"
    if hint is not None:
        is_plain = hint.name in PLAIN
        if stated >= (STATEMENTS.held_by_plain_cue if is_plain else STATEMENTS.held_by_cue):
            return "current"
        return "proposed" if stated >= STATEMENTS.hardly else None
    if stated >= STATEMENTS.held and kind != "rule":  # what describes code reads like a rule
        return "current"
    return "proposed" if stated >= STATEMENTS.proposed else None


def _because(whole: str, follows: str, chosen: str = "") -> str:
    """The reason of a statement, or what was chosen; not just the sentence next to it."""
    parts = [whole] if len(whole) > _TITLE_CHARS else []
    parts += [chosen] if chosen else []
    parts += [follows] if patterns.REASON_FIRST.match(follows) else []
    return cut(" ".join(parts), _REASON_CHARS)


def _are_one(sentence: str, after: str, one: _Reading | None, then: _Reading | None) -> bool:
    """ "No, not like that. Like this." is one correction with its positive form."""
    if one is None and then is None:
        return False
    corrects = patterns.SAYS_NO.match(sentence) or patterns.CORRECTION.search(sentence)
    if not corrects or len(content_words(patterns.FILLER.sub("", sentence))) < 2:
        return False
    if sentence.rstrip().endswith("?") or after.rstrip().endswith("?"):
        return False
    return not patterns.NEGATIVE.match(after) and bool(
        (then and then.kind in ("rule", "decision")) or patterns.POSITIVE.match(after)
    )


def _chosen(sentence: str, answer_before: str) -> str:
    """The text of "option 2", from the answer that offered it."""
    number = patterns.OPTION.search(sentence)
    if not number:
        return ""
    offered = options(answer_before).get(int(number[1]))
    return f"Option {number[1]}: {offered}" if offered else ""


def _turns_down(sentence: str) -> bool:
    """Whether an option was rejected; weaker forms need a reason or the alternative."""
    if patterns.REJECTED.search(sentence) or patterns.TRIED.search(sentence):
        return True
    return bool(patterns.REJECTED_IF_REASONED.search(sentence)) and _says_why(sentence)


def _says_why(sentence: str) -> bool:
    return bool(patterns.REASON.search(sentence) or patterns.CONTRAST.search(sentence))


def _from_answer(event_id: str, text: str) -> list[BeliefStatement]:
    """What an answer decided and what it rejected: the first of each."""
    found: dict[KnowledgeType, BeliefStatement] = {}
    said = sentences(text)[:30]
    for sentence, follows in zip(said, (*said[1:], ""), strict=False):
        kind = _answer_kind(sentence, follows)
        if kind is not None and kind not in found:
            found[kind] = BeliefStatement(
                kind,
                cut(sentence, _TITLE_CHARS),
                _because(sentence, follows),
                "assistant",
                "inferred",
                event_id,
                said=(sentence,),
            )
    return list(found.values())


def _answer_kind(sentence: str, follows: str) -> KnowledgeType | None:
    if len(sentence) > vetoes.LONGEST or sentence.endswith("?"):
        return None
    if patterns.CHATTER.match(sentence) or patterns.UNSURE.search(sentence):
        return None
    if patterns.NO_DECISION.search(sentence) or len(content_words(sentence)) < 3:
        return None
    why = _says_why(sentence) or bool(patterns.REASON_FIRST.match(follows))
    if patterns.ANSWER_REJECTED.search(sentence) and (
        why or names(sentence) or patterns.DECIDED_AGAINST.search(sentence)
    ):
        return "rejected"
    if patterns.TRIED.search(sentence):
        return "rejected"
    if patterns.REJECTED_IF_REASONED.search(sentence) and why:
        return "rejected"
    if patterns.ANSWER_DECISION.search(sentence):
        outright = patterns.DECIDED.search(sentence) and names(sentence)
        return "decision" if why or outright else None
    return "decision" if patterns.ANSWER_USED.search(sentence) else None
