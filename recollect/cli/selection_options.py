"""Options that select memories for `forget` and `move`, and how a selection is printed."""

import os
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

from recollect.cli.date_options import iso, time_option
from recollect.cli.options import dry_run_option, project_option, project_path, yes_option
from recollect.cli.output import agreed, print_json, print_text
from recollect.core.errors import NotFound
from recollect.core.ids import RECORD_NAME_PATTERN

F = TypeVar("F", bound=Callable[..., Any])
# What a person calls one row of a kind, and several, where it is not the kind and an "s".
_WORDS = {
    "memory": ("memory", "memories"),
    "entity": ("entity", "entities"),
    "operation": ("log entry (its words)", "log entries (their words)"),
    "version": ("archived version", "archived versions"),
    "waiting_claims": ("claim made only once", "claims made only once"),
    "saved search": ("saved search", "saved searches"),
    "extraction_runs": ("extraction run", "extraction runs"),
}


def selection_options(function: F) -> F:
    options = (
        click.argument("memories", nargs=-1, metavar="[MEMORY]..."),
        click.option("--session", help="Everything of this session."),
        click.option("--entity", help="Everything that mentions this entity, by any of its names."),
        click.option("--text", help="Everything that contains this text, also within a word."),
        time_option("--until", "Everything in --project from before TIME."),
        click.option("--all", "everything", is_flag=True, help="Everything in --project."),
        project_option("Only in this project: a directory, a name, an id or `global`."),
        yes_option,
        dry_run_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


def request_body(
    memories: tuple[str, ...],
    *,
    session: str | None = None,
    entity: str | None = None,
    text: str | None = None,
    until: datetime | None = None,
    project: str | None = None,
    everything: bool = False,
    path: str | None = None,
) -> dict[str, Any]:
    """The body of a request; exactly one selection must be given."""
    refuse_empty(session=session, entity=entity, text=text, project=project)
    refuse_bad_ids(memories)
    given = [bool(memories), session, entity, text, until, path, everything]
    if sum(bool(one) for one in given) != 1:
        raise click.UsageError(
            "name exactly one: memories by id, --session, --entity, --text, or --until or --all "
            "with --project."
        )
    if (until or everything) and not project:
        raise click.UsageError("name the --project; `global` is what belongs to no project.")
    return {
        "record_ids": list(memories),
        "session_id": session,
        "entity": entity,
        "text": text,
        "older_than": iso(until),
        "path": os.path.abspath(path) if path else None,
        "everything": everything,
        "project": project_path(project) if project else None,
    }


def refuse_empty(**options: str | None) -> None:
    """An empty value is a slip, often of a shell variable that is not set."""
    for name, value in options.items():
        if value is not None and not value.strip():
            raise click.UsageError(f"--{name} is empty: name the {name}.")


def refuse_bad_ids(memories: tuple[str, ...]) -> None:
    for one in memories:
        if not re.match(RECORD_NAME_PATTERN, one):
            raise NotFound(
                f"{one!r} is not the id of a memory, nor the end of one",
                hint="recollect search shows the ids.",
            )


def count_rows(counts: dict[str, int]) -> str:
    """Rows by kind, in words."""
    return ", ".join(
        f"{count} {_WORDS.get(kind, (kind, kind + 's'))[count != 1]}"
        for kind, count in counts.items()
    )


def go_on(
    question: str, found: dict[str, Any], *, dry_run: bool, yes: bool, as_json: bool,
    default: bool = False,
) -> bool:  # fmt: skip
    """Show what a change would touch, and whether to make it: a dry run only shows."""
    if not as_json:
        print_selection(found)
    elif dry_run:
        print_json(found)
    return not dry_run and agreed(question, yes=yes, as_json=as_json, default=default)


def print_selection(outcome: dict[str, Any]) -> None:
    for one in outcome["chosen"]:
        told = count_rows(one["counts"]) or "the project itself"
        click.secho(f"{one['project']}: {told}", bold=True)
        for title in one["titles"]:
            print_text(title, indent=2, most_lines=2)
        more = one["counts"].get("memory", 0) - len(one["titles"])
        if more > 0:
            click.echo(f"  … and {more} more {'memory' if more == 1 else 'memories'}")
    if outcome["backups"] and not outcome["done"]:
        count = outcome["backups"]
        click.echo("1 backup contains it." if count == 1 else f"{count} backups contain it.")
