"""A plugin that sends what happens to addresses that the user names.

In: memories, alarms and the day's figures. Out: signed HTTP requests, to the addresses in
plugins/webhooks.toml and to no other. Ids and counts only, unless `text = true`. What cannot be
delivered is tried again after 1, 5, 25 and 125 minutes, and then dropped.
"""

import hashlib
import hmac
import http.client
import json
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

import msgspec

from recollect.client import Client
from recollect.core import settings
from recollect.core.addresses import wrong_with
from recollect.plugins import Json, Plugin

Kind = Literal["memory_learned", "belief_changed", "alarm", "digest"]
TIMEOUT_S = 5.0
RETRY_S = (60.0, 300.0, 1500.0, 7500.0)
WAITING = 200  # deliveries per address; the oldest goes first
PROMPT_S, TICK_S = 4.0, 20.0  # how long may be sent after a memory, and once a minute
_TURN = "episode"
_BELIEF = "knowledge"
_LINE_CHARS = 200
_LINES = 10


@dataclass(frozen=True)
class Address:
    """One [[to]] of the options."""

    url: str
    secret: str = ""
    events: tuple[Kind, ...] = ("memory_learned", "belief_changed", "alarm", "digest")
    text: bool = False  # whether titles of memories and messages of alarms are sent
    format: Literal["json", "slack"] = "json"
    digest_hour: int = 9  # local time


@dataclass
class _Delivery:
    body: bytes
    tries: int = 0
    due: float = 0.0


@dataclass
class _Outbox:
    address: Address
    waiting: deque[_Delivery] = field(default_factory=lambda: deque(maxlen=WAITING))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An address that the user named may not send us to another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Webhooks(Plugin):
    def __init__(self, options: Json) -> None:
        super().__init__(options)
        addresses = msgspec.convert(options.get("to", []), tuple[Address, ...])
        for one in addresses:
            if problem := wrong_with(one.url):
                raise ValueError(f"{one.url} is not a valid URL: {problem}")
        self._boxes = [_Outbox(one) for one in addresses]
        self._lock = threading.Lock()
        self._alarms: set[str] = set()
        self._digested: dict[str, date] = {}
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._client = Client(settings.load())
        self.clock: Callable[[], float] = time.time

    # --- what happened ---

    def memory_made(self, memory: Json) -> None:
        removed = bool(memory.get("removed"))
        if not removed and memory.get("kind") == _TURN:
            return
        first = not removed and memory.get("version", 1) == 1
        kind: Kind = "memory_learned" if first else "belief_changed"
        if kind == "belief_changed" and not removed and memory.get("kind") != _BELIEF:
            return
        told = {"record_id": memory["record_id"], "kind": memory.get("kind"), "removed": removed,
                "state": memory.get("state")}  # fmt: skip
        self._put(kind, told, {"title": memory.get("title", "")})
        self._deliver(PROMPT_S)

    def tick(self) -> None:
        wanted = {event for box in self._boxes for event in box.address.events}
        if "alarm" in wanted:
            self._new_alarms()
        if "digest" in wanted:
            self._digests()
        self._deliver(TICK_S)

    def _new_alarms(self) -> None:
        found = self._client.get("/api/alarms")["items"]
        named = {f"{one['name']} {one['message']}": one for one in found if one["level"] != "note"}
        for key in named.keys() - self._alarms:
            one = named[key]
            self._put("alarm", {"name": one["name"], "level": one["level"]},
                      {"message": one["message"], "hint": one["hint"]})  # fmt: skip
        self._alarms = set(named)

    def _digests(self) -> None:
        """Once a day at each address's hour, if the daemon ran before that hour."""
        now = datetime.fromtimestamp(self.clock())
        for box in self._boxes:
            if "digest" not in box.address.events:
                continue
            url = box.address.url
            due = now.date() if now.hour >= box.address.digest_hour else None
            last = self._digested.setdefault(url, due or date.min)
            if due is not None and last < due:
                self._digested[url] = due
                self._put_digest(box)

    def _put_digest(self, box: _Outbox) -> None:
        report = self._client.get("/api/report", period="day", project="all")
        lists = {
            name: [str(one["text"])[:_LINE_CHARS] for one in report[name][:_LINES]]
            for name in ("learnings", "tasks", "next_steps")
        }
        self._append(box, "digest", {"counts": report["overview"]}, lists)

    # --- sending ---

    def _put(self, kind: Kind, told: dict[str, Any], text: dict[str, Any]) -> None:
        for box in self._boxes:
            if kind in box.address.events:
                self._append(box, kind, told, text)

    def _append(self, box: _Outbox, kind: Kind, told: dict[str, Any], text: dict[str, Any]) -> None:
        message = {"event": kind, "at": round(self.clock()), **told}
        if box.address.text:
            message |= text
        if box.address.format == "slack":
            message = {"text": sentence(message)}
        with self._lock:
            box.waiting.append(_Delivery(json.dumps(message, ensure_ascii=False).encode()))

    def _deliver(self, seconds: float) -> None:
        """Send what is due, for a while, in order; what fails waits for its next try."""
        until = time.monotonic() + seconds
        for box in self._boxes:
            while box.waiting and box.waiting[0].due <= self.clock() and time.monotonic() < until:
                self._try(box, box.waiting[0])

    def _try(self, box: _Outbox, delivery: _Delivery) -> None:
        try:
            self._send(box.address, delivery.body)
        except (OSError, http.client.HTTPException):  # refused, late, no such name, no HTTP
            delivery.tries += 1
            if delivery.tries <= len(RETRY_S):
                delivery.due = self.clock() + RETRY_S[delivery.tries - 1]
                return
        with self._lock:
            if box.waiting and box.waiting[0] is delivery:  # else newer ones pushed it out
                box.waiting.popleft()

    def _send(self, address: Address, body: bytes) -> None:
        stamp = str(round(self.clock()))
        headers = {"Content-Type": "application/json", "User-Agent": "recollect"}
        if address.secret:
            headers["X-Recollect-Timestamp"] = stamp
            headers["X-Recollect-Signature"] = signature(address.secret, stamp, body)
        request = urllib.request.Request(address.url, body, headers, method="POST")
        with self._opener.open(request, timeout=TIMEOUT_S):
            pass


def signature(secret: str, stamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the time and the body, so that an old request cannot be sent again."""
    digest = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256)
    return "sha256=" + digest.hexdigest()


def sentence(message: dict[str, Any]) -> str:
    """A message as one short text, as Slack and its like expect it."""
    match message["event"]:
        case "digest":
            counts = ", ".join(f"{value} {name}" for name, value in message["counts"].items())
            lines = [
                f"• {item}"
                for value in message.values()
                if isinstance(value, list)
                for item in value
            ]
            return "\n".join([f"Recollect today: {counts}", *lines])
        case "alarm":
            return f"Recollect {message['level']}: {message.get('message', message['name'])}"
        case kind:
            what = "removed" if message["removed"] else kind.replace("_", " ")
            named = message.get("title") or message["record_id"]
            return f"Recollect, {what}: {named}"
