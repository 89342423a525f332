"""What `forget` and `move` mean, as options, and how what they would do is shown."""

import os
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

from recollect.cli.date_options import AGES, TIME
from recollect.core.errors import BadInput
from recollect.core.ids import RECORD_PATTERN

F = TypeVar("F", bound=Callable[..., Any])
# What a person calls one row of a kind, and several, where it is not the kind and an "s".
_WORDS = {
    "memory": ("memory", "memories"),
    "entity": ("entity", "entities"),
    "operation": ("log entry (its words)", "log entries (their words)"),
    "version": ("archived version", "archived versions"),
    "waiting_claims": ("claim heard only once", "claims heard only once"),
    "extraction_runs": ("extraction run", "extraction runs"),
}


def selection_options(function: F) -> F:
    options = (
        click.argument("memories", nargs=-1, metavar="[MEMORY]..."),
        click.option("--session", help="Everything of this session."),
        click.option(
            "--entity", help="Everything that speaks of this entity, by any of its names."
        ),
        click.option("--text", help="Everything that holds these words."),
        click.option(
            "--older-than", type=TIME, help=f"What happened before: a date, or an age: {AGES}."
        ),
        click.option("--project", help="Within this project: its directory, name or id."),
        click.option("--all", "everything", is_flag=True, help="All of that project."),
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Show what it would be, and stop."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def request_body(
    memories: tuple[str, ...],
    session: str | None,
    entity: str | None,
    text: str | None,
    older_than: datetime | None,
    project: str | None,
    everything: bool,
    path: str | None = None,
) -> dict[str, Any]:
    """The body of a request; exactly one thing must be meant."""
    refuse_empty(session=session, entity=entity, text=text, project=project)
    refuse_bad_ids(memories)
    meant = [bool(memories), session, entity, text, older_than, path, everything]
    if sum(bool(one) for one in meant) != 1:
        raise click.UsageError(
            "Say one thing: memories, --session, --entity, --text, --older-than, or --all with "
            "--project."
        )
    if (older_than or everything) and not project:
        raise click.UsageError("Say in which --project; `global` is what belongs to none.")
    return {
        "record_ids": list(memories),
        "session_id": session,
        "entity": entity,
        "text": text,
        "older_than": older_than.isoformat() if older_than else None,
        "path": os.path.abspath(path) if path else None,
        "everything": everything,
        "project": directory(project),
    }


def refuse_empty(**options: str | None) -> None:
    """What is given and empty is a slip, often of a variable that is not set."""
    for name, value in options.items():
        if value is not None and not value.strip():
            raise click.UsageError(f"--{name} is empty: say which {name} is meant.")


def refuse_bad_ids(memories: tuple[str, ...]) -> None:
    for one in memories:
        if not re.match(RECORD_PATTERN, one):
            raise BadInput(
                f"{one!r} is not the id of a memory: mr_ and 26 letters and digits",
                hint="recollect search shows the ids; --text takes words instead.",
            )


def directory(given: str | None) -> str | None:
    """A directory by its full path; a name or an id as it is."""
    looks_like_a_path = given is not None and (os.sep in given or given == ".")
    return (
        os.path.abspath(given) if given and (looks_like_a_path or os.path.isdir(given)) else given
    )


def counted(counts: dict[str, int]) -> str:
    """Rows by kind, in words."""
    return ", ".join(
        f"{count} {_WORDS.get(kind, (kind, kind + 's'))[count != 1]}"
        for kind, count in counts.items()
    )


def show(outcome: dict[str, Any]) -> None:
    for one in outcome["chosen"]:
        told = counted(one["counts"]) or "the project itself"
        click.secho(f"{one['project']}: {told}", bold=True)
        for title in one["titles"]:
            click.echo(f"  {title[:100]}")
        more = one["counts"].get("memory", 0) - len(one["titles"])
        if more > 0:
            click.echo(f"  … and {more} more {'memory' if more == 1 else 'memories'}")
    if outcome["backups"] and not outcome["done"]:
        count = outcome["backups"]
        click.echo("1 backup holds it." if count == 1 else f"{count} backups hold it.")
