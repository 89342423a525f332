"""pi: an extension that runs our hook; pi has no MCP."""

import os

from recollect.hosts.context import Context
from recollect.hosts.pi.facts import FACTS
from recollect.hosts.pieces import Piece
from recollect.hosts.script_plugin import ScriptInstaller

EXTENSION = """\
const text = (content) =>
  typeof content === "string"
    ? content
    : (content || []).filter((one) => one.type === "text").map((one) => one.text).join("\\n")

export default function (pi) {
  if (process.env.RECOLLECT_INTERNAL) return
  let first = Promise.resolve("") // the answer to the start of the session, shown with its prompt
  let began = false
  const tell = (event, ctx, more) => {
    const session_id = ctx.sessionManager.getSessionId()
    return run(event, { session_id, cwd: ctx.cwd, hook_event_name: event, ...more }, ctx.cwd)
  }
  const on = (event, handle) =>
    pi.on(event, async (given, ctx) => {
      try {
        return await handle(given, ctx)
      } catch {}
    })

  on("session_start", (event, ctx) => {
    // A session that goes on is one that holds a message already.
    const going = ctx.sessionManager.getEntries().some((one) => one.type === "message")
    const source = going && event.reason === "startup" ? "resume" : event.reason
    began = true
    first = tell("SessionStart", ctx, { source })
  })
  on("before_agent_start", async (event, ctx) => {
    if (!began) first = tell("SessionStart", ctx, { source: "startup" })
    began = true
    // One after the other: a session begins before its first prompt, also in the store.
    const start = await first
    first = Promise.resolve("") // said once
    const prompt = await tell("UserPromptSubmit", ctx, { prompt: event.prompt })
    const content = [start, prompt].filter((one) => one.trim()).join("\\n\\n")
    if (content) return { message: { customType: "recollect", content, display: false } }
  })
  on("tool_result", async (event, ctx) => {
    const told = await tell(event.isError ? "PostToolUseFailure" : "PostToolUse", ctx, {
      tool_name: event.toolName,
      tool_input: event.input,
      tool_use_id: event.toolCallId,
      tool_response: { output: text(event.content) },
    })
    if (told.trim()) return { content: [...event.content, { type: "text", text: told }] }
  })
  on("agent_end", async (event, ctx) => {
    const answers = event.messages.filter((one) => one.role === "assistant")
    const answer = answers.map((one) => text(one.content)).filter(Boolean).pop()
    await tell("Stop", ctx, { last_assistant_message: answer })
  })
  on("session_compact", (event, ctx) => tell("PreCompact", ctx, { trigger: event.reason }))
  on("session_shutdown", (event, ctx) => tell("SessionEnd", ctx, { reason: event.reason }))
}
"""


class PiInstaller(ScriptInstaller):
    def pieces(self, context: Context) -> list[Piece]:
        if context.in_project:
            folder = context.folder(".pi")
        else:
            folder = context.at("PI_CODING_AGENT_DIR", ".pi", "agent")
        path = os.path.join(folder, "extensions", "recollect.js")
        return [self.script(path, context, EXTENSION)]

    def notes(self, context: Context) -> list[str]:
        return [
            *super().notes(context),
            "pi has no MCP: memories come with prompts, and it can run `recollect search`.",
        ]


INSTALLER = PiInstaller(FACTS)
