"""The packaged plugins, installed by the real agents from the folders that `make plugins` builds.

`python -m tests.clients.plugins [host …]`: in a clean home, a turn without the program goes on;
with it, the turn is captured, tools, a memory and the command reach the model, and `doctor` knows
it; uninstalled, it is gone.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable

from tests.clients.clients import CLIENTS, Client
from tests.clients.fake_model import Ask, FakeModel
from tests.clients.home import TURN_SECONDS, Home, Run, fetch
from tests.clients.run import COMMAND, Proof, captured, place, table
from tests.clients.seen import Typed
from tools import plugins

COLUMNS = (
    *("without Recollect", "captured", "doctor", "mcp", "injected"),
    *("slash command", "uninstalled"),
)
COMMANDS = {
    "claude-code": "/recollect:recollect", "codex": "$recollect:recollect", "gemini": "/recollect",
}  # fmt: skip

# How each is installed and removed by its own commands, from the folder of its plugin.
INSTALL: dict[str, Callable[[str], list[list[str]]]] = {
    "claude-code": lambda folder: [
        ["plugin", "marketplace", "add", folder],
        ["plugin", "install", "recollect@recollect"],
    ],
    "codex": lambda folder: [
        ["plugin", "marketplace", "add", folder],
        ["plugin", "add", "recollect@recollect"],
    ],
    "gemini": lambda folder: [["extensions", "install", folder, "--consent"]],
}
REMOVE = {
    "claude-code": [
        ["plugin", "uninstall", "recollect@recollect"],
        ["plugin", "marketplace", "remove", "recollect"],
    ],
    "codex": [
        ["plugin", "remove", "recollect@recollect"],
        ["plugin", "marketplace", "remove", "recollect"],
    ],
    "gemini": [["extensions", "uninstall", "recollect"]],
}
# What headless runs need beside: hooks and tools that a person would have trusted once.
MORE = {
    "claude-code": ["--allowedTools", "mcp__plugin_recollect_recollect"],
    "codex": ["--dangerously-bypass-hook-trust"],
    "gemini": [],
}


def prove(client: Client, keep: bool) -> Proof:
    proof = Proof(client.host, {"version": client.version})
    fetch(client)
    with place(f"{client.host}-plugin", client, keep) as (home, model):
        folder = home.path / "plugins"
        plugins.build(folder)
        for arguments in INSTALL[client.host](str(folder / client.host)):
            _own_command(home, client, model, arguments)
        _without_the_program(proof, client, home, model)
        home.start_daemon()
        typed = Typed("TURN-g1")
        run = _turn(home, client, model, typed.prompt)
        found = captured(home, client, typed)
        told = [f"{column}: {one}" for column, all_ in found.items() for one in all_]
        proof.tell("captured", [*told, *([run.stderr[-400:]] if run.code else [])])
        _doctor(proof, client, home)
        _tools(proof, client, home, model)
        _command(proof, client, home, model)
        for arguments in REMOVE[client.host]:
            _own_command(home, client, model, arguments)
        count = len(home.events())
        _turn(home, client, model, "TURN-g4 after the end")
        left = [] if len(home.events()) == count else ["it is still captured"]
        proof.tell("uninstalled", left)
    return proof


def _own_command(home: Home, client: Client, model: FakeModel, arguments: list[str]) -> None:
    done = subprocess.run(
        [str(fetch(client)), *arguments], cwd=home.project, env=home.agent_env(client, model.url),
        capture_output=True, text=True, timeout=TURN_SECONDS, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        told = f"{done.stdout}{done.stderr}"[-800:]
        raise RuntimeError(f"{client.program} {' '.join(arguments)}: {told}")


def _turn(home: Home, client: Client, model: FakeModel, prompt: str) -> Run:
    return home.run(client, model.url, [*client.first(model.url, prompt), *MORE[client.host]])


def _without_the_program(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """A plugin without the program stops no turn, and leaves no data directory behind."""
    before, model.steps = model.steps, ()
    run = _turn(home, client, model, "TURN-g0 alone")
    model.steps = before
    found = [f"exit code {run.code}: {run.stderr[-400:]}"] if run.code else []
    if not model.asked("TURN-g0"):
        found.append("the prompt did not reach the model")
    if (home.path / ".recollect").exists():
        found.append("it made a data directory")
    proof.tell("without Recollect", found)


def _tools(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    home.recollect("add", "The lantern on the pier is green", "-p", str(home.project))
    before = model.steps
    model.steps = (Ask("search_memory", {"query": "colour of the lantern"}),)
    run = _turn(home, client, model, "What colour is the lantern on the pier? TURN-g2")
    model.steps = before
    asked = model.asked("TURN-g2")
    found = [] if any("search_memory" in one.text for one in asked) else ["no tool was offered"]
    if not any("The lantern on the pier is green" in one.text for one in asked[1:]):
        found.append("the tool's answer did not reach the model")
    proof.tell("mcp", [*found, *([run.stderr[-400:]] if run.code else [])])
    # The same memory is put before the model with the prompt, without a tool.
    first = asked[0].text if asked else ""
    proof.tell("injected", [] if "lantern on the pier is green" in first else ["not injected"])


def _doctor(proof: Proof, client: Client, home: Home) -> None:
    told = home.recollect("doctor", "--json", client=client, fails=True)
    (found,) = [one for one in json.loads(told) if one["what"] == client.host]
    # Codex has not been told to trust it: the turns here are run with a switch that needs no trust.
    wanted = "fail" if client.host == "codex" else "ok"
    known = found["verdict"] == wanted and found["told"].startswith("connected by its plugin")
    proof.tell("doctor", [] if known else [str(found)])


def _command(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    before, model.steps = model.steps, ()
    run = _turn(home, client, model, f"{COMMANDS[client.host]} about TURN-g3")
    model.steps = before
    asked = model.asked("TURN-g3")
    seen = any(COMMAND in one.text for one in asked)
    found = [] if seen or (client.start_before_slash and asked) else ["the model did not see it"]
    failed = [run.stderr[-400:]] if run.code else []
    proof.tell("slash command", [*found, *failed], "yes" if seen else "as plain words")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="*", help="names of agents; those without plugins are left out"
    )
    parser.add_argument("--keep", action="store_true", help="keep the homes, to look into them")
    chosen = parser.parse_args()
    wanted = [name for name in INSTALL if not chosen.what or name in chosen.what]
    proofs = [prove(CLIENTS[name], chosen.keep) for name in wanted]
    for proof in proofs:
        for one in proof.wrong:
            print(f"{proof.name}: {one}")
    print(table(proofs, COLUMNS))
    return 1 if any(proof.wrong for proof in proofs) else 0


if __name__ == "__main__":
    sys.exit(main())
