"""Rules in scripts that put no space between words are beliefs like others."""

import pytest

from recollect.core.values import Preference
from tests.fakes.project_sessions import ProjectSessions


@pytest.mark.parametrize(
    ("rule", "withdrawal"),
    [
        ("从现在开始一律使用pnpm。", "不再使用pnpm了。"),
        ("今後は必ずpnpmを使ってください。", "pnpmはもう使わないでください。"),
        ("今後はテストを必ず書いてください。", "テストはもう書かなくていいです。"),
    ],
)
def test_a_rule_without_spaces_is_held_told_with_an_id_and_ended(
    sessions: ProjectSessions, rule: str, withdrawal: str
) -> None:
    sessions.session(rule)
    (held,) = sessions.beliefs()
    assert (held.title, held.state, held.is_rule) == (rule, "current", True)
    assert f"{rule} [{held.record_id[-5:].lower()}]" in sessions.told_at_start()
    (preference,) = sessions.home.runtime.store.graph.all(sessions.namespace, Preference)
    assert set(preference.source_event_ids) == set(held.source_event_ids)
    sessions.session(withdrawal)
    assert rule not in sessions.titles("current", "disputed")
    assert rule not in sessions.told_at_start()
    left = sessions.home.runtime.store.graph.all(sessions.namespace, Preference)
    assert rule not in [one.value for one in left]
