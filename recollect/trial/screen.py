"""The report as one screen of 24 lines and 80 columns.

In: a report. Out: what `rich` prints, in colour on a terminal and plain elsewhere.
"""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recollect.trial.measure import FIRST, Mark
from recollect.trial.report import FEW, PROMPTS, Report
from recollect.work.paths import base

WIDTH = 80
_INDENT = "        "


def render(report: Report, left_out: int = 0, *, words_only: bool = False) -> RenderableType:
    """`left_out` sessions were not replayed, to save time."""
    return Group(*_lines(report, left_out, words_only=words_only))


def _lines(report: Report, left_out: int, *, words_only: bool) -> Iterator[RenderableType]:
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
    yield Text(_footer(report, left_out, words_only=words_only), style="dim")


def _table(report: Report) -> Table:
    figures = (report.product, report.most_touched, report.last_touched)
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=30)
    for _ in figures:
        table.add_column(justify="right", min_width=9)
    table.add_column(style="dim")
    table.add_row("", Text("Recollect", "bold"), "5 most", "5 last", "", style="")
    table.add_row(Text("at a prompt of these sessions", "dim"), "", "touched", "touched", "")

    def row(title: str, values: Iterable[str], note: str = "") -> None:
        first, *others = values
        table.add_row(title, Text(first, "bold green"), *others, note)

    row("it spoke", [_rate(one.spoke, one.prompts) for one in figures])
    row("tokens, when it spoke", [f"{one.tokens:.0f}" for one in figures])
    row(
        "a file named* was then needed",
        [_rate(one.files_hit, one.need) for one in figures],
        f"of {report.product.need}",
    )
    row(
        "  or was named earlier",
        [_rate(one.files_hit_by_now, one.need) for one in figures],
    )
    row(
        "  at the session's first prompt",
        [_rate(one.first_hit, one.first_need) for one in figures],
        f"of {report.product.first_need}",
    )
    commands = report.product
    row(
        "a command named was then run",
        [_rate(commands.commands_hit, commands.run), "-", "-"],
        f"of {commands.run}",
    )
    return table


def _example(title: str, mark: Mark) -> Iterator[Text]:
    prompt = " ".join(mark.case.prompt.split())
    colour = "green" if title == "Best" else "red"
    head = Text.assemble((f"{title:<8}", f"bold {colour}"), f"“{prompt}")
    yield _cut(head, "”")
    told = Text(_INDENT + "told ")
    _names(told, mark.files[:FIRST], mark.right, colour)
    if mark.commands_right:
        told.append("; ")
        _names(told, sorted(mark.commands_right), mark.commands_right, colour)
    missed = sorted((mark.case.need | mark.case.run) - mark.right - mark.commands_right)
    if missed:
        told.append(f"; {'also ' if mark.right else ''}needed {', '.join(missed)}")
    yield _cut(told)


def _names(text: Text, names: Sequence[str], right: Iterable[str], colour: str) -> None:
    if not names:
        text.append("no file")
    for number, name in enumerate(names):
        text.append(", " if number else "")
        text.append(base(name) if "/" in name and " " not in name else name,
                    style=colour if name in right else "")  # fmt: skip


def _learned(report: Report) -> Iterator[Text]:
    counts = ", ".join(f"{count} {plural}" for plural, count in report.learned.counts.items())
    yield _cut(Text.assemble(("Learned ", "bold"), counts or "nothing yet"))
    for title in report.learned.titles[:2]:
        yield _cut(Text(f"{_INDENT}“{title}"), "”")


def _footer(report: Report, left_out: int, *, words_only: bool) -> str:
    parts = [f"{report.seconds:.0f} s; nothing left this machine, nothing was kept."]
    if left_out:
        parts.append(f"{_many(left_out, 'older session')} left out (--sessions).")
    if words_only:
        parts.append("Without embedding.")
    return " ".join(parts)


def _cut(text: Text, close: str = "") -> Text:
    """One line that fits."""
    text.truncate(WIDTH - len(close), overflow="ellipsis")
    return text.append(close)


def _rate(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _many(count: int, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"
