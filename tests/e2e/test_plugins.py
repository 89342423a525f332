"""The plugins that come with Recollect, with a real daemon, real files and a real HTTP server."""

import hashlib
import hmac
import http.server
import json
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.plugins.vault import Vault
from recollect.plugins.webhooks import RETRY_S, Webhooks, signature
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import wait_until


class Receiver:
    """An HTTP server that keeps what it is sent, and fails as often as it is told to."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], Any]] = []
        self.failing = 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fails = receiver.failing > 0
                receiver.failing -= fails
                if not fails:
                    receiver.got.append((dict(self.headers.items()), json.loads(body)))
                    receiver.raw = body
                self.send_response(500 if fails else 204)
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.raw = b""
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def options(daemon: RealDaemon, name: str, text: str) -> None:
    place = daemon.home / "plugins"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.toml").write_text(text)


def note(daemon: RealDaemon, text: str) -> dict[str, Any]:
    return dict(daemon.client.ask("POST", "/api/notes", {"text": text})["record"])


def test_both_run_in_their_processes_and_leave_none_behind(
    tmp_path: pathlib.Path, receiver: Receiver
) -> None:
    daemon = RealDaemon(tmp_path / "home", plugins="vault,webhooks")
    options(daemon, "vault", f'directory = "{tmp_path}/vault"')
    options(daemon, "webhooks", f'[[to]]\nurl = "{receiver.url}"\nsecret = "s3cret"')
    daemon.home.chmod(0o700)
    daemon.start()
    try:
        running = wait_until(
            lambda: (
                [one for one in daemon.client.get("/healthz")["plugins"] if one["hooks"]][1:]
                and daemon.client.get("/healthz")["plugins"]
            ),
            daemon.log,
        )
        kept = note(daemon, "the billing API answers 429 after ten calls a second")
        wait_until(lambda: list((tmp_path / "vault").rglob("*.md")), daemon.log)
        wait_until(lambda: receiver.got, daemon.log)
    finally:
        daemon.stop()
    headers, body = receiver.got[0]
    assert body["event"] == "memory_learned" and body["record_id"] == kept["record_id"]
    assert "billing" not in receiver.raw.decode()  # ids only, unless text is switched on
    stamp = headers["X-Recollect-Timestamp"]
    signed = hmac.new(b"s3cret", stamp.encode() + b"." + receiver.raw, hashlib.sha256).hexdigest()
    assert headers["X-Recollect-Signature"] == f"sha256={signed}"
    for one in running:
        assert not pathlib.Path(f"/proc/{one['pid']}/cmdline").exists()


@pytest.fixture
def here(shared_daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> RealDaemon:
    """A daemon that a plugin in this process speaks to."""
    monkeypatch.setenv("RECOLLECT_HOME", str(shared_daemon.home))
    return shared_daemon


def only_file(vault: pathlib.Path, record: dict[str, Any]) -> pathlib.Path:
    (found,) = [one for one in vault.rglob("*.md") if record["record_id"] in one.read_text()]
    return found


def memory(daemon: RealDaemon, record: dict[str, Any]) -> dict[str, Any]:
    return dict(daemon.client.get(f"/api/memories/{record['record_id']}"))


def test_a_vault_goes_both_ways(here: RealDaemon, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "vault"
    first = note(here, "the staging database is reset every night")
    vault = Vault({"directory": str(place)})
    vault.start()
    vault.tick()
    file = only_file(place, first)
    assert "# the staging database is reset every night" in file.read_text()
    # A person edits the file: the memory changes, and its earlier version can be brought back.
    file.write_text(
        file.read_text().replace("every night", "on Sundays") + "\n## Facts\n\n- at 3\n"
    )
    vault.tick()
    assert memory(here, first)["title"] == "the staging database is reset on Sundays"
    assert memory(here, first)["facts"] == ["at 3"]
    assert memory(here, first)["version"] == 2
    vault.tick()
    assert memory(here, first)["version"] == 2  # what it wrote itself is no edit
    # The memory is edited: the file follows.
    change = {"title": "the staging database is never reset"}
    edited = here.client.ask("PATCH", f"/api/memories/{first['record_id']}", change)["record"]
    vault.memory_made({**edited, "removed": False})
    assert "# the staging database is never reset" in file.read_text()
    # A person writes a file: it becomes a note, under its own name.
    (place / "idea.md").write_text("Put a cache before the exchange rates.\n")
    vault.tick()
    assert "id: " in (place / "idea.md").read_text()
    found = here.client.get("/api/search", query="cache exchange rates", project="global")["items"]
    assert "exchange rates" in json.dumps(found)
    # A file that is gone deletes nothing; a memory that is gone takes its file along.
    file.unlink()
    vault.tick()
    assert memory(here, first)
    vault.memory_made({**edited, "removed": False})
    vault.memory_made({"record_id": first["record_id"], "namespace": "", "removed": True})
    assert not file.exists()


def test_a_file_deletes_its_memory_where_that_is_wanted(
    here: RealDaemon, tmp_path: pathlib.Path
) -> None:
    kept = note(here, "the release train leaves on Tuesdays")
    vault = Vault({"directory": str(tmp_path / "vault"), "deletes": True})
    vault.start()
    vault.tick()
    only_file(tmp_path / "vault", kept).unlink()
    vault.tick()
    found = here.client.ask("POST", "/api/memories/batch", {"ids": [kept["record_id"]]})
    assert found["items"] == []


def webhooks(receiver: Receiver, **more: Any) -> Webhooks:
    return Webhooks({"to": [{"url": receiver.url, **more}]})


LEARNED = {"record_id": "mr_1", "kind": "observation", "title": "a canary title", "version": 1}


def test_what_cannot_be_delivered_is_tried_again_in_order_and_then_dropped(
    here: RealDaemon, receiver: Receiver
) -> None:
    hooks = webhooks(receiver, events=["memory_learned"])
    now = 1_000_000.0
    hooks.clock = lambda: now
    receiver.failing = 1
    hooks.memory_made(LEARNED)
    hooks.memory_made({**LEARNED, "record_id": "mr_2"})
    assert receiver.got == []
    now += RETRY_S[0]
    hooks.tick()
    assert [body["record_id"] for _, body in receiver.got] == ["mr_1", "mr_2"]
    receiver.failing = 1 + len(RETRY_S)
    hooks.memory_made({**LEARNED, "record_id": "mr_3"})
    for wait in RETRY_S:
        now += wait
        hooks.tick()
    hooks.memory_made({**LEARNED, "record_id": "mr_4"})
    assert [body["record_id"] for _, body in receiver.got][2:] == ["mr_4"]


def test_a_digest_is_sent_once_a_day_as_text_for_slack(
    here: RealDaemon, receiver: Receiver
) -> None:
    hooks = webhooks(receiver, events=["digest"], format="slack", text=True, digest_hour=0)
    now = 1_000_000_000.0
    hooks.clock = lambda: now
    hooks.tick()
    assert receiver.got == []  # the hour had passed when it was started
    for _ in range(2):
        now += 86_400
        hooks.tick()
        hooks.tick()
    texts = [body["text"] for _, body in receiver.got]
    assert len(texts) == 2 and all(text.startswith("Recollect today: ") for text in texts)


def test_only_beliefs_and_new_memories_are_told_and_text_only_where_wanted(
    here: RealDaemon, receiver: Receiver
) -> None:
    hooks = webhooks(receiver, text=True, events=["memory_learned", "belief_changed"])
    hooks.memory_made({**LEARNED, "kind": "episode"})
    hooks.memory_made({**LEARNED, "version": 2})
    hooks.memory_made({**LEARNED, "kind": "knowledge", "version": 2})
    hooks.memory_made(LEARNED)
    told = [(body["event"], body["title"]) for _, body in receiver.got]
    assert told == [("belief_changed", "a canary title"), ("memory_learned", "a canary title")]


def test_an_address_in_the_clear_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError, match="https only"):
        Webhooks({"to": [{"url": "http://example.com/hook"}]})


def test_a_signature_covers_the_time() -> None:
    assert signature("key", "1", b"body") != signature("key", "2", b"body")
