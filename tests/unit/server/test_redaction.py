"""What is private or secret does not come in by the doors, and that it was removed is told."""

from tests.fakes.canaries import Canaries, found_on_disk, leaves, planted
from tests.fakes.runtime import RuntimeHome


def test_redaction_is_visible(runtime_home: RuntimeHome) -> None:
    text = "deploy with <private>hunter2</private> and " + Canaries(1).secret()
    payload = {"session_id": "s", "cwd": "/", "prompt": text}
    runtime_home.run_hook("claude-code", "UserPromptSubmit", payload)
    (row,) = runtime_home.client.get("/v1/events")["items"]
    stored = row["event"]["body"]["content"]
    assert "[REDACTED]" in stored and "[REDACTED:" in stored and stored.startswith("deploy with")
    counts = runtime_home.client.get("/healthz")["counts"]
    assert counts["private spans removed"] == 1
    assert any(name.startswith("secrets removed") for name in counts)


def test_nothing_secret_comes_in_by_the_api(runtime_home: RuntimeHome) -> None:
    birds = Canaries(seed=99)
    base = {
        "session_id": "s",
        "kind": "note",
        "body": {"type": "json", "data": {"a": ["x", {"b": "y"}]}},
        "source": {"surface": "test", "client_id": "c", "project_path": "/tmp/x"},
        "content_hash": "h",
    }
    for path in leaves(base):
        if path in (("kind",), ("body", "type")):
            continue
        for text in (birds.private(), birds.secret()):
            runtime_home.client.ask("POST", "/v1/events", planted(base, path, text))
    assert len(birds.planted) >= 12
    assert found_on_disk(runtime_home.home, birds.planted) == []
