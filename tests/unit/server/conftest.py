"""A project in which an agent has worked."""

import pathlib
from collections.abc import Iterator

import pytest

from tests.fakes.agent_turns import tell, tool
from tests.fakes.runtime import RuntimeHome


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    found = tmp_path / "shop"
    (found / ".git").mkdir(parents=True)
    (found / ".git" / "HEAD").write_text("ref: refs/heads/fix/retry\n")
    return found


@pytest.fixture
def worked(runtime_home: RuntimeHome, project: pathlib.Path) -> Iterator[RuntimeHome]:
    """Two turns of one session, both of which edit the client and its test."""
    for number in range(2):
        tell(runtime_home, project, "UserPromptSubmit", prompt=f"go on with part {number}")
        tool(runtime_home, project, "Bash", command="pytest -q", fails=number == 0)
        tool(runtime_home, project, "Write", "src/client.py", content="class Client:\n    pass\n")
        tool(runtime_home, project, "Write", "tests/test_client.py", content="def test(): pass\n")
        tool(runtime_home, project, "Bash", command="pytest -q")
        tell(runtime_home, project, "Stop", last_assistant_message="Done.")
    tell(runtime_home, project, "UserPromptSubmit", prompt="add httpx")
    tool(runtime_home, project, "Bash", command="uv add httpx")
    tell(runtime_home, project, "Stop", last_assistant_message="Added.")
    yield runtime_home
