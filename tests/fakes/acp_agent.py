"""A real agent process that speaks ACP on stdio: through the package's own agent side, or, where
only its behaviour counts, in the few lines of JSON that suffice (the package loads for a second).

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
    "answer", "plain", "counted", "hang", "crash", "crash-at-start", "garbage", "noise", "slow",
    "deaf",
    "grandchild", "asks", "over-long", "endless-line", "refuses", "sign-in", "wrong-types", "hook",
    "models",
)  # fmt: skip

MODELS = [
    {"id": "mode", "name": "Mode", "category": "mode", "type": "boolean", "currentValue": True},
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [
            {"value": "small", "name": "Small"},
            {"group": "g", "name": "Large ones", "options": [{"value": "huge-1", "name": "Huge"}]},
        ],
    },
]

PACKAGED = ("answer", "noise", "asks")


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

    if behaviour in PACKAGED:
        packaged(behaviour, options, notes)
    else:
        bare(behaviour, options, notes)


def bare(behaviour: str, options: dict[str, str], notes: Notes) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        match asked.get("method"):
            case "initialize":
                _tell(asked, result={"protocolVersion": asked["params"]["protocolVersion"]})
            case "session/new" if behaviour == "sign-in":
                _tell(asked, error={"code": -32000, "message": "Authentication required"})
            case "session/new":
                more = {"configOptions": MODELS} if behaviour == "models" else {}
                _tell(asked, result={"sessionId": "s1"} | more)
            case "session/set_config_option":
                notes.write(chosen=asked["params"])
                _tell(asked, result={"configOptions": MODELS})
            case "session/prompt":
                notes.write(prompt=asked["params"]["prompt"][0]["text"])
                _say(options["text"][:2])
                _behave(behaviour, options["hook"])
                _say(options["text"][2:])
                ended: dict[str, Any] = {
                    "stopReason": "refusal" if behaviour == "refuses" else "end_turn"
                }
                if behaviour == "counted":
                    ended["usage"] = {"totalTokens": 30, "inputTokens": 20, "outputTokens": 10}
                _tell(asked, result=ended)


def _behave(behaviour: str, hook: str) -> None:
    if behaviour in ("hang", "deaf", "grandchild"):
        time.sleep(600)
    if behaviour == "crash":
        sys.stderr.write("panic: out of luck\n")
        sys.stderr.flush()
        os._exit(9)
    while behaviour == "slow":
        _say("w ")
        time.sleep(0.02)
    while behaviour == "over-long":
        _say("word " * 200)
    if behaviour == "wrong-types":
        for line in ({"method": "session/update", "params": {"update": [1]}}, {"id": 2}):
            print(json.dumps({"jsonrpc": "2.0"} | line), flush=True)
        print('{"jsonrpc":"2.0","id":2,"result":{"stopReason":5}}', flush=True)
        time.sleep(600)
    if behaviour == "hook":
        payload = json.dumps({"session_id": "s", "cwd": "/", "prompt": "from inside"})
        subprocess.run(shlex.split(hook), input=payload.encode(), check=True)


def _tell(asked: dict[str, Any], **answer: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)


def _say(text: str) -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "s1", "update": chunk}
    print(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}), flush=True)


def packaged(behaviour: str, options: dict[str, str], notes: Notes) -> None:
    import acp

    class Agent:
        def on_connect(self, conn: Any) -> None:
            self.client = conn

        async def initialize(self, protocol_version: int, **_: Any) -> Any:
            return acp.InitializeResponse(protocol_version=protocol_version)

        async def new_session(self, cwd: str, **_: Any) -> Any:
            return acp.NewSessionResponse(session_id="s1")

        async def say(self, session_id: str, text: str) -> None:
            await self.client.session_update(
                session_id=session_id, update=acp.update_agent_message_text(text)
            )

        async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
            notes.write(prompt=prompt[0].text)
            await self.say(session_id, options["text"][:2])
            if behaviour == "asks":
                await self.ask(session_id)
            await self.say(session_id, options["text"][2:])
            return acp.PromptResponse(stop_reason="end_turn")

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
