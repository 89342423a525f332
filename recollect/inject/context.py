"""Memories as the agent reads them: one template, empty sections left out, dates instead of ages.

In: memories in order. Out: lines of text, each memory in a long and a short form.
"""

from collections.abc import Sequence

from recollect.core.values import Checkpoint, Entity, Fact, Preference, Procedure, Record

HISTORY = "### Relevant History"
PREFERENCES = "### Preferences"
KNOWN = "### Known Context"
PROCEDURES = "### Learned Procedures"
SUMMARY_CHARS = 400
FACTS = 3


def forms(record: Record, stale: str = "") -> tuple[str, str]:
    """A memory in full, and its title alone; `stale` is the file that changed since."""
    day = record.valid_from.strftime("%Y-%m-%d")
    short = f"- [{day}] {one_line(record.title)}{_freshness(record, stale)}"
    said = shortened(one_line(record.summary), SUMMARY_CHARS)
    long = f"- [{day}] {one_line(record.title)}"
    if said and said != one_line(record.title):
        long += f": {said}"
    long += _freshness(record, stale)
    for fact in record.facts[:FACTS]:
        long += f"\n  - {one_line(fact)}"
    return long, short


def older(form: str) -> str:
    """A memory of the same day as a newer one that is much like it."""
    first, *rest = form.split("\n")
    return "\n".join([f"{first} (older than one above)", *rest])


def preference_line(preference: Preference) -> str:
    return f"- {preference.category}.{preference.key}: {one_line(preference.value)}"


def entity_line(entity: Entity) -> str:
    said = shortened(one_line(entity.description), 200)
    return f"- **{one_line(entity.name)}** ({entity.type}): {said}"


def fact_line(fact: Fact) -> str:
    return f"- {_said(fact)} (confidence: {_number(fact.confidence)})"


def procedure_line(procedure: Procedure) -> str:
    steps = ", ".join(one_line(step) for step in procedure.steps)
    trigger = one_line(procedure.trigger)
    how = f"{trigger} -> {steps}" if trigger else steps
    return f"- **{one_line(procedure.name)}** (confidence: {_number(procedure.confidence)}): {how}"


def checkpoint_line(checkpoint: Checkpoint) -> str:
    """Where the last session stopped, for the one that begins."""
    day = checkpoint.created_at.strftime("%Y-%m-%d") if checkpoint.created_at else "?"
    said = f"- [{day}] Left off: {shortened(one_line(checkpoint.task), 300)}"
    if checkpoint.progress:
        said += f". Done: {shortened(one_line(checkpoint.progress), 300)}"
    for step in checkpoint.next_steps[:FACTS]:
        said += f"\n  - next: {one_line(step)}"
    for question in checkpoint.questions[:FACTS]:
        said += f"\n  - open: {one_line(question)}"
    return said


def no_longer(text: str, facts: Sequence[Fact]) -> str:
    """A memory that says what no longer holds, with what holds now behind its first line."""
    now = shortened("; ".join(map(_said, facts[:FACTS])), 200)
    first, line_end, rest = text.partition("\n")
    return f"{first} (no longer so; now: {now}){line_end}{rest}"


def beside(text: str, facts: Sequence[Fact]) -> str:
    """A memory that speaks of something else than what holds, with what holds."""
    now = shortened("; ".join(map(_said, facts[:FACTS])), 200)
    first, line_end, rest = text.partition("\n")
    return f"{first} (what holds: {now}){line_end}{rest}"


def assembled(
    preferences: Sequence[str],
    known: Sequence[str],
    history: Sequence[str],
    procedures: Sequence[str],
) -> str:
    sections = (
        (PREFERENCES, preferences),
        (KNOWN, known),
        (HISTORY, history),
        (PROCEDURES, procedures),
    )
    return "\n".join(line for head, lines in sections if lines for line in (head, *lines))


def _said(fact: Fact) -> str:
    predicate = fact.predicate.replace("_", " ")
    return one_line(f"{fact.subject} {predicate} {shortened(one_line(fact.object), 200)}")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def one_line(text: str) -> str:
    return " ".join(text.split())


def shortened(text: str, most: int) -> str:
    """Cut at the end of a sentence, or at a word."""
    if len(text) <= most:
        return text
    head = text[:most]
    stop = max(head.rfind(". "), head.rfind("! "), head.rfind("? "))
    if stop > most // 3:
        return head[: stop + 1]
    return head[: most - 1].rsplit(" ", 1)[0] + "…"


def _freshness(record: Record, stale: str) -> str:
    path = stale or next(iter(record.files), "")
    if record.freshness not in ("drifted", "orphaned") or not path:
        return ""
    what = "changed since" if record.freshness == "drifted" else "is gone"
    return f" ({record.freshness}: {one_line(path)} {what})"
