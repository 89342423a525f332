"""A plugin as another package would bring it: its module, and what pip leaves beside it."""

import pathlib

import pytest

MODULE = """
import json, os, pathlib, time
from recollect.plugins import Plugin

class Sample(Plugin):
    def start(self):
        self.log = pathlib.Path(self.options["log"])
        self._write("start", os.environ["RECOLLECT_HOME"])

    def event_stored(self, event):
        text = event["body"].get("content", "")
        self._write("event", text)
        if "raise" in text:
            raise ValueError("as told")
        if "exit" in text:
            os._exit(3)
        if "hang" in text:
            time.sleep(3600)

    def memory_made(self, memory):
        self._write("gone" if memory["removed"] else "memory", memory.get("title", ""))

    def before_inject(self, brief):
        if self.options.get("hang_in_briefs"):
            time.sleep(3600)
        return [one["id"] for one in brief["lines"] if "unwanted" in one["text"]]

    def import_source(self, argument):
        for number in range(3):
            yield {"key": str(number), "at": "2026-05-01T10:00:00+00:00", "kind": "observation",
                   "title": f"{argument} number {number} of the imported notes"}

    def llm_provider(self, request):
        if "fail" in request["prompt"]:
            raise RuntimeError("no model")
        return {"text": f"{request['model']}: {request['prompt']}", "input_tokens": 7}

    def _write(self, what, text):
        with self.log.open("a") as file:
            file.write(json.dumps([what, text]) + "\\n")

class FromTheFuture(Plugin):
    api_version = 99
"""


def install(place: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it importable, and its entry points findable, here and in child processes."""
    place.mkdir()
    (place / "sample_plugin.py").write_text(MODULE)
    about = place / "sample_plugin-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sample-plugin\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(
        "[recollect.plugins]\nsample = sample_plugin:Sample\nfuture = sample_plugin:FromTheFuture\n"
    )
    monkeypatch.syspath_prepend(str(place))
    repository = pathlib.Path(__file__).parents[3]
    monkeypatch.setenv("PYTHONPATH", f"{place}:{repository}")
