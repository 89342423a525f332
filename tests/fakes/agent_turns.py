"""What an agent does in a turn, as Claude Code's hooks report it."""

import pathlib
from typing import Any

from tests.fakes.runtime import RuntimeHome


def tell(home: RuntimeHome, project: pathlib.Path, event: str, **more: Any) -> None:
    home.run_hook("claude-code", event, {"session_id": "s", "cwd": str(project), **more})


def tool(home: RuntimeHome, project: pathlib.Path, name: str, path: str = "", **given: Any) -> None:
    failed = given.pop("fails", False)
    if path:
        given["file_path"] = str(project / path)
    event = "PostToolUseFailure" if failed else "PostToolUse"
    answer = {"error": "1 failed"} if failed else {"tool_response": {"stdout": "", "stderr": ""}}
    tell(home, project, event, tool_name=name, tool_use_id=f"t{home.clock.mono_ns()}",
         tool_input=given, **answer)  # fmt: skip
