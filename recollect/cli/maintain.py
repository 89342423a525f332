"""`recollect maintain`: the daily maintenance, run now or only previewed."""

from typing import Any

import click

from recollect.cli.options import dry_run_option, json_option
from recollect.cli.output import memories, print_json, print_table, print_text
from recollect.client import Client
from recollect.core import settings

PATIENCE_S = 3600.0
INDEXES = ("index", "work")


@click.command()
@dry_run_option
@click.option("--rebuild", is_flag=True, help="Only rebuild the indexes; delete nothing.")
@json_option
def command(dry_run: bool, rebuild: bool, as_json: bool) -> None:
    """Shorten and delete old memories now, as happens once a day.

    The setting `retention` says how long each kind is kept. What goes can be brought back for as
    long as the archive is kept.

    With --rebuild nothing is shortened or deleted. The index of words and the counts of memories
    are made anew from the memories, and the index of work (files, commands, commits, branches) from
    the events.
    """
    if dry_run and rebuild:
        raise click.UsageError("--rebuild changes no memory: there is nothing to preview")
    client = Client(settings.load(), timeout=PATIENCE_S)
    if rebuild:
        done = [client.ask("POST", "/api/doctor", {"what": what})["done"] for what in INDEXES]
        print_json({"done": done}) if as_json else click.echo("\n".join(done))
        return
    report = client.ask("GET" if dry_run else "POST", "/api/maintain")
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _print_report(report: dict[str, Any]) -> None:
    if not report["counts"]:
        click.echo("Nothing is due." if report["preview"] else "Nothing was due.")
    else:
        click.echo("This would be done now:" if report["preview"] else "Done:")
        rows = [[what, str(count)] for what, count in report["counts"].items()]
        rows += [[f"  forgotten: {why}", str(count)] for why, count in report["forgotten"].items()]
        print_table(["Change", "Count"], rows)
    if not report["finished"]:
        click.secho("It was interrupted and goes on next time.", fg="yellow")
    rows = [
        [kind, str(sum(n for span, n in ages.items() if span != "never used")),
         str(ages.get("never used", 0))]
        for kind, ages in report["memories"].items()
    ]  # fmt: skip
    if rows:
        print_table(["Memories", "Stored", "Never used"], rows)
    if report["stale"]:
        count = memories(report["stale"])
        click.echo(f"Stale, because a cited file changed or is gone: {count}, for example:")
        for record_id, title in report["stale_named"].items():
            print_text(f"{record_id} {title}", indent=2)
    click.echo(
        f"The database takes {report['bytes'] / 1e6:.1f} MB, "
        f"{report['bytes_free'] / 1e6:.1f} MB of it free."
    )
