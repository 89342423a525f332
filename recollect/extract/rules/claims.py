"""Claims for the graph: preferences, and facts that are cheap and certain.

In: turns and what was stated in them. Out: claims with who said it, how sure it is, and the events
that show it. Facts come from the user's own sentences, from commands that worked, and, as mere
inference, from plain sentences of an answer; nothing is taken from the output of a tool.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from recollect.core.kinds import PROFILE
from recollect.core.values import SourceType
from recollect.extract.interface import (
    ChangeClaim,
    Claim,
    EndClaim,
    EntityClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
)
from recollect.extract.normalised_text import content_words, word_set
from recollect.extract.rules import grammar, patterns, predicates
from recollect.extract.rules.commands import program, steps
from recollect.extract.rules.procedures import MOST_STEPS, purpose_of
from recollect.extract.rules.prose import capitalised, cut, sentences
from recollect.extract.rules.statements import BeliefStatement, may_be_held, standing_sentences
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.work.command_targets import packages

MOST_ANSWERED = 30  # sentences
TOLD_SURE = 0.7  # of steps that somebody names: nobody has seen them work yet
MOST_CHANGED = 300  # characters of a sentence that may say that something changed
_HEDGED = re.compile(
    r"\b(?:probably|perhaps|maybe|may be|might|seems?|likely|i think|i guess|i believe)\b", re.I
)
_CORRECTS = re.compile(
    r"^(?:no|nope|wrong|actually|sorry|correction)\b|\bi was wrong\b|,? not \S+[.!]*$",
    re.IGNORECASE,
)
# "To deploy, run make image, then make push": what for, and the steps.
_STEPS = re.compile(
    r"^(?:no[,.!:;]* |instead[,:]? |please |always |first,? )*+"
    r"(?:(?:to|when you|before you|if you) (?P<goal>\w[\w ./-]{1,60}?)[,:] )?"
    r"(?:please |always |you |must |should |first,? |always )*+(?:run|do|use|call|execute) "
    r"(?P<steps>\S.{1,600})$",
    re.IGNORECASE,
)
_THEN = re.compile(r"(?:,|;)? (?:and )?then,? |(?:,|;) and (?:finally |last )", re.IGNORECASE)
_STEP = re.compile(r"^(?:please |you )*(?:run|do|use|call|execute) (?=\S)", re.IGNORECASE)
_INSTEAD = re.compile(r"\b(?:not|instead of|rather than|statt|over|en vez de|au lieu de)\b", re.I)


def preference(statement: BeliefStatement, turn: Turn) -> PreferenceClaim:
    category, key = _key(statement.text)
    return PreferenceClaim(
        category=category,
        key=key,
        value=cut(statement.text, 400),
        at=turn.at,
        source_type=statement.source_type,
        strength=0.95 if statement.source_type == "corrected" else 0.9,
        everywhere=statement.scope == "everywhere",
        event_ids=(statement.event_id,),
    )


def end(statement: BeliefStatement, turn: Turn) -> EndClaim:
    return EndClaim(
        text=statement.text,
        ends=statement.ends,
        subject=statement.subject,
        value=statement.value,
        at=turn.at,
        author=statement.author,
        source_type=statement.source_type,
        event_ids=(statement.event_id,),
        session_id=turn.first.event.session_id,
        sure=statement.surely_ends,
    )


def facts(turn: Turn, fresh: frozenset[str]) -> Iterator[Claim]:
    """The facts in the new events of this turn."""
    for event_id, text in turn.prompts:
        if event_id in fresh:
            against = patterns.contradicts(text)
            for sentence in standing_sentences(text):
                source: SourceType = (
                    "corrected" if against or _CORRECTS.search(sentence) else "stated"
                )
                yield from _facts_of_sentence(sentence, turn, event_id, source)
                yield from _wish(sentence, turn, event_id, source)
            if against:
                yield from _steps_told(text, turn, event_id)
    for event_id, text in turn.answers:
        if event_id in fresh:
            for sentence in sentences(text)[:MOST_ANSWERED]:
                sure = 0.3 if _HEDGED.search(sentence) else 0.5
                for triple in grammar.triples(sentence):
                    yield FactClaim(*triple, turn.at, "assistant", "inferred", sure, (event_id,))
    project = turn.project_name
    for call in turn.calls:
        if call.event_id in fresh and call.refusing_words:
            yield from _steps_told(call.refusing_words, turn, call.event_id)
        if call.event_id not in fresh or call.failed:
            continue
        if call.tool_class == "command":
            yield from _moved(call, turn)
            if project:
                yield from _facts_of_command(call, project, turn)
                yield from _named_command(call, project, turn)


def _facts_of_sentence(
    sentence: str, turn: Turn, event_id: str, source: SourceType
) -> Iterator[Claim]:
    told = set()
    for triple in grammar.triples(sentence):
        told |= set(triple[0].lower().split())
        yield FactClaim(*triple, turn.at, "user", source, 0.9, (event_id,))
    for predicate, pattern in predicates.SENTENCES:
        for found in pattern.finditer(sentence[:400]):
            subject, thing = _name(found["s"]), _name(found["o"])
            if subject.lower() in told or thing.lower() in told:
                continue
            if subject and thing and subject.lower() != thing.lower():
                yield FactClaim(
                    subject, predicate, thing, turn.at, "user", "stated", 0.9, (event_id,)
                )
    if len(sentence) <= MOST_CHANGED and not any(
        pattern.search(sentence) for pattern in (patterns.OPEN, patterns.REQUEST)
    ):
        plain = patterns.CHANGED.search(sentence) is not None
        yield ChangeClaim(sentence, plain, turn.at, source, (event_id,))


def _wish(sentence: str, turn: Turn, event_id: str, source: SourceType) -> Iterator[Claim]:
    """A lasting preference that is stated outright, but not as a rule."""
    if may_be_held(sentence) and (wish := predicates.wish(sentence)):
        category, key = wish
        yield PreferenceClaim(
            category=category,
            key=key,
            value=cut(sentence, 400),
            at=turn.at,
            source_type=source,
            everywhere=category == PROFILE,
            event_ids=(event_id,),
        )


def _steps_told(text: str, turn: Turn, event_id: str) -> Iterator[Claim]:
    """How something is done, as somebody says it who corrects how it was done."""
    for sentence in standing_sentences(text):
        found = _STEPS.match(sentence)
        told = (
            [_STEP.sub("", one).strip(" .!`") for one in _THEN.split(found["steps"])]
            if found
            else []
        )
        if found and 2 <= len(told) <= MOST_STEPS and all(1 < len(one) <= 200 for one in told):
            purpose = capitalised(" ".join((found["goal"] or "").split())) or purpose_of(sentence)
            yield ProcedureClaim(
                name=cut(f"{purpose}: {told[0]} … {told[-1]}", 190),
                trigger=f"asked to {purpose[0].lower()}{purpose[1:]}",
                steps=tuple(told),
                at=turn.at,
                confidence=TOLD_SURE,
                event_ids=(event_id,),
            )


def _facts_of_command(call: ToolCall, project: str, turn: Turn) -> Iterator[Claim]:
    for step in steps(call.command):
        for pattern, predicate, thing in predicates.COMMANDS:
            if pattern.search(step):
                yield _observed(project, predicate, thing, turn, call, 0.8)
                break
        for package in packages(step):
            yield EntityClaim(package[:200], "package", event_ids=(call.event_id,))
            yield _observed(project, "depends_on", package[:200], turn, call, 0.85)


# Files in which a project says how it is built and tested, and a step's purpose by its words.
_SAYS_HOW = re.compile(
    r"(?:^|/)(?:readme|makefile|justfile|contributing|claude|agents|package\.json|taskfile)[\w.]*$",
    re.I,
)
_PURPOSE = re.compile(r"\b(test|check|lint|build|start|deploy|run)(?=\b|[-_:])")


def _named_command(call: ToolCall, project: str, turn: Turn) -> Iterator[Claim]:
    """A command that worked and that the user, or a file of the project, names: known after one
    run."""
    said = turn.asked[:4000]
    written = "\n".join(
        one.output for one in turn.calls if any(map(_SAYS_HOW.search, one.files)) and not one.failed
    )
    lines = written.splitlines()
    for step in steps(call.command):
        purposes = _PURPOSE.findall(step)
        words = step.split()
        if not purposes or len(words) < 2 or len(step) > 120:
            continue
        target = f"{words[-1]}:" if len(words) < 4 else step
        named = any(line.strip(" \"'`").replace('"', "").startswith(target) for line in lines)
        if named or step in said or step in written:
            # In "npm run lint" the word after "run" tells what it is for.
            purpose = next((one for one in purposes if one != "run"), "run")
            shown = _observed(project, f"{purpose}_command", step, turn, call, 0.85)
            yield replace(shown, named=True)


def _moved(call: ToolCall, turn: Turn) -> Iterator[Claim]:
    for step in steps(call.command):
        words = program(step)
        if words[:2] == ["git", "mv"] and len(words) == 4 and not words[2].startswith("-"):
            yield _observed(words[2][:200], "renamed_to", words[3][:200], turn, call, 0.95)


def _observed(
    subject: str, predicate: str, thing: str, turn: Turn, call: ToolCall, confidence: float
) -> FactClaim:
    """A fact that a command shows."""
    return FactClaim(
        subject, predicate, thing, turn.at, "tool", "observed", confidence, (call.event_id,)
    )


def _name(text: str) -> str:
    text = text.strip(" .,;:`'\"")
    return "" if text.lower() in predicates.NO_NAME or len(text) < 2 else text[:200]


def _key(text: str) -> tuple[str, str]:
    """What a preference is about: a family of alternatives, or its first significant words."""
    if wish := predicates.wish(text):
        return wish
    words = {word.strip(".,") for word in text.lower().split()}
    for category, key, rivals in predicates.FAMILIES:
        if words & rivals:
            return category, key
    about = [word for word in content_words(_INSTEAD.split(text)[0]) if word not in _RULE_WORDS]
    return "rules", "_".join(about[:3])[:120] or "rule"


_RULE_WORDS = word_set(
    """always never use using don't dont must only immer nie niemals verwende siempre nunca usa
    sempre toujours remember general anywhere everywhere project repo prefer"""
)
