// Written by `recollect install`; `recollect uninstall` removes it. Edits are lost at the next install.
// Passes what happens in Kilo to recollect-hook and puts back what it answers.
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
      const child = spawn(HOOK, ["kilo", event], { cwd, stdio: ["pipe", "pipe", "ignore"] })
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
    return { answer: texts.join("\n"), messageID: info.id }
  }
  return {}
}

const ours = (part) => part.synthetic && part.ignored && /^\s*\[recollect /.test(part.text || "")

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
