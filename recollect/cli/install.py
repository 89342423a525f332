"""`recollect install`: connect agents, after showing what will change."""

import sys
from collections.abc import Sequence

import click

from recollect.cli import hosts_context
from recollect.cli.options import directory_option, dry_run_option, json_option, yes_option
from recollect.cli.output import confirmed, print_json
from recollect.cli.settings import write_setting
from recollect.core import settings
from recollect.core.errors import RecollectError
from recollect.core.tool_schemas import WRITING
from recollect.hosts.apply import apply_install, diff
from recollect.hosts.changes import FileChange
from recollect.hosts.context import Context
from recollect.hosts.install import InstallReport, install
from recollect.hosts.installer import Installer
from recollect.hosts.rules import RULES

MARKS = {"installed": "connected", "unchanged": "was connected already", "failed": "FAILED"}


@click.command()
@click.argument("hosts", nargs=-1, metavar="[AGENT]...")
@yes_option
@dry_run_option
@directory_option("Connect only in this project.")
@click.option("--no-set-default", is_flag=True, help="kiro-cli: do not change the default agent.")
@click.option(
    "--allow-writes",
    is_flag=True,
    help="Let the tools that change memory run without asking, too.",
)
@click.option("--trust", is_flag=True, help="Codex: mark Recollect's hooks as trusted.")
@click.option(
    "--file",
    "rules_file",
    type=click.Path(dir_okay=False),
    help="generic: the file from which the agent reads its rules, such as AGENTS.md.",
)
@click.option("--show-rules", is_flag=True, help="Print the rules text for agents without hooks.")
@json_option
def command(
    hosts: tuple[str, ...],
    show_rules: bool,
    yes: bool,
    dry_run: bool,
    project: str | None,
    no_set_default: bool,
    trust: bool,
    allow_writes: bool,
    rules_file: str | None,
    as_json: bool,
) -> int:
    """Connect agents: add Recollect's hooks and its MCP server to their configuration.

    AGENT is a name such as claude-code or codex; without one, all that are found on this machine.
    `generic` is any other agent: it gets the MCP server and a block in the file named by --file.
    Every change is shown first; `recollect uninstall` restores the files as they were.
    """
    if show_rules:
        click.echo(RULES, nl=False)
        return 0
    chosen = settings.load()
    wanted = hosts_context.chosen(hosts)
    context = hosts_context.context(
        chosen,
        project=project,
        set_default=not no_set_default,
        allow_writes=allow_writes,
        rules_file=rules_file,
    )
    if not dry_run:
        hosts_context.put_hook(chosen)

    def confirm(host: Installer, changes: list[FileChange]) -> bool:
        if not as_json:
            _show(host, changes)
        question = f"Connect {host.title}?"
        return not dry_run and (
            yes or confirmed(question, default=True, otherwise="no agent's files were changed")
        )

    report = install(wanted, context, confirm)
    failed = {one.host for one in report.results if one.error}
    ask = not yes and not as_json
    connected = {one.host for one in report.results if one.outcome == "installed"}
    for host in wanted:
        if not dry_run and host.name not in failed and host.needs_trust(context):
            _offer_trust(host, context, trust=trust, ask=ask)
            report = report.with_notes(host.name, host.notes(context))
        if ask and host.name in connected and not allow_writes:
            _offer_writes(host, context)
    if as_json:
        print_json(_as_data(report))
    else:
        _print_report(report, dry_run=dry_run)
        if not dry_run and any(one.outcome == "installed" for one in report.results):
            _open_dashboard()
        if report.ok and not dry_run:
            _offer_history(ask=not yes)
            if ask:
                _offer_model([one for one in wanted if one.name in connected])
    return 0 if report.ok else 1


def _offer_history(*, ask: bool) -> None:
    """What is on this machine already could be remembered; only the user can say so."""
    from recollect.cli import import_

    import_.offer(ask=ask)


def _offer_model(connected: Sequence[Installer]) -> None:
    """A connected agent may extract memories; asked once, of a person at a terminal."""
    able = [one for one in connected if one.facts.model_run is not None]
    chosen = settings.load()
    if not able or not sys.stdin.isatty() or settings.is_in_file("provider"):
        return
    from recollect.cli import import_

    host = able[0]
    daily = import_.tokens_a_day(host.facts)
    expected = f"about {daily:,} tokens a day, as your history goes" if daily else "few tokens"
    wanted = confirmed(
        f"\nMemories are extracted by rules. {host.title} can do it better, with your account "
        f"there, no tools and a small model: {expected}; it stops at {chosen.daily_tokens:,} "
        "a day. Use it?",
        default=False,
        otherwise="memories are extracted by rules",
    )
    write_setting("provider", "agent" if wanted else "none")
    if wanted:
        write_setting("agent", host.name)
        click.echo("It takes effect at the next start: recollect restart")
    else:
        click.echo("Any time later: recollect settings set provider agent")


def _open_dashboard() -> None:
    """The first look, for a person at a terminal; what fails here is no failed installation."""
    from recollect.cli import open as opening

    if opening.may_open():
        try:
            opening.command.main([], standalone_mode=False)
        except RecollectError as error:
            click.echo(f"The dashboard did not open: {error}", err=True)


def _show(host: Installer, changes: list[FileChange]) -> None:
    click.secho(f"\n{host.title}", bold=True)
    for change in changes:
        lines = diff(change).splitlines()
        added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
        removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
        count = "1 line" if added == 1 else f"{added} lines"
        click.echo(f"{change.path}: {change.why} ({count} added, {removed} removed)")
    for change in changes:
        click.echo(f"{change.path}: {change.why}")
        for line in diff(change).splitlines():
            added, removed = line.startswith("+"), line.startswith("-")
            click.secho(f"  {line}", fg="green" if added else "red" if removed else None)


def _offer_trust(host: Installer, context: Context, *, trust: bool, ask: bool) -> None:
    """Some agents run no hook that the user did not trust; saying so is the user's alone."""
    if not trust and ask:
        trust = confirmed(
            f"{host.title} runs only hooks that you trust. Trust Recollect's hooks now?",
            default=True,
            otherwise=f"{host.title} does not run Recollect's hooks until you trust them",
        )
    if trust:
        apply_install(host, context, host.plan_trust(context))


def _offer_writes(host: Installer, context: Context) -> None:
    """Tools that read memory run without asking; those that change it only if the user wants so."""
    changes = host.plan_writes(context)
    if changes and confirmed(
        f"{host.title} asks before it changes memory ({', '.join(WRITING)}). "
        "Let it do so without asking? Every change can be undone.",
        default=False,
        otherwise=f"{host.title} asks; recollect install {host.name} --allow-writes changes that",
    ):
        _show(host, changes)
        apply_install(host, context, changes)


def _print_report(report: InstallReport, *, dry_run: bool) -> None:
    click.echo()
    for result in report.results:
        word = (
            "would change"
            if dry_run and result.changes
            else MARKS.get(result.outcome, result.outcome)
        )
        click.secho(f"{result.host}: {word}", fg="red" if result.error else None)
        if result.error:
            click.echo(f"  {result.error}", err=True)
            if result.error.hint:
                click.echo(f"  try: {result.error.hint}", err=True)
        for note in result.notes:
            click.echo(f"  {note}")
    connected = any(one.outcome in ("installed", "unchanged") for one in report.results)
    if report.ok and connected and not dry_run:
        click.echo("\nSee it work: recollect doctor --prove")


def _as_data(report: InstallReport) -> list[dict[str, object]]:
    return [
        {
            "host": result.host,
            "outcome": result.outcome,
            "files": [change.path for change in result.changes],
            "notes": list(result.notes),
            "error": str(result.error) if result.error else None,
        }
        for result in report.results
    ]
