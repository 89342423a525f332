"""What was stated: rules, corrections, decisions, things turned down, facts. Only the user's own
words may become a rule; an answer may state a decision, nothing else.

In: a turn and the answer before it. Out: Statements, at most a few. Text that somebody pasted (a
plan, a review, a log) is not the user's; questions state nothing.
"""

from dataclasses import dataclass

from recollect.core.kinds import KnowledgeType
from recollect.core.values import Author, SourceType
from recollect.extract.normalised_text import content_words, names
from recollect.extract.rules import patterns
from recollect.extract.rules.prose import capitalised, cut, options, sentences
from recollect.extract.rules.turns import Turn

MOST_STATED = 3
_LONG = 900  # a prompt longer than this is a document with a few own words around it
_SHORT = 250
_LONG_SENTENCE = 600  # nobody states a rule at such length, and patterns must not meet it
_OWN_SENTENCES = 2
_TITLE_CHARS = 190
_REASON_CHARS = 400


@dataclass(frozen=True)
class BeliefStatement:
    type: KnowledgeType
    text: str
    reason: str  # why, or what was chosen; the whole sentence when the title had to be cut
    author: Author
    source_type: SourceType
    event_id: str
    rule: bool = False
    everywhere: bool = False
    said: tuple[str, ...] = ()  # the sentences it was made of


def statements_of(turn: Turn, answer_before: str) -> list[BeliefStatement]:
    found: list[BeliefStatement] = []
    for event_id, text in turn.prompts:
        found += _from_prompt(event_id, text, answer_before)
    for event_id, text in turn.answers:
        found += _from_answer(event_id, text)
    return found[:MOST_STATED]


def own_sentences(text: str) -> list[str]:
    """The user's own words: all of a short prompt, the beginning and end of a long one."""
    all_of_it = list(sentences(text))
    if patterns.DOCUMENT.search(text[:4000]):
        return all_of_it[:1] if not text.lstrip().lower().startswith("implement the") else []
    if len(text) > _LONG:
        return all_of_it[:_OWN_SENTENCES] + all_of_it[-1:]
    return all_of_it


def _from_prompt(event_id: str, text: str, answer_before: str) -> list[BeliefStatement]:
    found: list[BeliefStatement] = []
    own = own_sentences(text)
    kinds = [_kind_of(one, short=len(text) < _SHORT) for one in own]
    joined = False
    for index, sentence in enumerate(own):
        after = own[index + 1] if index + 1 < len(own) else ""
        if joined:
            joined = False
            continue
        kind = kinds[index]
        joined = bool(after) and _are_one(sentence, after, kind, kinds[index + 1])
        if joined:
            kind = "constraint" if "constraint" in (kind, kinds[index + 1]) else "decision"
        if kind is None:
            continue
        said = (sentence, after) if joined else (sentence,)
        follows = own[index + len(said)] if index + len(said) < len(own) else ""
        whole = " ".join(capitalised(patterns.FILLER.sub("", one)) for one in said)
        corrects = joined or any(map(patterns.CORRECTION.search, said))
        found.append(
            BeliefStatement(
                type=kind,
                text=cut(whole, _TITLE_CHARS),
                reason=_because(whole, follows, _chosen(sentence, answer_before)),
                author="user",
                source_type="corrected" if corrects else "stated",
                event_id=event_id,
                rule=kind == "constraint"
                or (kind == "heuristic" and bool(patterns.RULE.search(sentence))),
                everywhere=bool(patterns.HOLDS_EVERYWHERE.search(sentence)),
                said=said,
            )
        )
    return found


def _because(whole: str, follows: str, chosen: str = "") -> str:
    """The reason of a statement, or what was chosen; not just the sentence next to it."""
    parts = [whole] if len(whole) > _TITLE_CHARS else []
    parts += [chosen] if chosen else []
    parts += [follows] if patterns.REASON_FIRST.match(follows) else []
    return cut(" ".join(parts), _REASON_CHARS)


def _are_one(sentence: str, after: str, kind: str | None, next_kind: str | None) -> bool:
    """ "No, not like that. Like this." is one correction with its positive form."""
    if kind is None and next_kind is None:
        return False
    corrects = patterns.SAYS_NO.match(sentence) or patterns.CORRECTION.search(sentence)
    if not corrects or len(content_words(patterns.FILLER.sub("", sentence))) < 2:
        return False
    if sentence.rstrip().endswith("?") or after.rstrip().endswith("?"):
        return False
    return not patterns.NEGATIVE.match(after) and bool(
        next_kind in ("constraint", "decision") or patterns.POSITIVE.match(after)
    )


def _kind_of(sentence: str, *, short: bool) -> KnowledgeType | None:
    if len(sentence) > _LONG_SENTENCE:
        return None
    bare = patterns.FILLER.sub("", sentence)
    kind = _kind(sentence, bare, short=short)
    fewest = 2 if kind == "constraint" else 3
    return kind if len(content_words(bare)) >= fewest else None


def _kind(sentence: str, bare: str, *, short: bool) -> KnowledgeType | None:
    """The first kind whose patterns match, strongest first."""
    if patterns.PLAIN_QUESTION.search(bare) and not patterns.POLITE.match(bare):
        return None
    if sentence.rstrip().endswith("?"):
        return None
    if patterns.QUOTES.search(bare):
        return None
    if patterns.CHOSE.match(bare) and not _turns_down(bare):
        return "decision" if _says_why(bare) or patterns.DECISION.search(sentence) else None
    if patterns.RULE.search(sentence) and not patterns.NO_RULE.search(bare):
        return "constraint"
    if _turns_down(bare):
        return "rejected"
    if patterns.CORRECTION.search(sentence) and (names(bare) or len(content_words(bare)) >= 4):
        return "decision"
    if patterns.DECISION.search(sentence):
        return "decision"
    if short and patterns.DECISION_IF_SHORT.search(sentence):
        return "decision"
    if _is_convention(bare):
        return "constraint"
    if patterns.STATED_FACT.search(bare) and len(content_words(bare)) >= 4:
        return None if _complains(bare) else "heuristic"
    return None


def _complains(bare: str) -> bool:
    """ "Our build is broken" tells of today; "we no longer use it" does not."""
    told = patterns.GONE.sub("", bare)
    return told.lower().startswith(("our ", "we ")) and bool(patterns.PROBLEM.search(told))


def _is_convention(bare: str) -> bool:
    return bool(
        patterns.CONVENTION.search(bare)
        and not patterns.FOR_NOW.search(bare)
        and not patterns.NO_RULE.search(bare)
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
    if len(sentence) > _LONG_SENTENCE or sentence.endswith("?"):
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
        return "decision" if why or _decides(sentence) else None
    if patterns.ANSWER_USED.search(sentence):
        return "decision"
    if patterns.ANSWER_KEPT.search(sentence) and names(sentence):
        return "decision"
    return None


def _decides(sentence: str) -> bool:
    """Whether the sentence is an outright decision about something named."""
    return bool(patterns.DECIDED.search(sentence)) and bool(names(sentence))
