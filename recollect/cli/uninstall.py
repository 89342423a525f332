"""`recollect uninstall`: remove Recollect from the agents' configuration."""

import os
import shutil

import click

from recollect.cli import hosts_context, process
from recollect.cli.install import _as_data, _show
from recollect.cli.options import directory_option, dry_run_option, json_option, yes_option
from recollect.cli.output import confirmed, print_json
from recollect.core import settings
from recollect.core.errors import CannotWrite
from recollect.core.settings import Settings
from recollect.hosts import registry
from recollect.hosts.changes import FileChange
from recollect.hosts.install import HostResult, InstallReport, installations, installer, uninstall
from recollect.hosts.installer import Installer


@click.command()
@click.argument("hosts", nargs=-1, metavar="[AGENT]...")
@yes_option
@dry_run_option
@directory_option("Disconnect only in this project.")
@click.option(
    "--delete-data", is_flag=True, help="Also delete the data directory with all memories."
)
@json_option
def command(
    hosts: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    project: str | None,
    delete_data: bool,
    as_json: bool,
) -> int:
    """Disconnect agents: remove what `recollect install` added, and nothing else.

    Without AGENT, all of them. Memories are kept unless --delete-data is given.
    """
    chosen = settings.load()
    wanted = [installer(name) for name in hosts] if hosts else list(registry.installers().values())
    context = hosts_context.context(chosen, project=project)

    def confirm(host: Installer, changes: list[FileChange]) -> bool:
        if not as_json:
            _show(host, changes)
        return not dry_run and (yes or confirmed(f"Disconnect {host.title}?", default=True))

    reports = [uninstall(wanted, context, confirm)]
    if project is None:
        # What was installed for single projects is known to the data directory alone.
        for host, place in installations(chosen.directory):
            if place and host in {one.name for one in wanted}:
                there = hosts_context.context(chosen, project=place)
                reports.append(uninstall([installer(host)], there, confirm))
    results = [result for report in reports for result in report.results]
    if as_json:
        print_json(_as_data(InstallReport(tuple(results))))
    else:
        _print_results(results, named=bool(hosts), dry_run=dry_run)
    if dry_run:
        if delete_data and not as_json:
            click.echo(f"{chosen.directory} would be deleted, with all memories in it.")
        return 0
    left = sorted({one.host for one in results if one.outcome in ("declined", "failed")})
    if delete_data:
        return _delete(chosen, left, yes=yes)
    if not as_json and any(one.outcome == "removed" for one in results):
        click.echo(f"Memories stay in {chosen.directory}. Restart the agents.")
    return 0 if all(report.ok for report in reports) else 1


def _print_results(results: list[HostResult], *, named: bool, dry_run: bool) -> None:
    for result in results:
        if result.outcome != "unchanged" or named:
            word = "was not connected" if result.outcome == "unchanged" else str(result.outcome)
            if dry_run and result.outcome == "declined":
                word = "would be disconnected"
            click.echo(f"{result.host}: {word}")
        if result.error:
            click.echo(f"  {result.error}", err=True)
    if not named and all(result.outcome == "unchanged" for result in results):
        click.echo("No agent was connected.")


def _delete(chosen: Settings, left: list[str], *, yes: bool) -> int:
    """Only when no agent would be left with a hook that is gone."""
    if left:
        names = ", ".join(left)
        click.echo(f"Nothing is deleted: {names} would call a hook that is gone.", err=True)
        return 1
    if not os.path.isdir(chosen.directory):
        click.echo(f"There is nothing to delete at {chosen.directory}.")
        return 0
    if not yes and not confirmed(f"Delete {chosen.directory} and all memories in it?"):
        click.echo("Kept.")
        return 0
    process.stop(chosen)
    try:
        shutil.rmtree(chosen.directory)
    except OSError as error:
        raise CannotWrite(f"{chosen.directory} cannot be deleted: {error.strerror}") from error
    click.echo(f"{chosen.directory} is deleted.")
    return 0
