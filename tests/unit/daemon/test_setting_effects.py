"""Every setting does what it says (O19): which test shows it; here what no room shows alone."""

import ast
import json
import logging
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect.core import settings
from recollect.core.errors import BudgetSpent
from recollect.core.settings import Settings
from recollect.core.values import TextBody
from recollect.daemon.logs import start_log
from recollect.extract.condense import OVERSIZED
from recollect.llm.base import ModelRequest
from tests.fakes.daemons import REPOSITORY
from tests.fakes.extraction import Scripted
from tests.fakes.llm_server import LlmServer
from tests.fakes.runtime import RuntimeHome
from tests.make import NAMESPACE, event, record

HERE = "tests/unit/daemon/test_setting_effects.py"
# By setting: the test that fails when the daemon does not go by it.
SHOWN_BY = {
    "actor": f"{HERE}::test_actor_is_whose_memory_it_is",
    "store": "tests/unit/store/test_opening_postgres.py::test_the_setting_chooses_the_backend",
    "encryption_key": "tests/unit/store/test_encryption.py::"
    "test_nothing_is_readable_in_the_database_its_log_its_backups_or_after_a_crash",
    "port": "tests/e2e/test_daemon_life.py::test_a_taken_port_gives_the_next_one",
    "log_level": f"{HERE}::test_log_level_is_what_the_log_holds",
    "reserve_mb": f"{HERE}::test_reserve_mb_is_kept_free",
    "backup_days": f"{HERE}::test_backup_days_makes_backups_due",
    "retention": "tests/unit/lifecycle/test_maintenance.py::"
    "test_retention_by_kind_with_its_exceptions",
    "embedding": f"{HERE}::test_embedding_makes_search_semantic",
    "embedding_model": "tests/unit/embedding/test_switching.py::"
    "test_switching_embeds_anew_while_search_goes_on",
    "model_dir": "tests/e2e/test_recall.py::test_without_a_model_words_are_enough",
    "fusion": "tests/unit/cli/test_doors.py::test_rank_fusion_can_be_the_setting",
    "cache_mb": f"{HERE}::test_cache_mb_bounds_the_index_in_memory",
    "start_tokens": f"{HERE}::test_start_tokens_bound_what_a_session_starts_with",
    "prompt_tokens": "tests/unit/inject/test_recall.py::test_the_budget_holds_whatever_there_is",
    "hints": "tests/unit/inject/test_hints.py::"
    "test_without_our_tools_or_with_the_setting_off_nothing_is_asked",
    "summary_request": "tests/unit/inject/test_summary_request.py::"
    "test_nothing_is_asked_unless_it_is_switched_on_and_fits_in_what_a_prompt_may_take",
    "visible_line": f"{HERE}::test_visible_line_shows_the_user_that_something_was_told",
    "shadow": "tests/unit/inject/test_shadow.py::"
    "test_an_arm_outlives_the_daemon_and_its_share_is_the_setting",
    "extract_idle_s": f"{HERE}::test_extract_idle_s_is_how_long_a_project_must_be_quiet",
    "compact_backlog": f"{HERE}::test_compact_backlog_has_a_model_condense_a_large_one",
    "ignore": "tests/e2e/test_keepout.py::test_canaries_of_all_that_is_kept_out_are_nowhere",
    "share_sensitive": "tests/unit/service/test_sensitive.py::"
    "test_nothing_that_is_injected_tells_pay_without_consent",
    "provider": "tests/unit/llm/test_choose.py::test_each_route_has_a_pinned_small_model",
    "agent": f"{HERE}::test_agent_and_llm_model_are_who_extracts",
    "llm_model": f"{HERE}::test_agent_and_llm_model_are_who_extracts",
    "llm_base_url": "tests/unit/llm/test_choose.py::"
    "test_what_is_chosen_is_metered_and_a_local_server_is_free",
    "acp_command": "tests/unit/llm/test_choose.py::"
    "test_what_is_chosen_is_metered_and_a_local_server_is_free",
    "daily_tokens": f"{HERE}::test_daily_tokens_and_daily_usd_are_what_a_day_may_cost",
    "daily_usd": f"{HERE}::test_daily_tokens_and_daily_usd_are_what_a_day_may_cost",
    "plugins": "tests/unit/plugins/test_host.py::"
    "test_nothing_of_a_plugin_runs_that_is_not_switched_on",
}


def test_every_setting_has_a_test_that_shows_its_effect() -> None:
    assert set(SHOWN_BY) == {one["name"] for one in settings.described()}
    for name, test in SHOWN_BY.items():
        path, _, function = test.partition("::")
        text = (REPOSITORY / path).read_text()
        written = {one.name for one in ast.walk(ast.parse(text))
                   if isinstance(one, ast.FunctionDef)}  # fmt: skip
        assert function in written, f"{name}: {test}"
        assert name in text.lower(), f"{name}: {path} does not set it"


Homes = Callable[..., RuntimeHome]


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Iterator[Homes]:
    made: list[RuntimeHome] = []

    def make(**chosen: Any) -> RuntimeHome:
        made.append(RuntimeHome(tmp_path / f"home{len(made)}", **chosen))
        return made[-1]

    yield make
    for one in made:
        one.close()


def note(home: RuntimeHome, text: str, **more: Any) -> Any:
    return home.client.ask("POST", "/api/notes", {"text": text, "project": "global", **more})


def test_actor_is_whose_memory_it_is(home: Homes) -> None:
    for actor in ("grace", "alan"):
        kept = note(home(actor=actor), "The port is 7325")
        assert kept["record"]["namespace"] == f"/actor/{actor}/"


@pytest.mark.parametrize(("level", "kept"), [("warning", False), ("info", True)])
def test_log_level_is_what_the_log_holds(tmp_path: pathlib.Path, level: str, kept: bool) -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.raiseExceptions
    try:
        start_log(Settings(home=str(tmp_path), log_level=level), to_terminal=False)
        logging.getLogger("recollect").info("a quiet word")
        logging.getLogger("recollect").warning("a loud word")
        for handler in root.handlers:
            handler.close()
    finally:
        root.handlers, logging.raiseExceptions = before[0], before[2]
        root.setLevel(before[1])
    text = (tmp_path / "logs" / "recollect.log").read_text()
    assert "a loud word" in text and ("a quiet word" in text) == kept


def test_reserve_mb_is_kept_free(home: Homes) -> None:
    with_reserve, without = home(reserve_mb=1), home(reserve_mb=0)
    assert (with_reserve.home / "reserve").stat().st_size == 1 << 20
    assert not (without.home / "reserve").exists()


def test_backup_days_makes_backups_due(home: Homes) -> None:
    never, often, seldom = home(backup_days=0), home(backup_days=1), home(backup_days=7)
    for one in (never, often, seldom):
        one.runtime.backups.create()
        one.clock.advance(days=3)
    assert [one.runtime.backups.due() for one in (never, often, seldom)] == [False, True, False]


def test_embedding_makes_search_semantic(home: Homes) -> None:
    for wanted in (True, False):
        made = home(embedding=wanted)
        note(made, "The retry cap is five attempts")
        made.embed()
        assert made.client.get("/api/search", query="retry cap")["semantic"] is wanted


def test_cache_mb_bounds_the_index_in_memory(home: Homes) -> None:
    loaded = []
    for size in (16, 1000):
        made = home(cache_mb=size)
        spaces = [f"/actor/ada/project/{number}/" for number in range(3)]
        for namespace in spaces:
            words = (" ".join(f"w{namespace[-2]}x{n}x{m}" for m in range(400)) for n in range(150))
            made.runtime.memories.add([record(text[:200], namespace=namespace, detail=text)
                                       for text in words])  # fmt: skip
        cache = made.runtime.recall().index_cache
        for namespace in spaces:
            cache.fill([namespace])
        loaded.append(sum(cache.ready([namespace]) for namespace in spaces))
    assert loaded[0] < loaded[1] == 3


def test_start_tokens_bound_what_a_session_starts_with(home: Homes, tmp_path: pathlib.Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "Makefile").touch()
    here, told = str(tmp_path / "work"), {}
    for tokens in (0, 60, 400):
        made = home(start_tokens=tokens)
        for number in range(12):
            rule = {"type": "constraint", "title": f"Never push to the branch release-{number}",
                    "project": here}  # fmt: skip
            made.client.ask("POST", "/api/knowledge", rule)
        payload = {"session_id": "s", "cwd": here, "source": "startup"}
        told[tokens] = made.run_hook("claude-code", "SessionStart", payload, here).stdout
    assert told[0] == b"" and 0 < told[60].count(b"release-") < told[400].count(b"release-")


def test_visible_line_shows_the_user_that_something_was_told(
    home: Homes, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "Makefile").touch()
    here, shown = str(tmp_path / "work"), {}
    for wanted in (True, False):
        made = home(visible_line=wanted)
        rule = {"type": "constraint", "title": "Never push to main", "project": here}
        made.client.ask("POST", "/api/knowledge", rule)
        payload = {"session_id": "s", "cwd": here, "source": "startup"}
        said = json.loads(made.run_hook("claude-code", "SessionStart", payload, here).stdout)
        assert "Never push to main" in said["hookSpecificOutput"]["additionalContext"]
        shown[wanted] = "systemMessage" in said
    assert shown == {True: True, False: False}


def test_extract_idle_s_is_how_long_a_project_must_be_quiet(home: Homes) -> None:
    begun = {}
    for seconds in (5, 60):
        made = home(extract_idle_s=seconds)
        made.put([event(body=TextBody(content="The port is 7325"))])
        watcher = made._learning._watcher
        watcher.step()
        made.clock.advance(seconds=10)
        watcher.step()
        begun[seconds] = NAMESPACE in watcher.busy
    assert begun == {5: True, 60: False}


def test_agent_and_llm_model_are_who_extracts(home: Homes) -> None:
    for agent, model in (("claude-code", "small-1"), ("codex", "small-2")):
        provider = home(provider="agent", agent=agent, llm_model=model)._learning.provider
        assert provider is not None and (provider.name, provider.model) == (agent, model)


def test_daily_tokens_and_daily_usd_are_what_a_day_may_cost(
    home: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ModelRequest(NAMESPACE, "judge", "", "same?", 20)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "never sent")
    with LlmServer() as server:
        local = {"provider": "openai", "llm_base_url": server.openai_url, "llm_model": "m"}
        free = home(**local, daily_usd=0.0)._learning.provider
        assert free is not None and free.complete(request).text == "an answer"
        for limited in ({**local, "daily_tokens": 1}, {"provider": "anthropic", "daily_usd": 0.0}):
            provider = home(**limited)._learning.provider
            assert provider is not None
            with pytest.raises(BudgetSpent):
                provider.complete(request)


def test_compact_backlog_has_a_model_condense_a_large_one(home: Homes) -> None:
    asked = {}
    for wanted in (True, False):
        made = home(compact_backlog=wanted)
        model = Scripted("<skip/>", compact="<summary>what happened</summary>")
        made._learning.provider = model
        text = "words of a long day " * 390
        count = OVERSIZED // len(text) + 2
        made.put([event(body=TextBody(content=f"{number} {text}")) for number in range(count)])
        made.extract(NAMESPACE)
        asked[wanted] = model.asked("compact") > 0
    assert asked == {True: True, False: False}
