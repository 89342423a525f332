"""One grammar for all commands: names, options and help follow the same pattern everywhere."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from recollect.cli import COMMANDS, HEADINGS, usage
from recollect.cli.date_options import FORMS, TIME
from recollect.cli.groups import ROOT
from recollect.cli.run import run

WIDTH = 80
SPELLINGS = {
    "project": ["-p", "--project"],
    "limit": ["-n", "--limit"],
    "as_json": ["--json"],
    "yes": ["-y", "--yes"],
    "dry_run": ["--dry-run"],
    "since": ["--since"],
    "until": ["--until"],
    "as_of": ["--as-of"],
}


def tree() -> Iterator[tuple[str, click.Command]]:
    """Every command by its path, groups and their commands included."""
    context = click.Context(ROOT)
    for name in COMMANDS:
        command = ROOT.get_command(context, name)
        assert command is not None, name
        yield name, command
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                yield f"{name} {below}", command.commands[below]


def options() -> Iterator[tuple[str, click.Option]]:
    for path, command in tree():
        for param in command.params:
            if isinstance(param, click.Option):
                yield path, param


def test_an_option_has_one_spelling_everywhere() -> None:
    used = set()
    for path, option in options():
        assert option.name is not None
        if option.name in SPELLINGS:
            used.add(option.name)
            assert option.opts == SPELLINGS[option.name], path
        assert "--list" not in option.opts, f"{path}: a list is a command"
    assert used == set(SPELLINGS)


def test_every_time_is_typed_in_the_same_forms() -> None:
    found = {path for path, option in options() if option.name in ("since", "until", "as_of")}
    assert {"search", "report", "export", "import", "forget", "move", "context"} == found
    for path, option in options():
        if option.name in ("since", "until", "as_of"):
            assert option.type is TIME and (option.help or "").endswith(FORMS), path


def test_every_option_is_explained() -> None:
    for path, option in options():
        if path != "bench":  # which has a parser of its own
            assert option.help and option.help.endswith("."), (path, option.opts)


def test_things_are_listed_and_shown_by_the_same_words() -> None:
    groups = {path: command for path, command in tree() if isinstance(command, click.Group)}
    assert set(groups) == {
        "backup", "change", "ignore", "jobs", "model", "plugins", "profile", "queue", "receipt",
        "service", "settings", "store",
    }  # fmt: skip
    for path, group in groups.items():
        words = set(group.commands)
        assert not words & {"ls", "get", "status", "stats", "info", "view"}, path


@pytest.mark.parametrize("path", [path for path, _ in tree() if path != "bench"])
def test_help_fits_eighty_columns_and_says_how(path: str) -> None:
    shown = CliRunner().invoke(ROOT, [*path.split(), "--help"], prog_name="recollect")
    assert shown.exit_code == 0 and shown.output.startswith(f"Usage: recollect {path} ")
    too_long = [line for line in shown.output.splitlines() if len(line) > WIDTH + 1]
    assert all("completions/recollect" in line for line in too_long), too_long


def test_the_help_has_every_command_under_a_heading() -> None:
    shown = usage()
    for heading, group in HEADINGS.items():
        assert f"\n{heading}:\n" in shown and 4 <= len(group) <= 9
        for name, (_, what) in group.items():
            assert f"  {name:<11} {what}\n" in shown
            assert what[0].isupper() and not what.endswith(".")
    assert max(map(len, shown.splitlines())) <= 88
    assert CliRunner().invoke(ROOT, ["--help"]).output.strip() == shown.strip()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serach"], "there is no command recollect serach; did you mean search?"),
        (["bogus"], "there is no command recollect bogus; recollect --help lists them."),
        (["settings", "get"], "there is no command recollect settings get; it has list, show,"),
        (["backup", "restor"], "did you mean restore?"),
        (["search", "--nope"], "  try: recollect search --help"),
        (["logs", "-n", "many"], "'many' is not a valid integer"),
        (["search", "--since", "lately"], "'lately' is not a time. Write 2026-11-01"),
        (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        (["move", "mr_1"], "name the target: recollect move MEMORY PROJECT"),
        (["ignore", "add"], "name exactly one of WHAT, --here and --tool"),
    ],
)
def test_a_wrong_call_names_what_was_wrong(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.startswith("recollect: ")


def test_a_group_alone_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["backup"]) == 2
    assert "Usage: recollect backup" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "word", "offered"),
    [
        ("recollect se", 1, {"search", "separate", "service", "settings", "setup"}),
        ("recollect backup ", 2, {"create", "list", "restore"}),
        ("recollect settings show llm", 3, {"llm_model", "llm_base_url"}),
        ("recollect export --format js", 3, {"json", "jsonl"}),
        ("recollect search --as", 2, {"--as-of"}),
        ("recollect search -p gl", 3, {"global"}),
    ],
)
def test_the_shell_is_told_what_may_come(
    line: str, word: int, offered: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    environment = {
        "_RECOLLECT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(word),
    }
    shown = CliRunner().invoke(ROOT, [], env=environment, prog_name="recollect",
                               complete_var="_RECOLLECT_COMPLETE")  # fmt: skip
    assert {one.partition(",")[2] for one in shown.output.split()} == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_clicks(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert f"_RECOLLECT_COMPLETE={shell}_complete" in capsys.readouterr().out
