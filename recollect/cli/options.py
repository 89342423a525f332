"""Options that mean the same in every command."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would be done, and change nothing."
)


def limit_option(default: int, most: int, what: str = "results") -> Callable[[F], F]:
    return click.option(
        "-n", "--limit", default=default, show_default=True, type=click.IntRange(1, most),
        help=f"The most {what} to show.",
    )  # fmt: skip


def _complete_project(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of projects, when the daemon is there to tell."""
    from recollect.client import Client
    from recollect.core import settings
    from recollect.core.errors import RecollectError

    try:
        found = Client(settings.load(), 1.0).get("/api/projects")["items"]
    except RecollectError:
        found = []
    names = ["all", "global", *(one["name"] for one in found)]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def project_option(
    help: str = "The project: a directory, a name, an id, `global` or `all`.",
    *,
    default: str | None = None,
) -> Callable[[F], F]:
    return click.option(
        "-p", "--project", default=default, metavar="PROJECT", shell_complete=_complete_project,
        help=help + (" Default: the current directory." if default == "." else ""),
    )  # fmt: skip


def directory_option(help: str) -> Callable[[F], F]:
    """`--project` where only a directory on this machine makes sense."""
    return click.option(
        "-p", "--project", metavar="DIR", type=click.Path(file_okay=False), help=help
    )


def project_path(project: str) -> str:
    """A project as the API takes it: a path becomes absolute, a name or an id stays as it is. A
    name may look like a path ("owner/name"): it is one only if it exists or begins like one."""
    named = project in ("all", "global") or project.startswith("prj_")
    is_path = project.startswith((".", "~", os.sep)) or os.path.isdir(project)
    return project if named or not is_path else os.path.abspath(os.path.expanduser(project))
