"""Memories as the agent reads them: one template, empty sections left out, dates instead of ages.

In: memories in order. Out: lines of text, each memory in a long and a short form.
"""

from collections.abc import Sequence

from recollect.core.values import Preference, Record

HISTORY = "### Relevant History"
PREFERENCES = "### Preferences"
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


def preference_line(preference: Preference) -> str:
    return f"- {preference.category}.{preference.key}: {one_line(preference.value)}"


def assembled(preferences: Sequence[str], history: Sequence[str]) -> str:
    lines = []
    if preferences:
        lines += [PREFERENCES, *preferences]
    if history:
        lines += [HISTORY, *history]
    return "\n".join(lines)


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
