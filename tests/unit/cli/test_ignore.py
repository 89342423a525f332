"""`recollect ignore`: what it takes for a rule, what it refuses, and the way back."""

import pathlib
import shlex

import pytest

from recollect.cli import mcp
from recollect.cli.run import run
from recollect.client import Refused
from recollect.core import settings
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A project, and a data directory of its own."""
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    place = tmp_path / "shop"
    place.mkdir()
    (place / "Makefile").touch()
    monkeypatch.chdir(place)
    return place


def ignore(*arguments: str) -> int:
    return run(["ignore", *arguments])


@pytest.mark.parametrize("call", [("add", ""), ("add", " "), ("add", "--tool", ""), ("remove", "")])
def test_an_empty_name_is_refused(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], call: tuple[str, ...]
) -> None:
    assert ignore(*call) == 2 and settings.load().ignore == ()
    told = capsys.readouterr().err
    assert "is empty" in told and "--here" in told


@pytest.mark.parametrize(
    ("given", "instead"),
    [("/no/such/place/", "place"), ("/no/such/place", "place"), ("clients/", "clients"),
     ("~/no such place", "'no such place'")],
)  # fmt: skip
def test_a_directory_that_is_not_there_is_refused(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], given: str, instead: str
) -> None:
    assert ignore("add", given) == 2 and settings.load().ignore == ()
    told = capsys.readouterr().err
    assert f"There is no directory {given}" in told and f"recollect ignore add {instead}\n" in told


@pytest.mark.parametrize("given", ["*.pem", "secrets", "conf/prod", "/srv/*/keys", "--tool=Web*"])
def test_the_way_back_can_be_pasted(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    assert ignore("add", given) == 0 and len(settings.load().ignore) == 1
    way = capsys.readouterr().out.partition("Remove the rule: ")[2].strip()
    assert "*" not in way or "'" in way
    assert ignore(*shlex.split(way)[2:]) == 0 and settings.load().ignore == ()


@pytest.mark.parametrize(
    ("given", "stored"),
    [("file:secrets/**", "file:secrets/**"), ("file:clients/", "file:clients/"),
     ("file:a:b", "file:a:b"), ("tool:Web*", "tool:Web*"), ("--tool=tool:Bash", "tool:Bash"),
     ("project:.", "project:{here}")],
)  # fmt: skip
def test_a_rule_is_taken_as_the_list_shows_it(here: pathlib.Path, given: str, stored: str) -> None:
    rule = stored.format(here=here)
    assert ignore("add", given) == 0 and settings.load().ignore == (rule,)
    assert ignore("add", given) == 0 and settings.load().ignore == (rule,)
    assert ignore("remove", given) == 0 and settings.load().ignore == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [("dir:secrets", "no kind of rule 'dir'"), ("files:*.pem", "write file:files:*.pem"),
     ("project:/no/such", "There is no directory /no/such"), ("file:", "file:PATTERN")],
)  # fmt: skip
def test_an_unknown_kind_of_rule_is_refused(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], given: str, said: str
) -> None:
    assert ignore("add", given) == 2 and settings.load().ignore == ()
    assert said in capsys.readouterr().err


def test_a_rule_for_a_directory_that_is_gone_can_be_taken_back(here: pathlib.Path) -> None:
    (here / "old").mkdir()
    assert ignore("add", "old") == 0 and settings.load().ignore == (f"project:{here / 'old'}",)
    (here / "old").rmdir()
    assert ignore("remove", str(here / "old")) == 0 and settings.load().ignore == ()


def test_a_pattern_without_quotes_is_noticed(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ignore("add", "a.key", "b.key") == 2 and settings.load().ignore == ()
    assert "Put the pattern in quotes: recollect ignore add '*.key'" in capsys.readouterr().err


def test_the_help_names_options_of_forget_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from recollect.cli import forget

    assert ignore("--help") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "recollect forget --project DIR --all, or --text WORDS" in told
    options = {name for one in forget.command.params for name in one.opts}
    assert {"--project", "--all", "--text"} <= options


def test_the_mcp_server_of_a_private_shell_stores_and_tells_nothing(
    here: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sent(*_: object) -> bytes:
        raise AssertionError("it asked the daemon")

    monkeypatch.setattr(mcp.DaemonLink, "_send", sent)
    monkeypatch.setenv("RECOLLECT_PRIVATE", "1")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "store"}}
    proxy = mcp.Proxy(str(here))
    proxy.answer({"jsonrpc": "2.0", "id": 0, "method": "initialize"})
    answer = proxy.answer(call)
    assert answer is not None
    result = answer["result"]
    assert result["isError"] and result["content"][0]["text"] == mcp.PRIVATE


def test_ignoring_holds_at_once_and_has_a_way_back(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    (project / "Makefile").touch()

    def prompt(text: str) -> None:
        payload = {"session_id": "s", "cwd": str(project), "prompt": text}
        runtime_home.run_hook("claude-code", "UserPromptSubmit", payload)

    def typed(*arguments: str) -> str:
        done = terminal(*arguments)
        assert done.returncode == 0, done
        return done.stdout

    terminal.patch.chdir(project)
    prompt("first")
    assert "Kept out from now on" in typed("ignore", "add", "--here")
    prompt("second")
    assert f"project:{project}" in typed("ignore", "list")
    assert "Nothing is captured here" in typed("ignore", "list")
    with pytest.raises(Refused, match="kept out") as refused:
        runtime_home.client.ask("POST", "/api/notes", {"text": "x", "project": str(project)})
    assert refused.value.status == 409
    doctor = terminal("doctor").stdout
    assert "here: nothing is captured" in doctor
    assert "nothing is captured here" in doctor and "1 (project)" in doctor
    reason = f"kept out of memory: the setting ignore has project:{project}"
    assert reason in typed("search", "what I know")
    assert reason in typed("context", "what do we know of retries?")
    terminal.patch.chdir(tmp_path)
    assert "kept out" not in typed("search", "what I know")
    terminal.patch.chdir(project)
    typed("ignore", "remove", "--here")
    typed("ignore", "add", "--tool", "Web*")
    assert typed("ignore", "list").strip() == "tool:Web*"
    prompt("third")
    page = runtime_home.client.get("/v1/events", project_path=str(project))
    said = [row["event"]["body"]["content"] for row in page["items"]]
    assert said == ["third", "first"]
