"""The TOML editor: one table comes and goes, everything else keeps its bytes."""

import tomllib

import pytest

from recollect.core.errors import BadInput
from recollect.hosts.toml_edit import get, put, remove

TABLE = ("mcp_servers", "recollect")
VALUES = {"command": "/a b/recollect", "args": ["mcp", 'q"\\'], "env": {"RECOLLECT_HOME": "/x"}}

FILES = {
    "empty": b"",
    "comment": b"# only a comment\n",
    "plain": b'model = "x"\n\n[a]\nb = 1\n',
    "crlf": b'model = "x"\r\n[a]\r\nb = 1\r\n',
    "looks-like": b'a = """\n[mcp_servers.recollect]\n"""\nb = [\n "[mcp_servers.recollect]",\n]\n',
    "literal": b"a = '''\n[mcp_servers.recollect]\n'''\n[mcp_servers]\nx = { y = 1 }\n",
    "arrays": b'[[mcp]]\nname = "a"\n[[mcp]]\nname = "]"\n\n\n',
    "bom": b"\xef\xbb\xbfa = 1\n",
}


@pytest.mark.parametrize("raw", FILES.values(), ids=FILES.keys())
def test_a_table_comes_and_goes_without_a_trace(raw: bytes) -> None:
    after = put(raw, TABLE, VALUES, "f")
    assert after.startswith(raw)
    assert get(after, TABLE, "f") == VALUES
    assert put(after, TABLE, VALUES, "f") == after
    assert remove(after, TABLE, "f") == raw


def test_a_file_without_a_final_newline_gets_one() -> None:
    after = put(b"a = 1", TABLE, VALUES, "f")
    assert after.startswith(b"a = 1\n\n[mcp_servers.recollect]\n")
    assert remove(after, TABLE, "f") == b"a = 1\n"


def test_an_older_table_is_replaced_in_place_with_its_parts() -> None:
    raw = (
        b'[mcp_servers.recollect] # ours\ncommand = "old"\nargs = [\n "x",\n]\n\n'
        b'[mcp_servers.recollect.env]\nA = "1"\n# note\n\n[b]\nc = 1\n\n'
        b"[mcp_servers.recollect.tools]\nd = 2\n[e]\n"
    )
    after = put(raw, TABLE, {"command": "new"}, "f")
    assert after == (b'[mcp_servers.recollect]\ncommand = "new"\n# note\n\n[b]\nc = 1\n\n[e]\n')


def test_keys_with_odd_letters_are_quoted() -> None:
    table = ("hooks", "state", '/home/a b/"x"/hooks.json:stop:0:0')
    after = put(b"", table, {"trusted_hash": "sha256:1"}, "f")
    state = tomllib.loads(after.decode())["hooks"]["state"]
    assert state == {table[2]: {"trusted_hash": "sha256:1"}}
    assert remove(after, table, "f") == b""


@pytest.mark.parametrize(
    "raw",
    [
        b'mcp_servers = { recollect = { command = "x" } }\n',
        b'[mcp_servers]\nrecollect = { command = "x" }\n',
        b'mcp_servers.recollect.command = "x"\n',
        b"mcp_servers = 1\n",
        b'[mcp_servers]\nrecollect = "text"\n',
    ],
)
def test_what_cannot_be_changed_safely_is_refused(raw: bytes) -> None:
    with pytest.raises(BadInput, match=r"the-file.*mcp_servers\.recollect"):
        put(raw, TABLE, VALUES, "the-file")


@pytest.mark.parametrize("raw", [b"a = ", b"\xff", b"[a]\n[a]\n"])
def test_a_broken_file_is_refused(raw: bytes) -> None:
    with pytest.raises(BadInput, match="the-file"):
        put(raw, TABLE, VALUES, "the-file")
