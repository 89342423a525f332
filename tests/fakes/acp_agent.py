"""A real agent process that speaks ACP on stdio through the package's own agent side.

    settings.acp_command = acp_command("answer", text="<skip/>", notes=path)

In: a behaviour by name. Out: a process that behaves so. `notes` is a file in which it writes what
it was asked and what it got, one JSON object a line.
"""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BEHAVIOURS = (
    "answer", "counted", "hang", "crash", "crash-at-start", "garbage", "noise", "slow", "deaf",
    "grandchild", "asks", "over-long", "endless-line", "refuses", "sign-in", "wrong-types", "hook",
)  # fmt: skip


def acp_command(
    behaviour: str, *, text: str = "an answer", notes: str | Path = "", hook: str = ""
) -> str:
    """A command line for the setting `acp_command`. `hook`: a command that behaviour hook runs."""
    options = json.dumps({"text": text, "notes": str(notes), "hook": hook})
    return shlex.join([sys.executable, str(Path(__file__)), behaviour, options])


def children_of_group(group: int) -> list[int]:
    """The living processes of a process group, as the kernel knows them."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(name))
    return found


class Notes:
    def __init__(self, path: str) -> None:
        self._path = path

    def write(self, **what: Any) -> None:
        if self._path:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(what) + "\n")


def main() -> None:
    behaviour, options = sys.argv[1], json.loads(sys.argv[2])
    notes = Notes(options["notes"])
    notes.write(group=os.getpgrp(), guard=os.environ.get("RECOLLECT_INTERNAL"), cwd=os.getcwd())
    if behaviour == "crash-at-start":
        sys.stderr.write("not signed in, token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n")
        sys.exit(3)
    if behaviour == "garbage":
        while True:
            sys.stdout.write("this is not the protocol\n")
            sys.stdout.flush()
    if behaviour == "endless-line":
        while True:
            sys.stdout.write("x" * 65536)
            sys.stdout.flush()
    if behaviour == "noise":
        print('a banner\n[1, 2]\n7\n{"id": "x"}\n{"method": 3}', flush=True)
    if behaviour == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour == "grandchild":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    import acp
    from acp.schema import Usage

    class Agent:
        def on_connect(self, conn: Any) -> None:
            self.client = conn

        async def initialize(self, protocol_version: int, **_: Any) -> Any:
            return acp.InitializeResponse(protocol_version=protocol_version)

        async def new_session(self, cwd: str, **_: Any) -> Any:
            if behaviour == "sign-in":
                raise acp.RequestError.auth_required()
            return acp.NewSessionResponse(session_id="s1")

        async def say(self, session_id: str, text: str) -> None:
            await self.client.session_update(
                session_id=session_id, update=acp.update_agent_message_text(text)
            )

        async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
            notes.write(prompt=prompt[0].text)
            await self.say(session_id, options["text"][:2])
            if behaviour in ("hang", "deaf", "grandchild"):
                time.sleep(600)
            if behaviour == "crash":
                sys.stderr.write("panic: out of luck\n")
                sys.stderr.flush()
                os._exit(9)
            if behaviour == "slow":
                while True:
                    await self.say(session_id, "w ")
                    await asyncio.sleep(0.02)
            if behaviour == "over-long":
                while True:
                    await self.say(session_id, "word " * 200)
            if behaviour == "asks":
                await self.ask(session_id)
            if behaviour == "wrong-types":
                for line in ({"method": "session/update", "params": {"update": [1]}}, {"id": 2}):
                    print(json.dumps({"jsonrpc": "2.0"} | line), flush=True)
                print('{"jsonrpc":"2.0","id":2,"result":{"stopReason":5}}', flush=True)
                time.sleep(600)
            if behaviour == "hook":
                payload = json.dumps({"session_id": "s", "cwd": "/", "prompt": "from inside"})
                subprocess.run(shlex.split(options["hook"]), input=payload.encode(), check=True)
            await self.say(session_id, options["text"][2:])
            if behaviour == "refuses":
                return acp.PromptResponse(stop_reason="refusal")
            usage = Usage(total_tokens=30, input_tokens=20, output_tokens=10)
            return acp.PromptResponse(
                stop_reason="end_turn", usage=usage if behaviour == "counted" else None
            )

        async def ask(self, session_id: str) -> None:
            call = acp.schema.ToolCallUpdate(tool_call_id="t1", title="rm -rf /")
            option = acp.schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once")
            asked = await self.client.request_permission(
                session_id=session_id, tool_call=call, options=[option]
            )
            notes.write(permission=asked.outcome.outcome)
            for name, more in (
                ("read_text_file", {"path": "/etc/passwd"}),
                ("write_text_file", {"path": "/tmp/x", "content": "x"}),
                ("create_terminal", {"command": "id"}),
            ):
                try:
                    await getattr(self.client, name)(session_id=session_id, **more)
                    notes.write(**{name: "allowed"})
                except acp.RequestError as error:
                    notes.write(**{name: error.code})

    asyncio.run(acp.run_agent(Agent()))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
