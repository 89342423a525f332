"""A Runtime in this process: its stages, its doors, and what it leaves behind."""

import json
import pathlib
import threading

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.daemon import serving
from recollect.daemon.runtime import Runtime
from tests.fakes.runtime import RuntimeHome
from tests.make import NAMESPACE
from tests.unit.extract.session import Told

RULE = "From now on always use pnpm, never npm, in packages/ui."


def own_threads() -> set[str]:
    """Without the store's, which opens with it."""
    names = {thread.name for thread in threading.enumerate()}
    return {name for name in names if name.startswith("recollect-")} - {"recollect-writer"}


def test_building_one_opens_no_socket_and_starts_no_thread(
    settings: Settings, tmp_path: pathlib.Path, clock: ManualClock
) -> None:
    before = own_threads()
    runtime = Runtime(settings, clock)
    assert own_threads() == before
    assert not list(pathlib.Path(settings.directory).glob("*.sock"))
    assert runtime.loaded_recall is None and runtime.loaded_learning is None
    runtime.close()
    assert not (pathlib.Path(settings.directory) / "daemon.json").exists()


def test_what_is_extracted_is_found_at_the_http_door(runtime_home: RuntimeHome) -> None:
    told = Told().ask(RULE).answer("Added it to docs/rules.md.").edit("docs/rules.md")
    runtime_home.put(told.signal("session-end").events)
    runtime_home.clock.advance(minutes=10)
    runtime_home.extract(NAMESPACE)
    found = runtime_home.client.get("/api/search", query="pnpm", namespace=NAMESPACE)
    assert any("pnpm" in one["record"]["title"] for one in found["items"])
    assert runtime_home.client.get("/healthz")["unextracted"]["events"] == 0


def test_health_goes_by_the_given_clock(runtime_home: RuntimeHome) -> None:
    runtime_home.clock.advance(hours=2)
    health = runtime_home.client.get("/healthz")
    assert health["status"] == "ok" and health["uptime_s"] == 7200
    assert health["embedding"]["state"] == "off" and health["doors"] == {}


def test_the_doors_want_the_token_in_process_too(runtime_home: RuntimeHome) -> None:
    status, headers, body = runtime_home.http("GET", "/healthz", token=False)
    assert status == 401 and headers["www-authenticate"] == "Bearer"
    assert json.loads(body)["error"]["code"] == "no_token"
    assert runtime_home.http("GET", "/healthz", headers={"Host": "example.com"})[0] == 403


def test_mcp_lists_its_tools_in_process(runtime_home: RuntimeHome) -> None:
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    accept = {"Accept": "application/json, text/event-stream"}
    status, _, body = runtime_home.http("POST", "/mcp", asked, accept)
    assert status == 200, body
    assert "search_memory" in {one["name"] for one in json.loads(body)["result"]["tools"]}


def test_daemons_that_start_together_take_different_ports() -> None:
    first = serving._listen(17_325)
    second = serving._listen(first.getsockname()[1])
    try:
        assert second.getsockname()[1] != first.getsockname()[1]
    finally:
        first.close()
        second.close()
