"""Count secrets that are told and get through: `python -m tests.bench.told`.

In: `tests/privacy_told.py`, and `tests/privacy_fresh.py`, which was written after the rules. Out:
per program, place and language how many secrets of which kind were left in the text, and which
texts without a secret lost something.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator

from recollect.privacy.secrets import redact_text
from tests import privacy_fresh as fresh
from tests import privacy_told as told

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


if __name__ == "__main__":
    main("--show" in sys.argv)
