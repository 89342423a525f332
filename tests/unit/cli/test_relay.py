"""`recollect relay`: an event on standard input becomes a note of the web, once."""

import hashlib
import hmac
import io
import json
import pathlib

from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Done, Terminal

EVENT = json.dumps({
    "action": "closed", "sender": {"login": "ada"},
    "repository": {"full_name": "acme/billing"},
    "pull_request": {"number": 42, "title": "Cap the retries", "merged": True},
})  # fmt: skip


class _Input(io.TextIOWrapper):
    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()))


def relay(alone: Terminal, *arguments: str, typed: str = EVENT) -> Done:
    alone.patch.setattr(io, "StringIO", _Input)
    return alone("relay", "pull_request", *arguments, typed=typed)


def test_an_event_becomes_a_note_of_the_project_once(
    alone: Terminal, tmp_path: pathlib.Path
) -> None:
    home = RuntimeHome(tmp_path / "daemon")
    alone.lead_to(home)
    place = tmp_path / "billing"
    place.mkdir()
    (place / "Makefile").touch()
    home.client.ask("POST", "/api/notes", {"text": "here", "project": str(place)})
    try:
        assert 'change #42 "Cap the retries" was merged by ada' in relay(alone).stdout
        (tmp_path / "secret").write_text("s3cret\n")
        signature = hmac.new(b"s3cret", EVENT.encode(), hashlib.sha256).hexdigest()
        signed = ("--secret-file", str(tmp_path / "secret"), "--signature", f"sha256={signature}")
        assert "there already" in relay(alone, *signed).stdout
        (found,) = home.client.get("/api/memories", project="billing", concept="acme/billing#42")[
            "items"
        ]
        assert found["author"] == "web"
        assert "Nothing worth a note" in relay(alone, typed="{}").stdout
    finally:
        home.close()


def test_a_wrong_signature_stores_nothing(alone: Terminal, tmp_path: pathlib.Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    wrong = relay(alone, "--secret-file", str(secret), "--signature", "sha256=00")
    assert wrong.returncode == 2 and "the signature does not match the event" in wrong.stderr
    unsigned = relay(alone, "--secret-file", str(secret), "--signature", "")
    assert unsigned.returncode == 2 and "together" in unsigned.stderr
    half = relay(alone, "--signature", "sha256=00")
    assert half.returncode == 2 and "together" in half.stderr
