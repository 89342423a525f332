"""The key of a name: the same for all ways in which people and tools write it.

In: a name. Out: a key, or whether it names anything at all. The key is a pure function of the name,
so which names belong together does not depend on the order in which they are heard.
"""

import re
import unicodedata

_REMOTE = re.compile(
    r"^(?:git@|ssh://(?:[^@/]+@)?|https?://|git://)[^/:]+[:/](?:\d+/)?(?P<path>.+?)(?:\.git)?/?$"
)
_OWNED = re.compile(r"^[\w.-]+/[\w.-]+$")
_SUFFIX = re.compile(r"\.[a-z]\w{0,4}$")
_ARTICLE = re.compile(r"^(?:the|our|my|your|this|that|a|an)\s+", re.IGNORECASE)
_KIND_WORD = re.compile(
    r"(?<![\s_-])[\s_-]++(?:service|repo|repository|project|codebase)$", re.IGNORECASE
)
_VERSION = re.compile(r"(?<!\s)\s++v?\d[\d.x]*+$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s_\-.'’`\"]+")
_CODE_HOSTS = ("github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/")

_PRONOUNS_WORDS = """
i me my mine we us our ours you your yours he him his she her hers it its they them their this
that these those one ones who what which someone something anyone anything everyone everything
nobody nothing here there thing things stuff user assistant agent
"""
_PRONOUNS = frozenset(_PRONOUNS_WORDS.split())
# Words that are names of nothing: as entities they would be found in every other prompt.
_COMMON_WORDS = """
test tests code file files app bug bugs error errors change changes fix fixes issue issues
problem problems function functions method class classes line lines command commands output
result results data value values name names type types todo example examples step steps project
repo repository service library tool package module feature version option options thing work
way part time day new old first last next good bad better best yes no ok okay true false none
null
"""
_COMMON = frozenset(_COMMON_WORDS.split())

# The closed classes of English: adverbs that are not made from other words, quantifiers,
# conjunctions, prepositions, auxiliaries. A noun phrase neither begins nor ends with one of them.
# Without `will` and `may`, which are people, too.
_FUNCTION_WORDS = """
let's lets
always never often sometimes seldom ever already still now then today yesterday tomorrow soon later
again once also too just only even maybe perhaps please instead otherwise however meanwhile anyway
besides therefore thus hence yet almost quite rather very here there everywhere recently finally
both either neither each every any some all no most many few several such another its their
and or but nor so because since although though unless until while when whenever where wherever if
whether before after than as of to in on at by for from with without into onto over under about
between during through against via per longer more less whoever is are was were be been being am
do does did has have had would shall should can could might must what which who whom whose why
how not
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
# Adverbs that are made from adjectives: usually, currently, obviously, probably, effectively.
_ADVERB = re.compile(
    r"\w{2,}(?:al|ent|ant|ous|ab|ib|ic|ular|ilar|ed|ing|less|ful|ive|ate|ine|ire|ete|ise|ure|ere)ly"
)


def key(name: str) -> str:
    """The same for every form of a name; empty for what is no name."""
    text = unicodedata.normalize("NFKC", name).strip().strip("`\"'“”‘’ ").rstrip(".,;:!?")
    text = " ".join(text.split())
    remote = _REMOTE.match(text)
    if remote:
        return remote["path"].casefold()
    text = _ARTICLE.sub("", text)
    folded = text.casefold()
    for host in _CODE_HOSTS:
        if folded.startswith(host):
            return folded[len(host) :].removesuffix(".git").rstrip("/")
    if "/" in text:
        return _path(folded)
    bare = _VERSION.sub("", _KIND_WORD.sub("", text)) or text
    if _SUFFIX.search(bare.casefold()) and " " not in bare:
        return bare.casefold()  # a file: its dot and its case-folded name are all there is
    return _singular(_SEPARATORS.sub("", bare.casefold()))


def tail(of: str) -> str:
    """The short form of a repository or package: `repo` of `org/repo`; empty for others."""
    if _OWNED.match(of.removeprefix("@")) and not _SUFFIX.search(of):
        return _singular(_SEPARATORS.sub("", of.rsplit("/", 1)[1]))
    return ""


def is_function_word(word: str) -> bool:
    """Whether a word only holds sentences together: always, since, currently. One in capitals may
    be a name."""
    folded = word.casefold()
    plain = word.islower() or word.istitle()
    return plain and (folded in _FUNCTION or _ADVERB.fullmatch(folded) is not None)


def _is_phrase(words: list[str]) -> bool:
    """Whether these may be a noun phrase. Capitals throughout make a name of anything."""
    if len(words) > 1 and all(word[0].isupper() for word in words):
        return True
    return not any(map(is_function_word, words[:1] + words[-1:]))


def says_nothing(name: str) -> bool:
    """Whether a name is a pronoun, a word that names nothing, or no name at all."""
    words = name.split()
    squashed = key(name)
    return (
        len(squashed) < 2
        or len(name) > 120
        or len(words) > 6
        or not _is_phrase(words)
        or not any(char.isalpha() for char in squashed)
        or name.strip().casefold() in _PRONOUNS
        or squashed in _PRONOUNS
        or squashed in _COMMON
    )


def same_object(left: str, right: str) -> bool:
    return object_key(left) == object_key(right)


def names_object(text: str, thing: str) -> bool:
    """Whether a text names this object: without a version it names every version."""
    return same_object(text, thing) or object_key(text) == key(thing)


def object_key(text: str) -> str:
    """What two objects of a fact are compared by: forms of a name are one, versions are not."""
    folded = " ".join(text.split()).casefold()
    version = _VERSION.search(folded)
    return key(text) + (version[0].strip().removeprefix("v") if version else "") or folded


def _path(text: str) -> str:
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return ("/" if text.startswith("/") else "") + "/".join(parts)


def _singular(word: str) -> str:
    """One form for one and many; what matters is that it is the same, not that it is a word."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("shes", "ches", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
