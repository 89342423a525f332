"""`recollect bench`: measure retrieval, beside grep, BM25, MiniLM and plain rank fusion."""

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Measure retrieval on a directory of benchmark sets, or on the small set that is included."""
    from recollect.bench.__main__ import main

    return main(arguments)
