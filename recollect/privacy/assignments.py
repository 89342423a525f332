"""Find secrets by what stands before them: a telling name, a header, a URL, a command's option.

In: a text (and its lower-case twin of equal length). Out: spans of values, each with its kind.
What can go wrong: harmless code under a telling name; `secret_values.py` judges that.
"""

import re
from collections.abc import Iterator

from recollect.privacy import secret_names, secret_values
from recollect.privacy.patterns import pattern, words
from recollect.privacy.rules.vendors import VENDORS

Span = tuple[int, int, str]

_STEM = (
    r"(?:pass(?:w|phrase|code|(?![a-z]))|p(?:s?wd|w(?![a-z0-9-]))|secret|token|key|cred|auth|dsn(?![a-z])"
    r"|jwt(?![a-z]))"
)
_TYPE = r"[a-z&*][\w&<>\[\]|., ?*']{0,40}?"
_SPACES = r"[ \t]{0,40}+"
# All that may stand between a name and its value. Order matters: the longer reading first.
_OPERATOR = (
    rf"(?:{_SPACES}:{_SPACES}{_TYPE}{_SPACES}(?<![=!<>])=(?!=)\s{{0,40}}+"  # name: str = value
    rf"|{_SPACES}:{_SPACES}[|>][+-]?{_SPACES}\n\s{{1,80}}+"  # YAML block
    rf"|{_SPACES}(?:::=|:=|=>|->|[!=]?={{1,3}}|:|%3[ad]|\\u003[ad])(?:\*\*)?+\(?\s{{0,80}}+"
    r"|[\s,]{1,40}+(?:\\*+[\"'])?value(?:\\*+[\"'])?\s{0,8}+[:=]\s{0,8}+"  # name: X, value: Y
    r"|[ \t]{1,8}+(?:is|was|are|(?:(?:was )?(?:re)?set|changed) to|equals|(?:will|should|would) be)"
    r"(?:[ \t]{1,8}+|: )(?:set to |now )?"
    r"|[ \t](?:for|of|on|we|you|that|from)(?:[ \t][\w.@-]{1,40}+){1,5}?"
    r"(?:[ \t]{1,4}+(?:is|was)|:)[ \t]{1,4}+"  # for bob is, you need is
    rf"|[ \t]{{1,8}}+[a-z&*\[\]]{{2,12}}+{_SPACES}:?=(?!=){_SPACES}"  # name string = value
    r"|>(?=[^<>\s]{6})"  # <name>value</name>
    r"|\s{0,8}+\{[^{}]{0,200}?\bdefault\s{0,20}+=\s{0,8}+"  # Terraform's variable
    r"|\s{0,8}+[,(]\s{0,40}+(?=\\*+[\"'`])"  # set(name, value), name(value)
    # PASSWORD 'value'; "use password value", "set the password to value": only if not a mere word
    r"|(?:(?<=')s)?+[ \t]{1,8}+(?:(?:to|[-–—])[ \t]{1,8}+)?+"
    r"(?=\\*+[\"'`]|[^\s0-9!@#$%^&]{0,64}+[0-9!@#$%^&]))"
)
# Words that stand where a sign could.
_SAID = words(
    "is was are equals to s for of on we you that from set reset changed will should would - – —"
)
_SIGNLESS = words("to s for of on we you that from - – —")
_BRACKETS = {"[": "]", "(": ")", "<": ">"}
_COMMANDS = ("pass", "passwd")
_SPOKEN_NAME = r"[A-Za-z][a-z_-]+\Z|[A-Z]+\Z"
# An option before it, a field of a form or a setting in a list before or after it.
_AFTER_OPTION = r"(?:^|\s)-{1,2}[A-Za-z][\w-]{0,40}(?:[ \t=]{1,4}\\*[\"']?|\\*[\"'])?\Z"
_IN_LIST = r"[\w.-]=[^\s,;()=]{1,64}[ ,;&]\Z"
_ON_COMMAND_LINE = r"[^\n(){}]*?[^\s(){}][ \t]-{1,2}[A-Za-z]"
_SECRET_HEADER = r"(?i:x-)[\w-]+\Z|(?i:[\w-]+-(?:key|token|secret|password))\Z"
# `REQUIRE_PASSWORD=always` and its like tell about the secret.
_ABOUT_NAME = (
    r"(?:^|[^a-z])(?:invalid|wrong|missing|bad|forgot(?:ten)?|reset|show|hide|no|require[sd]?|use|has"
    r"|is|enable[sd]?|allow|min|max|with|without|ask|disable[sd]?|err(?:or)?|msg|next)(?![a-z])"
)
_SETTER = r"(?i:define|env|set|put|property|header|add|default)\(\s*\\*[\"']$"
# What follows a value that is an expression, or the next parameter of a signature.
_CODE_AFTER = r"\s*(?:[+?=<>&%\[{]|\|\|)"
# Names inside one unbroken value, as in `key=key=key=…`: so many are judged, then the run is left.
_PATIENCE = 16
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

_ASSIGNMENT = rf"{_STEM}[\w-]{{0,64}}+(\\*+[\"'`]?+\]?+(?:\[\d*\]|\*\*)?+)({_OPERATOR})"
_OPENING = r"""(?:[bruBRUfF@L]{0,2}|&|str\(|String\()(\\*+)(["'`])(?:\2\2)?"""
# A backslash belongs to the value only if it escapes nothing that JSON or a shell would undo.
_BARE = r"""(?:[^\s"'`<>,;&(){}|\\]|\\[^\s"'`nrtbfux/\\]){1,1024}+"""
# More of the value; not the next field of a query, a shell's `&&`, or an HTML entity.
_AMPERSAND = r"""(?:&(?!&|#|[\w.%-]{0,64}+(?:=|\[)|[a-z]{2,6}+;)[^\s"'`<>,;&(){}|\\]{1,256}+)++"""


def find_assignments(text: str, low: str) -> Iterator[Span]:
    """Values of telling names, in any of the languages that agents read and write."""
    search = pattern(_ASSIGNMENT).search
    pos = run_end = failures = 0
    while (found := search(low, pos)) is not None:
        pos = found.start(1)
        if pos >= run_end:
            failures = 0
            run = pattern(_BARE).match(text, found.end())
            run_end = run.end() if run is not None else 0
        span = _judge_assignment(text, low, found, run_end)
        if span is not None:
            yield span
            pos = max(pos, span[1])
        elif pos < run_end:
            failures += 1
            if failures == _PATIENCE:
                pos = run_end


def _judge_assignment(text: str, low: str, found: re.Match[str], run_end: int) -> Span | None:
    head = text[max(0, found.start() - 64) : found.start()]
    before, head = _split_name(head)
    operator = found[2]
    if before.endswith("[REDACTED:"):
        return None
    if before.endswith("::") or (before.endswith(":") and operator.strip() == ":"):
        return None  # `AWS::IAM::AccessKey`, `arn:…:secret:`: a type or a resource
    name = head + text[found.start() : found.start(1)]
    if name.lower() == "key" and (words := before.split()):
        name = f"{words[-1]}_{name}".lower()  # "the API key: …"
    start = found.end()
    opening = pattern(_OPENING).match(text, start)
    # Without any sign between them only `PASSWORD 'x'` of SQL gives a value of any looks.
    sign = operator.strip(" \t\r\n*")
    signless = not sign or _first(sign) in _SIGNLESS
    sql = opening is not None and (name.isupper() or name.startswith("--"))
    if (
        signless
        and not sql
        and (name.lower() in _COMMANDS or not pattern(_SPOKEN_NAME).match(name))
    ):
        return None  # the verb, the program, an identifier
    kind_of_name = secret_names.family(name)
    if kind_of_name is None:
        return None
    vendor_zone = low[max(0, found.start() - 40) : found.end()].rpartition("\n")[2] or found[0]
    listed = operator.strip()[:1] in (",", "(")
    if listed and pattern(_SETTER).search(before) is None:
        kind_of_name = secret_names.HINT  # any list of words looks so
    if opening is not None:
        end = _closing(text, opening)
        if end is None:
            return None
        value = text[opening.end() : end]
        if signless and not sql and not secret_values.is_spoken(value):
            return None
        given = _is_place(text, found, end + 1, name, operator)
        given = given or (sql and name.startswith("-"))
        return judge(name, value, opening.end(), kind_of_name, vendor_zone, given)
    if signless and text[start : start + 1] in _BRACKETS:
        return _bracketed(name, text, start, kind_of_name, vendor_zone)
    if (
        "\n" in operator
        and ":" in operator
        and "value" not in operator
        and not pattern(r":\s*[|>]").search(operator)
    ):
        return None  # a YAML mapping or a block of code follows
    if "\n" in operator and pattern(r"[A-Z][A-Z0-9_]*=").match(text, start):
        return None  # `DB_PASSWORD=` with nothing, and the next line of the file
    end = run_end
    if end <= start:
        bare = pattern(_BARE).match(text, start)
        if bare is None:
            return None
        end = bare.end()
    if text[end : end + 1] == "&" and (rest := pattern(_AMPERSAND).match(text, end)) is not None:
        end = rest.end()
    value = text[start:end].rstrip(".:!?")
    follower = text[end : end + 1]
    if follower in ("(", "[", "{") or (follower == "<") != operator.startswith(">"):
        return None  # a call; or `>` that ends no element
    if signless and not secret_values.is_spoken(value):
        return None
    if _first(sign) in _SAID and secret_values.is_term(value):
        return None
    given = _is_place(text, found, end, name, operator)
    if secret_values.is_code(value) and not (
        given
        or signless
        or _is_line(text, found, end, name, operator)
        or _is_chosen(text, found, end, name, sign)
    ):
        return None
    if text[start + len(value) : end] == "!":
        value += "!"  # more likely its last character than the sentence's
    return judge(name, value, start, kind_of_name, vendor_zone, given)


def _bracketed(name: str, text: str, start: int, kind_of_name: str, zone: str) -> Span | None:
    """`invalid secret [value]`, as error texts put it."""
    end = text.find(_BRACKETS[text[start]], start, start + 130)
    value = text[start + 1 : end]
    if end < 0 or not secret_values.is_spoken(value):
        return None
    if kind_of_name is secret_names.SECRET and not name.lower().endswith("token"):
        kind_of_name = secret_names.PASSWORD
    return judge(name, value, start + 1, kind_of_name, zone)


def _split_name(head: str) -> tuple[str, str]:
    """What stands before a name, and its first part. The n of an escaped \\n is before it."""
    start = len(head.rstrip(_NAME_CHARS))
    if head[start - 1 : start] == "\\" and head[start : start + 1] in ("n", "r", "t"):
        start += 1
    return head[:start], head[start:]


def _is_place(text: str, found: re.Match[str], end: int, name: str, operator: str) -> bool:
    """Whether a value of any looks is meant here: of an option, of a variable of the shell, in a
    list of settings, in a header of a request."""
    start = found.start(1) - len(name)
    line = text.rfind("\n", max(0, start - 256), start) + 1 or max(0, start - 256)
    before = text[line:start]
    if text[end : end + 1] in ("(", "[", "{", "."):
        return False
    if operator.strip() == ":":
        quoted = before[-1:] in ('"', "'")
        return (
            pattern(_SECRET_HEADER).match(name) is not None
            and "-" in name
            and not found[1]
            and (quoted or not before.strip())
        )
    if operator != "=" or found[1]:
        return False
    if name.startswith("-") or (name.isupper() and not before.endswith((".", "("))):
        return True
    if pattern(_AFTER_OPTION).search(before) or pattern(_IN_LIST).search(before[-80:]):
        return True
    if before[-1:] in ("?", "&", "[") or before.endswith("/:") or text[end : end + 1] == "&":
        return True
    alone = not before and text[end : end + 1] in ("", "\n", "\r", " ")
    return alone or pattern(_ON_COMMAND_LINE).match(before) is not None


def _is_line(text: str, found: re.Match[str], end: int, name: str, operator: str) -> bool:
    """`NAME=value` and `name: value` as whole lines, options, queries: there a word is a value."""
    if name.startswith("--") or "%3d" in operator or operator.startswith(">"):
        return True
    if operator.strip() in ("is", "was", "is:"):
        value = text[found.end() : end]
        return any(map(str.isdigit, value)) and not secret_values.is_wordy(value)
    start = found.start(1) - len(name)
    before = text[max(0, start - 1) : start]
    after = text[end : end + 1]
    if before in ("?", "&") or after == "&":
        return True
    tidy = after in ("", "\n", "\r", "\\", " ", '"', "'", "`", ";")
    if operator == "=":
        value = text[found.end() : end]
        jumbled = any(map(str.isdigit, value)) and not secret_values.is_wordy(value)
        return (
            tidy
            and before in ("", "\n", " ", ";", '"', "'", "`", "n")
            and (name.isupper() or jumbled)
        )
    return (
        operator.strip() == ":"
        and after in ("", "\n", "\r", "\\")
        and name.replace("_", "").isalnum()
        and (any(map(str.isdigit, text[found.end() : end])) or (name.isupper() and "_" in name))
    )


def _first(sign: str) -> str:
    return sign.partition(" ")[0].rstrip(":")


def _is_chosen(text: str, found: re.Match[str], end: int, name: str, sign: str) -> bool:
    """A password that could be an identifier, in a line that is no code."""
    value = text[found.end() : end].rstrip(".:!?")
    if "." in name and found[2] != "=":
        return False  # `self.password = …`
    if pattern(_CODE_AFTER).match(text, end):
        return False
    if sign in ("=", ":") or found[2] == " -> ":
        return secret_values.is_chosen(value)
    return _first(sign) in _SAID and (
        secret_values.is_spoken(value) or (not value.isalpha() and secret_values.is_chosen(value))
    )


def _closing(text: str, opening: re.Match[str]) -> int | None:
    """Where the quoted value ends, at the opening quote's own depth of escaping.

    A quote opened with k backslashes (0, 1, 3, 7 …) is closed by one that has k of them, not
    counting those that stand for backslashes inside the value, which come 2(k+1) at a time.
    """
    depth = len(opening[1])
    quote = opening[2]
    pos = opening.end()
    limit = min(len(text), pos + 4096)
    while (pos := text.find(quote, pos, limit)) >= 0:
        run = pos
        while run > opening.end() and text[run - 1] == "\\":
            run -= 1
        if (pos - run) % (2 * depth + 2) == depth:
            return pos - depth
        if pos - run < depth:
            return None  # the string around ends here: the value was cut
        pos += 1
    return None


def judge(
    name: str,
    value: str,
    start: int,
    kind_of_name: str | None,
    zone: str,
    given: bool = False,
) -> Span | None:
    """Is this value of this name a secret, and of which kind? `given` says that the place holds
    nothing else, as an option of a command does, so that any value counts that is no stand-in."""
    lead = len(value) - len(value.lstrip())
    start += lead
    value = value.strip()
    scheme = pattern(r"(?i:bearer|basic|token|ssws|apikey|bot|digest)\s+").match(value)
    if scheme is not None:
        start += scheme.end()
        value = value[scheme.end() :]
    most = 256 if kind_of_name is secret_names.PASSWORD else 4096
    least = 4 if given else 6
    if not least <= len(value) <= most or kind_of_name is None:
        return None
    if secret_values.is_placeholder(value):
        return None
    if value[0] == "/" and name.lower().endswith("pwd"):
        return None  # the shell's working directory
    bare = secret_values.without_marks(value)
    span = (start, start + len(value))
    for vendor in VENDORS:
        if any(word in zone for word in vendor.words) and pattern(vendor.value).fullmatch(bare):
            if kind_of_name is secret_names.PASSWORD or secret_values.is_uuid(bare) or _fits(bare):
                return (*span, vendor.kind)
            break
    if kind_of_name is secret_names.PASSWORD:
        fits = (
            secret_values.is_password(bare)
            or _is_env_word(name, bare)
            or secret_values.is_run_together(bare)
            or (given and _is_given(name, bare))
        )
        return (*span, "password") if fits else None
    if kind_of_name is secret_names.SECRET:
        if secret_values.is_uuid(bare) and pattern(
            r"(?i:key|.secret|(?:api|auth|access).?token)$"
        ).search(name):
            return (*span, "api-key")
        chosen = name.isupper() and name.endswith(("SECRET", "SECRET_KEY", "SECRET_KEY_BASE"))
        if (
            secret_values.is_random(bare, 12)
            or (chosen and (_is_env_word(name, bare) or secret_values.is_password(bare)))
            or (given and len(bare) >= 6 and _is_given(name, bare))
        ):
            return (*span, _kind(name))
        return None
    return (*span, "high-entropy") if secret_values.is_random(bare, 20) else None


def _fits(value: str) -> bool:
    """Beside the vendor's name and of the vendor's shape, so a digit is enough if no slug."""
    mixed = not value.islower() and not value.isupper()
    digit = any(map(str.isdigit, value))
    jumbled = value.isalnum() or secret_values.is_mixed(value)
    return (digit and jumbled) or ((digit or mixed) and not secret_values.is_wordy(value))


def _is_env_word(name: str, value: str) -> bool:
    """`DB_PASSWORD=correcthorse`: in a file of settings even a plain word or number is one."""
    plain = value.replace("-", "")
    return name.isupper() and (plain.isalpha() or plain.isdigit()) and len(value) >= 8


def _is_given(name: str, value: str) -> bool:
    """Any value that is no stand-in, no name of a thing, and no message about the secret."""
    if not (secret_values.is_given(value) or (value.isdigit() and len(value) >= 4)):
        return False
    if any(char.isspace() for char in value) and secret_values.is_telling(value):
        return False  # `FORGOT_PASSWORD="Send a new password"`
    flat = pattern(r"[\W_]+").sub("", name.lower())
    if pattern(r"[\W_]+").sub("", value.lower()) in flat or secret_values.is_describing(value):
        return False  # `--token auth_token`
    return pattern(_ABOUT_NAME, re.I).search(name) is None


def _kind(name: str) -> str:
    flat = name.lower().replace("_", "").replace("-", "")
    if flat.endswith("token"):
        return "token"
    return "api-key" if flat.endswith("apikey") else "secret"


_SCHEMES = ("bearer", "basic", "authorization: ")
_HEADER = (
    r"(?:bearer|(basic)|authorization: (?:token|bot|ssws|apikey))(?:\s|%20|\+|\\u0020){1,8}+"
    r"([a-z0-9._~+/=-]{8,}+)"
)


def find_headers(text: str, low: str) -> Iterator[Span]:
    """`Bearer …` and `Basic …`, wherever they stand."""
    for scheme in _SCHEMES:
        pos = low.find(scheme)
        while pos >= 0:
            found = pattern(_HEADER).match(low, pos)
            pos = low.find(scheme, pos + 1)
            if found is None:
                continue
            start, end = found.span(2)
            value = text[start:end].rstrip(".")
            if secret_values.is_placeholder(value):
                continue
            if found[1] is not None:
                if _is_basic(value):
                    yield start, start + len(value), "basic-auth"
            elif secret_values.is_random(value) or secret_values.is_uuid(value):
                kind = "okta-token" if "ssws" in found[0][:24] else "bearer-token"
                yield start, start + len(value), kind


def _is_basic(value: str) -> bool:
    """Base64 of `user:password`. Decoding tells it from a word after "basic"."""
    from binascii import a2b_base64

    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:  # not ASCII, or not base64
        return False
    return b":" in plain and plain.isascii() and all(32 <= byte < 127 for byte in plain)


_USERINFO = (
    r"""://(?:([^\s/?#:@"'`<>\\\[\]{}()]{0,256}+):(?!\d{1,5}(?:[/?#]|\Z))([^\s/"'`<>\\]{1,512}(?=@[\w\[$%{-]))"""
    r"|([A-Za-z0-9_-]{16,256}+)(?=@))"
)


def find_urls(text: str) -> Iterator[Span]:
    """Passwords in `scheme://user:password@host`, and keys that stand where the user stands."""
    pos = text.find("://")
    while pos >= 0:
        found = pattern(_USERINFO).match(text, pos)
        pos = text.find("://", pos + 3)
        if found is None:
            continue
        if found[3] is not None:
            if secret_values.is_random(found[3]):
                yield *found.span(3), "url-key"
        elif (
            len(found[2]) >= 4
            and not secret_values.is_placeholder(found[2])
            and found[2] != found[1]
        ):
            yield *found.span(2), "url-password"


_WORD_VALUE = r"""[ \t]{1,8}+([^\s"'`<>$\\-][^\s"'`\\]{5,255}+)"""
_ANSWER = r"""\\{0,8}+["']?([^\s"'`\\;|&$<>(){}-][^\s"'`\\;|]{3,255}+)"""
_ARGUMENT = r"""([ \t]{1,8}+)([^\s"'`<>$\\-][^\s"'`\\]{3,255}+)"""
_OPTION = rf" --?([a-z0-9_.-]{{0,40}}?{_STEM}[\w.-]{{0,40}}+){_ARGUMENT}"
_NETRC = rf"login[ \t]{{1,8}}\S{{1,128}}+\s{{1,8}}(password){_WORD_VALUE}"
# Words and pieces of a text without which a clause below is not tried: each look costs.
_SPOKEN_WORDS = frozenset(
    b"identified sshpass networkcredential create_superuser set_password pragma".split()
)
_SPOKEN = ("auth=(", "auth = (", "basicauth(")
_ANSWER_WORDS = frozenset(b"echo printf send sendline setx setenv pgpass".split())
_EVALS = (
    *("passeval", "passwordeval", "s_cmd", "d_cmd", "s-cmd", "d-cmd", "e-cmd", "passcmd"),
    *("s_command", "d_command", "d-command", "e-command", "askpass"),
)
# `--passwordeval='echo value'`
_ECHOED = (
    r"(?:pass[a-z]{0,8}[_-]?(?:eval|cmd|command)|askpass)[ =]\\{0,8}+[\"']?"
    r"(?:echo|printf)(?: -n| \\{0,8}+['\"]?%s\\{0,8}+['\"]?)? "
) + _ANSWER
# What `expect` answers to a prompt.
_SENT = r"ass(?:word|code|phrase)[^\n]{0,60}?send(?:line)?(?: --)?[ (]" + _ANSWER
# `set -x NAME value` of fish, `setx`, `setenv`, Docker's `ENV NAME value`.
_VARIABLE = (
    r"(?<![a-z])(?:set -[a-z]{1,3}|setx|setenv|env)[ \t]{1,4}"
    r"[a-z0-9_]{0,32}?(?:pass(?:wd|word|phrase)?|pwd|secret|token|api_?key)[ \t]{1,4}"
) + _ANSWER
_PGPASS = (
    r"(?<![\w.:*-])[a-z*][\w.-]{0,128}+:(?:\d{4,5}|\*):[^\s:\"']{1,64}+:[^\s:\"']{1,64}+:"
    r"([^\s\"'`\\:$<-][^\s\"'`\\:]{3,255}+)(?!:)"
)
_CLAUSE = (
    r"(identified by password(?= ?['\"])|identified by(?= ?['\"])|sshpass -p"
    r"""|(?:auth ?= ?|networkcredential|basicauth|db\.auth)\(["'][^"'\n]{1,128}["'],"""
    r"""|superuser\([^()\n]{4,128}["'],(?=[ ]?["'])|set_password\((?=["'])|pragma key ?=)"""
    r"""[ ]{0,4}+\\*+["']?+([^\s"'`\\]{6,255}+)"""
)
_CURL_USER = (
    r"""\s(?:-u|--(?:proxy-)?user)(?:\s|=)?\s*\\*["']?[^\s:"'\\]{1,128}:([^\s"'\\]{4,256})"""
)
_OTHER_OPTION = (
    r" --?(?:(?:so-|user-|new-|old-)?(?:pin|otp|otp-code|token-code|mfa-code|totp|passcode)"
    r"[ =]\\{0,8}+[\"']?(\d{4,10})(?![\w.:-])"
    r"|(?:[a-z]{2,12}-)?(?:creds?|credentials?|userpass|basic-auth|http-auth)"
    r"[ =]\\{0,8}+[\"']?[^\s:\"'\\$]{1,128}+:([^\s\"'\\]{4,256}+))"
)


def command_words() -> frozenset[bytes]:
    """Words that `find_commands` asks for."""
    return _SPOKEN_WORDS | _ANSWER_WORDS


def _find_options(text: str, low: str) -> Iterator[Span]:
    """`--db-password value`, `-storepass value`, `--creds user:value`, `--pin N`."""
    for found in pattern(_OPTION).finditer(low):
        start, end = found.span(3)
        given = len(found[2]) == 1 and not _goes_on(text, start, end)
        name = found[1]
        if name.rpartition("-")[2] == "secret" and "-" not in name:
            given = False  # `--secret name`
        value = text[start:end].rstrip(";|&)")
        span = judge(name, value, start, secret_names.family(name), found[0], given)
        if span is not None:
            yield span
    for found in pattern(_OTHER_OPTION).finditer(low):
        start, end = found.span(found.lastindex or 1)
        if found[1] or secret_values.is_given(text[start:end]):
            yield start, end, "password"


def _goes_on(text: str, start: int, end: int) -> bool:
    """`--password asks for it`: a plain short word with another after it is a sentence."""
    value = text[start:end]
    if not value.rstrip(".,:;").isalpha() or len(value) >= 8:
        return False
    return (
        value[-1] in ".,:" or pattern(r"[ \t]+[A-Za-z]+(?![\w./:=@-])").match(text, end) is not None
    )


def find_commands(text: str, low: str, words: frozenset[bytes]) -> Iterator[Span]:
    """`curl -u user:password`, `--token value`, and the lines of a netrc file."""
    if " -" in low:
        yield from _find_options(text, low)
    clauses = [(pattern(_NETRC), False)]
    if words & _SPOKEN_WORDS or any(word in low for word in _SPOKEN):
        clauses.append((pattern(_CLAUSE), True))
    for clause, given in clauses:
        for found in clause.finditer(low):
            start, end = found.span(2)
            name = "password" if given else found[1]
            family = secret_names.family(name)
            span = judge(name, text[start:end], start, family, found[0], given)
            if span is not None:
                yield span
    answers = []
    if words & {b"echo", b"printf"} and any(word in low for word in _EVALS):
        answers.append(pattern(_ECHOED))
    if words & {b"send", b"sendline"} and "ass" in low:
        answers.append(pattern(_SENT))
    if words & {b"setx", b"setenv"} or "ENV " in text or "set -" in text:
        answers.append(pattern(_VARIABLE))
    if b"pgpass" in words or ":*:" in low:
        answers.append(pattern(_PGPASS))
    for answer in answers:
        for found in answer.finditer(low):
            if secret_values.is_given(text[slice(*found.span(1))]):
                yield *found.span(1), "password"
    pos = low.find("curl")
    while pos >= 0:
        stop = text.find("\n\n", pos, pos + 2048)
        for found in pattern(_CURL_USER).finditer(text, pos, stop if stop > 0 else pos + 2048):
            if not secret_values.is_placeholder(found[1]):
                yield *found.span(1), "curl-password"
        pos = low.find("curl", pos + 2048)
