"""Whether it speaks when it should: `python -m tests.bench.speaking LIST.json ... [-v]`.

In: lists by people who had not seen the code: `stored` (texts of memories of one project), `idle`
prompts, prompts `about` something stored (`prompt`, `expects`: its number), and prompts about what
was `never` stored. Out: wrong decisions in each group, judged on memories; with `-v` every case.
Each prompt is the second one of a session of its own, after the block of the session's start.
"""

import json
import pathlib
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from recollect.core.ids import short_id
from tests.fakes.runtime import RuntimeHome

FIRST = "hi, let's get started"
DONE = "Ready."
TITLE_CHARS = 200


class Conversation:
    """Sessions of one project whose memories are those of a list."""

    def __init__(self, folder: pathlib.Path, stored: list[str]) -> None:
        self._place = folder / "project"
        (self._place / ".git").mkdir(parents=True)
        self._home = RuntimeHome(folder / "home", actor="ada", embedding=True)
        self._stored, self._sessions = stored, 0

    def store(self) -> list[str]:
        """The ids of the memories."""
        found = [self._add(text) for text in self._stored]
        self._home.embed()
        return found

    def close(self) -> None:
        self._home.close()

    def told(self, prompt: str) -> str:
        """What a session is told with its second prompt."""
        self._sessions += 1
        said = {"session_id": f"s{self._sessions}", "cwd": str(self._place)}
        self._hook("SessionStart", {**said, "source": "startup"})
        self._hook("UserPromptSubmit", {**said, "prompt": FIRST})
        self._hook("Stop", {**said, "last_assistant_message": DONE})
        return self._hook("UserPromptSubmit", {**said, "prompt": prompt})

    def _add(self, text: str) -> str:
        kind = "knowledge" if len(text) <= TITLE_CHARS else "note"
        title, _, content = text.partition(". ") if kind == "note" else (text, "", "")
        body = {"project": str(self._place), "title": title, "content": content, "kind": kind}
        made = self._home.client.ask("POST", "/api/memories", body)
        self._home.clock.advance(seconds=3600)
        return short_id(made["record"]["record_id"])

    def _hook(self, event: str, payload: dict[str, Any]) -> str:
        reply = self._home.run_hook("claude-code", event, payload)
        answer = json.loads(reply.stdout) if reply.stdout.strip() else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def measured(cases: dict[str, Any], *, show: bool) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="recollect-speaking-") as folder:
        talk = Conversation(pathlib.Path(folder), cases["stored"])
        try:
            ids = talk.store()
            for group in ("idle", "about", "never"):
                wrong = other = 0
                for case in cases[group]:
                    prompt, expects = (
                        (case["prompt"], ids[case["expects"]]) if group == "about" else (case, "")
                    )
                    text = talk.told(prompt)
                    spoke = [one for one in ids if f"[{one}]" in text]
                    wrong += bool(spoke) != bool(expects)
                    other += bool(expects and spoke and expects not in spoke)
                    if show:
                        yield f"{group} {prompt!r}: {spoke}, expected {expects or 'nothing'}"
                yield f"{group}: {wrong} of {len(cases[group])} wrong" + (
                    f", {other} times only another memory" if group == "about" else ""
                )
        finally:
            talk.close()


def main() -> None:
    show = "-v" in sys.argv
    for name in [one for one in sys.argv[1:] if one != "-v"]:
        print(name)
        for line in measured(json.loads(pathlib.Path(name).read_text()), show=show):
            print(" ", line, flush=True)


if __name__ == "__main__":
    main()
