"""Runs one command and turns whatever happens into words and an exit code.

In: arguments. Out: 0, 1 or 2. No traceback reaches a user: our errors are printed with their hint
on standard error; a closed pipe ends quietly.
"""

import os
import sys

import click

from recollect.cli import COMPLETE
from recollect.cli.groups import ROOT
from recollect.cli.output import QuestionUnanswered, filled
from recollect.core.errors import BadInput, BadSetting, RecollectError


def run(arguments: list[str]) -> int:
    try:
        result = ROOT.main(
            arguments,
            prog_name="recollect",
            complete_var=COMPLETE,
            standalone_mode=False,
            color=False if os.environ.get("NO_COLOR") else None,
        )
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        click.echo(f"recollect: {error.format_message()}", err=True)
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(f"  try: {error.ctx.command_path} --help", err=True)
        return 2
    except click.Abort as error:
        what = str(error) if isinstance(error, QuestionUnanswered) else "nothing more was done"
        click.echo(f"Stopped; {what}.", err=True)
        return 1
    except RecollectError as error:
        print_error(error)
        return 2 if _wrong_call(error) else 1
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as error:
        # click meets a closed pipe first, and would make a failure of it.
        if isinstance(error.__context__, BrokenPipeError) or _pacified():
            return _reader_gone()
        raise
    return result if isinstance(result, int) else 0


def _wrong_call(error: RecollectError) -> bool:
    """Whether the arguments make no sense; a wrong value in settings.toml is not that, nor is an id
    that nothing has."""
    from recollect.client import Refused  # only after a failure

    if isinstance(error, Refused):
        return error.code == "bad_input"
    return isinstance(error, BadInput) and not isinstance(error, BadSetting)


def _pacified() -> bool:
    return type(sys.stdout).__name__.endswith("PacifyFlushWrapper")


def _reader_gone() -> int:
    """The reader went away (`| head`): nothing is left to print, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def print_error(error: RecollectError) -> None:
    click.echo(filled(f"recollect: {error}", indent=2), err=True)
    if error.hint:
        click.echo(filled(f"  try: {error.hint}", indent=4), err=True)
