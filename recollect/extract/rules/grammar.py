# ruff: noqa: E501  (patterns are read line by line)
"""Sentences that state what something is, uses, needs, or where it lies: the plain forms of them.

In: one sentence. Out: (subject, predicate, object) as the graph knows predicates. Each form is
anchored at the beginning of a clause, so that a word in passing states nothing. Which predicate
"billing uses Postgres" means follows from what Postgres is; what no table knows says nothing.
"""

import re
from collections.abc import Iterator

from recollect.extract.normalised_text import word_set
from recollect.extract.rules import predicates

MOST_WORDS = 14  # of a clause: longer ones tell a story, and forms read too much into them
Triple = tuple[str, str, str]

# What people call the thing that changes -> its predicate.
_NOUNS = {
    "database": "uses_database", "db": "uses_database", "data store": "uses_database",
    "message broker": "message_broker", "broker": "message_broker", "message queue": "message_broker",
    "package manager": "package_manager", "test framework": "test_framework",
    "test runner": "test_framework", "web framework": "framework", "framework": "framework",
    "cache": "cache", "ci": "ci", "ci system": "ci", "formatter": "formatter", "linter": "linter",
    "region": "region", "production region": "region", "port": "port", "timeout": "timeout",
    "default branch": "default_branch", "main branch": "default_branch", "license": "license",
    "licence": "license", "repository": "repository", "repo": "repository", "owner": "owned_by",
    "maintainer": "owned_by", "command line tool": "cli_name", "cli": "cli_name",
    "check command": "check_command", "test command": "test_command",
    "build command": "build_command", "lint command": "lint_command",
    "run command": "run_command", "start command": "start_command", "staging url": "staging_url",
    "url": "url", "version": "version", "language": "written_in", "editor": "editor",
    "orm": "orm", "build tool": "build_tool", "scheduler": "scheduler", "host": "deployed_on",
    "entry point": "entry_point", "deadline": "deadline", "hosting": "deployed_on",
}  # fmt: skip
_RUN = {"checks": "check_command", "tests": "test_command", "builds": "build_command",
        "lints": "lint_command"}  # fmt: skip
# What a thing is -> what using it means.
_FAMILIES: tuple[tuple[str, frozenset[str]], ...] = (
    ("uses_database", word_set("""postgres postgresql mysql mariadb sqlite mongodb mongo redis
        cassandra scylladb cockroachdb dynamodb clickhouse duckdb oracle firestore couchdb tidb
        neo4j elasticsearch opensearch timescaledb""")),
    ("message_broker", word_set("rabbitmq nats kafka pulsar sqs redpanda activemq mosquitto")),
    ("package_manager", word_set("npm yarn pnpm bun pip uv poetry pipenv conda")),
    ("test_framework", word_set("jest vitest mocha pytest unittest rspec minitest junit testng")),
    ("framework", word_set("""django flask fastapi rails laravel spring angular react vue svelte
        sveltekit nextjs next.js nuxt remix astro express phoenix""")),
    ("cache", word_set("memcached valkey dragonfly")),
    ("ci", word_set("circleci buildkite jenkins travis drone teamcity semaphore")),
    ("formatter", word_set("black prettier gofmt yapf dprint")),
    ("linter", word_set("eslint flake8 pylint golangci-lint rubocop clippy ruff")),
    ("deployed_on", word_set("""fly fly.io heroku render vercel netlify hetzner nomad kubernetes
        railway aws gcp azure ecs eks gke lambda cloudflare digitalocean""")),
    ("build_tool", word_set("webpack vite rollup esbuild bazel gradle maven cmake turbopack")),
    ("orm", word_set("sqlalchemy prisma drizzle sequelize typeorm hibernate")),
)  # fmt: skip
_RUNTIMES = "python|node|go|ruby|java|php|rust|dotnet|elixir|kotlin|swift"
_MANIFESTS = {".nvmrc": "node_version", ".python-version": "python_version",
              ".ruby-version": "ruby_version", ".node-version": "node_version"}  # fmt: skip

_CLAUSE = re.compile(r"(?<!\s)\s*+(?:;|:(?=\s)|,(?=\s)|(?<=\s)[-–—](?=\s)|(?<![./])\.(?=\s))\s*+")
_FILLED = re.compile(
    r"^(?:(?:no|nope|wrong|sorry|actually|well|ok(?:ay)?|yes|so|and|but|just so you know|fyi|btw|"
    r"by the way|note|i was wrong|correction|as of (?:today|now)|from now on|git says(?: that)?|"
    r"git mv|remember(?: that)?|i think|it turns out(?: that)?|please note(?: that)?|also|now|"
    r"in fact|heads up|for the record|that'?s wrong|not (?:right|correct))\b[\s,:]*)+",
    re.IGNORECASE,
)
_END = re.compile(r"(?<![./.!])[.!]++$|(?<![\"'])[\"']++$")
_TAIL = re.compile(
    r"(?<!\s)\s++(?:now|again|since|from today|from now|as of|because|these days|today|instead|rather than|already|"
    r"for now|at the moment|btw|by the way|in production|it seems|i think|starting|after|until|"
    r"and|but|so|when|while|which|that|where|if|unless|yesterday|tonight|"
    r"(?:last|this|next|on|in) (?:night|week|month|year|sprint|monday|tuesday|wednesday|thursday|"
    r"friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|"
    r"november|december))\b.*",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED = re.compile(r"\b(?:not|never|n't|if|whether|would|could|should|might|can)\b", re.I)
_PATH = re.compile(r"^[\w.@~-]*/[\w./@-]+$|^[\w-]+\.[a-z]\w{0,4}$")
_NUMBER = re.compile(r"^v?\d++(?>(?:\.\d+)*)\w*$")

_S = r"(?:the |our |my )?(?P<s>[\w@./:+'-]+(?: [\w@./+-]+){0,3}?)"
_O = r"(?P<o>\S.*?)"
_NOUN = "(?P<n>" + "|".join(sorted(map(re.escape, _NOUNS), key=len, reverse=True)) + ")"
_SURE = r"(?:is|are)(?: now| still| currently| actually)?"
_MAYBE = rf"(?:{_SURE}|may be|seems to be|is probably|might be)"
_MOVED = (
    r"(?:(?:(?:has|have|just|recently|finally|now|is|are) )*(?:moved?|switch(?:ed)?|migrated?|ported|"
    r"went|changed|moving|switching|migrating)|is back on|goes)(?: over| back| again)*"
)
_WE = r"(?:we|i|we've|i've|let's|let us|we're|i'm|they|they've|please)"


def _form(text: str) -> re.Pattern[str]:
    return re.compile(f"^{text}$", re.IGNORECASE)


_OF = (
    _form(rf"(?:the |our |its )?{_NOUN} (?:of|for|in) {_S} {_MAYBE} {_O}"),
    _form(rf"{_S}(?:'s|’s) {_NOUN} {_MAYBE} {_O}"),
    _form(rf"{_S} (?:{_MOVED} to|uses?|now uses|has) (?:the )?{_O} (?:as|for) (?:its|the|their) {_NOUN}"),
    _form(rf"{_WE} (?:now )?(?:use|chose|picked|switched to|moved to) {_O} (?:as|for) the {_NOUN} (?:of|for|in) {_S}"),
    _form(rf"{_WE} (?:have |just )*(?:changed?|set|switch(?:ed)?|moved?|bump(?:ed)?|raised?|lower(?:ed)?) the {_NOUN} (?:of|for|in) {_S}(?: from \S+(?: \S+)?)? to {_O}"),
    _form(rf"{_O} {_SURE} (?:the|our) (?:new |current )?{_NOUN} (?:of|for|in) {_S}"),
)  # fmt: skip
_ITS = _form(rf"(?:its|their) {_NOUN} {_MAYBE} {_O}")
_IT = _form(rf"(?:it|that)(?:'s|’s| is| uses| now uses) {_O}")
_RUN_BY = _form(
    rf"(?:the )?(?P<n>{'|'.join(_RUN)}) (?:of|for|in) {_S} are (?:now )?run (?:by|with) {_O}"
)
_USES = _form(
    rf"{_S} (?:(?:still|now|probably|also) )*(?:uses|use|runs on|is built with|is backed by|"
    rf"seems to use|is tested with|is formatted with|is linted with) (?:the )?{_O}"
)
_NO_LONGER = _form(
    rf"{_S} (?:no longer uses?|stopped using|doesn't use|does not use) (?:the )?{_O}(?: any ?more)?"
)
_NO_LONGER_IN = _form(
    rf"{_WE} (?:no longer use|stopped using|don't use|do not use|dropped|got rid of) {_O}"
    rf"(?: any ?more)? (?:in|for|on) {_S}"
)
# What a sentence says in the place of something else: "..., not Redis 7", "instead of Redis 7".
_NOT = _form(rf"not (?:the |on |in |by |with |under )?{_O}(?: any ?more)?")
_IN_PLACE_OF = re.compile(r"\b(?:instead of|rather than) (?P<o>\S+(?: v?\d\S*)?)", re.IGNORECASE)
_FROM_TO = _form(rf"(?:{_WE} )?{_MOVED} {_S} from (?P<a>\S+(?: \S+)?) to {_O}")
_SELF_FROM_TO = _form(rf"{_S} {_MOVED} from (?P<a>\S+(?: \S+)?) to {_O}")
_TO = (
    _form(rf"{_WE} {_MOVED} {_S}(?: over| back)? to {_O}"),
    _form(rf"{_S} {_MOVED} to {_O}"),
    _form(rf"{_S} (?:is|are) (?:now|back|again|still) on {_O}"),
)  # fmt: skip
_REPLACED = _form(
    rf"(?:{_WE} )?(?:(?:have|just) )*(?:replaced?|swap(?:ped)?) (?P<a>\S+) (?:by|with|for) {_O} in {_S}"
)
_IN = _form(
    rf"{_S} (?:lives?|sits?|lie|lies|(?:is|are)(?: now)?(?: kept| located| found| stored| defined)?)"
    rf" (?:in|under|at) {_O}"
)
_IS_PATH = _form(rf"{_S} (?:is|are)(?: now)? {_O}")
_DEPLOYED = _form(
    rf"{_S} (?:is|are|gets)(?: now| still| currently)? (?:deployed|hosted) (?:on|to|at|with) {_O}"
)
_OWNED = _form(rf"{_S} {_SURE} (?:owned|maintained|looked after) by {_O}")
_OWNS = _form(rf"(?P<o>[\w.'-]+(?: [\w.'-]+)?)(?: now)? (?:owns|maintains|looks after) {_S}")
_TOOK_OVER = _form(rf"(?P<o>[\w.'-]+) (?:took|takes|has taken) over {_S}(?: from \S+)?")
_WRITTEN = _form(rf"{_S} {_SURE} written in {_O}")
_PORT = _form(rf"{_S} (?:now )?(?:listens|runs|is) on (?:port )?(?P<o>\d{{2,5}})")
_NEEDS = _form(
    rf"{_S} (?:(?:now|probably) )?(?:needs?|requires?|runs? on|seems to need|is on) "
    rf"(?P<n>{_RUNTIMES}) (?P<o>v?\d[\w.]*)"
)
_UNDER = _form(
    rf"{_S} (?:{_MAYBE}|is released|is licensed|seems to be licensed) under (?:the )?"
    r"(?P<o>(?:A?GPL|LGPL|MIT|BSD|Apache|MPL|ISC|EUPL|Unlicense)[\w.-]*(?: [\d.]+)?)(?: licen[cs]e)?"
)
_FILE_SAYS = _form(rf"(?P<f>[\w.-]*\.[\w-]+) of {_S} (?:lists|has|says|pins|names) {_O}")
_SUBJECT_IN = re.compile(
    r"^(?:we )?(?:rewrote|rebuilt|reworked|moved) (?:the |our )?(?P<s>[\w@./+-]+(?: [\w@./+-]+){0,2}?)$"
    r"|^(?P<t>[\w@./+-]+) (?:left|dropped|gave up|abandoned) \S+$"
    r"|\bof (?P<u>[\w@./+-]+)\b",
    re.IGNORECASE,
)


def triples(sentence: str) -> Iterator[Triple]:
    """What one sentence states, each once."""
    if sentence.rstrip().endswith("?") or len(sentence) > 400:
        return
    seen: set[Triple] = set()
    about = stated = ""
    for clause in _clauses(sentence):
        if (found := _NOT.match(clause)) and stated:
            triple = (about, *_over(_object(found["o"]), stated))
        elif (found := _ITS.match(clause)) and about:
            triple = (about, _NOUNS[found["n"].lower()], _object(found["o"]))
        elif (found := _IT.match(clause)) and about:
            triple = (about, _kind_of(_object(found["o"])), _object(found["o"]))
        else:
            triple = _triple(clause)
            if not all(triple):
                triple = _triple(_TAIL.sub("", clause))
            subject = _SUBJECT_IN.search(clause)
            about = triple[0] or (subject[subject.lastgroup or 0] if subject else about)
        triple = (_TAIL.sub("", triple[0]), *triple[1:])
        stated = triple[1] if all(triple) else ""
        thing = triple[2].lower().split()[:1]
        if (
            all(triple)
            and _name(triple[0])
            and not _NO_THING.issuperset(thing)
            and triple not in seen
        ):
            seen.add(triple)
            yield triple
            if (found := _IN_PLACE_OF.search(clause)) and not triple[1].startswith("no_longer_"):
                yield (triple[0], *_over(_object(found["o"]), triple[1]))


def _over(thing: str, predicate: str) -> tuple[str, str]:
    """That something is not so any more: by what it is, or else by what takes its place."""
    predicate = predicate.removeprefix("no_longer_")
    return f"no_longer_{family(thing) or predicate}", thing


def _clauses(sentence: str) -> Iterator[str]:
    for part in _CLAUSE.split(sentence.strip()):
        clause = _END.sub("", _FILLED.sub("", part.strip(" \"'")))
        if 1 < len(clause.split()) <= MOST_WORDS:
            yield clause


_NO_THING = word_set("which who it that this them what a")
_NOTHING: Triple = ("", "", "")


def _triple(clause: str) -> Triple:
    """The first form that a clause has."""
    if found := _NO_LONGER_IN.match(clause) or _NO_LONGER.match(clause):
        return found["s"], f"no_longer_{family(_object(found['o'])) or 'uses'}", _object(found["o"])
    if _NEGATED.search(clause.replace("may be", "").replace("might be", "")):
        return _NOTHING
    for form in _OF:
        if found := form.match(clause):
            return found["s"], _NOUNS[found["n"].lower()], _object(found["o"])
    if found := _RUN_BY.match(clause):
        return found["s"], _RUN[found["n"].lower()], _object(found["o"])
    if found := _NEEDS.match(clause):
        return found["s"], f"{found['n'].lower()}_version", found["o"]
    for form, predicate in ((_DEPLOYED, "deployed_on"), (_OWNED, "owned_by"),
                            (_OWNS, "owned_by"), (_TOOK_OVER, "owned_by"), (_WRITTEN, "written_in"), (_PORT, "port")):  # fmt: skip
        if found := form.match(clause):
            return found["s"], predicate, _object(found["o"])
    if found := _FROM_TO.match(clause) or _SELF_FROM_TO.match(clause) or _REPLACED.match(clause):
        thing = _object(found["o"])
        return found["s"], _kind_of(thing) or _kind_of(_object(found["a"])), thing
    for form in (*_TO, _USES):
        if found := form.match(clause):
            thing = _object(found["o"])
            return found["s"], _kind_of(thing, path=form is not _USES), thing
    for form in (_IN, _IS_PATH):
        found = form.match(clause)
        if found and _PATH.match(_object(found["o"])) and not _NUMBER.match(found["o"]):
            return found["s"], "located_in", _object(found["o"])
    if found := _UNDER.match(clause):
        return found["s"], "license", found["o"]
    if found := _FILE_SAYS.match(clause):
        thing = _object(found["o"])
        return found["s"], _MANIFESTS.get(found["f"].lower(), "") or family(thing), thing
    return _NOTHING


def _kind_of(thing: str, *, path: bool = True) -> str:
    """What it means for something to have moved to this, or to use it."""
    if path and _PATH.match(thing):
        return "located_in"
    return family(thing)


def family(thing: str) -> str:
    words = thing.lower().split()
    for predicate, members in _FAMILIES:
        if words and words[0] in members and len(words) <= 2:
            return predicate
    return ""


def _object(text: str) -> str:
    text = _TAIL.sub("", text.strip(" ,;!\"'`"))
    text = re.sub(r"^(?:now|still|the|back to|again|also) ", "", text, flags=re.IGNORECASE)
    return text[:200] if len(text.split()) <= 6 else ""


def _name(text: str) -> bool:
    words = text.lower().split()
    return bool(words) and words[0] not in predicates.NO_NAME and len(text) > 1
