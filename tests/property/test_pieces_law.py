"""Laws of the pieces: ours comes and goes, twice is once, and what is foreign never moves."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.hosts import toml_edit
from recollect.hosts.json_edit import JsonDocument
from recollect.hosts.pieces import Default, Hooks, JsonFile, Server, TextBlock

LAW = settings(max_examples=100, deadline=None)
EVENTS = ("Start", "Prompt", "Stop")
WORDS = st.text(alphabet="abc /*\"'\\{}é\n", max_size=8)
HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": WORDS})
GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(HOOK, min_size=1, max_size=2)}, optional={"matcher": WORDS}
)
LISTS = st.dictionaries(
    st.sampled_from([*EVENTS, "Other"]), st.lists(GROUP, max_size=3), max_size=3
)
FILES = st.fixed_dictionaries(
    {},
    optional={
        "version": st.just(1),
        "hooks": LISTS,
        "mcpServers": st.dictionaries(WORDS, st.just({"command": "x"}), max_size=2),
        "z": st.integers(),
    },
)
INDENTS = st.sampled_from([None, 0, 2, 4, "\t"])


def entry(event: str, path: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": f"{path}/recollect-hook h {event}"}]}


def file(path: str = "/new", events: tuple[str, ...] = EVENTS) -> JsonFile:
    hooks = Hooks({event: entry(event, path) for event in events}, groups=True)
    server = Server(("mcpServers", "recollect"), {"command": f"{path}/recollect", "args": ["mcp"]})
    return JsonFile("f", "why", (Default(("version",), 1), hooks, server))


def foreign(raw: bytes) -> Any:
    """The document without anything of ours, and without what is empty then."""
    plain = json.loads(raw)
    hooks = {
        event: [group for group in groups if "recollect-hook" not in json.dumps(group)]
        for event, groups in plain.pop("hooks", {}).items()
    }
    servers = {k: v for k, v in plain.pop("mcpServers", {}).items() if k != "recollect"}
    plain.pop("version", None)
    return plain, {event: groups for event, groups in hooks.items() if groups}, servers


@LAW
@given(FILES, INDENTS)
def test_install_is_idempotent_complete_and_can_be_taken_back(value: Any, indent: Any) -> None:
    before = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    after = file().put(before)
    assert file().put(after) == after
    assert foreign(after) == foreign(before)
    hooks = json.loads(after)["hooks"]
    for event in EVENTS:
        assert hooks[event][-1] == entry(event, "/new")
    assert file().holds(after)
    assert file().strip(after, before) == before


@LAW
@given(FILES, INDENTS)
def test_an_older_version_is_replaced_and_never_doubled(value: Any, indent: Any) -> None:
    before = json.dumps(value, indent=indent).encode()
    older = file("/old", (*EVENTS, "Gone")).put(before)
    newer = file().put(older)
    assert b"/old" not in newer
    assert json.loads(newer) == json.loads(file().put(before))
    assert "Gone" not in json.loads(newer)["hooks"]


@LAW
@given(FILES, INDENTS, st.data())
def test_hooks_that_come_later_stay_where_they_are(
    value: Any, indent: Any, data: st.DataObject
) -> None:
    before = json.dumps(value, indent=indent).encode()
    document = JsonDocument.read(file().put(before), "f")
    for event in data.draw(st.lists(st.sampled_from(EVENTS), max_size=3)):
        document = document.append(("hooks", event), data.draw(GROUP))
    assert file().put(document.raw) == document.raw
    left = file().strip(document.raw, before)
    assert left is not None
    assert foreign(left) == foreign(document.raw)
    assert b"recollect-hook" not in left


@LAW
@given(st.text(alphabet="ab \n#<!->", max_size=30))
def test_a_text_block_comes_and_goes(text: str) -> None:
    piece, before = TextBlock("f", "why", "rules\n"), text.encode()
    after = piece.put(before)
    assert piece.put(after) == after
    assert after.startswith(before)
    ended = before if not before or before.endswith(b"\n") else before + b"\n"
    assert piece.strip(after, before) == ended


KEYS = st.text(alphabet='ab.-_ "é', min_size=1, max_size=5)
TOML = st.dictionaries(
    KEYS,
    st.dictionaries(KEYS, st.integers() | WORDS | st.lists(WORDS, max_size=2), max_size=3),
    max_size=4,
)


@LAW
@given(TOML, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "# c [x]", "  "]))
def test_a_toml_table_comes_and_goes(value: Any, newline: str, extra: str) -> None:
    lines = []
    for key, table in value.items():
        lines += [*toml_edit.written((key,), table).splitlines(), extra]
    before = "".join(line + newline for line in lines).encode()
    assert toml_edit.read(before, "f") == value
    after = toml_edit.put(before, ("mcp_servers", "recollect"), {"command": "x", "n": [1]}, "f")
    assert (
        toml_edit.put(after, ("mcp_servers", "recollect"), {"command": "x", "n": [1]}, "f") == after
    )
    assert toml_edit.remove(after, ("mcp_servers", "recollect"), "f") == before
