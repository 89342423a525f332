"""Makes secrets from the rules' own templates, and puts them where secrets are found.

In: a seeded random source. Out: (kind, secret, text) triples.
What can go wrong: nothing; it is data for tests and the bench.
"""

import base64
import json
import random
import re
import string
from collections.abc import Iterator

from recollect.privacy import scrubbing
from recollect.privacy.rules import RULES, VENDORS

_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
}


def redact_text(text: str) -> tuple[str, dict[str, int]]:
    """The text without secrets, until no more are found, and how many of each kind it held."""
    removed: dict[str, int] = {}
    while spans := scrubbing.find(text):
        text = scrubbing.without(text, spans)
        for *_, kind in spans:
            removed[kind] = removed.get(kind, 0) + 1
    return text, removed


def expand(template: str, rng: random.Random) -> str:
    """Fill a rule's template with random characters."""

    def fill(hole: re.Match[str]) -> str:
        if hole[1] == "u":
            raw = "".join(rng.choice(_ALPHABETS["h"]) for _ in range(32))
            return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}"
        letters = _ALPHABETS[hole[1]]
        body = "".join(rng.choice(letters) for _ in range(int(hole[2])))
        # A token's first and last character is a letter or digit, so that words end where it ends.
        edge = _ALPHABETS["A"] if hole[1] in "wb" else letters
        return rng.choice(edge) + body[1:-1] + rng.choice(edge) if len(body) > 1 else body

    return re.sub(r"\{([AaUhHdwbu])(\d*)\}", fill, template)


def secret_core(template: str, rng: random.Random) -> tuple[str, str]:
    """A filled template and the part of it that must not survive (its longest random run)."""
    filled = expand(template, rng)
    holes = list(re.finditer(r"\{([AaUhHdwbu])(\d*)\}", template))
    longest = max(holes, key=lambda hole: int(hole[2] or 36))
    tail = expand(template[longest.end() :], random.Random(0))
    size = 36 if longest[1] == "u" else int(longest[2])
    end = len(filled) - len(tail)
    return filled, filled[end - size : end]


def password(rng: random.Random) -> str:
    size = rng.randint(10, 24)
    letters = string.ascii_letters + string.digits + rng.choice(["", "!@#%^*", "_-"])
    body = "".join(rng.choice(letters) for _ in range(size))
    return rng.choice(string.ascii_letters) + body + rng.choice(string.digits)


def pem(rng: random.Random) -> tuple[str, str]:
    label = rng.choice(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED ", "DSA "])
    body = expand("{b1200}", rng)
    lines = "\n".join(body[i : i + 64] for i in range(0, len(body), 64))
    text = f"-----BEGIN {label}PRIVATE KEY-----\n{lines}\n-----END {label}PRIVATE KEY-----"
    return text, body[600:620]


def shapes(rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """(kind, text of the secret, core that must vanish) for every example of every rule."""
    for rule in RULES:
        for template in rule.yes:
            yield rule.kind, *secret_core(template, rng)
    for vendor in VENDORS:
        for template in vendor.yes:
            yield vendor.kind, *secret_core(template, rng)
    yield "private-key", *pem(rng)


_NAMES = [
    *("password", "DB_PASSWORD", "apiKey", "api_key", "client_secret", "authToken", "SECRET_KEY"),
    *("access_token", "smtp_pass", "private_key", "aws_secret_access_key", "redis.password"),
]


def named(rng: random.Random) -> tuple[str, str, str]:
    """A secret known only by its name or place, in one of the ways files and logs write it."""
    name = rng.choice(_NAMES)
    value = (
        password(rng) if "pass" in name else expand(rng.choice(["{A32}", "{h40}", "{w43}"]), rng)
    )
    quote = rng.choice("\"'")
    url_safe = re.sub(r"[^A-Za-z0-9_-]", "7", value)
    basic = base64.b64encode(f"user:{value}".encode()).decode()
    texts = [
        (f"{name}={value}", value),
        (f"export {name.upper().replace('.', '_')}={value}\n", value),
        (f"ENV {name.upper()} {quote}{value}{quote}\n", value),
        (f"ENV {name.upper()}={value}\n", value),
        (f"{name}: {value}\n", value),
        (f"{name} = {quote}{value}{quote}", value),
        (f"{{ {name}: {quote}{value}{quote}, port: 1 }}", value),
        (f"connect(host={quote}h{quote}, {name.replace('.', '_')}={quote}{value}{quote})", value),
        (json.dumps({"a": 1, name: value}), value),
        (json.dumps({"body": json.dumps({name: value})}), value),
        (json.dumps({"cmd": f"export X=1\n{name.upper()}={value}\nrun"}), value),
        (f"<{name}>{value}</{name}>", value),
        (f"tool --{name.replace('_', '-').replace('.', '-')} {value} --go", value),
        (f"tool --{name.replace('_', '-').replace('.', '-')}={value}", value),
        (f"GET /v1/x?page=2&{name}={url_safe}&z=1 HTTP/1.1", url_safe),
        (f"postgres://app:{url_safe}@db.internal:5432/app", url_safe),
        (f"mongodb+srv://app:{url_safe}@cluster0.mongodb.net/?retryWrites=true", url_safe),
        (f"redis://:{url_safe}@cache:6379/0", url_safe),
        (f"Server=db;Database=a;User Id=sa;Password={url_safe};Encrypt=true", url_safe),
        (f'curl -H "Authorization: Bearer {expand("{A40}", rng)}" https://api.test', ""),
        (f"curl -u admin:{url_safe} https://api.test", url_safe),
        (f"Authorization: Basic {basic}", basic),
        (f'headers = {{"Authorization": "Basic {basic}"}}', basic),
        (f"2026-01-02T03:04:05Z INFO login ok {name}={value} from=10.0.0.1", value),
        (f"{name}: str = {quote}{value}{quote}", value),
        (f'variable "{name}" {{\n  default = 1\n}}\n{name} = "{value}"', value),
        (f"The {name} is {value}, do not share it.", value),
        (f'- name: {name.upper()}\n  value: "{value}"\n', value),
        (f"const {name.replace('.', '_')}: string = `{value}`;", value),
    ]
    text, core = rng.choice(texts)
    return "named", text, core or text.split("Bearer ")[1].split('"')[0]


WRAPS = {
    "alone": "{}",
    "json": None,
    "assignment": 'value = "{}"',
    "prose": "I used {} yesterday, and it worked.",
    "backticks": "run it with `{}` please",
    "quotes": "'{}'",
    "query": "https://api.test/v1?x=1&k={}&y=2",
    "log": "2026-01-02 03:04:05,678 ERROR [worker-3] call failed: {} (attempt 2)",
    "escaped": None,
    "parentheses": "f({})",
}


def wrap(secret: str, how: str) -> str:
    if how == "json":
        return json.dumps({"tool": "Bash", "out": [f"line\n{secret}\nline"], "n": 1})
    if how == "escaped":
        return json.dumps(json.dumps({"content": f"a\t{secret}\nb"}))
    template = WRAPS[how]
    assert template is not None
    return template.replace("{}", secret)


def sample(seed: int, size: int) -> Iterator[tuple[str, str, str, str]]:
    """(kind, how, core, text): every shape in every wrap in turn, a quarter of them named ones."""
    rng = random.Random(seed)
    made = 0
    while True:
        for kind, secret, core in shapes(rng):
            if rng.random() < 0.25:
                kind, text, core = named(rng)
                how = "named"
            else:
                how = rng.choice(list(WRAPS))
                text = wrap(secret, how)
            yield kind, how, core, text
            made += 1
            if made == size:
                return
