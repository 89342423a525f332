"""Judges a value in a place where a secret could be.

In: a value. Out: is it a placeholder, does it look random, is it a plausible password? What can go
wrong: no such judgement is always right; the bench counts both errors.
"""

import math
import re

from recollect.privacy.patterns import pattern, words

_REDACTION = r"\[REDACTED(?::[a-z0-9-]+)?\]"

# Short words count only at a word's start: in forty random letters "your" or "foo" may well occur.
_STAND_IN = (
    r"(?<![a-z0-9])(?:your|foo|todo|fixme|fake|sample|lorem|dummy|hidden|masked|insert[-_ ])"
    r"|example|placeholder|change[-_ ]?(?:me|this)|redacted|replace[-_ ]?(?:me|with|this)|omitted"
    r"|x{4}|\*{3}|\.{3}|…|•{3}|not[-_ ](?:set|real|a[-_ ])|goes[-_ ]?here|[-_ ]here$"
    r"|^(?:my|the|some|a)[-_]|undefined|a-zA-Z|A-Za-z|0-9a-z|a-z0-9|0{6}|1234567"
)
_TEMPLATE = (
    r"<[^<>]*>?$|\$\{|\$\(|^\$[A-Za-z_]\w*$|\{\{|\{%|\{[\w.!:\[\]\"']*\}|%\(|^%[A-Za-z_]+%$|^%[sdrv]$"
    r"|#\{|@\{|\$\[\[|&[a-z]+;|secretsmanager|vault:|op://|arn:aws|ref\+|env:|file:|!ref|!secret"
)
_COMMON = words(
    "password passwd pass passphrase pwd secret token key apikey auth credential credentials"
    " bearer basic user username admin root test tests testing guest demo default none null nil"
    " true false yes no on off string str text bytes number integer int bool boolean object any"
    " optional required unknown prompt env environment keyring value empty missing invalid valid"
    " wrong correct bad good old new abc abcd qwerty letmein welcome hello world bar baz qux"
    " spam eggs anonymous public private oauth jwt hmac sha md base utf aes rsa http https ssl"
    " tls ssh ipv ed rs hs es ps argon pbkdf bcrypt uint float double long char varchar nvarchar"
    " hash digest signature hex uuid win unix linux x s v p t"
)
# What is said of passwords, tokens and keys in English; participles are known by their ending.
_DESCRIBING = words(
    " able about above absent accepted access account active actual after again against all"
    " allowed alone alphanumeric already also always and another any anything app apparently"
    " application argon argument arguments argv array asks asterisks attribute auth"
    " authentication authorization auto automatic available away bad base based bcrypt because"
    " before being below best better between bitwarden blank body both box broken but button"
    " bytes cached callable can case change character characters class clear cleartext client"
    " code column common complex complexity confidential config configuration confirm constant"
    " content correct crackable current data database default deleted demo deprecated"
    " description dialog dict different digit digits disabled does done dots down dummy each"
    " easy either element else email empty enough enter entirely entropy env environment equal"
    " error even every everything exactly example exists expiration expired expires expiry"
    " external false field fields file fine first fixed fixme flag flow for form format fresh"
    " from function generator generic given gone good guessable hard hash hashed hasher have"
    " header hello help here hers hex hidden hint history how however html http https human id"
    " if ignore important impossible in incorrect info input inside instead integer internal"
    " into invalid is it item its json just jwt keepass kept kerberos key keychain keyring"
    " known label lastpass later ldap least length less let letter letters like line list"
    " local locked login logout long longer lost lower lowercase manager mandatory masked"
    " match matches maximum maybe meant message method middle mine minimum missing mode model"
    " module more most must name necessary needed never new next nice no nobody none nonempty"
    " nonsense not nothing now null number numbers oauth object obscure obsolete obvious of"
    " off often ok okay old on once one onepassword only opaque open option optional options"
    " or other otherwise ours out outdated over page pam parameter parameters params part"
    " parts path pbkdf pending per perhaps permanent placeholder plain plaintext please policy"
    " possible present previous primary private probably problem prompt proper property"
    " protection provider public question quite random rather raw read ready real really"
    " recent recommended recovery redacted registration required reset right rotation row"
    " rubbish safe salt same saml sample schema screen scrypt secret secure sensitive sent"
    " separate server service session set settings sha short should shown signup similar"
    " simple so some someone something somewhere soon special specific ssh ssl sso stale stars"
    " static still stolen storage store strength strict string strings strong stuff such"
    " sufficient superfluous sure symbols system table taken tbd temporary terrible test text"
    " that the their them then there these they thing this those though through tied time tls"
    " today todo together token tomorrow too top trivial true tuple type unavailable unclear"
    " undefined under unhashed unique unknown unsafe unset until unusual update upper"
    " uppercase uri url used useless user username users usual utf uuid valid validation value"
    " variable vault very view vulnerable want was way weak what when where which while who"
    " whole why will with within without word words works worse written wrong wrongly yes"
    " yesterday yet you your yours yourself zero"
)
_DESCRIBES = (
    r"(?<=[a-z]{2})(?:ed|ing|able|ible|ically|ally|ously|ively|less|ful|ization|ation)\Z"
    r"|^(?:un|non|re)-"
)
_WORD = r"[A-Za-z]+"
_PIECE = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
_CODE = r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$][\w$]*|\[[\w\"']*\])*[!?;]?\Z"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z"
_HASH = r"(?i:sha\d+|md5)[-:=]"
_HARSH = r"(?i:[bcdfghjklmnpqrstvwxz]{5})"
_VOWEL = r"[aeiouyAEIOUY]"
_PLACE = (
    r"(?:[a-z][a-z0-9+.-]*://|\.{1,2}/|~/|[A-Za-z]:[\\/]"
    r"|/(?:root|home|etc|run|var|usr|opt|tmp|mnt|srv|dev|proc|app|Users)/)\S*\Z"
)
_CHANGE = r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])"

# Words with digits or symbols that sentences about secrets are full of.
_TERM = (
    r"(?i:(?:base|rfc|iso|utf|u?int|float|amd|arm|sha|aes|rsa|argon|pbkdf"
    r"|oauth|http|saml|tls|ssl|ipv|ecdsa|curve|bcrypt|scrypt|crc|python|win|windows"
    r"|(?<![a-z0-9])(?:b|x|cp|md|hs|rs|es|ps|ed|py|v|ver))"
    r"[-_]?\d+(?:[./]\d+)*(?:id|ctr|cbc|gcm)?|1password|i18n|l10n|k8s|[23]fa|\bs3|\bec2|p2p)"
)
# Dates, sizes, addresses of mail, files, paths, calls, issues: of any looks but no secret.
_THING = (
    r"[-#(]|0x|\d+(?:[-/:.]\d|[A-Za-z]{0,5}\Z|-[a-z]+\Z)|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\Z"
    r"|.*(?:[/=:|\[\]]|\.[A-Za-z]{1,5}\d?\Z|->)|[A-Za-z-]*#\d+\Z|[A-Z]+-\d+\Z|@[\w-]+"
)
_STRONG = r"[!@#$%^&*+~?]"
_TELLING = r"(?i:passw|password|pwd|secret|token|cred|user|config|auth|input|field|value|param|arg)"
# How long words end, of English and its neighbours; what several run together seldom do.
_ENDING = (
    r"(?:lich|isch|ung|keit|heit|iert|toria|torio|aire|oire|ique|ado|ada|ato|ata|mente|tion|tions|sion|ed|ing|able|ible|ity|ment|ments|ly|ness|ical|ive|al|ous|ent|ant|ance|ence"
    r"|ism|ist|ship|er|ers|or|ors|ate|ates|ic|ics|ies|ize|ary|ory|ful|less|ility)\Z"
)


def without_marks(value: str) -> str:
    """The value without what was redacted in it before."""
    return pattern(_REDACTION).sub("", value) if "[REDACTED" in value else value


def is_placeholder(value: str) -> bool:
    """Nobody's secret: a template, a stand-in word, a repeated character, a mark of ours."""
    value = value[:96]  # a template or stand-in shows early, and this is the costliest test
    if "[REDACTED" in value and len(without_marks(value)) < 6:
        return True
    if len(set(value)) <= 2 or pattern(f"{_STAND_IN}|{_TEMPLATE}", re.I).search(value):
        return True
    found = pattern(_WORD).findall(value)
    # "password123", "test_user-2": common words and nothing else that carries weight
    return (
        bool(found)
        and sum(map(len, found)) * 2 >= len(value)
        and all(word.lower() in _COMMON for word in found)
    )


def entropy(value: str) -> float:
    """Bits per character, by the value's own frequencies."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in map(value.count, set(value)))


def is_wordy(value: str) -> bool:
    """Made of words, as identifiers and slugs are, rather than drawn at random."""
    letters = sum(map(len, pattern(_WORD).findall(value)))
    least = 2 if pattern(r"[-_./: ]").search(value) else 3  # random letters make short "words"
    known = sum(
        len(piece)
        for piece in pattern(_PIECE).findall(value)
        if len(piece) > least
        and pattern(_VOWEL).search(piece)
        and not pattern(_HARSH).search(piece)
    )
    digits = sum(map(str.isdigit, value))
    return known >= 0.7 * letters and digits <= 0.25 * len(value)


def is_random(value: str, least: int = 16) -> bool:
    """Long, with no spaces, of many characters, not words, not a path or a named hash."""
    size = len(value)
    sample = value[:256]
    if not least <= size <= 4096 or not sample.isascii() or len(sample.split(None, 1)) > 1:
        return False
    if pattern(_UUID).match(value) or pattern(_HASH).match(value) or pattern(_PLACE).match(value):
        return False
    digits = sum(map(str.isdigit, sample))
    if digits == len(sample) or entropy(sample) < (2.8 if size < 24 else 3.0):
        return False
    if digits == 0 and (sample.islower() or sample.isupper() or size < 20):
        return False
    return not is_wordy(sample)


def is_mixed(value: str) -> bool:
    """Short but jumbled: changes between small, capital and digit too often for an identifier."""
    return len(value) >= 8 and len(pattern(_CHANGE).findall(value)) >= 4


def is_uuid(value: str) -> bool:
    return pattern(_UUID).match(value) is not None


def is_code(value: str) -> bool:
    """An identifier or a path of attributes, which unquoted is a reference, not a value."""
    return pattern(_CODE).match(value) is not None and not any(
        is_random(part) or (is_mixed(part) and not is_wordy(part))
        for part in pattern(r"\W+").split(value)
    )


def is_password(value: str) -> bool:
    """Plausible as a chosen password: letters with digits or symbols, no spaces, not words."""
    if not 6 <= len(value) <= 256 or len(value.split(None, 1)) > 1 or pattern(_PLACE).match(value):
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    symbols = sum(c in "!@#$%^&*+=?~" for c in value)
    if letters == 0:
        return symbols > 0 and digits >= 4
    if digits or symbols:
        return letters + digits + symbols >= 0.6 * len(value)
    return len(value) >= 10 and not is_wordy(value)


def is_term(value: str) -> bool:
    """A technical word and no more ("base64-encoded", "argon2id"), a date, a file, an address."""
    if pattern(_THING).match(value):
        return True
    rest, found = pattern(_TERM).subn("", value)
    return found > 0 and not pattern(r"\d|" + _STRONG).search(rest)


def is_spoken(value: str) -> bool:
    """Looks like a secret amid a sentence, with no sign before it that says that it is one."""
    if not 6 <= len(value) <= 256 or not value.isascii() or is_term(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if letters < 2 or len(value.split(None, 1)) > 1:
        return False
    strong = pattern(_STRONG).search(value, 1, len(value) - 1) is not None
    mixed = not value.islower() and not value.isupper()
    if strong:
        return digits > 0 or mixed
    if digits == 0 or not pattern(r"[\w.-]+\Z").match(value):
        return False
    return mixed if not value.isalnum() else mixed or is_chosen(value)


def is_chosen(value: str) -> bool:
    """An identifier by its characters, yet more likely a password: digits where names of things
    have none, or words run together."""
    if is_term(value) or not value.isascii() or value.isupper():
        return False
    if value.isalpha():
        return is_run_together(value)
    plain = pattern(_TERM).sub("", value)
    if pattern(r"[A-Za-z]\d+_?[A-Za-z]|[A-Za-z]_?\d+[A-Za-z]").search(plain):
        return True
    found = pattern(r"([A-Za-z]{4,})(\d+)\Z").match(plain)
    return (
        found is not None
        and found[1].lower() not in _COMMON
        and pattern(_TELLING).search(plain) is None
    )


def is_run_together(value: str) -> bool:
    """Several words without a gap ("correcthorsebattery"), as no long word of English is made."""
    return (
        12 <= len(value) <= 64
        and value.isascii()
        and value.isalpha()
        and value.islower()
        and not pattern(f"{_TELLING}|{_ENDING}").search(value)
    )


def is_telling(value: str) -> bool:
    """Holds a word that texts about secrets have, and secrets seldom."""
    return pattern(_TELLING).search(value) is not None


def is_describing(value: str) -> bool:
    """A word that says something about a secret ("required", "hashed", "string")."""
    return value.lower() in _DESCRIBING or pattern(_DESCRIBES).search(value.lower()) is not None


def is_given(value: str) -> bool:
    """Stands where only a password can stand, so any will do that is no stand-in for one."""
    if (
        not 4 <= len(value) <= 256
        or "\n" in value
        or value[0] in "-$%<{@~/.["
        or value[0].isspace()
    ):
        return False
    if pattern(_PLACE).match(value) or pattern(r"(?:[A-Z_]+|\d{4,5})\Z").match(value):
        return False  # a path; PASSWORD, YOUR_PW; a port
    return not is_placeholder(value) and "$" not in value[:2]
