"""OpenCode: a plugin that runs our hook, the MCP server in opencode.json.

In: a context. Out: pieces. The plugin cannot break a turn: each call is caught and cut after 1 s,
because OpenCode itself knows no timeout and a throw would end the turn.
"""

import json
import os
import re

from recollect.hosts import slash_command
from recollect.hosts.changes import read
from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import Installer
from recollect.hosts.marker import HookRun, call
from recollect.hosts.opencode.facts import FACTS
from recollect.hosts.pieces import GENERATED, MARK, JsonFile, OwnFile, Piece, Server

PLUGIN = """\
// @generated@; `recollect uninstall` removes it. Edits are lost at the next install.
// Passes what happens in OpenCode to @mark@ and puts back what it answers.
import { spawn } from "node:child_process"

const HOOK = @hook@
const LIMIT_MS = 1000 // no hook is waited for longer, whatever happens
const KILL_MS = 5000 // the hook stops by itself long before
const MAX_CHARS = 1 << 20 // more would only be cut off at the other end
let late = 0 // how often in a row the hook was too slow: then nobody waits for it any more

// Run the hook with this payload; its output, or "" on any failure or when it takes too long.
function run(event, payload, cwd) {
  return new Promise((resolve) => {
    let out = ""
    let gone = false
    const timer = setTimeout(() => {
      gone = true
      late += 1
      resolve("")
    }, late < 3 ? LIMIT_MS : LIMIT_MS / 20)
    const done = (text) => {
      clearTimeout(timer)
      if (!gone) late = 0
      resolve(text)
    }
    try {
      const child = spawn(HOOK, ["opencode", event], { cwd, stdio: ["pipe", "pipe", "ignore"] })
      const killer = setTimeout(() => child.kill("SIGKILL"), KILL_MS)
      killer.unref()
      child.on("error", () => done(""))
      child.on("close", () => {
        clearTimeout(killer)
        done(out)
      })
      child.stdout.on("data", (chunk) => (out += chunk))
      child.stdout.on("error", () => {})
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload).slice(0, MAX_CHARS))
      child.unref()
    } catch {
      done("")
    }
  })
}

// The text of the newest answer, which session.idle itself does not carry.
async function lastAnswer(client, id) {
  const pause = new Promise((resolve) => setTimeout(() => resolve(undefined), LIMIT_MS / 2))
  const found = await Promise.race([client.session.messages({ path: { id } }), pause])
  const messages = (found && found.data) || []
  for (let at = messages.length - 1; at >= 0; at--) {
    const { info, parts } = messages[at]
    if (info.role !== "assistant") continue
    const texts = parts.filter((part) => part.type === "text").map((part) => part.text)
    return { answer: texts.join("\\n"), messageID: info.id }
  }
  return {}
}

export const Recollect = async ({ client, directory, worktree }) => {
  if (process.env.RECOLLECT_INTERNAL) return {}
  const place = { directory, worktree }
  const starts = new Map() // session id -> the answer to its start, shown with its first prompt
  const children = new Set() // sessions of subagents: their prompts are not the user's
  const started = (id, event, payload) => {
    if (!starts.has(id)) starts.set(id, run(event, { ...payload, ...place }, directory))
    return starts.get(id)
  }

  return {
    event: async ({ event }) => {
      try {
        const info = (event.properties && event.properties.info) || {}
        const id = (event.properties && event.properties.sessionID) || info.id
        if (event.type === "session.created" && id) {
          if (info.parentID) children.add(id)
          else started(id, event.type, event)
        }
        if (children.has(id)) return
        if (event.type === "session.idle") {
          const answer = await lastAnswer(client, id).catch(() => ({}))
          await run(event.type, { ...event, ...answer, ...place }, directory)
        }
        if (event.type === "session.compacted" || event.type === "session.deleted") {
          await run(event.type, { ...event, ...place }, directory)
        }
      } catch {}
    },

    "chat.message": async (input, output) => {
      try {
        const id = input.sessionID
        if (children.has(id)) return
        // One after the other: a session begins before its first prompt, also in the store.
        const first = await started(id, "session.resumed", { sessionID: id })
        starts.set(id, Promise.resolve("")) // said once
        const prompt = await run("chat.message", { input, output, ...place }, directory)
        for (const text of [first, prompt]) {
          if (!text.trim()) continue
          output.parts.push({
            id: `prt_${Date.now().toString(16)}${Math.random().toString(36).slice(2, 14)}`,
            sessionID: id,
            messageID: output.message.id,
            type: "text",
            text,
            synthetic: true,
          })
        }
      } catch {}
    },

    "tool.execute.after": async (input, output) => {
      try {
        if (children.has(input.sessionID)) return
        await run("tool.execute.after", { input, output, ...place }, directory)
      } catch {}
    },
  }
}
"""

_HOOK = re.compile(r'^const HOOK = ("[^\n]*")$', re.MULTILINE)


class OpenCodeInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        if context.in_project:
            folder, config = os.path.join(context.project, ".opencode"), context.project
        else:
            folder = config = os.path.join(context.at("XDG_CONFIG_HOME", ".config"), "opencode")
        server: dict[str, object] = {
            "type": "local",
            "command": [*context.mcp_command],
            "enabled": True,
        }
        if context.mcp_env:
            server["environment"] = context.mcp_env
        plugin = os.path.join(folder, "plugins", "recollect.js")
        return [
            OwnFile(plugin, "a plugin that captures and recalls", _plugin(context), 0o644),
            JsonFile(_config(config), "the MCP server", (Server(("mcp", SERVER), server),)),
        ]

    def slash_command(self, context: Context) -> list[Piece]:
        folder = os.path.join(context.at("XDG_CONFIG_HOME", ".config"), "opencode", "commands")
        return slash_command.markdown(os.path.join(folder, "recollect.md"), context, "$ARGUMENTS")

    def hook_command(self, context: Context, event: str) -> tuple[str, ...] | None:
        """The plugin names the program itself."""
        now = read(self.pieces(context)[0].path)
        found = _HOOK.search((now or b"").decode("utf-8", "replace"))
        return (json.loads(found[1]), self.name, event) if found else None

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        output = {"message": {"id": session}, "parts": [{"type": "text", "text": text}]}
        return call("chat.message", sessionID=session, directory=cwd, output=output)


def _plugin(context: Context) -> bytes:
    text = PLUGIN.replace("@hook@", json.dumps(context.hook_command))
    return text.replace("@generated@", GENERATED).replace("@mark@", MARK).encode()


def _config(folder: str) -> str:
    """The file that is there; OpenCode reads either name."""
    names = (os.path.join(folder, name) for name in ("opencode.json", "opencode.jsonc"))
    return next(
        (path for path in names if os.path.exists(path)), os.path.join(folder, "opencode.json")
    )


INSTALLER = OpenCodeInstaller(FACTS)
