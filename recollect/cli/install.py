"""`recollect install`: connect agents, after showing what will change."""

import sys
from collections.abc import Sequence

import click

from recollect.cli import hosts_context
from recollect.cli.options import directory_option, dry_run_option, json_option, yes_option
from recollect.cli.output import confirmed, filled, print_json, prompted
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
    help="Let the tools that change memory run without asking, too, where an agent tells tools "
    "apart (Claude Code, Codex, Cline, Kiro).",
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
    report = connect(wanted, context, yes=yes, dry_run=dry_run, as_json=as_json, trust=trust)
    connected = {one.host for one in report.results if one.outcome == "installed"}
    if as_json:
        print_json(_as_data(report))
    else:
        print_report(report, dry_run=dry_run)
        done = any(one.outcome in ("installed", "unchanged") for one in report.results)
        if report.ok and done and not dry_run:
            click.echo("\nSee it work: recollect doctor --prove")
        if not dry_run and connected:
            open_dashboard()
        if report.ok and not dry_run:
            from recollect.cli import import_

            import_.offer(ask=not yes)
            if not yes and offer_model([one for one in wanted if one.name in connected]):
                click.echo("It takes effect at the next start: recollect restart")
    return 0 if report.ok else 1


def connect(
    wanted: Sequence[Installer],
    context: Context,
    *,
    yes: bool,
    dry_run: bool = False,
    as_json: bool = False,
    trust: bool = False,
    summary: bool = False,
) -> InstallReport:
    """Connect these agents, each after its changes were shown and agreed to; with `summary`, their
    lines are shown only when asked for."""
    if not dry_run:
        hosts_context.put_hook(settings.load())

    def confirm(host: Installer, changes: list[FileChange]) -> bool:
        if summary:
            _summarise(host, changes)
        elif not as_json:
            _show(host, changes)
        question = f"Connect {host.title}?"
        if dry_run or yes:
            return not dry_run
        if summary:
            return _confirmed_with_lines(question, changes)
        return confirmed(question, default=True, otherwise="no agent's files were changed")

    report = install(wanted, context, confirm)
    outcomes = {one.host: one.outcome for one in report.results}
    ask = not yes and not as_json
    for host in wanted:
        connected = not dry_run and outcomes[host.name] in ("installed", "unchanged")
        if connected and host.needs_trust(context):
            _offer_trust(host, context, trust=trust, ask=ask)
            report = report.with_notes(host.name, host.notes(context))
        if ask and outcomes[host.name] == "installed" and not context.allow_writes:
            _offer_writes(host, context)
    return report


def offer_model(connected: Sequence[Installer]) -> bool:
    """A connected agent may extract memories; asked once, of a person at a terminal. Whether it
    was wanted: then the daemon has to be started again."""
    able = [one for one in connected if one.facts.model_run is not None]
    chosen = settings.load()
    if not able or not sys.stdin.isatty() or settings.is_in_file("provider"):
        return False
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
    else:
        click.echo("Any time later: recollect settings set provider agent")
    return wanted


def open_dashboard() -> bool:
    """The first look, for a person at a terminal; what fails here is no failed installation."""
    from recollect.cli import open as opening

    if not opening.may_open():
        return False
    try:
        opening.command.main([], standalone_mode=False)
    except RecollectError as error:
        click.echo(f"The dashboard did not open: {error}", err=True)
    return True


def _show(host: Installer, changes: list[FileChange]) -> None:
    _summarise(host, changes)
    _show_lines(changes)


def _summarise(host: Installer, changes: list[FileChange]) -> None:
    click.secho(f"\n{host.title}", bold=True)
    for change in changes:
        lines = diff(change).splitlines()
        added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
        removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
        count = "1 line" if added == 1 else f"{added} lines"
        click.echo(filled(f"{change.path}: {change.why} ({count} added, {removed} removed)"))


def _show_lines(changes: list[FileChange]) -> None:
    for change in changes:
        click.echo(f"{change.path}: {change.why}")
        for line in diff(change).splitlines():
            added, removed = line.startswith("+"), line.startswith("-")
            click.secho(f"  {line}", fg="green" if added else "red" if removed else None)


def _confirmed_with_lines(question: str, changes: list[FileChange]) -> bool:
    while True:
        answer = prompted(f"{question} (y, n, or s to see every line)", default="y")
        match answer.strip().lower()[:1]:
            case "s":
                _show_lines(changes)
            case "y" | "n" as known:
                return known == "y"


def _offer_trust(host: Installer, context: Context, *, trust: bool, ask: bool) -> None:
    """Some agents run no hook that the user did not trust; saying so is the user's alone."""
    if not trust and ask:
        trust = confirmed(
            f"{host.title} runs only hooks that you trust. Trust Recollect's hooks now?",
            default=True,
            otherwise=f"{host.title} does not run Recollect's hooks until you trust them",
        )
    if trust:
        try:
            apply_install(host, context, host.plan_trust(context))
        except RecollectError as error:  # its hooks are installed; what is left to do is noted
            click.echo(f"The hooks could not be trusted for you: {error}.", err=True)


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


def print_report(report: InstallReport, *, dry_run: bool) -> None:
    click.echo()
    for result in report.results:
        word = MARKS.get(result.outcome, result.outcome)
        word = "would change" if dry_run and result.changes else word
        click.secho(f"{result.host}: {word}", fg="red" if result.error else None)
        if result.error:
            click.echo(f"  {result.error}", err=True)
            if result.error.hint:
                click.echo(f"  try: {result.error.hint}", err=True)
        for note in result.notes:
            click.echo(f"  {note}")


def _as_data(report: InstallReport) -> list[dict[str, object]]:
    return [
        {"host": one.host, "outcome": one.outcome, "files": [each.path for each in one.changes],
         "notes": list(one.notes), "error": str(one.error) if one.error else None}
        for one in report.results
    ]  # fmt: skip
