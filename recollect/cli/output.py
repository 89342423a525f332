"""What commands print: tables for people, JSON for programs.

In: rows. Out: text on standard output; colour only on a terminal and never with NO_COLOR.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.core.kinds import KINDS

if TYPE_CHECKING:
    from rich.console import Console

IDS = ("Id", "File")
PIPE_WIDTH = 100
SLOW_S = 600.0  # how long a command waits for work on the whole store


def print_json(value: Any) -> None:
    import msgspec

    raw = msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2)
    click.echo(raw.decode())


def agreed(question: str, *, yes: bool, as_json: bool, default: bool = False) -> bool:
    """Whether to go on. With --json nobody can be asked: --yes is needed too."""
    if yes:
        return True
    if as_json:
        click.echo("Nothing was done: --json also needs --yes.", err=True)
        return False
    return confirmed(question, default=default)


class QuestionUnanswered(click.Abort):
    """Stopped at the first question of a command; says what was not done."""


_asked: list[str] = []


@contextlib.contextmanager
def _asking(question: str, otherwise: str) -> Iterator[None]:
    first = not _asked
    _asked.append(question)
    try:
        yield
    except click.Abort as error:
        raise (QuestionUnanswered(otherwise) if first else error) from None


def confirmed(question: str, *, default: bool = False, otherwise: str = "nothing was done") -> bool:
    """Ask yes or no. `otherwise` is printed when the first question of a command gets no answer."""
    with _asking(question, otherwise):
        return click.confirm(filled(question), default=default)


def prompted(question: str, *, default: str) -> str:
    with _asking(question, "nothing was done"):
        answer: str = click.prompt(question, default=default)
        return answer


def many(count: int, one: str, several: str = "") -> str:
    """A number and what it counts: 1 event, 2 events."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def memories(count: int) -> str:
    return many(count, "memory", "memories")


def minute(moment: str) -> str:
    """A time of the API, for people: 2026-11-01 12:30."""
    return moment[:16].replace("T", " ")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False, header_style="bold")
    for heading in headings:
        # An id that is cut cannot be used.
        table.add_column(heading, no_wrap=heading in IDS, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def console(pipe_width: int = PIPE_WIDTH) -> "Console":
    """Standard output, as wide as the terminal, or as asked where there is none."""
    from rich.console import Console

    # NO_COLOR means no bold either: rich would leave that in.
    plain = bool(os.environ.get("NO_COLOR"))
    made = Console(highlight=False, color_system=None if plain else "auto")
    if not made.is_terminal:
        made.width = pipe_width
    return made


def print_kept_out(project: str) -> None:
    """Say so when the project's directory is kept out of memory."""
    from recollect.cli.options import project_path
    from recollect.core import keepout_rules, settings

    where = project_path(project)
    if os.path.isabs(where) and (off := keepout_rules.rules_in(where, settings.load().ignore).off):
        click.echo(f"This project is kept out of memory: {off}. See: recollect ignore list")


def text_width() -> int:
    """The width of the terminal, within limits."""
    import shutil

    return max(40, min(shutil.get_terminal_size((PIPE_WIDTH, 24)).columns, 120))


def filled(text: str, indent: int = 0, hang: int = 0) -> str:
    """On a terminal, lines that fit it, broken at blanks only; from the second on indented, and
    by `hang` more."""
    import sys
    import textwrap

    if not sys.stdout.isatty():
        return text
    body = text.lstrip("\n")
    lines = textwrap.wrap(
        " " * indent + body, text_width(), subsequent_indent=" " * (indent + hang),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return "\n" * (len(text) - len(body)) + "\n".join(lines)[indent:]


def print_text(
    text: str, *, indent: int = 0, label: str = "", most_lines: int | None = None, **style: Any
) -> None:
    """Text within the width of the terminal: lines break between words only, and every line but
    the first stands below the text behind `label`."""
    import textwrap

    head = " " * indent + (f"{label} " if label else "")
    wrapped = textwrap.wrap(
        " ".join(text.split()),
        text_width(),
        initial_indent=head,
        subsequent_indent=" " * (indent if len(head) > text_width() // 2 else len(head)),
        break_long_words=False,
        break_on_hyphens=False,
        max_lines=most_lines,
        placeholder=" …",
    )
    click.secho("\n".join(wrapped) or head.rstrip(), **style)


def print_memories(records: Sequence[dict[str, Any]], scores: Sequence[float] = ()) -> None:
    """Memories for people: title, id, date and kind, then the text."""
    for number, record in enumerate(records):
        if number:
            click.echo()
        title = " ".join(record["title"].split())
        print_text(title, label=f"{scores[number]:.2f} " if scores else "", bold=True)
        kind = KINDS[record["kind"]].label if record["kind"] in KINDS else record["kind"]
        kind = record["knowledge_type"] or record["observation_type"] or kind
        marks = [record["record_id"], record["valid_from"][:10], kind]
        marks += ["pinned"] if record["pinned"] else []
        marks += [record["state"]] if record.get("state", "current") != "current" else []
        click.secho("  " + "  ".join(marks), dim=True)
        said = " ".join(record["summary"].split())
        if said and said != title:
            print_text(said, indent=4, most_lines=3)
        if record["files"]:
            files = ", ".join(record["files"][:4]) + (" …" if len(record["files"]) > 4 else "")
            print_text(files, indent=4, most_lines=1, fg="cyan")


class waiting:
    """A progress bar on the terminal for what takes longer than a second."""

    def __init__(self, what: str) -> None:
        self._what = self._shown = what
        self._bar: Any = None
        self._timer: Any = None

    def __enter__(self) -> "waiting":
        import sys
        import threading

        if sys.stderr.isatty():
            self._timer = threading.Timer(1.0, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *what: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._bar is not None:
            self._bar.stop()

    def doing(self, what: str) -> None:
        """Show what it is doing."""
        self._shown = f"{self._what}: {what}" if what else self._what
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=self._shown)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.add_task(self._shown, total=None)
        bar.start()
        self._bar = bar


def daemon_client(timeout: float = 30.0) -> Any:
    """A client of the daemon, which is started when there is none."""
    from recollect.cli import process
    from recollect.client import Client
    from recollect.core import settings

    chosen = settings.load()
    with waiting("Starting Recollect") as bar:
        process.start(chosen, doing=bar.doing)
    return Client(chosen, timeout)
