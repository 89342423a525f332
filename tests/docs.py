"""The reference, made from the code: `python -m tests.docs --write` writes it, a test compares it.

In: routes, tools, commands and settings as they are. Out: pages of Markdown, and the lists
in the hook (hook_lists.py).
"""

import pathlib
import sys
from typing import Any

import click

from recollect.cli import COMMANDS, HEADINGS
from recollect.cli.groups import ROOT
from recollect.core import settings, tool_schemas
from recollect.hosts import registry
from recollect.server.app import ENDPOINTS
from recollect.server.endpoints import openapi
from tests import hook_lists

REFERENCE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reference"
MADE = "<!-- Made from the code: python -m tests.docs --write -->"


def pages() -> dict[str, str]:
    """Every generated page by its name."""
    return {
        "api.md": api(),
        "tools.md": tool_page(),
        "commands.md": commands(),
        "settings.md": setting_page(),
        "agents.md": agents(),
    }


# --- REST ----------------------------------------------------------------------------------------


def api() -> str:
    document = openapi(ENDPOINTS)
    lines = [
        "# REST",
        "",
        MADE,
        "",
        "On the unix socket `recollect.sock` of the data directory, and on",
        "http://127.0.0.1:7325 with `Authorization: Bearer` and the token of the data directory.",
        "`GET /openapi.json` is the whole document. Lists take `limit` and `before`, and give",
        "`next`, which goes on as the next `before`. Times are ISO 8601 with an offset. `project`",
        "is an id, a name, an absolute path, `global` or `all`; a path is given as a parameter or",
        "in the body, never as a part of the address (`/api/context?project=/work/shop`). An error",
        'is `{"error": {"code", "message", "field"?, "hint"?}}`. No answer holds a vector.',
        "",
        "`GET /api/events` is a stream of server-sent events (event, prompt, session, memory,",
        "summary, checkpoint, receipt): a line every 15 s to stay alive, at most 50 watchers; with",
        "`Last-Event-ID` nothing is missed, and `reset` says to read everything anew. `/mcp` is",
        "[MCP](tools.md) over streamable HTTP.",
    ]
    for path in sorted(document["paths"]):
        for method, operation in sorted(document["paths"][path].items()):
            lines += ["", f"## {method.upper()} {path}", "", operation["summary"]]
            lines += _parameters(operation)
            lines += _body(operation, document["components"]["schemas"])
    return "\n".join(lines) + "\n"


def _parameters(operation: dict[str, Any]) -> list[str]:
    if not operation["parameters"]:
        return []
    rows = [
        f"| `{one['name']}` | {_type(one['schema'])} | {_default(one)} |"
        for one in operation["parameters"]
    ]
    return ["", "| parameter | type | default |", "|---|---|---|", *rows]


def _body(operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    if "requestBody" not in operation:
        return []
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = schemas[reference.rpartition("/")[2]]
    required = schema.get("required", ())
    rows = [
        f"| `{name}` | {_type(part)} | "
        f"{'required' if name in required else _default({'schema': part, 'required': False})} |"
        for name, part in schema["properties"].items()
    ]
    return ["", "| in the body | type | default |", "|---|---|---|", *rows]


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"] if one is not None)
    if "anyOf" in schema:
        kinds = [_type(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("format") == "date-time":
        return "time"
    limits = [
        f"{word} {schema[key]}"
        for key, word in (
            ("minimum", "from"), ("maximum", "to"), ("maxLength", "at most"),
        )
        if key in schema
    ]  # fmt: skip
    return " ".join([str(schema.get("type", "any")), *limits])


def _default(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return "required"
    default = parameter["schema"].get("default")
    return f"`{default}`" if default not in (None, "", []) else ""


# --- tools, commands, settings -------------------------------------------------------------------


def tool_page() -> str:
    lines = [
        "# MCP tools",
        "",
        MADE,
        "",
        "Over `recollect mcp` (stdio) and at `/mcp` (streamable HTTP). What agents are told:",
        "",
        *(f"> {line}" for line in tool_schemas.INSTRUCTIONS.splitlines()),
    ]
    for tool in (*tool_schemas.TOOLS, *tool_schemas.UNLISTED):
        lines += ["", f"## {tool.name}", "", tool.description, ""]
        if tool in tool_schemas.UNLISTED:
            lines += ["Not listed: it answers agents that know its name.", ""]
        lines += ["| argument | type | default |", "|---|---|---|"]
        for name, part in tool.schema["properties"].items():
            default = "required" if name in tool.required else part.get("default", "")
            lines.append(f"| `{name}` | {_type(part)} | {default} |")
    return "\n".join(lines) + "\n"


def commands() -> str:
    lines = [
        "# Commands",
        "",
        MADE,
        "",
        "A verb is an act (`search`); a thing with several acts is a noun with verbs (`backup",
        "create`). Lists are `list`, one of them is `show NAME`. Everywhere: `-p`/`--project`,",
        "`-n`/`--limit`, `--since`, `--until` and `--as-of`, `--json`, `-y`/`--yes`, `--dry-run`,",
        "`--help`. Exit codes: 0 success, 1 failure (also an unknown id), 2 wrong call. Colour",
        "only on a terminal, never with `NO_COLOR`. Completion: `recollect completion",
        "bash|zsh|fish`.",
    ]
    for heading, group in HEADINGS.items():
        lines += ["", f"**{heading}**", "", "| command | what it does |", "|---|---|"]
        lines += [f"| `recollect {name}` | {what} |" for name, (_, what) in group.items()]
    root = click.Context(ROOT, info_name="recollect")
    for name in COMMANDS:
        command = ROOT.get_command(root, name)
        assert command is not None
        lines += ["", f"## recollect {name}"]
        lines += _help(command, click.Context(command, root, info_name=name))
    return "\n".join(lines) + "\n"


def _help(command: click.Command, context: click.Context) -> list[str]:
    """The help of a command and of the commands below it."""
    context.max_content_width = context.terminal_width = 96
    lines = ["", "```", command.get_help(context).rstrip(), "```"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.commands[name]
            lines += _help(below, click.Context(below, context, info_name=name))
    return lines


def setting_page() -> str:
    lines = [
        "# Settings",
        "",
        MADE,
        "",
        "`recollect settings list` shows them with their values, `recollect settings set NAME",
        "VALUE` changes one. They are kept in `settings.toml` in the data directory;",
        "`RECOLLECT_<NAME>` in the environment overrides one for a run. A value out of range",
        "is refused at start, with its name and where it is set.",
        "",
        "| setting | default | allowed | meaning |",
        "|---|---|---|---|",
    ]
    for one in settings.described():
        default = f"`{one['default']}`" if one["default"] != "" else ""
        lines.append(f"| `{one['name']}` | {default} | {one['allowed']} | {one['help']} |")
    return "\n".join(lines) + "\n"


# --- agents ---------------------------------------------------------------------------------------


def agents() -> str:
    lines = [
        "# Agents",
        "",
        MADE,
        "",
        "`recollect install NAME` connects an agent, `recollect uninstall NAME` puts its files",
        "back. Verified: the version of the real agent that we saw running what we write; without",
        "one the agent is known from its documentation only. Recall: when memories are put before",
        "the agent by a hook; every agent but pi can also ask by MCP. What was seen of each real",
        "agent is in [a table of its own](clients.md).",
        "",
        "Any other agent that reads a rules file and runs MCP servers:",
        "`recollect install generic --file AGENTS.md` puts a short text into that file that says",
        "how the memory is used, and the MCP server into the files of VS Code, Zed, Junie, Amp and",
        "Crush, where they are found; for others it prints the command of the server.",
        "",
        "| agent | name | also called | verified | hooks | recall at | history import |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, known in registry.facts().items():
        hooks = ", ".join(hook.event for hook in known.hooks)
        recall = ", ".join(hook.event for hook in known.hooks if hook.injects)
        history = "yes" if name in registry.readers() else ""
        cells = (known.title, f"`{name}`", ", ".join(known.aliases), known.verified, hooks, recall)
        lines.append(f"| {' | '.join(cells)} | {history} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    made = {REFERENCE / name: text for name, text in pages().items()} | hook_lists.files()
    for path, text in made.items():
        if "--write" in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is not current: python -m tests.docs --write")
            sys.exit(1)
