"""What commands print: tables for people, JSON for programs.

In: rows. Out: text on standard output; colour only on a terminal and never with NO_COLOR.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

IDS = ("Receipt", "Id")
PIPE_WIDTH = 200

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """`--json`, for every command that prints a result."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
    return option(function)


def print_json(value: Any) -> None:
    import msgspec

    raw = msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2)
    click.echo(raw.decode())


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False, header_style="bold")
    for heading in headings:
        # An id that is cut cannot be used.
        table.add_column(heading, no_wrap=heading in IDS, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    console.print(table)
