"""Secrets that are told: as a program's argument, in another language, in a key that was cut."""

import random
from typing import Any

import pytest

from recollect.privacy.rules.languages import TONGUES
from recollect.privacy.rules.programs import PROGRAMS
from recollect.privacy.secrets import redact_text
from tests import privacy_fresh as fresh
from tests import privacy_told as told
from tests.bench.told import alarms, leaks
from tests.privacy_samples import expand
from tests.torture import leaks as attacks

_RULES: list[Any] = [*PROGRAMS, *TONGUES]
YES = [text for rule in _RULES for text in rule.yes]
NO = [text for rule in _RULES for text in rule.no]


@pytest.mark.parametrize("template", YES)
def test_a_rule_finds_the_secret_of_its_own_example(template: str) -> None:
    for seed in range(3):
        text = expand(template, random.Random(f"{template}{seed}"))
        clean, counts = redact_text(text)
        assert counts, text
        assert clean.startswith(template.split("{")[0]), clean
        assert redact_text(clean) == (clean, {})


@pytest.mark.parametrize("text", NO)
def test_a_rule_leaves_its_counter_examples_whole(text: str) -> None:
    assert redact_text(text) == (text, {})


def test_a_password_given_to_a_program_goes() -> None:
    left, total = leaks(told.COMMANDS)
    assert total > 700
    assert [case[3] for case in left] == []


@pytest.mark.parametrize("language", told.SENTENCES)
def test_a_password_told_in_a_sentence_goes_if_it_is_no_plain_word(language: str) -> None:
    left, total = leaks({language: told.SENTENCES[language]})
    looks = [case for case in left if case[1] != "letters"]
    assert len(looks) <= total // 16, looks


def test_a_secret_in_an_address_an_error_text_or_a_file_of_settings_goes() -> None:
    left, total = leaks(told.PLACES)
    assert [case[3] for case in left if case[0] == "env file"] == []
    assert len([case for case in left if case[1] != "letters"]) <= total // 25, left


def test_the_second_set_written_after_the_rules_stays_as_good() -> None:
    left, total = leaks(fresh.COMMANDS)
    assert len(left) <= total // 16, left
    told_left, total = leaks(fresh.SENTENCES)
    looks = [case for case in told_left if case[1] != "letters"]
    assert len(looks) <= total // 32, looks
    sentences = [text for group in fresh.SENTENCE_MISSES.values() for text in group]
    assert len(alarms((*fresh.COMMAND_MISSES, *sentences))) <= 1


def test_what_only_looks_like_one_stays() -> None:
    sentences = [text for group in told.SENTENCE_MISSES.values() for text in group]
    assert alarms((*told.COMMAND_MISSES, *told.PLACE_MISSES, *sentences)) == []


def test_a_key_that_was_cut_goes_whatever_stands_before_its_lines() -> None:
    report = attacks.keys(random.Random(18), 240)
    assert report.tries == 240
    assert report.failures == []


def test_a_command_is_read_in_quotes_and_over_lines() -> None:
    for text, secret in (
        ('{"command": "mysql -u root -pTiger42x shop"}', "Tiger42x"),
        ("run `redis-cli -a kaffee2024` first, don't wait", "kaffee2024"),
        ("docker login \\\n  -u bob \\\n  -p Sommer2024 \\\n  reg.test", "Sommer2024"),
        ('bash -c "echo hunter2x | sudo -S ls"', "hunter2x"),
        ("C:\\> net use Z: \\\\nas\\share Winter99x /user:bob", "Winter99x"),
        ('"cmd":"mysql -uroot -p\\"Tiger 42\\" shop"', "Tiger 42"),
    ):
        clean, _ = redact_text(text)
        assert secret not in clean, clean
        before, after = text.split(secret)
        assert clean.startswith(before), clean
        assert clean.endswith(after), clean
