"""The `/recollect` command inside an agent: one text, in each host's own format.

In: a path and the host's way to say what the user typed. Out: a file of ours, or none where the
user has a file of that name. The text stands in a fence, so that hosts that put it into the prompt
do not make a memory of it; the line after it is what the user asked.
"""

import json

from recollect.hosts.changes import read
from recollect.hosts.context import Context
from recollect.hosts.pieces import GENERATED, OwnFile, Piece

DESCRIPTION = "Ask the memory of this project, add to it, correct it, or switch it off (Recollect)"
HINT = "[question] | remember TEXT | forget TEXT | why | off | on"

TEXT = """\
[recollect c0de]
Recollect is the memory of this project. The user calls it by this command; do what the words of the
call ask, nothing else, and answer in a few lines.

- A question, or no words: answer from memory, with dates and ids. The MCP server `recollect` has
  the tools: `search_memory` for a question, `get_context` without one.
- `remember TEXT`: store it with `remember`, as the user put it.
- `forget TEXT`: find it with `search_memory`, show what you found and ask. After a yes, drop it
  with `correct`, or run `@recollect@ forget ID --yes`.
- `why`: run `@recollect@ why` and explain what was injected with the last prompt, and why.
- `off` or `on`: nothing is left to do. Say that nothing of this session is kept from here on, or
  that it is again.
[/recollect c0de]
"""


def markdown(path: str, context: Context, arguments: str, **more: object) -> list[Piece]:
    """A command as Markdown: `arguments` stands for what the user typed behind its name."""
    head: dict[str, object] = {"description": DESCRIPTION, **more}
    return _piece(path, _front(head) + _text(context) + f"recollect: {arguments}\n")


def toml(path: str, context: Context, arguments: str) -> list[Piece]:
    prompt = _text(context) + f"recollect: {arguments}\n"
    written = '"""\n' + prompt.replace("\\", "\\\\") + '"""'
    head = f"# {GENERATED}; `recollect uninstall` removes it.\n"
    return _piece(path, f"{head}description = {json.dumps(DESCRIPTION)}\nprompt = {written}\n")


def skill(path: str, context: Context) -> list[Piece]:
    """A skill: the host shows its text to the model beside the prompt that names it."""
    head: dict[str, object] = {
        "name": "recollect",
        "description": f"Only when the user names it. {DESCRIPTION}",
    }
    return _piece(path, _front(head) + _text(context))


def _front(fields: dict[str, object]) -> str:
    lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())
    return f"---\n# {GENERATED}; `recollect uninstall` removes it.\n{lines}---\n\n"


def _text(context: Context) -> str:
    return TEXT.replace("@recollect@", context.mcp_command[0])


def _piece(path: str, text: str) -> list[Piece]:
    found = read(path)
    if found is not None and GENERATED.encode() not in found:
        return []  # the user has a command of this name: it stays
    return [OwnFile(path, "the command /recollect", text.encode(), 0o644)]
