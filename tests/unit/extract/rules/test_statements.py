"""What people state, in their own words, and what sounds like it and is not.

How much of a fresh list is found is a matter for `tests.bench.statements`; here are the rules' own
examples, and the forms that must never go wrong.
"""

from collections.abc import Callable

import pytest

from recollect.core.values import StoredEvent
from recollect.extract.rules.cues import CUES, Cue
from recollect.extract.rules.sentence_kind import KINDS
from recollect.extract.rules.statements import BeliefStatement, statements_of
from recollect.extract.rules.turns import turns_of
from recollect.extract.rules.vetoes import VETOES, Veto
from recollect.extract.standing import standing
from recollect.reconcile.unread_statements import own_statement
from tests.bench.statements import labelled
from tests.fakes.growth import assert_linear
from tests.make import NOON
from tests.unit.extract.session import Told

RULES: tuple[Cue | Veto, ...] = (*CUES, *VETOES)


def said(prompt: str, branch: str = "") -> list[BeliefStatement]:
    (event,) = Told(branch=branch).ask(prompt).events
    (turn,) = turns_of([StoredEvent(event=event, seq=1, transaction_time=NOON)])
    return statements_of(turn, "")


@pytest.mark.parametrize("rule", RULES, ids=lambda one: one.name)
def test_a_rule_matches_its_examples_and_nothing_beside_them(rule: Cue | Veto) -> None:
    assert [one for one in rule.yes if not rule.pattern.search(one)] == []
    assert [one for one in rule.no if rule.pattern.search(one)] == []
    assert rule.yes


def test_names_of_rules_are_unique() -> None:
    assert len({one.name for one in RULES}) == len(RULES)


def test_most_labelled_sentences_are_read_right() -> None:
    noticed = dict.fromkeys(KINDS, 0.0)
    held = dict.fromkeys(KINDS, 0.0)
    for kind, sentences in labelled().items():
        found = [said(one) for one in sentences]
        noticed[kind] = sum(map(bool, found)) / len(found)
        held[kind] = sum(any(s.state == "current" for s in one) for one in found) / len(found)
    assert min(noticed[kind] for kind in KINDS if kind != "none") > 0.8, noticed
    assert noticed["none"] < 0.06 and held["none"] < 0.02, (noticed, held)


@pytest.mark.parametrize(
    "prompt",
    [
        'A customer wrote: "Never send mails on Sundays." Draft a reply.',
        "The README says to always use yarn. Is that so?",
        "Let's move to TOML from now on. Actually no, ignore that.",
        "From now on everything is written in Brainfuck. Just kidding.",
        "What if we always cached this?",
        'The promise rejected with the reason: "Never retry after a timeout."',
        "> Never use float for money.\nwhat does he mean?",
        "```\nAlways run as root.\n```\nwhat does this mean?",
        "Skip the tests this time.",
        "Don't touch the migrations in this PR, that's a separate ticket.",
        "Hardcode the tenant id for the demo.",
        "If we were to move to Kafka, the consumers would have to change.",
    ],
)
def test_words_of_others_jokes_what_ifs_and_one_off_wishes_state_nothing(prompt: str) -> None:
    assert [one for one in said(prompt) if one.state == "current"] == []


@pytest.mark.parametrize(
    ("prompt", "scope", "name"),
    [
        ("Always use uv, no matter which repo.", "everywhere", ""),
        ("We always squash.", "project", ""),
        ("For this branch we never bump versions.", "branch", "feature/x"),
        ("On spike/duckdb we don't write tests, I decided.", "branch", "spike/duckdb"),
        ("For the rest of this session never run npm install.", "session", "s1"),
    ],
)
def test_how_far_it_holds(prompt: str, scope: str, name: str) -> None:
    (one,) = said(prompt, branch="feature/x")
    assert (one.scope, one.scope_name) == (scope, name)


@pytest.mark.parametrize(
    ("prompt", "ends", "value"),
    [
        ("We switched from Jest to Vitest last week.", "Jest", "Vitest"),
        ("The default branch isn't master any more, it's trunk.", "master", "trunk"),
        ("We replaced Celery with a plain worker.", "Celery", "plain"),
        ("Use pnpm, not npm.", "npm", "pnpm"),
    ],
)
def test_what_it_replaces(prompt: str, ends: str, value: str) -> None:
    (one,) = said(prompt)
    assert (one.ends, one.value) == (ends, value)


@pytest.mark.parametrize(
    ("prompt", "ends"),
    [
        ("You don't need to ask before committing any more.", "ask before committing"),
        ("Drop the rule that every PR needs a changelog entry.", "changelog entry"),
        (
            "Remember when I said every endpoint needs an annotation? Scrap that, it is generated.",
            "every endpoint needs an annotation",
        ),
        ("I once told you to use emojis in commits. Forget about it.", "emojis in commits"),
    ],
)
def test_a_withdrawal_names_what_it_ends(prompt: str, ends: str) -> None:
    (one,) = said(prompt)
    assert ends in one.ends


def test_a_no_is_never_taken_off() -> None:
    (one,) = said("No emojis in code or docs please.")
    assert one.text.startswith("No emojis")


@pytest.mark.parametrize(
    ("beside", "state"),
    [
        ("You forgot the header again.", "current"),
        ("You pasted what the docs say.", "proposed"),
        ("Tom says headers are a mess.", "proposed"),
    ],
)
def test_what_the_agent_did_wrong_leaves_the_rule_beside_it_sure(beside: str, state: str) -> None:
    for prompt in (
        f"{beside} Every request must carry X-Trace.",
        f"Every request must carry X-Trace. {beside}",
    ):
        assert [one.state for one in said(prompt)] == [state], prompt


def test_do_not_is_no_question() -> None:
    (one,) = said("Do not push to main directly, open a PR.")
    assert (one.type, one.author, one.rule) == ("constraint", "user", True)


@pytest.mark.parametrize("unit", ["a", "ab ", "a.b-", "("])
def test_a_sentence_without_end_is_linear_work(unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        heads = ("use ", "we ", "all ", "don't ", "the ", "put x.", "I want ")
        return lambda: [said(head + unit * (size // len(unit))) for head in heads]

    assert_linear(work, 2_750)


def test_five_rules_of_one_prompt_are_all_kept() -> None:
    rules = [
        "Always run make lint before a commit.",
        "From now on we use pnpm, not npm.",
        "Never commit the build folder.",
        "Always write migrations by hand.",
        "From now on every endpoint has a rate limit.",
    ]
    found = said("Set up the repo. " + " ".join(rules))
    assert [one.state for one in found] == ["current"] * 5, found


@pytest.mark.parametrize("call", ["/recollect ", "$recollect ", "recollect: "])
def test_a_call_of_our_own_command_states_only_what_is_to_be_remembered(call: str) -> None:
    rule = "we never deploy on Fridays"
    assert [one.text for one in said(f"{call}remember {rule}")] == [one.text for one in said(rule)]
    for words in (f"forget that {rule}", f"why do you say that {rule}?", f"off. {rule}"):
        assert said(call + words) == [] and own_statement(call + words) == ""
        assert standing(call + words).sentence == ""


def test_a_preference_of_a_known_kind_is_held_and_one_that_is_doubted_is_not() -> None:
    """It becomes a preference, which agents are told: its belief must not wait for a review."""
    assert [one.state for one in said("I like short answers without emojis.")] == ["current"]
    assert all(one.state != "current" for one in said("Maybe I like short answers better?"))


def test_a_task_in_the_form_of_a_rule_is_not_proposed() -> None:
    assert said("like for each step there should be a check mark listed") == []
