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
    "able abort about above absent absolutely abstract accepted access accessible account"
    " active actual adequate after again against agent alive all allowed almost alone"
    " alphabetic alphanumeric already alright also always american ancient and another any"
    " anybody anyone anything anywhere app apparently application appropriate arabic argon"
    " argument arguments argv array ascii asks asterisks attribute auth authentication"
    " authorization auto automatic available away awful back backspace bad base based bcrypt"
    " because before being below best better between big binary bitwarden bland blank blunt"
    " body bogus both box british brittle broken buffer bug busy but button byte bytes cached"
    " callable can cancel case certainly change char character characters chinese cipher"
    " ciphertext class clean clear clearly cleartext client close clue code cold column common"
    " complete complex complexity concern concrete confidential config configuration confirm"
    " consistent constant content cool correct corrupt crackable crap crazy current data"
    " database dead decent decimal default definitely deleted demo deprecated description"
    " dialog dict different digit digits dirty disabled disaster distant does done dots down"
    " downstream dry dull dumb dummy dutch each early easy either element else elsewhere email"
    " empty english enough enter entirely entropy enum env environment equal equivalent error"
    " escape even every everyone everything everywhere exactly example excellent exists exit"
    " expiration expired expires expiry external fact failure false falsy far fast feature"
    " field fields file final fine first fixed fixme flag flow for foreign form formal format"
    " former fragile free french frequent fresh from fully function funny garbage generator"
    " generic german given gone good great guess guessable hard hash hashed hasher have header"
    " hell hello help her here hers hex hexadecimal hidden high him hint history horrible hot"
    " how however html http https huge human id identical if ignore illegal immutable"
    " important impossible in inaccessible inadequate incomplete inconsistent incorrect info"
    " informal initial input insane inside insignificant instead integer internal into invalid"
    " invisible irrelevant is issue it italian item its itself japanese joke json junk just"
    " jwt keepass kept kerberos key keychain keyring keys known korean label lame large last"
    " lastpass late later latter ldap least legacy legal legit length less let letter letters"
    " like line list local locked login logout long longer lost low lower lowercase mainly"
    " manager mandatory manual masked match matches matter maximum maybe me meant mere merely"
    " mess message method middle mine minimum missing mistake mode model modern module more"
    " most mostly must mutable myself name native near nearby nearly necessary necessity"
    " needed never new next nice no nobody none nonempty nonexistent nonsense not nothing now"
    " nowhere nuisance null nullable number numbers numeric oauth object obscure obsolete"
    " obvious obviously odd of off official offline often ok okay old on once one onepassword"
    " online only opaque open option optional options or other otherwise ours out outdated"
    " outside over overkill page pain pam parameter parameters params part partial partly"
    " parts path pbkdf pending per perfect perhaps permanent pertinent pity placeholder plain"
    " plaintext please policy polish poor possible prerequisite present previous primary prior"
    " private probably problem prompt proper property protection provider public pure question"
    " quit quite random rare rather raw reachable read readable ready real really recent"
    " recommended record recovery redacted registration relevant remote required requirement"
    " reset return rich right risk robust root rotation row rubbish rule russian sacred safe"
    " salt same saml sample scarce schema screen scrypt second secret secure sensitive sent"
    " separate server service session set settings sha shame shared sharp sheer shell short"
    " should shown significant signup silly similar simple simply skip slice slow small so"
    " solid some somebody somehow someone something somewhat somewhere soon spanish special"
    " specific ssh ssl sso stale stars static still stolen storage store strength strict"
    " string strings strong struct stuff stupid success such sudo sufficient suitable"
    " superfluous sure symbols system table taboo taken tbd temporary terrible test text that"
    " the their them themselves then there these they thing third this those though threat"
    " through tied time tiny tls today todo together token tomorrow too top total transparent"
    " trash trivial true truthy tuple turkish type typo ugly unavailable unclear undefined"
    " under unfit unhashed unicode unimportant unique unknown unreachable unreadable unsafe"
    " unset until unusual upcoming update upper uppercase upstream uri url us used useless"
    " user username users usual utf uuid valid validation value variable vault vector very"
    " victory view visible vulnerable want was way weak weird wet what when where which while"
    " who whole why will with within without word words works worse writable written wrong"
    " wrongly yes yesterday yet you young your yours yourself zero"
)
_DESCRIBES = (
    r"(?<=[a-z]{2})(?:ed|ing|able|ible|ally|ously|ively|less|ful|ation|ous|ical|ional|ary)\Z"
    r"|(?<=[a-z]{4})(?:ive|ent|ic|ial|uous)\Z|^(?:un|non|re)-|^un(?!i)[a-z]{4}"
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
    if is_template(value):
        return True
    found = pattern(_WORD).findall(value)
    # "password123", "test_user-2": common words and nothing else that carries weight
    return (
        bool(found)
        and sum(map(len, found)) * 2 >= len(value)
        and all(word.lower() in _COMMON for word in found)
    )


def is_template(value: str) -> bool:
    """A stand-in by its shape: `<password>`, `${X}`, `xxxx`, "your-password"."""
    return len(set(value)) <= 2 or bool(pattern(f"{_STAND_IN}|{_TEMPLATE}", re.I).search(value))


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
