"""Secrets that are told: as a program's argument, in another language, in a key that was cut."""

import random
from typing import Any

import pytest

from recollect.privacy.rules.languages import TONGUES
from recollect.privacy.rules.programs import PROGRAMS
from tests import privacy_fresh as fresh
from tests import privacy_told as told
from tests.bench.told import alarms, blind, leaks
from tests.privacy_samples import expand, redact_text
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


@pytest.mark.parametrize(("part", "most"), [("commands", 1), ("prose", 20), ("harmless", 2)])
def test_a_set_of_somebody_who_had_not_seen_the_rules_stays_as_good(part: str, most: int) -> None:
    wrong, total = blind(part)
    assert total >= 200
    assert len(wrong) <= most, wrong


# The text, and the plain secret in it that must go whole, with nothing else.
PLAIN = [
    ("tool --db-password kiwi --verbose", "kiwi"),
    ("java -Dkeystore.passphrase=Two.Words -jar a.jar", "Two.Words"),
    ("helm install x --set auth.rootPassword=orchard,size=3", "orchard"),
    ("MAIL_PASSWORD='three plain words' run", "three plain words"),
    ("curl -d 'user=bob&password=orchard&x=1' https://h", "orchard"),
    ("curl -H 'X-Auth-Token: orchard-gate' https://h", "orchard-gate"),
    ('psql "host=h user=app password=orchard dbname=x"', "orchard"),
    ("mount -t cifs //n/s /m -o username=a,password=orchard,uid=1", "orchard"),
    ('ansible all -m mysql_user -a "name=a password=orchard priv=*.*:ALL"', "orchard"),
    ("echo 'h:5432:*:app:orchard' >> ~/.pgpass", "orchard"),
    ("my password is orchard.", "orchard"),
    ("The password on the build box is orchard, keep it.", "orchard"),
    ("Password (router): orchard", "orchard"),
    ("Use orchard-gate as the password.", "orchard-gate"),
    ("If it asks for the password, type orchard.", "orchard"),
    ("The PIN for the gate is 8264.", "8264"),
    ("Credentials: bob / orchard", "orchard"),
    ("Das Passwort für den Drucker ist obstgarten.", "obstgarten"),
    ("Le mot de passe du routeur est verger.", "verger"),
    ("La contraseña del router es huerto.", "huerto"),
    ("密码改成orchard。", "orchard"),
    ("パスワードはorchardです。", "orchard"),
]


@pytest.mark.parametrize(("text", "secret"), PLAIN)
def test_a_plain_word_goes_where_the_place_or_the_sentence_says_what_it_is(
    text: str, secret: str
) -> None:
    clean, _ = redact_text(text)
    assert clean == text.replace(secret, "[REDACTED:password]").replace(
        "Token: [REDACTED:password]", "Token: [REDACTED:token]"
    )
    assert redact_text(clean) == (clean, {})


@pytest.mark.parametrize(
    "text",
    [
        "The password is mandatory.",
        "The password for the account is unknown.",
        "password: string",
        "username, password = split",
        "password = self.password",
        "Send the password to Alice.",
        "the --password option is read first",
        "use --token instead of --password when possible",
        "git push --force-with-lease --no-password",
        "The password's length.",
        "PIN the version to 20240501.",
        "The exit code is 1234.",
        "Log in with your e-mail address.",
        "Das Passwort ist ungültig.",
        "Le mot de passe est expiré.",
        "La contraseña es demasiado corta.",
        "パスワードはbcryptです。",
        "FORGOT_PASSWORD='Send a new password'",
        "the credentials: user / password",
        "The password for staging is identical.",
        "If it asks for a password, type exit.",
        "Login: OK / Logout: OK",
        "The password is unnecessary.",
        "Das Passwort ist kaputt.",
        "La contraseña es temporal.",
        "La password è pubblica.",
        "A senha é temporária.",
        "Het wachtwoord is kwijt.",
        "Пароль — главное.",
    ],
)
def test_a_plain_word_that_tells_about_a_password_stays(text: str) -> None:
    assert redact_text(text) == (text, {})


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
