"""`recollect completion`: what a shell needs to complete commands, options and projects."""

import click

from recollect.cli import COMMANDS

NAMES = " ".join(COMMANDS)

BASH = """\
# recollect completion bash > ~/.local/share/bash-completion/completions/recollect
_recollect() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(compgen -W "$(recollect completion --words \\
        "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "$word"))
}
complete -o default -F _recollect recollect
"""
ZSH = """\
#compdef recollect
# recollect completion zsh > "${fpath[1]}/_recollect"
_recollect() {
    local -a found
    found=(${(f)"$(recollect completion --words ${words[2,$((CURRENT-1))]} 2>/dev/null)"})
    compadd -a found
    _files
}
compdef _recollect recollect
"""
FISH = """\
# recollect completion fish > ~/.config/fish/completions/recollect.fish
complete -c recollect -a '(recollect completion --words (commandline -opc)[2..] 2>/dev/null)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("shell", required=False, type=click.UNPROCESSED)
@click.argument("typed", nargs=-1, type=click.UNPROCESSED)
@click.option("--words", is_flag=True, help="For the scripts: what may come next.")
def command(shell: str | None, typed: tuple[str, ...], words: bool) -> int:
    """Print a completion script for SHELL: bash, zsh or fish.

    \b
    recollect completion bash > ~/.local/share/bash-completion/completions/recollect
    recollect completion zsh > "${fpath[1]}/_recollect"
    recollect completion fish > ~/.config/fish/completions/recollect.fish
    """
    if words:
        for word in _next(((shell,) if shell else ()) + typed):
            click.echo(word)
        return 0
    if shell not in SCRIPTS:
        raise click.UsageError("which shell? bash, zsh or fish")
    click.echo(SCRIPTS[shell], nl=False)
    return 0


def _next(typed: tuple[str, ...]) -> list[str]:
    """Commands; then a command's options, and the values of the one before."""
    import importlib

    if not typed or typed[0] not in COMMANDS:
        return [*COMMANDS, "--help", "--version"]
    asked: click.Command = importlib.import_module(COMMANDS[typed[0]][0]).command
    options = [one for one in asked.params if isinstance(one, click.Option)]
    for option in options:
        if typed[-1] in option.opts and not option.is_flag:
            if isinstance(option.type, click.Choice):
                return [str(choice) for choice in option.type.choices]
            return _projects() if option.name == "project" else []
    chosen = [
        str(choice)
        for one in asked.params
        if isinstance(one, click.Argument) and isinstance(one.type, click.Choice)
        for choice in one.type.choices
    ]
    if typed[0] == "settings" and typed[-1] in ("get", "set", "unset"):
        from recollect.core import settings

        return [one["name"] for one in settings.described()]
    if typed[0] == "move" and len(typed) > 1:
        return _projects()
    return [*chosen, *(name for option in options for name in option.opts), "--help"]


def _projects() -> list[str]:
    """Names of projects, when the daemon is there to tell."""
    from recollect.client import Client
    from recollect.core import settings
    from recollect.core.errors import RecollectError

    try:
        found = Client(settings.load(), 1.0).get("/api/projects")["items"]
    except RecollectError:
        return ["all", "global"]
    return ["all", *(one["name"] for one in found)]
