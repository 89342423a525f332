"""The table of tools, and what is kept of a call."""

from typing import Any

import pytest

from recollect.core.values import JsonBody
from recollect.hosts import tools
from recollect.hosts.adapter import tool_draft


@pytest.mark.parametrize(
    ("names", "tool_class"),
    [
        ("Write Edit MultiEdit NotebookEdit apply_patch write_file replace create", "file-write"),
        ("str_replace_editor fs_write fsWrite strReplace write_to_file edit_file", "file-write"),
        ("Read read_file read_many_files Glob Grep LS list_directory view fs_read", "file-read"),
        ("Bash bash run_shell_command exec_command shell execute_bash executeBash", "command"),
        ("run_terminal_cmd execute_command Shell PowerShell", "command"),
        ("WebFetch WebSearch google_web_search web_fetch web_search webfetch", "research"),
        ("Task Agent task delegate use_subagent spawn_agent", "delegation"),
        ("mcp__github__create mcp_github_read @aws/shell srv/write Skill unheard", "tool-use"),
    ],
)
def test_tools_of_all_hosts_have_their_class(names: str, tool_class: str) -> None:
    assert {name: tools.classify(name) for name in names.split()} == dict.fromkeys(
        names.split(), tool_class
    )


@pytest.mark.parametrize(
    "name", ["introspect", "thinking", "todo", "TodoWrite", "todo_list", "update_plan"]
)
def test_tools_that_say_nothing_are_ignored(name: str) -> None:
    assert tools.ignored(name) == "ignored tool"


def test_thinking_through_mcp_is_ignored_too() -> None:
    assert tools.ignored("mcp__seq__sequentialthinking") == "ignored tool"


@pytest.mark.parametrize(
    "name",
    [
        *("mcp__recollect__search", "mcp__plugin_recollect_recollect__search", "recollect/search"),
        *("mcp_recollect_search", "recollect-search", "recollect_search", "@recollect/search"),
    ],
)
def test_own_tools_are_known_under_every_spelling(name: str) -> None:
    assert tools.ignored(name) == "own tool"


@pytest.mark.parametrize("name", ["Bash", "mcp__github__todo", "mcp__recollection__x"])
def test_other_tools_are_not_ignored(name: str) -> None:
    assert tools.ignored(name) == ""


def kept(name: str, arguments: Any, output: Any = None) -> dict[str, Any]:
    body = tool_draft(name, arguments, output).body
    assert isinstance(body, JsonBody)
    data: dict[str, Any] = body.data
    return data


def test_a_reading_tool_keeps_where_it_looked_and_nothing_it_saw() -> None:
    data = kept("Grep", {"pattern": "key", "path": "/p", "content": "x"}, "SECRET=1")
    assert data["input"] == {"pattern": "key", "path": "/p"}
    assert data["output"] is None
    assert data["files"] == ["/p"]


def test_an_editor_that_only_views_is_a_reading_tool() -> None:
    assert tools.classify("str_replace_editor", {"command": "view"}) == "file-read"
    assert tools.classify("str_replace_editor", {"command": "create"}) == "file-write"


PATCH = "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.py\n*** Move to: c.py\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", PATCH),
        ("Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}),
    ],
)
def test_a_patch_names_its_files(name: str, arguments: Any) -> None:
    data = kept(name, arguments)
    assert (data["class"], data["files"]) == ("file-write", ["a.py", "b.py", "c.py"])


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ({"file_path": "a"}, ["a"]),
        ({"operations": [{"path": "a"}, {"path": "b"}, {"path": "a"}]}, ["a", "b"]),
        ({"paths": ["a", 1, None, "b"]}, ["a", "b"]),
        ({"changes": {"a": {}, "b": {}}}, ["a", "b"]),
        ({"path": ""}, []),
        ({"path": "x" * 501}, []),
        ({"path": ["not", "text"]}, []),
        (None, []),
    ],
)
def test_files_are_found_wherever_hosts_put_them(arguments: Any, files: list[str]) -> None:
    assert kept("Edit", arguments)["files"] == files


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "make"}, "make"),
        ({"command": ["bash", "-lc", "make test"]}, "make test"),
        ({"cmd": ["git", "commit", "-m", "two words"]}, "git commit -m 'two words'"),
        ({"command_line": "ls"}, "ls"),
        ({"command": 7}, ""),
        (None, ""),
    ],
)
def test_the_command_is_what_was_run(arguments: Any, command: str) -> None:
    assert kept("shell", arguments)["command"] == command


@pytest.mark.parametrize(
    "output",
    [
        {"isError": True},
        {"interrupted": True},
        {"success": False},
        {"metadata": {"exit": 1}},
        {"resultType": "failure"},
        {"error": "no"},
        {"llmContent": "Output: x\nExit Code: 2\nSignal: (none)"},
        {"textResultForLlm": "x\n<shellId: 0 completed with exit code 1>"},
    ],
)
def test_failure_is_seen_in_every_hosts_words(output: Any) -> None:
    assert kept("Bash", {"command": "x"}, output)["failed"]


@pytest.mark.parametrize(
    "output",
    [
        None,
        "Exit Code: 2",
        {"stdout": "failed", "interrupted": False},
        {"code": 200, "result": "page"},
        {"metadata": {"exit": 0}},
        {"llmContent": "Exit Code: 1 is what the log says\nExit Code: 0"},
    ],
)
def test_success_is_not_taken_for_failure(output: Any) -> None:
    assert not kept("Bash", {"command": "x"}, output)["failed"]


def test_whole_files_from_before_an_edit_are_not_kept() -> None:
    output = {
        "originalFile": "old " * 1000,
        "returnDisplay": {"originalContent": "old"},
        "type": "x",
    }
    assert kept("Write", {"file_path": "a"}, output)["output"] == {"returnDisplay": {}, "type": "x"}


def test_what_recollect_prints_is_not_captured() -> None:
    fenced = '<recollect id="a1">\nmemory\n</recollect id="a1">'
    assert kept("Bash", {"command": "/usr/bin/recollect search x"}, "memory")["output"] is None
    assert "memory" not in str(kept("Bash", {"command": "cat log"}, {"stdout": [fenced]}))


def test_names_that_a_file_defines_are_kept_of_what_was_read_or_written() -> None:
    shown = "     1\u2192package retry\n     2\u2192\n     3\u2192func (c *Client) CapRetries() {\n"
    read = tools.facts("Read", {"file_path": "/w/retry.go"}, {"content": shown})
    assert tools.defined_names(read, {"file_path": "/w/retry.go"}, {"content": shown}) == [
        "CapRetries"
    ]
    edit = {
        "file_path": "/w/a.py",
        "old_string": "x",
        "new_string": "class RetryPolicy:\n    def backoff(self):\n",
    }
    made = tools.facts("Edit", edit)
    assert tools.defined_names(made, edit, None) == ["RetryPolicy", "backoff"]
    failed = tools.facts("Read", {"file_path": "/w/a.py"}, None, failed=True)
    assert tools.defined_names(failed, {}, "def never_read(): ...") == []
    listing = tools.facts("Bash", {"command": "cat a.py"}, "def printed(): ...")
    assert tools.defined_names(listing, {}, "def printed(): ...") == []
