// Written by `recollect install`; `recollect uninstall` removes it. Edits are lost at the next install.
// Passes what happens in pi to recollect-hook and puts back what it answers.
import { spawn } from "node:child_process"

const HOOK = "@HOME@/.recollect/bin/recollect-hook"
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
      const child = spawn(HOOK, ["pi", event], { cwd, stdio: ["pipe", "pipe", "ignore"] })
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

const text = (content) =>
  typeof content === "string"
    ? content
    : (content || []).filter((one) => one.type === "text").map((one) => one.text).join("\n")

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
    const content = [start, prompt].filter((one) => one.trim()).join("\n\n")
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
