"""Count secrets that are told and get through: `python -m tests.bench.told`.

In: `tests/privacy_told.py`; `tests/privacy_fresh.py`, which was written after the rules; and
`tests/privacy_blind.jsonl`, written by somebody who had not seen the rules. Out:
per program, place and language how many secrets of which kind were left in the text, and which
texts without a secret lost something.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests import privacy_fresh as fresh
from tests import privacy_told as told
from tests.privacy_samples import redact_text

Case = tuple[str, str, str, str]  # group, kind of value, secret, text


def filled(groups: dict[str, tuple[str, ...]], rng: random.Random) -> Iterator[Case]:
    for group, templates in groups.items():
        for template in templates:
            for kind in told.KINDS:
                secret = told.chosen(kind, rng)
                yield group, kind, secret, template.replace("{}", secret)


def leaks(groups: dict[str, tuple[str, ...]], seed: int = 15) -> tuple[list[Case], int]:
    cases = list(filled(groups, random.Random(seed)))
    return [case for case in cases if case[2] in redact_text(case[3])[0]], len(cases)


def alarms(texts: Iterator[str] | tuple[str, ...]) -> list[str]:
    return [text for text in texts if redact_text(text)[1]]


def blind(name: str) -> tuple[list[str], int]:
    """Of one part of the blind set the texts that kept their secret, or, if they have none, lost
    something; and how many texts there are."""
    lines = (Path(__file__).parents[1] / "privacy_blind.jsonl").read_text("utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["set"] == name]
    wrong = []
    for case in cases:
        clean, counts = redact_text(case["text"])
        if (case["secret"] in clean) if case["secret"] else counts:
            wrong.append(case["text"])
    return wrong, len(cases)


def report(title: str, groups: dict[str, tuple[str, ...]], show: bool) -> None:
    left, total = leaks(groups)
    print(
        f"{title}: {len(left)} of {total} leak; by kind of value "
        f"{dict(Counter(case[1] for case in left))} of {total // len(told.KINDS)} each"
    )
    by_group = Counter(case[0] for case in left)
    for group, templates in groups.items():
        print(f"  {group}: {by_group[group]} of {len(templates) * len(told.KINDS)}")
    if show:
        for case in left:
            print("    ", case[1], repr(case[3]))


def main(show: bool) -> None:
    for title, groups in (
        ("commands", told.COMMANDS),
        ("places", told.PLACES),
        ("sentences", told.SENTENCES),
        ("fresh commands", fresh.COMMANDS),
        ("fresh sentences", fresh.SENTENCES),
    ):
        report(title, groups, show)
    for title, misses in (
        ("commands", told.COMMAND_MISSES),
        ("places", told.PLACE_MISSES),
        ("sentences", tuple(text for group in told.SENTENCE_MISSES.values() for text in group)),
        ("fresh commands", fresh.COMMAND_MISSES),
        ("fresh sentences", tuple(t for group in fresh.SENTENCE_MISSES.values() for t in group)),
    ):
        taken = alarms(misses)
        print(f"{title} without a secret: {len(taken)} of {len(misses)} lost something")
        for text in taken:
            print("    ", redact_text(text)[0])
    for name in ("commands", "prose", "harmless"):
        wrong, total = blind(name)
        print(f"blind {name}: {len(wrong)} of {total} wrong")
        for text in wrong if show else ():
            print("    ", text)


if __name__ == "__main__":
    main("--show" in sys.argv)
