"""A script of ours inside an agent: it runs the hook and puts back what it answers.

In: the host's own part of the script. Out: the whole file. The script cannot break a turn: each
call is caught and cut after 1 s, because such agents know no timeout of their own.
"""

import json
import re

from recollect.hosts.changes import read
from recollect.hosts.context import Context
from recollect.hosts.installer import Installer
from recollect.hosts.pieces import GENERATED, MARK, OwnFile

RUN = """\
// @generated@; `recollect uninstall` removes it. Edits are lost at the next install.
// Passes what happens in @title@ to @mark@ and puts back what it answers.
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
      const child = spawn(HOOK, ["@host@", event], { cwd, stdio: ["pipe", "pipe", "ignore"] })
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
"""
_HOOK = re.compile(r'^const HOOK = ("[^\n]*")$', re.MULTILINE)


class ScriptInstaller(Installer):
    """An agent whose first piece is such a script."""

    def script(self, path: str, context: Context, own: str) -> OwnFile:
        values = {
            "@hook@": json.dumps(context.hook_command),
            "@generated@": GENERATED,
            "@mark@": MARK,
            "@host@": self.name,
            "@title@": self.title,
        }
        text = f"{RUN}\n{own}"
        for name, value in values.items():
            text = text.replace(name, value)
        return OwnFile(path, "a plugin that captures and recalls", text.encode(), 0o644)

    def hook_command(self, context: Context, event: str) -> tuple[str, ...] | None:
        """The script names the program itself."""
        now = read(self.pieces(context)[0].path)
        found = _HOOK.search((now or b"").decode("utf-8", "replace"))
        return (json.loads(found[1]), self.name, event) if found else None
