"""The command line: one file per command, found by name, loaded only when it is called.

In: arguments. Out: an exit code: 0 done, 1 it failed and said why, 2 the call was wrong. Help is
printed from the table below without importing anything, so that it costs next to nothing.
"""

import sys

# name: (module, what it does)
COMMANDS = {
    "up": ("recollect.cli.up", "Start the daemon"),
    "down": ("recollect.cli.down", "Stop the daemon"),
    "restart": ("recollect.cli.restart", "Stop it and start it again"),
    "status": ("recollect.cli.status", "Show whether it runs and what it has seen"),
    "open": ("recollect.cli.open", "Open the dashboard in your browser"),
    "logs": ("recollect.cli.logs", "Show the end of the log"),
    "search": ("recollect.cli.search", "Find memories; -i asks again and again"),
    "context": ("recollect.cli.context", "Show what would be injected now"),
    "why": ("recollect.cli.why", "Explain what was injected with a prompt, and say what you think"),
    "queue": ("recollect.cli.queue", "Show what waits for extraction; --now extracts it"),
    "resume": ("recollect.cli.resume", "Show where work stopped"),
    "report": ("recollect.cli.report", "Show what was done, learned and planned in a period"),
    "add": ("recollect.cli.add", "Remember something by hand"),
    "undo": ("recollect.cli.undo", "Take back what was done to memories"),
    "maintain": ("recollect.cli.maintain", "Shorten and forget what is old; --dry-run only shows"),
    "install": ("recollect.cli.install", "Connect agents: add hooks and the MCP server"),
    "uninstall": ("recollect.cli.uninstall", "Disconnect agents again"),
    "import": ("recollect.cli.import_", "Bring in history: transcripts, git, other memories"),
    "export": ("recollect.cli.export", "Write everything, or some of it, as JSONL, JSON, Markdown"),
    "backup": ("recollect.cli.backup", "Make a backup, or list those that there are"),
    "restore": ("recollect.cli.restore", "Put a backup in place; what was there is kept aside"),
    "forget": ("recollect.cli.forget", "Erase memories everywhere, after showing what goes"),
    "scrub": ("recollect.cli.scrub", "Find secrets in what is stored already, and take them out"),
    "ignore": ("recollect.cli.ignore", "Keep directories, files and tools out of memory"),
    "move": ("recollect.cli.move", "Give memories to another project, after showing which"),
    "separate": ("recollect.cli.separate", "Make a folder a project of its own again"),
    "doctor": ("recollect.cli.doctor", "Check everything; --fix repairs, --prove shows it working"),
    "service": ("recollect.cli.service", "Start Recollect when you log in"),
    "mcp": ("recollect.cli.mcp", "The MCP server on standard input and output, for agents"),
    "bench": ("recollect.cli.bench", "Measure retrieval beside grep, BM25, MiniLM and rank fusion"),
    "store": ("recollect.cli.store", "Copy the whole store to PostgreSQL or back"),
    "settings": ("recollect.cli.settings", "Show every setting, or get and set one"),
    "completion": ("recollect.cli.completion", "Print completions for bash, zsh or fish"),
    "model": ("recollect.cli.model", "Fetch the embedding model, or show whether it is there"),
}

USAGE = """\
Recollect: a local-first memory for AI coding agents.

Usage: recollect COMMAND [OPTIONS]

Commands:
{commands}

`recollect COMMAND --help` tells more. `--version` prints the version.
Exit codes: 0 done, 1 it failed and said why, 2 the call was wrong.
Everything is kept in ~/.recollect; RECOLLECT_HOME moves it.
"""


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return 0
    if arguments[0] == "--version":
        from recollect import __version__

        print(f"recollect {__version__}")
        return 0
    if arguments[0] not in COMMANDS:
        print(f"recollect: there is no command {arguments[0]!r}{_near(arguments[0])}",
              file=sys.stderr)  # fmt: skip
        print("Run `recollect --help` for the list.", file=sys.stderr)
        return 2
    from recollect.cli.run import run

    return run(arguments[0], COMMANDS[arguments[0]][0], arguments[1:])


def _near(name: str) -> str:
    import difflib  # only after a mistake

    near = difflib.get_close_matches(name, COMMANDS, 1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def usage() -> str:
    lines = [f"  {name:<10} {what}" for name, (_, what) in COMMANDS.items()]
    return USAGE.format(commands="\n".join(lines))
