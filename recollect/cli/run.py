"""Runs one command and turns whatever happens into words and an exit code.

In: the command's module and its arguments. Out: 0, 1 or 2. No traceback reaches a user: errors
of ours are told with their hint, on standard error; a closed pipe ends quietly.
"""

import importlib
import os
import sys

import click

from recollect.cli.output import Unanswered
from recollect.core.errors import BadInput, BadSetting, RecollectError


def run(name: str, module: str, arguments: list[str]) -> int:
    command: click.Command = importlib.import_module(module).command
    try:
        result = command.main(
            arguments,
            prog_name=f"recollect {name}",
            standalone_mode=False,
            color=False if os.environ.get("NO_COLOR") else None,
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort as error:
        told = str(error) if isinstance(error, Unanswered) else "nothing more was done"
        click.echo(f"Stopped; {told}.", err=True)
        return 1
    except RecollectError as error:
        tell(error)
        return 2 if _wrong_call(error) else 1
    except BrokenPipeError:
        return _unheard()
    except SystemExit as error:
        # click meets a closed pipe first, and would make a failure of it.
        if isinstance(error.__context__, BrokenPipeError) or _pacified():
            return _unheard()
        raise
    return result if isinstance(result, int) else 0


def _wrong_call(error: RecollectError) -> bool:
    """Whether other arguments would have helped. A setting that is wrong in the file is not one."""
    from recollect.client import Refused  # only after a failure

    if isinstance(error, Refused):
        return error.code == "bad_input"
    return isinstance(error, BadInput) and not isinstance(error, BadSetting)


def _pacified() -> bool:
    return type(sys.stdout).__name__.endswith("PacifyFlushWrapper")


def _unheard() -> int:
    """The reader went away (`| head`): nothing is left to say, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def tell(error: RecollectError) -> None:
    click.echo(f"recollect: {error}", err=True)
    if error.hint:
        click.echo(f"  try: {error.hint}", err=True)
