"""`recollect completion`: click's completion script for a shell."""

import click
from click.shell_completion import get_completion_class

from recollect.cli import COMPLETE
from recollect.cli.groups import ROOT


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    recollect completion bash > ~/.local/share/bash-completion/completions/recollect
    recollect completion zsh > "${fpath[1]}/_recollect"
    recollect completion fish > ~/.config/fish/completions/recollect.fish
    """
    made = get_completion_class(shell)
    assert made is not None, shell
    click.echo(made(ROOT, {}, "recollect", COMPLETE).source())
