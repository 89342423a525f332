"""Measure the scrubber: `python -m tests.bench.privacy [paths…]`.

In: folders of ordinary code and logs (the standard library by default). Out: recall on generated
secrets, false alarms per 10,000 lines with each alarm shown, and MB per second of CPU.
What can go wrong: an alarm on a true secret in the corpus counts as false; read the list.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator

from recollect.privacy import scrub
from recollect.privacy.private_tags import scrub_text
from recollect.privacy.scrubbing import find
from tests.privacy_samples import sample

ENDINGS = (
    *(".py", ".pyi", ".js", ".ts", ".json", ".md", ".txt", ".h", ".c", ".html", ".css", ".log"),
    *(".toml", ".cfg", ".sh", ".yaml", ".yml", ".rst", ".xml", ".go", ".rs", ".java", ".rb"),
)


def texts(paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for folder, _, files in os.walk(path):
            for file in sorted(files):
                if file.endswith(ENDINGS):
                    name = os.path.join(folder, file)
                    with open(name, encoding="utf-8", errors="replace") as opened:
                        yield name, opened.read()


def recall(seed: int = 7, size: int = 2000) -> tuple[float, Counter[str]]:
    """The share of generated secrets that do not survive, and the kinds of those that do."""
    missed: Counter[str] = Counter()
    for kind, how, core, text in sample(seed, size):
        if core in scrub(text):
            missed[f"{kind} in {how}"] += 1
    return 1 - missed.total() / size, missed


def main(paths: list[str]) -> None:
    share, missed = recall()
    print(f"recall {share:.2%} of 2000 generated secrets; missed: {dict(missed)}")
    lines = size = alarms = 0
    cpu = 0.0
    for name, text in texts(paths or [os.path.dirname(os.__file__)]):
        began = time.process_time()
        scrub_text(text)
        spans = find(text)
        cpu += time.process_time() - began
        lines += text.count("\n") + 1
        size += len(text)
        alarms += len(spans)
        for start, end, kind in spans:
            left = max(text.rfind("\n", 0, start) + 1, start - 80)
            print(f"  {kind}: {name}: {text[left : end + 20]!r}"[:300])
    print(f"{alarms} alarms in {lines} lines: {alarms / lines * 10_000:.2f} per 10,000 lines")
    print(f"{size / 1e6:.1f} MB in {cpu:.1f} s of CPU: {size / 1e6 / cpu:.1f} MB/s")


if __name__ == "__main__":
    main(sys.argv[1:])
