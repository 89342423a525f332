"""What background work there is, behind REST, and what can be done about it."""

import json
import pathlib
from typing import Any

import pytest

from recollect.client import Refused
from recollect.portable import importing
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import wait_until


def jobs(home: RuntimeHome, kind: str) -> list[dict[str, Any]]:
    return [one for one in home.client.get("/api/jobs")["items"] if one["kind"] == kind]


def act(home: RuntimeHome, job_id: str, act: str) -> None:
    home.client.ask("POST", "/api/jobs", {"job_id": job_id, "act": act})


def export_file(home: RuntimeHome, place: pathlib.Path) -> pathlib.Path:
    for number in range(30):
        home.client.ask("POST", "/api/notes", {"text": f"note number {number} about the queue"})
    path = place / "all.jsonl"
    path.write_bytes(b"".join(home.client.stream("/api/export?format=jsonl")))
    return path


def test_an_export_is_a_job_that_counts_bytes(
    runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    path = export_file(runtime_home, tmp_path)
    (job,) = jobs(runtime_home, "export")
    assert job["state"] == "done" and job["done"] == path.stat().st_size and job["can"] == []


def test_an_import_can_be_cancelled_and_tried_again(
    runtime_home: RuntimeHome, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = export_file(runtime_home, tmp_path)
    body = {"sources": [str(path), str(path)]}
    taken = importing.Importer._take_export

    def cancelled(self: Any, *given: Any) -> None:
        (job,) = jobs(runtime_home, "import")
        assert job["state"] == "running" and job["can"] == ["cancel"]
        act(runtime_home, job["job_id"], "cancel")
        taken(self, *given)

    monkeypatch.setattr(importing.Importer, "_take_export", cancelled)
    runtime_home.client.ask("POST", "/api/import", body)
    wait_until(lambda: jobs(runtime_home, "import")[0]["state"] == "cancelled")
    monkeypatch.undo()
    (job,) = jobs(runtime_home, "import")
    assert job["can"] == ["retry"] and job["total"] > 0
    act(runtime_home, job["job_id"], "retry")
    wait_until(lambda: jobs(runtime_home, "import")[0]["state"] == "done")


def test_an_import_that_failed_says_why(runtime_home: RuntimeHome) -> None:
    runtime_home.client.ask("POST", "/api/import", {"sources": ["/nowhere/at/all"]})
    wait_until(lambda: jobs(runtime_home, "import")[0]["state"] == "failed")
    assert "neither a source nor a file" in jobs(runtime_home, "import")[0]["problem"]


def test_maintenance_is_a_job(runtime_home: RuntimeHome) -> None:
    runtime_home.client.ask("POST", "/api/maintain")
    (job,) = jobs(runtime_home, "maintenance")
    assert job["state"] == "done" and job["ended_at"]


def test_extraction_is_listed_while_something_waits(runtime_home: RuntimeHome) -> None:
    prompt = {"session_id": "s1", "prompt": "always use tabs", "cwd": "/tmp"}
    runtime_home.run_hook("claude-code", "UserPromptSubmit", prompt)
    (job,) = jobs(runtime_home, "extraction")
    assert (job["state"], job["total"], job["can"]) == ("waiting", 1, ["retry"])
    with pytest.raises(Refused, match="cannot be cancelled"):
        act(runtime_home, job["job_id"], "cancel")
    runtime_home.start_extraction()
    act(runtime_home, job["job_id"], "retry")
    wait_until(lambda: not jobs(runtime_home, "extraction"))


def test_embedding_is_listed_while_vectors_are_missing(tmp_path: pathlib.Path) -> None:
    home = RuntimeHome(tmp_path / "home", embedding=True)
    try:
        backfill = home.runtime.recall()._backfill
        assert backfill is not None
        backfill.close()
        note = home.client.ask("POST", "/api/notes", {"text": "a note without a vector"})["record"]
        backfill.aside[note["record_id"]] = "it is odd"
        (job,) = jobs(home, "embedding")
        assert (job["done"], job["total"], job["problem"]) == (0, 1, "1 set aside")
        act(home, "embedding", "retry")
        assert backfill.step() == 1
        assert jobs(home, "embedding") == []
    finally:
        home.close()


def test_a_job_that_is_not_there_is_refused(runtime_home: RuntimeHome) -> None:
    body = json.dumps({"job_id": "import-7", "act": "cancel"}).encode()
    assert runtime_home.http("POST", "/api/jobs", body)[0] == 404
