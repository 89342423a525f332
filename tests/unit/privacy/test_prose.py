"""Passwords and keys that a person writes into a sentence; and sentences that only look so."""

import pytest

from tests.privacy_samples import redact_text

# The text, and the secret in it that must go whole. None of them is anybody's.
LEAKS = [
    ("password=hunter2isMyPass go", "hunter2isMyPass"),
    ("db password: hunter2isMyPass, user bob", "hunter2isMyPass"),
    ("password: correcthorsebattery", "correcthorsebattery"),
    ("use password Qq8zebra77xx for staging", "Qq8zebra77xx"),
    ("the password is Tr0ub4dor&3 for staging", "Tr0ub4dor&3"),
    ("db password: hunter2isMyPass", "hunter2isMyPass"),
    # written before the rules were changed
    ("log in as bob, password: marble-Fox42 and then run the job", "marble-Fox42"),
    ("The staging passphrase is purple!Monkey9, keep it", "purple!Monkey9"),
    ("my pwd is Winter2024! ok?", "Winter2024!"),
    ("please set the password to Gr33nTea#77 on the box", "Gr33nTea#77"),
    ("the root password was Sunny@Day81 before we rotated it", "Sunny@Day81"),
    ("I changed the password to blue42Kettle yesterday", "blue42Kettle"),
    ("passwd=opensesame99; then restart", "opensesame99"),
    ("passphrase: tangerinedream (for the backup key)", "tangerinedream"),
    ("wifi password: Kitchen7Table", "Kitchen7Table"),
    ("Password: S3cure&Sound (case matters)", "S3cure&Sound"),
    ("user=bob password=pa$$Word77 host=db1", "pa$$Word77"),
    ("connect with user admin and password zQ4!lemon please", "zQ4!lemon"),
    ("the api key is 7hq2Lm9xTz41vB use it for the demo", "7hq2Lm9xTz41vB"),
    ("token: q8Wm3zK7tR5x, valid until Friday", "q8Wm3zK7tR5x"),
    ("the client secret is Yt7-kQ2m-9Zp4 on staging", "Yt7-kQ2m-9Zp4"),
    ("with the password 'Rainy#Monday5' you get in", "Rainy#Monday5"),
    ("password is: Copper9Wire! and nothing else", "Copper9Wire!"),
    ("(password: wolfGang88)", "wolfGang88"),
    ("creds: bob, password=Lantern_55x, port 5432", "Lantern_55x"),
    ("The admin password is now Velvet%Moon3.", "Velvet%Moon3"),
    ("- password: `Harbor21Fog` (staging only)", "Harbor21Fog"),
    ("use the token k9Zx27QmPw4rT8 for CI", "k9Zx27QmPw4rT8"),
    ("pw: maple&Syrup4 works for me", "maple&Syrup4"),
    ("Password = Thunder77bird on the test box", "Thunder77bird"),
    ('"remember: the db password is Pickle5Jar&Lid"', "Pickle5Jar&Lid"),
    # written after it, and mended then
    ("root password changed to Xen0n!Lamp", "Xen0n!Lamp"),
    ("secret = Ab3$kkzz91QpLw in the yaml", "Ab3$kkzz91QpLw"),
    ("password -> hunter2isMyPass (old)", "hunter2isMyPass"),
    ("password for staging: Kiwi88Bird", "Kiwi88Bird"),
    ("the password for the staging db is Dune&Sand9", "Dune&Sand9"),
    ("the password is hunter2 for now", "hunter2"),
    ("**Password:** Olive77Branch", "Olive77Branch"),
    ("the password's Cedar42Wood", "Cedar42Wood"),
    ("the new password should be Cobalt9Sky", "Cobalt9Sky"),
    ("Password – Basil7Leaf", "Basil7Leaf"),
    ("password=Fig&Date2 user=x", "Fig&Date2"),
]

# What a rule for the above could take by mistake.
NEAR_MISSES = [
    "password: required",
    "password: string",
    "the password is stored in 1Password",
    "password = os.environ['DB_PASSWORD']",
    "password reset flow",
    "token: str | None",
    "Password must be at least 12 characters",
    "set the password to a random value",
    "the token is expired",
    "password: <your password>",
    "password=$DB_PASS",
    "secret: ${{ secrets.X }}",
    # written before the rules were changed
    "the password is hashed with argon2id before it is stored",
    "the token is a JWT signed with RS256",
    "password: str = Field(min_length=12)",
    "def login(user: str, password: SecretStr, otp: int) -> None:",
    "const { password, token } = req.body",
    "password = getpass.getpass()",
    "password: config.db.password, user: config.db.user",
    "the secret is mounted at /run/secrets/db-pass1",
    "use password authentication for staging",
    "use the token endpoint v2 for refresh",
    "the password was base64-encoded twice",
    "change the password to something longer",
    "interface Login { username: string; password: string; remember: boolean }",
    "password VARCHAR(255) NOT NULL",
    "token = next(tokens) if tokens else None",
    "The password is case-sensitive.",
    "the api key is read from OPENAI_API_KEY in .env",
    "password = form.cleaned_data['password1']",
    "Password: must contain uppercase, lowercase and a digit",
    "password: optional, defaults to the empty string",
    "if password == confirm_password2 and token != old_token:",
    "self.password = password1 or default_password",
    "password=password2, username=username",
    "the token is sha256-hashed; the secret is kept in Vault",
    "password: z.string().min(8)",
    "| password | string | yes | The user's password |",
    "token: refreshToken2 ?? null",
    # written after it, or found in headers and manuals
    "#define GL_STENCIL_PASS_DEPTH_PASS 0x0B96",
    "typedef struct SEC_PKCS12SecretStr SEC_PKCS12Secret;",
    "container type (pass `asn1Spec` to guide the decoder)",
    "sent the password to alice@corp.example",
    "the password was leaked in 2024-05-01T10:00:00Z logs",
    "see password PR#123 and ISSUE-44",
    "PWD=/home/bob/App2 go",
    "the password is wrong!",
    "token - v2.1.3 released",
    "password for bob: unchanged",
    "token type is Bearer",
    "password: unauthenticated",
]


@pytest.mark.parametrize(("text", "secret"), LEAKS)
def test_a_secret_in_a_sentence_goes_whole_and_nothing_else_does(text: str, secret: str) -> None:
    clean, counts = redact_text(text)
    before, after = text.split(secret)
    assert clean.startswith(before + "[REDACTED:"), clean
    assert clean.endswith("]" + after), clean
    assert sum(counts.values()) == 1
    assert redact_text(clean) == (clean, {})


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_sentence_about_secrets_is_kept(text: str) -> None:
    assert redact_text(text) == (text, {})
