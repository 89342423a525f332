"""The command line: commands found by name, their modules loaded only when they are called.

In: arguments. Out: an exit code: 0 success, 1 failure with its reason, 2 wrong call. The help is
printed from the table below without importing anything, so it costs next to nothing.

The grammar: a verb for an act (`search`, `forget`), a noun with verbs for a thing that has several
acts (`backup create`). Lists are always `list`, one of them is always `show NAME`.
"""

import os
import sys

# heading: {name: (module, or module:function when a module has several commands; what it does)}
HEADINGS = {
    "Recall": {
        "search": ("search", "Search memories (-i: interactive)"),
        "show": ("memory:show", "Show one memory: its text, state, sources and versions"),
        "context": ("context", "Show what would be injected with a prompt"),
        "why": ("why", "Explain an injection and rate its memories"),
        "receipt": ("why:receipt", "List and show receipts: what was injected, and why"),
        "resume": ("resume", "Show where the last session stopped"),
        "today": ("today", "Show what was done, learned and told today"),
        "report": ("report", "Summarise what was done and learned in a period"),
        "open": ("open", "Open the dashboard in your browser"),
    },
    "Beliefs": {
        "rules": (
            "review:rules",
            "Show what holds here: rules, decisions, rejected options, facts",
        ),
        "review": ("review", "Keep, correct or drop what waits for a decision"),
        "reflect": ("reflect", "Look back over what was learned, as proposals"),
        "profile": ("profile", "Tell agents who you are, at the start of every session"),
    },
    "Change memories": {
        "add": ("add", "Store a memory by hand"),
        "edit": ("memory:edit", "Change the title or the text of a memory"),
        "pin": ("memory:pin", "Keep a memory from ageing"),
        "forget": ("forget", "Delete memories, or erase them everywhere"),
        "undo": ("undo", "Undo a change to memories"),
        "change": ("undo:change", "List the changes that can be undone"),
        "move": ("move", "Move memories to another project"),
        "separate": ("move:separate", "Make a directory a project of its own again"),
    },
    "Agents": {
        "install": ("install", "Connect agents: add hooks and the MCP server"),
        "uninstall": ("uninstall", "Disconnect agents"),
        "import": ("import_", "Import history: transcripts, git, other memories"),
        "relay": ("relay", "Store an event of a forge as a note"),
        "trial": ("trial", "Show what Recollect would have done in your past sessions"),
        "statusline": ("statusline", "Print one line for Claude Code's status bar"),
        "mcp": ("mcp", "Run the MCP server on standard input and output, for agents"),
    },
    "Data and privacy": {
        "backup": ("backup", "Create, list and restore backups"),
        "export": ("export", "Write memories to a file as JSONL, JSON or Markdown"),
        "ignore": ("ignore", "Keep directories, files and tools out of memory"),
        "scrub": ("scrub", "Find and remove secrets in what is stored"),
        "maintain": ("maintain", "Shorten and delete old memories now"),
        "store": ("store", "Copy the database to PostgreSQL or back"),
        "encrypt": ("encrypt:encrypt", "Encrypt the store and its backups"),
        "decrypt": ("encrypt:decrypt", "Decrypt the store and its backups"),
    },
    "Daemon": {
        "up": ("daemon:up", "Start the daemon"),
        "down": ("daemon:down", "Stop the daemon"),
        "restart": ("daemon:restart", "Restart the daemon"),
        "status": ("status", "Show whether the daemon runs and what it received"),
        "doctor": ("doctor", "Check everything (--fix: repair, --prove: test the agents' hooks)"),
        "queue": ("queue", "List, run and retry the extraction of events"),
        "jobs": ("jobs", "List, cancel and retry background work"),
        "logs": ("logs", "Print the end of the log (-f: follow)"),
        "service": ("service", "Start the daemon when you log in"),
    },
    "Setup": {
        "setup": ("setup", "Set up everything, step by step: daemon, model, agents, history"),
        "settings": ("settings", "List, show and change settings"),
        "model": ("model", "Show and fetch the embedding model"),
        "plugins": ("plugins", "List plugins, and switch them on and off"),
        "completion": ("completion", "Print the completion script for bash, zsh or fish"),
        "bench": ("bench", "Measure retrieval and compare it with grep and BM25"),
    },
}
COMMANDS = {name: entry for group in HEADINGS.values() for name, entry in group.items()}
COMPLETE = "_RECOLLECT_COMPLETE"  # set by click's completion scripts

USAGE = """\
Recollect: a local-first memory for AI coding agents.

Usage: recollect COMMAND [OPTIONS]

{commands}

`recollect COMMAND --help` explains a command; `recollect --version` prints the version.
Exit codes: 0 success, 1 failure (also an unknown id), 2 wrong call.
Data directory: ~/.recollect (RECOLLECT_HOME changes it).
"""


def main() -> int:
    arguments = sys.argv[1:]
    if not os.environ.get(COMPLETE):
        if not arguments or arguments[0] in ("-h", "--help", "help"):
            print(usage(), end="")
            return 0
        if arguments[0] == "--version":
            from recollect import __version__

            print(f"recollect {__version__}")
            return 0
    from recollect.cli.run import run

    return run(arguments)


def usage() -> str:
    """The help of `recollect` itself."""
    blocks = []
    for heading, group in HEADINGS.items():
        lines = [f"  {name:<11} {what}" for name, (_, what) in group.items()]
        blocks.append("\n".join([f"{heading}:", *lines]))
    return USAGE.format(commands="\n\n".join(blocks))
