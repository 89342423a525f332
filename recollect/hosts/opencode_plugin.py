"""OpenCode and its fork Kilo: a plugin that runs our hook, the MCP server in their own file.

In: a host's name for its folders, a context. Out: pieces.
"""

import os

from recollect.hosts import slash_command
from recollect.hosts.context import SERVER, Context
from recollect.hosts.marker import HookRun, call
from recollect.hosts.pieces import JsonFile, Piece, Server
from recollect.hosts.script_plugin import ScriptInstaller
from recollect.hosts.switches import OffSwitch

PLUGIN = """\
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

const ours = (part) => part.synthetic && part.ignored && /^\\s*\\[recollect /.test(part.text || "")

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
            ignored: true, // a request for a title leaves it out; what follows puts it back
          })
        }
      } catch {}
    },

    // Before each request of the conversation. Titles are made from a copy of this list.
    "experimental.chat.messages.transform": async (_, output) => {
      try {
        output.messages.forEach((message, at) => {
          if (!message.parts.some(ours)) return
          const parts = message.parts.map((one) => (ours(one) ? { ...one, ignored: false } : one))
          output.messages[at] = { ...message, parts }
        })
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


class PluginInstaller(ScriptInstaller):
    directory: str  # of the user's configuration; with a dot before it that of a project
    config_names: tuple[str, ...]  # the files that it reads either of, the usual one first

    def pieces(self, context: Context) -> list[Piece]:
        if context.in_project:
            folder, config = context.folder(f".{self.directory}"), context.project
        else:
            folder = config = self._user_folder(context)
        server: dict[str, object] = {
            "type": "local",
            "command": [*context.mcp_command],
            "enabled": True,
        }
        if context.mcp_env:
            server["environment"] = context.mcp_env
        plugin = os.path.join(folder, "plugins", "recollect.js")
        names = [os.path.join(config, name) for name in self.config_names]
        path = next(filter(os.path.exists, names), names[0])
        return [
            self.script(plugin, context, PLUGIN),
            JsonFile(path, "the MCP server", (Server(("mcp", SERVER), server),)),
        ]

    def slash_command(self, context: Context) -> list[Piece]:
        path = os.path.join(self._user_folder(context), "commands", "recollect.md")
        return slash_command.markdown(path, context, "$ARGUMENTS")

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        """`--pure` holds for one run; its variable for all that are started with it."""
        name = f"{self.directory.upper()}_PURE"
        if context.env.get(name, "").lower() not in ("1", "true"):
            return []
        return [OffSwitch(f"{name} is set: it loads no plugins", f"unset {name}")]

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        output = {"message": {"id": session}, "parts": [{"type": "text", "text": text}]}
        return call("chat.message", sessionID=session, directory=cwd, output=output)

    def _user_folder(self, context: Context) -> str:
        return os.path.join(context.at("XDG_CONFIG_HOME", ".config"), self.directory)
