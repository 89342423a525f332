"""Builds the plugins that agents install by themselves, from the facts of `recollect install`.

In: an output folder. Out: a marketplace for Claude Code, one for Codex, an extension for Gemini:

    python -m tools.plugins build/plugins

A plugin holds hooks, the MCP server, `/recollect`, and a script that runs the installed Recollect.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.hosts import registry
from recollect.hosts.context import SERVER, Context
from recollect.hosts.pieces import GENERATED, OwnFile

NAME = "recollect"
DESCRIPTION = "A local-first memory for coding agents: captures, remembers, gives back what matters"
MISSING = (
    "Recollect is not installed, only its plugin is. Install the package with pipx or uv, as its "
    "README says; the next session starts it."
)
MARKER = "@hook@"  # stands for the script in what an installer would write
SERVER_TIMEOUT_S = 20

SCRIPT = """\
#!/bin/sh
# Runs Recollect for its plugin. It never fails: without the program it says how to install it.
home="${RECOLLECT_HOME:-$HOME/.recollect}"
hook="$home/bin/recollect-hook"
missing="@missing@"
program=$(command -v recollect 2>/dev/null)
if [ -z "$program" ] && [ -r "$home/launcher" ]; then
    read -r python < "$home/launcher"
    [ -x "${python%/*}/recollect" ] && program="${python%/*}/recollect"
fi
# What `recollect install` has connected already is not connected twice.
if grep -qs recollect-hook "@own@"; then program= missing=; fi
case "$1" in
mcp)
    [ -n "$program" ] && exec "$program" mcp
    # A server without tools: agents remember one that fails, and do not start it again.
    while read -r line; do
        id=$(printf %s "$line" | sed -n 's/.*"id": *\\("[^"]*"\\|[0-9]*\\).*/\\1/p')
        case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},\
"serverInfo":{"name":"recollect","version":"0"},"instructions":"'$missing'"}' ;;
        *'"tools/list"'*) result='{"tools":[]}' ;;
        *) result='{}' ;;
        esac
        [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
    done
    ;;
*)
    [ -n "$program" ] && [ -x "$hook" ] && exec "$hook" "$@"
    if [ "$2" = SessionStart ] && [ -n "$program" ]; then
        "$program" up --quiet < /dev/null > /dev/null 2>&1
        [ -x "$hook" ] && exec "$hook" "$@"
    elif [ "$2" = SessionStart ] && [ -n "$missing" ]; then
        echo '@answer@'
    fi
    ;;
esac
exit 0
"""


def build(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _claude_code(folder / "claude-code")
    _codex(folder / "codex")
    _gemini(folder / "gemini")


def _claude_code(folder: Path) -> None:
    plugin = folder / NAME
    listed = {"name": NAME, "source": f"./{NAME}", "description": DESCRIPTION}
    catalogue = {"name": NAME, "owner": {"name": "Recollect"}, "plugins": [listed]}
    _json(folder / ".claude-plugin" / "marketplace.json", catalogue)
    _json(plugin / ".claude-plugin" / "plugin.json", _manifest())
    root = "${CLAUDE_PLUGIN_ROOT}"
    _hooks(plugin, "claude-code", root)
    server = {"type": "stdio", **_server(root), "alwaysLoad": True}
    _json(plugin / ".mcp.json", {"mcpServers": {SERVER: server}})
    _command(plugin / "commands" / "recollect.md", "claude-code")
    own = "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json"
    _script(plugin, own, {"systemMessage": MISSING})


def _codex(folder: Path) -> None:
    plugin = folder / "plugins" / NAME
    listed = {"name": NAME, "source": {"source": "local", "path": f"./plugins/{NAME}"}}
    catalogue = {"name": NAME, "plugins": [listed]}
    _json(folder / ".agents" / "plugins" / "marketplace.json", catalogue)
    parts = {
        "skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json",
    }  # fmt: skip
    _json(plugin / ".codex-plugin" / "plugin.json", _manifest() | parts)
    root = "${PLUGIN_ROOT}"
    _hooks(plugin, "codex", root)
    # Codex starts a plugin's server in the plugin's folder.
    server = {
        "command": "./recollect-hook.sh", "args": ["mcp"], "cwd": ".",
        "startup_timeout_sec": SERVER_TIMEOUT_S,
    }  # fmt: skip
    _json(plugin / ".mcp.json", {"mcpServers": {SERVER: server}})
    _command(plugin / "skills" / NAME / "SKILL.md", "codex")
    # It drops an answer with a message to the user; what it takes reaches the model.
    told = {"hookEventName": "SessionStart", "additionalContext": f"Tell the user: {MISSING}"}
    _script(plugin, "${CODEX_HOME:-$HOME/.codex}/hooks.json", {"hookSpecificOutput": told})


def _gemini(folder: Path) -> None:
    root = "${extensionPath}"
    servers = {SERVER: _server(root)}
    _json(folder / "gemini-extension.json", _manifest() | {"mcpServers": servers})
    _hooks(folder, "gemini", root)
    _command(folder / "commands" / "recollect.toml", "gemini")
    own = "${GEMINI_CLI_HOME:-$HOME}/.gemini/settings.json"
    _script(folder, own, {"systemMessage": MISSING})


def _manifest() -> dict[str, Any]:
    return {"name": NAME, "version": __version__, "description": DESCRIPTION}


def _server(root: str) -> dict[str, Any]:
    return {"command": f"{root}/recollect-hook.sh", "args": ["mcp"]}


def _context() -> Context:
    """As if there were nobody's home: what is made goes into a plugin."""
    return Context("/nobody", "/nobody/.recollect", MARKER, (NAME, "mcp"))


def _hooks(plugin: Path, host: str, root: str) -> None:
    """What the installer would write into an empty file, with the plugin's script as the hook."""
    pieces = registry.installers()[host].pieces(_context())
    written = [json.loads(one.put(None) or b"{}") for one in pieces if one.path.endswith(".json")]
    hooks = next(one["hooks"] for one in written if "hooks" in one)
    text = json.dumps({"hooks": hooks}, indent=2)
    command = json.dumps(f'"{root}/recollect-hook.sh"')[1:-1]
    _write(plugin / "hooks" / "hooks.json", text.replace(MARKER, command) + "\n")


def _command(path: Path, host: str) -> None:
    (piece,) = registry.installers()[host].slash_command(_context())
    assert isinstance(piece, OwnFile)
    lines = piece.content.decode().splitlines(keepends=True)
    _write(path, "".join(line for line in lines if GENERATED not in line))


def _script(plugin: Path, own: str, answer: dict[str, Any]) -> None:
    text = SCRIPT.replace("@own@", own).replace("@missing@", MISSING)
    path = plugin / "recollect-hook.sh"
    _write(path, text.replace("@answer@", json.dumps(answer)))
    path.chmod(0o755)


def _json(path: Path, value: dict[str, Any]) -> None:
    _write(path, json.dumps(value, indent=2) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
