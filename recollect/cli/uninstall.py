"""`recollect uninstall`: take Recollect out of the agents' configuration again."""

import shutil

import click

from recollect.cli import hosts_context, process
from recollect.cli.install import _as_data, _show
from recollect.cli.output import json_option, print_json
from recollect.core import settings
from recollect.hosts import INSTALLERS, Change, Installer, installer, uninstall


@click.command()
@click.argument("hosts", nargs=-1)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--project", type=click.Path(file_okay=False), help="Only from this project.")
@click.option("--delete-data", is_flag=True, help="Also delete everything that is remembered.")
@json_option
def command(
    hosts: tuple[str, ...], yes: bool, project: str | None, delete_data: bool, as_json: bool
) -> int:
    """Disconnect agents: remove what `recollect install` added, and nothing else.

    Without HOSTS from all of them. What is remembered is kept unless --delete-data is given.
    """
    chosen = settings.load()
    wanted = [installer(name) for name in hosts] if hosts else list(INSTALLERS)
    context = hosts_context.context(chosen, project=project)

    def confirm(host: Installer, changes: list[Change]) -> bool:
        if not as_json:
            _show(host, changes)
        return yes or click.confirm(f"Disconnect {host.title}?", default=True)

    report = uninstall(wanted, context, confirm)
    if as_json:
        print_json(_as_data(report))
    else:
        for result in report.results:
            if result.outcome != "unchanged" or hosts:
                word = "was not connected" if result.outcome == "unchanged" else result.outcome
                click.echo(f"{result.host}: {word}")
            if result.error:
                click.echo(f"  {result.error}", err=True)
        if all(result.outcome == "unchanged" for result in report.results) and not hosts:
            click.echo("No agent was connected.")
    if delete_data and (yes or click.confirm(f"Delete {chosen.directory} and all memories in it?")):
        process.stop(chosen)
        shutil.rmtree(chosen.directory, ignore_errors=False)
        click.echo(f"{chosen.directory} is deleted.")
    return 0 if report.ok else 1
