"""The command tree for click: a group that suggests names, and the root that loads lazily."""

import difflib
import importlib

import click
from click.shell_completion import CompletionItem

from recollect.cli import COMMANDS, usage


class Group(click.Group):
    """Lists its commands as they are defined; an unknown one is refused with the known ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        names = self.list_commands(ctx)
        near = difflib.get_close_matches(name, names, 1, cutoff=0.7)
        if near:
            hint = f"did you mean {near[0]}?"
        else:
            hint = f"it has {', '.join(names)}." if ctx.parent else "recollect --help lists them."
        raise click.UsageError(f"there is no command {ctx.command_path} {name}; {hint}", ctx)


class Root(Group):
    """`recollect` itself: imports the module of a command when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(
            importlib.import_module(f"recollect.cli.{module}"), function or "command"
        )
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(usage())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(name, help=what)
            for name, (_, what) in COMMANDS.items()
            if name.startswith(incomplete)
        ]


ROOT = Root("recollect", no_args_is_help=True)
