"""A program named `claude` or `codex` that answers as that agent does without a head.

In: a directory to put it in and a behaviour. Out: a directory for the PATH; `notes` tells what the
program was given. Only what `recollect.llm.headless` uses is there.
"""

import json
import os
import sys
from pathlib import Path

_PROGRAM = """#!{python}
import json, os, subprocess, sys, time
prompt = sys.stdin.read()
seen = dict(argv=sys.argv[1:], env=dict(os.environ), cwd=os.getcwd(), group=os.getpgrp(),
            prompt=prompt)
with open({notes!r}, "w") as file:
    json.dump(seen, file)
how = {how!r}
reply = dict(type="result", subtype="success", is_error=False, num_turns=1, result={text!r},
             session_id="x", usage=dict(input_tokens=5, cache_read_input_tokens=2, output_tokens=3))
if how == "hang":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    time.sleep(600)
if how == "crash":
    sys.stderr.write("it broke\\n")
    sys.exit(7)
if how == "garbage":
    print("Welcome!")
    sys.exit(0)
if how == "grandchild":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if how == "not signed in":
    reply |= dict(is_error=True, result="Not logged in")
if how == "wrong types":
    reply |= dict(result=["x"])
if how == "over-long":
    reply |= dict(result="word " * 100000)
if how == "uncounted":
    reply["usage"] = dict(input_tokens="many")
if how == "hook":
    payload = json.dumps(dict(session_id="s", cwd="/", prompt="from inside")).encode()
    subprocess.run({hook!r}, input=payload, check=True)
if {program!r} == "codex":
    said = dict(id="item_0", type="agent_message", text=reply["result"])
    events = [dict(type="thread.started", thread_id="x"), dict(type="turn.started")]
    if reply["is_error"]:
        events.append(dict(type="turn.failed", error=dict(message=reply["result"])))
    else:
        counted = dict(input_tokens=5, cached_input_tokens=2, output_tokens=3)
        events.append(dict(type="item.completed", item=said))
        events.append(dict(type="turn.completed", usage=counted))
    print("\\n".join(map(json.dumps, events)))
else:
    print(json.dumps(reply))
"""


def install(
    directory: Path,
    how: str = "answer",
    text: str = "an answer",
    hook: tuple[str, ...] = (),
    program: str = "claude",
) -> Path:
    """Returns the file in which the program writes what it was given."""
    directory.mkdir(exist_ok=True)
    notes = directory / "notes.json"
    path = directory / program
    path.write_text(
        _PROGRAM.format(
            python=sys.executable,
            notes=str(notes),
            how=how,
            text=text,
            hook=list(hook),
            program=program,
        )
    )
    os.chmod(path, 0o755)
    return notes


def seen(notes: Path) -> dict[str, object]:
    return dict(json.loads(notes.read_text()))
