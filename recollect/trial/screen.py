"""The report as one screen of 24 lines and 80 columns.

In: a report. Out: what `rich` prints, in colour on a terminal and plain elsewhere.
"""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recollect.trial.measure import FIRST, PromptMark
from recollect.trial.report import FEW, PROMPTS, TrialReport

WIDTH = 80
_INDENT = "        "


def render(report: TrialReport, left_out: int = 0) -> RenderableType:
    """`left_out` sessions were not replayed, to save time."""
    return Group(*_lines(report, left_out))


def _lines(report: TrialReport, left_out: int) -> Iterator[RenderableType]:
    of = _many(report.projects, "project")
    yield Text.assemble(
        ("What Recollect would have done", "bold"),
        f" in {_many(report.sessions, 'session')} of {of} ({_many(report.turns, 'prompt')})",
    )
    if report.product.prompts:
        yield Text(
            f"Measured at {_many(report.product.prompts, 'prompt')}: the first {PROMPTS} of each "
            "session that had an earlier one.",
            style="dim",
        )
    else:
        yield Text("No session had an earlier one of its project, so there was nothing to recall.")
    if report.sessions < FEW:
        yield Text(
            f"With fewer than {FEW} sessions these figures say little. Try again later.",
            style="yellow",
        )
    yield Text()
    if report.product.prompts:
        yield _table(report)
        yield Text()
        for mark in report.best:
            yield from _example("Best", mark)
        for mark in report.worst:
            yield from _example("Worst", mark)
        yield Text()
    yield from _learned(report)
    yield Text(_footer(report, left_out), style="dim")


def _table(report: TrialReport) -> Table:
    figures = (report.product, report.most_touched, report.last_touched)
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=31)
    for _ in figures:
        table.add_column(justify="right", min_width=9)
    table.add_column(style="dim", no_wrap=True)
    table.add_row("", "", "5 files", "5 files")
    table.add_row("", Text("Recollect", "bold"), "most used", "last used")

    def row(title: str, values: Sequence[str], note: str = "") -> None:
        table.add_row(title, Text(values[0], "bold green"), *values[1:], note)

    product = report.product
    row("it spoke", [_rate(one.spoke, one.prompts) for one in figures])
    row("tokens, when it spoke", [f"{one.tokens:.0f}" for one in figures])
    row(f"a needed file among {FIRST} named", [_rate(one.files_hit, one.need) for one in figures],
        f"of {product.need}")  # fmt: skip
    row("  named now or earlier", [_rate(one.files_hit_by_now, one.need) for one in figures])
    row("  at a session's first prompt", [_rate(one.first_hit, one.first_need) for one in figures],
        f"of {product.first_need}")  # fmt: skip
    row("a command named that was run", [_rate(product.commands_hit, product.run), "-", "-"],
        f"of {product.run}")  # fmt: skip
    return table


def _example(title: str, mark: PromptMark) -> Iterator[Text]:
    prompt = " ".join(mark.case.prompt.split())
    colour = "green" if mark.right or mark.commands_right else "red"
    yield _cut(Text.assemble((f"{title:<8}", f"bold {colour}"), f"“{prompt}"), "”")
    right = [*(one for one in mark.files if one in mark.right), *sorted(mark.commands_right)]
    wrong = [one for one in mark.files if one not in mark.right]
    missed = sorted((mark.case.need | mark.case.run) - mark.right - mark.commands_right)
    end = f"; needed {missed[0]}" if missed and not right else ""
    others = len(missed) - bool(end)
    if others:
        end += f" +{others}" if end else f"; +{others} needed"
    line, cut = Text(f"{_INDENT}named "), 0
    for number, name in enumerate([*right, *wrong]):
        shown = f"{'✓ ' if name in right else ''}{name}"
        more = len(right) + len(wrong) - number
        if cut or line.cell_len + len(shown) + len(f", +{more}") + len(end) + 2 > WIDTH:
            cut += 1
            continue
        line.append(", " if number else "")
        line.append(shown, style=colour if name in right else "")
    if not right and not wrong:
        line.append("no file")
    line.append(f", +{cut}" if cut else "")
    yield _cut(line.append(end))


def _learned(report: TrialReport) -> Iterator[Text]:
    counts = ", ".join(_many(count, kind) for kind, count in report.learned.counts.items())
    yield _cut(Text.assemble(("Learned ", "bold"), counts or "nothing yet"))
    for title in report.learned.titles[:2]:
        yield _cut(Text(f"{_INDENT}“{title}"), "”")


def _footer(report: TrialReport, left_out: int) -> str:
    took = f"{report.seconds:.0f} s{'' if report.embeds else ', by words alone'}"
    left = f"; {_many(left_out, 'older session')} left out" if left_out else ""
    return f"{took}{left}. Nothing left this machine or was kept."


def _cut(text: Text, close: str = "") -> Text:
    """One line that fits."""
    text.truncate(WIDTH - len(close), overflow="ellipsis")
    return text.append(close)


def _rate(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _many(count: int, one: str) -> str:
    if count == 1:
        return f"1 {one}"
    return f"{count} {one[:-1]}ies" if one.endswith("ry") else f"{count} {one}s"
