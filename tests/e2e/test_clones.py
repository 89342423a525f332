"""A second clone, and a folder that only says that it is one, as the user sees them."""

import pathlib
import time

from tests.e2e.test_commands import run
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture.repositories import git, repository

REMOTE = "git@example.org:team/shop.git"


def prompt(daemon: RealDaemon, where: pathlib.Path, text: str) -> None:
    payload = {"session_id": where.name, "cwd": str(where), "prompt": text}
    assert daemon.run_hook("claude-code", "UserPromptSubmit", payload).returncode == 0


def told(daemon: RealDaemon, where: pathlib.Path) -> set[str]:
    return {event["body"].get("content") for event in daemon.events(str(where))}


def wait_for(daemon: RealDaemon, key: str, root: pathlib.Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while str(root) not in str(daemon.client.get("/healthz")["clones"][key]):
        assert time.monotonic() < deadline, daemon.log()
        time.sleep(0.05)


def test_a_clone_is_joined_and_a_claim_is_offered(
    daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    daemon.environment |= {"NO_COLOR": "1"}
    shop = repository(tmp_path / "shop")
    git(shop, "remote", "add", "origin", REMOTE)
    prompt(daemon, shop, "The till rounds down")
    git(tmp_path, "clone", "-q", f"file://{shop}", "second")
    git(tmp_path / "second", "remote", "set-url", "origin", REMOTE)
    prompt(daemon, tmp_path / "second", "In the second clone")
    wait_for(daemon, "joined", tmp_path / "second")
    assert told(daemon, shop) == {"The till rounds down", "In the second clone"}

    evil = repository(tmp_path / "unpacked")
    git(evil, "remote", "add", "origin", REMOTE)
    prompt(daemon, evil, "Hello")
    wait_for(daemon, "offers", evil)
    assert told(daemon, evil) == {"Hello"}
    status = run(daemon, "status").stdout
    assert f"{evil} says that it is shop (" in status
    assert "but its history contains none of the known commits" in status
    assert f"recollect separate {tmp_path / 'second'}" in status
    (offer,) = daemon.client.get("/healthz")["clones"]["offers"]
    join = ["move", "--all", "--project", offer["project_id"], "--to", offer["claims"]]
    assert f"recollect {' '.join(join)}" in status
    assert run(daemon, *join, "--yes").returncode == 0
    assert daemon.client.get("/healthz")["clones"]["offers"] == []
    assert told(daemon, shop) == {"The till rounds down", "In the second clone", "Hello"}

    apart = run(daemon, "separate", str(evil))
    assert apart.returncode == 0 and "is a project of its own" in apart.stdout, apart.stderr
    assert told(daemon, evil) == {"Hello"} and "Hello" not in told(daemon, shop)
    assert daemon.client.get("/healthz")["clones"]["offers"] == []
    prompt(daemon, evil, "Again")
    assert told(daemon, evil) == {"Hello", "Again"}
