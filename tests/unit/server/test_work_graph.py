"""What agents did, as entities and relationships at every door, without a model and unstored."""

from typing import Any

import pytest

from recollect.client import Refused
from recollect.core.errors import BadInput
from recollect.core.values import Entity
from recollect.service import graph_edit, tools
from tests.fakes.runtime import RuntimeHome
from tests.fakes.stored import put_graph


def entities(home: RuntimeHome, **asked: str) -> dict[str, dict[str, Any]]:
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return {one["name"]: one for one in home.client.get(f"/api/entities?{query}")["items"]}


def test_entities_of_every_type_are_listed_and_found(worked: RuntimeHome) -> None:
    found = {(one["type"], name) for name, one in entities(worked).items()}
    assert found >= {
        ("file", "src/client.py"), ("file", "tests/test_client.py"), ("symbol", "Client"),
        ("command", "pytest -q"), ("package", "httpx"), ("branch", "fix/retry"), ("person", "ada"),
    }  # fmt: skip
    assert list(entities(worked, type="package")) == ["httpx"]
    assert "src/client.py" in entities(worked, query="client.py")


def test_an_entity_its_neighbours_and_paths_are_reached_by_id_and_by_name(
    worked: RuntimeHome,
) -> None:
    known = entities(worked)
    one = worked.client.get(f"/api/entities/{known['src/client.py']['entity_id']}")
    told = {(each["source"], each["relationship"]["type"], each["target"])
            for each in one["relations"]}  # fmt: skip
    assert told == {
        ("tests/test_client.py", "tests", "src/client.py"),
        ("src/client.py", "edited_with", "tests/test_client.py"),
        ("pytest -q", "fixed_by", "src/client.py"),
        ("src/client.py", "defines", "Client"),
        ("src/client.py", "edited_on", "fix/retry"),
        ("src/client.py", "edited_by", "ada"),
    }
    near = worked.client.get("/api/entities/client.py/neighbours")
    assert {"Client", "pytest -q", "ada"} <= {each["name"] for each in near["entities"]}
    way = worked.client.get("/api/graph/paths?source=httpx&target=ada")["paths"][0]
    assert len(way["relationships"]) == 2


def test_an_agent_is_told_of_them_in_a_line_per_type(worked: RuntimeHome) -> None:
    text = tools.call(worked.runtime, "recall_entity", {"name": "pytest -q"}, None)
    assert "**pytest -q** (command) run 4 times" in text
    assert "- pytest -q fixed by src/client.py, tests/test_client.py" in text
    assert "- pytest -q run by ada" in text


def test_what_the_store_knows_by_the_same_name_is_one_entity(worked: RuntimeHome) -> None:
    work = entities(worked)["httpx"]
    stored = Entity(entity_id="ent_x", namespace=work["namespace"], name="HTTPX", type="library",
                    description="an HTTP client", mentions=7)  # fmt: skip
    put_graph(worked.runtime.store, stored)
    (one,) = entities(worked, query="httpx", type="package").values()
    assert (one["entity_id"], one["description"]) == ("ent_x", "an HTTP client")
    for entity_id in ("ent_x", work["entity_id"]):
        told = worked.client.get(f"/api/entities/{entity_id}")
        assert [each["target"] for each in told["relations"]] == ["uv add httpx"]


def test_they_were_not_there_before_the_work(worked: RuntimeHome) -> None:
    known = entities(worked)["httpx"]
    asked = f"/api/entities/{known['entity_id']}?as_of="
    assert worked.client.get(asked + known["created_at"])["entity"]["name"] == "httpx"
    with pytest.raises(Refused, match="there is no entity"):
        worked.client.get(asked + "2001-01-01T00:00:00Z")


def test_they_go_with_the_session_that_is_forgotten(worked: RuntimeHome) -> None:
    assert "httpx" in entities(worked)
    worked.client.ask("POST", "/api/forget", {"session_id": "s", "dry_run": False})
    assert entities(worked) == {}


def test_they_cannot_be_changed_by_themselves(worked: RuntimeHome) -> None:
    known = entities(worked)["httpx"]["entity_id"]
    with pytest.raises(BadInput, match="made from what sessions did"):
        graph_edit.remove(worked.runtime, known)
    change = graph_edit.GraphItemChange(value="x")
    with pytest.raises(BadInput, match="made from what sessions did"):
        graph_edit.edit(worked.runtime, known, change)
    assert (
        worked.runtime.store.graph.all(worked.runtime.store.projects.namespaces()[0], Entity) == []
    )
