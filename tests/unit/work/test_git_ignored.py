"""What a repository ignores is not named."""

import pathlib

import pytest

from recollect.work.git_ignored import ignored_in
from tests.fakes.runtime import RuntimeHome


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        ("src/app.py", False),
        ("secrets.env", True),
        ("deep/below/secrets.env", True),
        ("generated/api.ts", True),
        ("src/generated/api.ts", False),
        ("cache/a/b.bin", True),
        ("cache/keep.bin", False),
        ("notes.txt", False),
    ],
)
def test_the_last_pattern_that_matches_decides(
    tmp_path: pathlib.Path, path: str, ignored: bool
) -> None:
    text = "# made\n*.env\n/generated/\ncache\n!cache/keep.bin\n\n" + "x" * 300 + "\n"
    (tmp_path / ".gitignore").write_text(text)
    assert ignored_in([str(tmp_path), "/nonexistent"])(path) is ignored


def test_nothing_is_ignored_where_nothing_says_so(tmp_path: pathlib.Path) -> None:
    assert not ignored_in([str(tmp_path)])("secrets.env")


def test_a_brief_does_not_name_what_is_ignored(
    runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    place = tmp_path / "shop"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (place / ".gitignore").write_text("local_settings.py\n")
    told = ""
    for number in range(3):
        said = {"session_id": f"s{number}", "cwd": str(place)}
        prompt = {**said, "prompt": "fix the timeout of the payment client in the settings"}
        reply = runtime_home.run_hook("claude-code", "UserPromptSubmit", prompt)
        told = reply.stdout.decode()
        others = [f"part{other}.py" for other in range(6)]  # of few files none is called likely
        for name in ("payment_client.py", "local_settings.py", *others):
            given = {"file_path": str(place / name), "old_string": "a", "new_string": "b"}
            edit = {**said, "tool_name": "Edit", "tool_input": given, "tool_response": {}}
            runtime_home.run_hook("claude-code", "PostToolUse", edit)
        runtime_home.run_hook("claude-code", "Stop", {**said, "last_assistant_message": "Done."})
        runtime_home.runtime.work.drop_all()
        runtime_home.runtime.work.fill(runtime_home.runtime.store.projects.namespaces())
    assert "payment_client.py" in told and "local_settings.py" not in told
