"""What was stated: rules, corrections, decisions, things turned down, facts. Only the user's own
words may become a rule; an answer may state a decision, nothing else.

In: a turn and the answer before it. Out: Statements, at most a few. Text that somebody pasted (a
plan, a review, a log) is not the user's; questions state nothing.
"""

from dataclasses import dataclass

from recollect.core.values import Author, KnowledgeType, SourceType
from recollect.extract.rules import patterns
from recollect.extract.rules.prose import capitalised, cut, options, sentences
from recollect.extract.rules.turns import Turn
from recollect.extract.words import content_words, names

MOST_STATED = 3
_LONG = 900  # a prompt longer than this is a document with a few own words around it
_SHORT = 250
_LONG_SENTENCE = 600  # nobody states a rule at such length, and patterns must not meet it
_OWN_SENTENCES = 2
_TITLE_CHARS = 190


@dataclass(frozen=True)
class Statement:
    type: KnowledgeType
    text: str
    reason: str  # what stood around it
    author: Author
    source_type: SourceType
    event_id: str
    rule: bool = False
    everywhere: bool = False


def stated(turn: Turn, answer_before: str) -> list[Statement]:
    found: list[Statement] = []
    for event_id, text in turn.prompts:
        found += _from_prompt(event_id, text, answer_before)
    for event_id, text in turn.answers:
        found += _from_answer(event_id, text)
    return found[:MOST_STATED]


def own_sentences(text: str) -> list[str]:
    """What in a prompt is the user's own: all of a short one, the edges of a document."""
    all_of_it = list(sentences(text))
    if patterns.DOCUMENT.search(text[:4000]):
        return all_of_it[:1] if not text.lstrip().lower().startswith("implement the") else []
    if len(text) > _LONG:
        return all_of_it[:_OWN_SENTENCES] + all_of_it[-1:]
    return all_of_it


def _from_prompt(event_id: str, text: str, answer_before: str) -> list[Statement]:
    found: list[Statement] = []
    own = own_sentences(text)
    for index, sentence in enumerate(own):
        if len(sentence) > _LONG_SENTENCE:
            continue
        bare = patterns.FILLER.sub("", sentence)
        kind = _kind(sentence, bare, short=len(text) < _SHORT)
        if kind is None or len(content_words(bare)) < (2 if kind == "constraint" else 3):
            continue
        beside = own[max(0, index - 1) : index] + own[index + 1 : index + 2]
        around = " ".join(one for one in beside if not patterns.CHATTER.match(one))
        chosen = _chosen(sentence, answer_before)
        found.append(
            Statement(
                type=kind,
                text=cut(capitalised(bare), _TITLE_CHARS),
                reason=cut(chosen or around, 240),
                author="user",
                source_type="corrected" if patterns.CORRECTION.search(sentence) else "stated",
                event_id=event_id,
                rule=kind == "constraint"
                or (kind == "heuristic" and bool(patterns.RULE.search(sentence))),
                everywhere=bool(patterns.HOLDS_EVERYWHERE.search(sentence)),
            )
        )
    return _merged(found)


def _kind(sentence: str, bare: str, *, short: bool) -> KnowledgeType | None:
    """The first that fits, strongest first."""
    if patterns.PLAIN_QUESTION.search(bare) and not patterns.POLITE.match(bare):
        return None
    if sentence.rstrip().endswith("?"):
        return None
    if patterns.QUOTES.search(bare):
        return None
    if patterns.RULE.search(sentence) and not patterns.NO_RULE.search(bare):
        return "constraint"
    if patterns.REJECTED.search(sentence):
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
    """What "option 2" was, from the answer that offered it."""
    number = patterns.OPTION.search(sentence)
    if not number:
        return ""
    offered = options(answer_before).get(int(number[1]))
    return f"Option {number[1]}: {offered}" if offered else ""


def _from_answer(event_id: str, text: str) -> list[Statement]:
    for sentence in sentences(text)[:30]:
        if patterns.ANSWER_DECISION.search(sentence) and names(sentence):
            if patterns.CHATTER.match(sentence) or patterns.UNSURE.search(sentence):
                continue
            return [
                Statement(
                    "decision", cut(sentence, _TITLE_CHARS), "", "assistant", "inferred", event_id
                )
            ]
    return []


def _merged(found: list[Statement]) -> list[Statement]:
    """Sentences of one prompt that state the same kind of thing are one statement with a reason;
    two rules are two."""
    kept: list[Statement] = []
    for one in found:
        if one.type != "constraint" and any(
            one.text.lower() in other.reason.lower() and one.type == other.type for other in kept
        ):
            continue
        kept.append(one)
    return kept
