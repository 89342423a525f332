"""Prove with the real agents that `recollect install` captures their sessions completely.

`python -m tests.clients.run [host …] [--keep]`: installs the agents from npm (cached outside the
repository), runs each in a clean home against a fake model on loopback, and looks into the store
and into what reached the model. Out: a table, what is wrong, and 1 if anything is.
"""

import argparse
import contextlib
import difflib
import functools
import itertools
import json
import re
import signal
import sys
import threading
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from recollect.capture.foreign import HINT, SUMMARY_REQUEST
from recollect.hosts import registry, slash_command
from recollect.hosts.context import of_this_machine
from recollect.hosts.json_edit import JsonDocument
from recollect.hosts.pieces import GENERATED
from tests.clients.clients import CLIENTS, Client
from tests.clients.fake_model import ASIDE, COMPACT, Ask, FakeModel, Shell, Step, Write
from tests.clients.home import REPOSITORY, Home, Run, fetch
from tests.clients.recalling_daemon import MARK
from tests.clients.seen import Typed, complaints, wanted

COLUMNS = ("session", "prompt", "tools", "answer", "end")
MORE = (
    *(
        "mcp",
        "tools stable",
        "hint",
        "summary request",
        "as model",
        "live proof",
        "slash command",
        "same output",
        "two at once",
        "daemon down",
    ),
    *("killed", "hung", "compaction"),
    *("injected start", "injected prompt", "injected tool", "visible line"),
    *("own requests", "uninstalled"),
)
ON_PAGE = ("version", *COLUMNS, *MORE)
PAGE = REPOSITORY / "docs" / "reference" / "clients.md"
INTRODUCTION = """\
# With the real agents

<!-- Written by python -m tests.clients.run --write -->

What `make clients` saw of each agent: the real program from npm, in a home whose configuration has
entries of its user's own, against a model on loopback that does what a script says. An empty cell
is something that the agent does not have, or cannot do without a terminal.

- `session` to `end`: every event of two turns, the second in the resumed session, is stored once.
- `mcp`: our tools work in the first session after the daemon was down; `tools stable`: they are the
  same bytes in each request of a session.
- `hint`: a prompt that states a rule brings the line that asks the model to record it.
- `summary request`: switched on, the first prompt after an answer that nearly filled the context
  brings the line that asks the model for a summary, and the next one does not.
- `as model`: what the agent adds to a question when it is the model of extraction.
- `live proof`: `recollect doctor --live` runs it.
- `slash command`: `/recollect` with a question, `remember`, `forget`, `why` and `off`.
- `two at once`: two of its sessions run at the same time in one project.
- `daemon down`, `killed`, `hung`: the daemon was not there, or was killed or stopped in the middle
  of a turn; every event of the turn was stored.
- `compaction`: it is captured, and what was told at the start is told again; `not reported` is an
  agent that does not tell its hooks of it.
- `injected`: how often the text was in the first request of a session, and of the resumed one.
- `visible line`: the line for the user does not reach the model, what is injected beside it does.
- `own requests`: what the agent asks for itself, such as a title, does not carry the text.

"""
OURS = (".json", ".jsonc", ".toml", ".js", ".md")
USAGE = re.compile(r'"skillUsage": *\{\s*"recollect"')  # Claude Code counts its commands
COMMAND = "Recollect is the memory of this project"
MESSAGE = "Recollect: 2 notes"
AS_MODEL = """
from recollect.llm.base import ModelRequest
from recollect.llm.choose import of_agent
asked = ModelRequest("/actor/ada/", "extract", "Answer.", "canary-question?", 120.0, 4000)
print(of_agent("{host}", "", "{place}").complete(asked).text)
"""
SLOWER_S = 1.0
FULL_ANSWERS = 20  # more than three turns have


@dataclass
class Proof:
    """What was found out about one client, or about several together."""

    name: str
    cells: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def tell(self, column: str, found: list[str], note: str = "yes") -> None:
        before = self.cells.get(column)
        self.cells[column] = "NO" if found or before == "NO" else note
        self.wrong += [f"{column}: {one}" for one in found]

    def tell_all(self, found: dict[str, list[str]], client: Client) -> None:
        for column, told in found.items():
            silent = column == "end" and not client.says_end
            self.tell(column, told, "not fired" if silent else "yes")


@contextlib.contextmanager
def place(name: str, client: Client | None, keep: bool) -> Iterator[tuple[Home, FakeModel]]:
    """A home and a model that asks for three tools in each turn."""
    model = FakeModel(())
    with model:
        home = Home(name, client.files(model.url) if client else {})
        model.steps = (
            Shell("echo canary-{turn} > {turn}.txt && cat {turn}.txt"),
            Write(f"{home.project}/written-{{turn}}.txt", "written\n"),
            Shell("cat no-such-file-{turn}.txt"),
        )
        try:
            with home:
                yield home, model
        finally:
            if keep:
                print(f"kept: {home.path}")
            else:
                home.remove()


def connect(home: Home, client: Client) -> None:
    trust = ["--trust"] if client.host == "codex" else []
    home.recollect("install", "-y", "--allow-writes", *trust, client.host, client=client)


# --- one client ----------------------------------------------------------------------------------


def prove(client: Client, keep: bool) -> Proof:
    proof = Proof(client.host, {"version": client.version})
    fetch(client)
    turns = _turns(client, "TURN-a1", "TURN-b2")
    with (
        place(f"{client.host}-alone", client, keep) as (other, its_model),
        place(client.host, client, keep) as (home, model),
    ):
        untouched = home.files()
        connect(home, client)
        home.recollect("uninstall", "-y", client.host)
        proof.tell("uninstalled", _left(home, untouched, {}))
        connect(home, client)
        home.start_daemon()
        alone, runs = [], []
        for one in turns:
            alone.append(other.turn(client, its_model.url, one.prompt, again=one.again))
            runs.append(home.turn(client, model.url, one.prompt, again=one.again))
        _stable(proof, client, model, turns)
        left_alone = {name: _meaning(other, name) for name in client.files(its_model.url)}
        proof.tell_all(captured(home, client, *turns), client)
        found = _differences(client, alone, runs)
        late = _slower(alone, runs)
        proof.tell("same output", found)
        proof.tell("pace", [f"{late:.1f} s of CPU more"] if late > SLOWER_S else [])
        proof.cells["CPU s"] = " ".join(f"{run.cpu_s:.1f}" for run in runs)
        proof.cells["without"] = " ".join(f"{run.cpu_s:.1f}" for run in alone)
        if client.has_mcp:
            _tools(proof, client, home, model)
            _hint(proof, client, home, model)
        if client.nearly_full:
            _summary_request(proof, client, home, model)
        _as_model(proof, client, home, model)
        _live(proof, client, home, model)
        if _has_slash_command(home, client):
            _slash_command(proof, client, home, model)
        proof.tell("two at once", _at_once(home, model, (client, client)))
        _daemon_down(proof, client, home, model)
        _interrupted(proof, client, home, model)
        _compacted(proof, client, home, model)
        _recalled(proof, client, home, model)
        home.stop_daemon()
        home.recollect("uninstall", "-y", client.host)
        rewritten = home.files()
        note = "yes" if untouched.items() <= rewritten.items() else "yes, but for its own edits"
        proof.tell("uninstalled", _left(home, untouched, left_alone), note)
    return proof


def _turns(client: Client, first: str, second: str) -> list[Typed]:
    """A turn and, where the client can do so, a second one in the same session."""
    return [Typed(first), *([Typed(second, again=True)] if client.again else [])]


def _stable(proof: Proof, client: Client, model: FakeModel, turns: list[Typed]) -> None:
    """Our tools are the same in every request of a session: a change would cost the client the
    whole of its prompt cache."""
    if client.has_mcp:
        asked = [request.body for one in turns for request in model.asked(one.turn)]
        tools = [json.dumps([one for one in body.get("tools") or () if "search_memory" in str(one)])
                 for body in asked]  # fmt: skip
        proof.tell("tools stable", [] if len({*tools}) == 1 else ["they changed in a session"])


def _tools(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """The agent has our tools in the first session after a start of the daemon: the model gets from
    one what was remembered, and stores with another what the user said."""
    home.recollect("add", "The lantern on the pier is green")
    home.stop_daemon()
    typed = Typed("TURN-m6")
    belief = {"text": typed.prompt[:200], "type": "constraint", "quote": typed.prompt[:200]}
    before, model.steps = (
        model.steps,
        (
            Ask("search_memory", {"query": "colour of the lantern"}),
            Ask("remember", belief),
        ),
    )
    run = home.turn(client, model.url, typed.prompt)
    model.steps = before
    asked = model.asked("TURN-m6")
    offered = [one for one in asked if "search_memory" in one.text]
    found = [] if offered else ["the tool was not offered to the model"]
    if offered and not any("The lantern on the pier is green" in one.text for one in asked):
        found.append("the tool's answer did not reach the model")
    kept = home.client.get("/api/knowledge", limit=50)["items"]
    users = [one for one in kept if "TURN-m6" in one["title"] and one["author"] == "user"]
    if offered and not users:
        found.append("what the user said was not stored as the user's")
    proof.tell("mcp", [*found, *_failed(run)])


def _hint(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """A prompt that states a rule reaches the model with the line that asks to record it; a model
    that does so makes it the user's belief, and the line itself is not captured."""
    rule = "From now on we never use default exports here"
    prompt = f"{rule}. TURN-h9"
    belief = {"text": "Never use default exports", "type": "constraint", "quote": rule}
    before, model.steps = model.steps, (Ask("remember", belief),)
    run = home.turn(client, model.url, prompt)
    model.steps = before
    asked = model.asked("TURN-h9")
    told = any(HINT in one.text for one in asked)
    found = [] if told else ["the line did not reach the model"]
    kept = home.client.get("/api/knowledge", limit=50)["items"]
    if not any("default exports" in one["title"] and one["author"] == "user" for one in kept):
        found.append("the model recorded nothing as the user's")
    if any(HINT in json.dumps(event) for event in home.events()):
        found.append("the line was captured")
    proof.tell("hint", [*found, *_failed(run)])


def _summary_request(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """Once a session's context is nearly full, the line that asks for a summary reaches the model
    with the next prompt, and no more after that; what a model stores that does so is there, and
    the line is not captured."""
    home.recollect("settings", "set", "summary_request", "true")
    home.stop_daemon()
    home.start_daemon()
    lesson = "Moss paint does not stick to tin"
    summary = {"request": "Paint the lantern", "learned": [lesson]}
    before = model.steps
    model.steps, model.tokens = (), [client.nearly_full] * FULL_ANSWERS
    runs = [home.turn(client, model.url, "Say something. TURN-q1")]
    model.steps = (Ask("store_summary", summary),)
    runs.append(home.turn(client, model.url, "Say more. TURN-q2", again=True))
    model.steps = ()
    runs.append(home.turn(client, model.url, "Say even more. TURN-q3", again=True))
    model.steps = before
    model.tokens.clear()
    told = [
        any(SUMMARY_REQUEST in one.text for one in model.asked(turn))
        for turn in ("TURN-q1", "TURN-q2")
    ]
    found = [] if told == [False, True] else [f"the line reached the model in its turns: {told}"]
    if (times := home.health["counts"].get("recall: asked for a summary")) != 1:
        found.append(f"it was asked {times} times")
    kept = home.client.get("/api/memories", kind="summary", limit=50)["items"]
    if not any(lesson in json.dumps(one) for one in kept):
        found.append("no summary was stored")
    if any(SUMMARY_REQUEST in json.dumps(event) for event in home.events()):
        found.append("the line was captured")
    proof.tell("summary request", [*found, *(one for run in runs for one in _failed(run))])
    home.recollect("settings", "set", "summary_request", "false")
    home.stop_daemon()
    home.start_daemon()


def _as_model(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """The agent as the model of extraction: it answers once, none of our tools is offered to the
    model, and nothing of it is captured or left where it ran."""
    if registry.facts()[client.host].model_run is None:
        proof.tell("as model", [], "not offered")
        return
    events, before = len(home.events()), len(model.requests)
    place = home.path / "as-model"
    place.mkdir()
    done = home.python(AS_MODEL.format(host=client.host, place=str(place)), client, model.url)
    requests = [one for one in model.requests[before:] if one.protocol]
    found = [] if done.stdout.strip() == ASIDE else [f"{done.stdout} {done.stderr}"[-600:]]
    if not any("canary-question" in one.text for one in requests):
        found.append("the question did not reach the model")
    if any("search_memory" in one.text for one in requests):
        found.append("our tools were offered to it")
    if any(one.is_file() for one in place.rglob("*")):
        found.append("it left files where it ran")
    if len(home.events()) != events:
        found.append("it was captured")
    proof.tell("as model", found, f"{max((len(one.text) for one in requests), default=0):,} bytes")


def _live(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """`recollect doctor` runs the agent itself, and its model answers from memory."""
    if not registry.facts()[client.host].headless:
        proof.tell("live proof", [], "not offered")
        return
    try:
        told = home.recollect("doctor", "--live", client.host, "-y", client=client, url=model.url)
    except RuntimeError as error:
        told = str(error)
    good = f"live {client.host}: it was run: its prompt arrived, and its model answered"
    proof.tell("live proof", [] if good in told else [told[-600:]])


def _slash_command(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """`/recollect WORDS` reaches the model with its text, which is not kept; a model that does what
    the text says remembers, forgets and tells why; `off` is heeded."""
    runs: list[Run] = []

    def ask(words: str, *steps: Step) -> None:
        before, model.steps = model.steps, steps
        runs.append(home.run(client, model.url, client.command(model.url, words)))
        model.steps = before

    def pier() -> list[dict[str, Any]]:
        found = home.client.get("/api/knowledge", limit=50)["items"]
        return [one for one in found if "pier closes" in one["title"] and one["author"] == "user"]

    ask("about TURN-s8")
    asked = model.asked("TURN-s8")
    # Copilot's model is told of a skill and asks for its text by a tool.
    text = COMMAND if client.shows_command else slash_command.DESCRIPTION
    plain = client.start_before_slash and not any(text in one.text for one in asked)
    if plain:  # the model has the words and the tools, not the text
        text = "/recollect about TURN-s8"
    found = [] if any(text in one.text for one in asked) else ["the model did not see its text"]
    if client.has_mcp:
        words = "the pier closes at nine"
        belief = {"text": "The pier closes at nine", "type": "constraint", "quote": words}
        ask(f"remember {words} TURN-s1", Ask("remember", belief))
        kept = pier()
        found += [] if kept else ["`remember` stored nothing as the user's"]
        for one in kept:
            gone = {"id": one["record_id"], "action": "forget", "reason": "asked", "quote": words}
            ask(f"forget that {words} TURN-s2", Ask("correct", gone))
        found += ["`forget` left it"] if pier() else []
    ask("why TURN-s3", Shell(f"{home.path}/python/bin/recollect why"))
    if not any("rcp_" in one.text for one in model.asked("TURN-s3")):
        found.append("`why` told the model nothing")
    count = _private_events(home)
    ask("off")
    if _private_events(home) == count:
        found.append(f"`off` was not heeded: {home.health['counts']}")
    if COMMAND in json.dumps(home.events()):
        found.append("its text was captured")
    note = "as plain words" if plain else "yes"
    proof.tell("slash command", [*found, *(told for run in runs for told in _failed(run))], note)


def _has_slash_command(home: Home, client: Client) -> bool:
    where = of_this_machine(home.settings)
    return bool(registry.installers()[client.host].slash_command(where))


def _private_events(home: Home) -> int:
    return int(home.health["counts"].get("kept out: private session", 0))


def _daemon_down(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """The first hook of a session starts the daemon; nothing of the session is lost."""
    home.stop_daemon()
    typed = Typed("TURN-c3")
    run = home.turn(client, model.url, typed.prompt)
    found = captured(home, client, typed)
    told = [f"{column}: {one}" for column, all_ in found.items() for one in all_]
    proof.tell("daemon down", [*told, *_failed(run)])
    home.stop_daemon()


def _interrupted(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """In the middle of a turn the daemon is killed, or hangs: each hook waits a second at the most,
    and no event is lost."""
    for column, number, typed in (
        ("killed", signal.SIGKILL, Typed("TURN-k1")),
        ("hung", signal.SIGSTOP, Typed("TURN-k2")),
    ):
        home.start_daemon()
        model.in_the_middle = functools.partial(home.signal_daemon, number)
        run = home.turn(client, model.url, typed.prompt)
        if number == signal.SIGSTOP:
            home.signal_daemon(signal.SIGCONT)
        else:
            home.recollect("up")  # of hooks, only that of a session's start would do so
        found = captured(home, client, typed)
        told = [f"{part}: {one}" for part, all_ in found.items() for one in all_]
        missed = ["nothing happened"] if model.in_the_middle else []
        proof.tell(column, [*told, *missed, *_failed(run)])
        home.stop_daemon()


def _compacted(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """The session is compacted: that is captured where the client tells its hooks, and what was
    told at the start is told again."""
    if not (client.compact or client.fills or client.compact_settings):
        return
    home.start_daemon("tests.clients.recalling_daemon")
    model.tokens = [*client.fills]
    home.turn(client, model.url, Typed("TURN-n1").prompt)
    if client.compact:
        home.run(client, model.url, [*client.compact])
    model.tokens.clear()
    with _settings_in(home, client.compact_settings):
        home.turn(client, model.url, Typed("TURN-n2").prompt, again=True)
    signals = [
        event["body"]["data"].get("signal")
        for event in home.settled(1, ("TURN-n2",))
        if event["kind"] == "note"
    ]
    asked = model.asked("TURN-n2")
    asides = [one for one in model.requests if one not in (*asked, *model.asked("TURN-n1"))]
    found = []
    if client.says_compaction and "compaction" not in signals:
        found.append(f"not captured: {signals}")
    if not client.says_compaction and not any(COMPACT.search(one.text) for one in asides):
        found.append("it was not compacted")
    if not asked or f"{MARK}-session-start" not in asked[0].text:
        found.append("what was told at the start is not told again")
    proof.tell("compaction", found, "yes" if client.says_compaction else "yes, not reported")
    home.stop_daemon()


@contextlib.contextmanager
def _settings_in(home: Home, file: tuple[str, str] | None) -> Iterator[None]:
    """The project has these settings for a while."""
    path = home.project / (file[0] if file else "no-settings")
    if file:
        path.parent.mkdir(exist_ok=True)
        path.write_text(file[1])
    yield
    path.unlink(missing_ok=True)


def _recalled(proof: Proof, client: Client, home: Home, model: FakeModel) -> None:
    """What the daemon says reaches the model, and is not taken for the user's words."""
    home.start_daemon("tests.clients.recalling_daemon")
    model.requests.clear()
    typed = _turns(client, "TURN-d4", "TURN-e5")
    for one in typed:
        home.turn(client, model.url, one.prompt, again=one.again)
    for name, trigger in (("injected start", "session-start"), ("injected prompt", "prompt")):
        found, counts = [], []
        for one in typed:
            asked = model.asked(one.turn)[0 if client.injects_before else -1 :][:1]
            counts.append(sum(request.text.count(f"{MARK}-{trigger}") for request in asked))
        takes = client.injects_before or trigger == "prompt"
        if counts[0] != int(takes):
            found.append(f"{counts[0]} x in the first request of the session")
        if trigger == "prompt" and 0 in counts:
            found.append("not in the resumed session")
        told = ", resumed ".join(str(count) for count in counts)
        when = "" if client.injects_before else ", with the first tool"
        proof.tell(name, found, f"yes{when} ({told})" if takes else "not taken")
    _told_after_commands(proof, client, model, typed[0])
    _shown(proof, client, model, typed)
    proof.tell_all(captured(home, client, *typed), client)


def _shown(proof: Proof, client: Client, model: FakeModel, typed: list[Typed]) -> None:
    """The line for the user does not reach the model; what is injected beside it does (above). A
    request that the agent makes for itself, such as one for a title, carries neither."""
    asked = [request for one in typed for request in model.asked(one.turn)]
    asides = [one for one in model.requests if one.protocol and one not in asked]
    told = [one.text[-300:] for one in asides if MARK in one.text]
    proof.tell("own requests", [f"what was recalled is in {text}" for text in told], "clean")
    seen = [] if not any(MESSAGE in one.text for one in asked) else ["the model was shown it"]
    shows = registry.facts()[client.host].shows_message
    proof.tell("visible line", seen, "yes" if shows else "not sent")


def _told_after_commands(proof: Proof, client: Client, model: FakeModel, typed: Typed) -> None:
    """The model reads with a command's result what the hook said after it, of a command that failed
    too; of a host whose hooks say nothing there it reads nothing."""
    specs = registry.facts()[client.host].hooks
    says = any(hook.injects and "tool" in hook.event.lower() for hook in specs)
    last = model.asked(typed.turn)[-1].text
    count, commands = last.count(f"{MARK}-tool"), sum(isinstance(one, Shell) for one in model.steps)
    wrong = count != (commands if says else 0)
    found = [f"{count} x after {commands} commands"] if wrong else []
    proof.tell("injected tool", found, f"yes ({count})" if says else "not used")


def captured(home: Home, client: Client, *typed: Typed) -> dict[str, list[str]]:
    """What is wrong with the events of the session in which these turns were typed."""
    project = str(home.project)
    enough = len(wanted(client, project, [*typed]))
    events = home.settled(enough, tuple(one.turn for one in typed))
    found = complaints(client, project, events, [*typed])
    found["session"] += home.health["errors_last_hour"]["latest"]
    return found


# --- what is compared ----------------------------------------------------------------------------

_VARIES = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"/\S*/homes/[\w-]+"), "<home>"),
    (re.compile(r"\b\d+(\.\d+)?\s?(ms|s)\b"), "<time>"),
    (re.compile(r"timestamp=\S+|run=\w+"), "<run>"),
)


def _same(text: str) -> list[str]:
    for pattern, name in _VARIES:
        text = pattern.sub(name, text)
    return text.splitlines()


def _failed(run: Run) -> list[str]:
    return [f"exit code {run.code}: {run.stderr[-300:]}"] if run.code else []


def _differences(client: Client, alone: list[Run], runs: list[Run]) -> list[str]:
    found = []
    for before, after in zip(alone, runs, strict=True):
        if before.code != after.code:
            found.append(f"exit code {after.code} instead of {before.code}: {after.stderr[-300:]}")
        for name in ("stdout", "stderr"):
            old, new = _same(getattr(before, name)), _same(getattr(after, name))
            if not client.prints_in_order:
                old, new = sorted(old), sorted(new)
            lines = difflib.unified_diff(old, new, lineterm="", n=0)
            changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
            told = [line for line in changed if not re.fullmatch(client.noise, line[1:])]
            found += [f"{name} {line}" for line in told]
    return found


def _slower(alone: list[Run], runs: list[Run]) -> float:
    """How much more the usual turn costs with Recollect than without."""
    return median(run.cpu_s for run in runs) - median(run.cpu_s for run in alone)


def _left(home: Home, untouched: dict[str, str], alone: dict[str, Any]) -> list[str]:
    """Files that were there are as they were, or as the client without us leaves them; in no file
    is anything of ours. (Codex makes many files of its own as soon as it is asked about trust.)"""
    now = home.files()
    found = []
    for name in untouched:
        if now.get(name) != untouched[name] and alone.get(name) != _meaning(home, name):
            found.append(f"{name} is not as it was")
    for name in set(now) - set(untouched):
        path = home.path / name
        if name.startswith(".cache/") or path.suffix not in OURS:
            continue
        text = USAGE.sub("", path.read_text(errors="replace"))
        if (
            GENERATED in text
            or "recollect-hook" in text
            or '"recollect"' in text
            or "mcp_servers.recollect" in text
        ):
            found.append(f"{name} still holds something of ours")
    return found


def _meaning(home: Home, name: str) -> Any:
    """What a file says, however it is written, without the home's own name."""
    path = home.path / name
    if not path.exists():
        return None
    text = path.read_text().replace(str(home.path), "<home>")
    text = re.sub(r"http://127\.0\.0\.1:\d+", "<model>", text)
    text = re.sub(r'"updatedAt": "[^"]*"', '"updatedAt": "<time>"', text)  # of Cline's own file
    if path.suffix == ".toml":
        return tomllib.loads(text)
    if path.suffix not in (".json", ".jsonc"):
        return text
    return JsonDocument.read(text.encode(), name).plain()


# --- several clients -----------------------------------------------------------------------------


def _at_once(home: Home, model: FakeModel, pair: tuple[Client, Client]) -> list[str]:
    """What is wrong when two sessions run in one project at the same time."""
    typed = (Typed("TURN-f0"), Typed("TURN-f1"))
    threads = [
        threading.Thread(target=home.turn, args=(replace(client, stop=()), model.url, one.prompt))
        for client, one in zip(pair, typed, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in {one.host: one for one in pair if one.stop}.values():
        home.run(client, model.url, [*client.stop])
    return [
        f"{one.turn} {column}: {told}"
        for client, one in zip(pair, typed, strict=True)
        for column, all_ in captured(home, client, one).items()
        for told in all_
    ]


def two_at_once(keep: bool) -> Proof:
    """Claude Code and Codex in one project at the same time."""
    proof = Proof("claude-code + codex")
    pair = (CLIENTS["claude-code"], CLIENTS["codex"])
    with place("two", None, keep) as (home, model):
        for client in pair:
            home.write(client.files(model.url))
            connect(home, client)
        home.start_daemon()
        proof.tell("two at once", _at_once(home, model, pair))
    return proof


def copilot_beside_claude(keep: bool) -> Proof:
    """Copilot also runs the hooks of a repository's .claude/settings.json: still one event each."""
    proof = Proof("copilot with .claude/settings.json")
    client = CLIENTS["copilot"]
    with place("guest", client, keep) as (home, model):
        connect(home, CLIENTS["claude-code"])
        connect(home, client)
        # Copilot runs the hooks of a folder only if its user trusts the folder.
        trust = json.dumps({"trustedFolders": [str(home.project)]})
        (home.path / ".copilot" / "config.json").write_text(trust)
        settings = home.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_bytes((home.path / ".claude" / "settings.json").read_bytes())
        home.start_daemon()
        typed = Typed("TURN-g7")
        run = home.turn(client, model.url, typed.prompt)
        proof.tell_all(captured(home, client, typed), client)
        repeats = home.health["counts"].get("repeats", 0)
        ran_twice = [] if repeats else ["the Claude hooks did not run: nothing was proven"]
        proof.tell("same output", [*_failed(run), *ran_twice], f"yes, {repeats} repeats")
    return proof


# --- the table -----------------------------------------------------------------------------------


def table(proofs: list[Proof], columns: tuple[str, ...] = (*COLUMNS, *MORE)) -> str:
    heads = ("host", "version", *columns, "pace", "CPU s", "without")
    rows = [
        heads,
        *((one.name, *(one.cells.get(name, "") for name in heads[1:])) for one in proofs),
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(len(heads))]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    )


def written(proofs: list[Proof]) -> None:
    """Put what was found into the page, beside what it says of agents that were not run now."""
    found = {one.name: [one.name, *(one.cells.get(name, "") for name in ON_PAGE)] for one in proofs}
    old = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in old if "|" in line]
    kept = {row[0]: row for row in rows[2:] if len(row) == len(ON_PAGE) + 1}
    names = [*CLIENTS, *ALONE, *{one.name for one in proofs}]
    told = kept | found
    lines = [f"| {' | '.join(('agent', *ON_PAGE))} |", f"|{'---|' * (len(ON_PAGE) + 1)}"]
    lines += [f"| {' | '.join(told[name])} |" for name in dict.fromkeys(names) if name in told]
    PAGE.write_text(INTRODUCTION + "\n".join(lines) + "\n")


ALONE = {"two": two_at_once, "guest": copilot_beside_claude}


def _proven(name: str, keep: bool) -> Proof:
    return prove(CLIENTS[name], keep) if name in CLIENTS else ALONE[name](keep)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*CLIENTS, *ALONE, []])
    parser.add_argument("--keep", action="store_true", help="keep the homes, to look into them")
    parser.add_argument("--write", action="store_true", help=f"write the table to {PAGE.name}")
    parser.add_argument("--jobs", type=int, default=1, help="so many agents at the same time")
    chosen = parser.parse_args()
    proofs = []
    names = chosen.what or [*CLIENTS, *ALONE]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for proof in pool.map(_proven, names, itertools.repeat(chosen.keep)):
            proofs.append(proof)
            for one in proof.wrong:
                print(f"{proof.name}: {one}")
            print(table([proof]), flush=True)
    print(table(proofs))
    if chosen.write:
        written(proofs)
    return 1 if any(proof.wrong for proof in proofs) else 0


if __name__ == "__main__":
    sys.exit(main())
