# ruff: noqa: E501  (patterns are read line by line)
"""The predicates that rules use: a small fixed vocabulary, and what gives rise to each.

Data only. A sentence pattern names its subject `s` and its object `o`. A command table says what a
project shows by running it.
"""

import re

from recollect.core.kinds import PROFILE
from recollect.extract.normalised_text import word_set

_NAME = r"[\w@./+-]*[\w@/+](?: \d+)?"
_OBJECT = r"(?:the )?(?P<o>(?:old |new )?[\w@./+-]*[\w@/+](?: (?!for\b|and\b|but\b|since\b|with\b|in\b|btw\b|now\b|from\b|to\b|last\b|because\b)[\w.-]+)?)"
_SUBJECT = rf"(?:the |our )?(?P<s>{_NAME})"


def _sentence(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


# Said by the user in so many words.
SENTENCES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("deployed_on", _sentence(rf"\b{_SUBJECT} (?:is|are|gets) (?:now )?(?:deployed|hosted) (?:on|to|at|with) {_OBJECT}")),
    ("runs_on", _sentence(rf"\b{_SUBJECT} (?:still |now )?runs? on {_OBJECT}")),
    ("located_in", _sentence(rf"\b{_SUBJECT} (?:lives|is|are) (?:located )?(?:in|under) (?P<o>[\w.-]*/[\w./-]+|[\w-]+\.\w{{1,5}})")),
    ("depends_on", _sentence(rf"\b{_SUBJECT} depends on {_OBJECT}")),
    ("owns", _sentence(rf"\b{_SUBJECT} (?:owns|maintains) {_OBJECT}")),
    ("replaced_by", _sentence(rf"\bwe (?:moved|switched|migrated) (?:over )?from (?P<s>{_NAME}) to (?P<o>{_NAME})")),
    ("replaced_by", _sentence(rf"\b(?:replaced?|swap(?:ped)?) (?P<s>{_NAME}) (?:with|by|for) (?P<o>{_NAME})")),
    ("renamed_to", _sentence(rf"\brenamed? (?:the )?(?:\w+ )?[`'\"]?(?P<s>{_NAME})[`'\"]? to [`'\"]?(?P<o>{_NAME})")),
)  # fmt: skip
# Words that are no name of anything.
NO_NAME = word_set(
    """it this that they them he she we i you there which what who everything something anything all
    one ones these those code thing things test tests here where same other my our your up down main
    file files branch and or not is are was"""
)

# The first words of a command that worked -> what the project shows by it.
COMMANDS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"^(?:python\d? -m |uv run |poetry run )?pytest\b"), "tested_by", "pytest"),
    (re.compile(r"^(?:npx |pnpm |yarn )?vitest\b"), "tested_by", "vitest"),
    (re.compile(r"^(?:npx |pnpm |yarn )?jest\b"), "tested_by", "jest"),
    (re.compile(r"^(?:npx |pnpm )?playwright test\b"), "tested_by", "playwright"),
    (re.compile(r"^go test\b"), "tested_by", "go test"),
    (re.compile(r"^cargo (?:test|nextest)\b"), "tested_by", "cargo test"),
    (re.compile(r"^(?:bin/rails|bundle exec rspec|rspec)\b"), "tested_by", "rails test"),
    (re.compile(r"^mix test\b"), "tested_by", "mix test"),
    (re.compile(r"^php artisan test\b"), "tested_by", "php artisan test"),
    (re.compile(r"^ctest\b"), "tested_by", "ctest"),
    (re.compile(r"^pnpm\b"), "uses", "pnpm"),
    (re.compile(r"^yarn\b"), "uses", "yarn"),
    (re.compile(r"^npm (?:ci|install|i|run|test)\b"), "uses", "npm"),
    (re.compile(r"^bun (?:install|run|test|add)\b"), "uses", "bun"),
    (re.compile(r"^uv (?:sync|add|run|pip)\b"), "uses", "uv"),
    (re.compile(r"^poetry\b"), "uses", "poetry"),
    (re.compile(r"^mise run\b"), "uses", "mise"),
    (re.compile(r"^make\b"), "built_by", "make"),
    (re.compile(r"^cmake --build\b"), "built_by", "cmake"),
    (re.compile(r"^(?:\./)?gradlew?\b"), "built_by", "gradle"),
    (re.compile(r"^mvn\b"), "built_by", "maven"),
    (re.compile(r"^cargo build\b"), "built_by", "cargo"),
    (re.compile(r"^(?:fly|flyctl) deploy\b"), "deployed_on", "Fly.io"),
    (re.compile(r"^vercel\b.*--prod"), "deployed_on", "Vercel"),
    (re.compile(r"^netlify deploy\b"), "deployed_on", "Netlify"),
    (re.compile(r"^helm (?:upgrade|install)\b"), "deployed_on", "Kubernetes"),
    (re.compile(r"^terraform (?:plan|apply)\b"), "configured_by", "terraform"),
    (re.compile(r"^dbt (?:run|build)\b"), "uses", "dbt"),
    (re.compile(r"^docker compose\b"), "uses", "docker compose"),
)
# Standing wishes, by what they are about: the sentence is the value. "One thing and later another"
# is written as the first of the one and then any of the other, or each of the one would look anew.
_WANTS = r"(?:use|write|keep|i (?:prefer|like|want|use)|prefer|give me|make|please|should be|from now on|always)"
_ROLES = "engineer|developer|designer|scientist|analyst|architect|manager|student|researcher|administrator|sysadmin|programmer|maintainer|founder|teacher|consultant|freelancer|cto"
WISHES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (PROFILE, "role", _sentence(rf"^(?:i am|i'm|i work as) (?:an?|the) (?:(?!(?:of|for|to|with|by|in|on|at|who|that|and|not|no)\b)[\w+#/.-]+ ){{0,3}}(?:{_ROLES})\b|^my (?:role|job) is\b")),
    (PROFILE, "stack", _sentence(r"^i (?:mostly|mainly|usually|primarily) (?:write|code in|program in|use|work (?:with|in)) [\w+#]")),
    (PROFILE, "employer", _sentence(r"^i work (?:at|for) (?!home\b|now\b|a while\b)[\w]")),
    ("git", "commit_messages", _sentence(rf"^(?=.*\b{_WANTS}\b)(?>.*?\bcommit messages?\b).*\b(?:in|as|with|short|long|conventional|imperative|past)\b")),
    ("style", "indentation", _sentence(r"^(?>.*?\bindent(?:ation)?\b).*\b(?:\d|two|four|eight|tabs?|spaces?)\b|\b(?:use|prefer) (?:tabs|\d spaces)\b")),
    ("style", "quotes", _sentence(rf"^(?=.*\b{_WANTS}\b).*\b(?:single|double)[ -]quotes\b")),
    ("style", "comments_language", _sentence(rf"^(?=.*\b{_WANTS}\b)(?>.*?\bcomments\b).*\bin (?:english|german|spanish|italian|french|dutch|portuguese|polish)\b")),
    ("answers", "length", _sentence(rf"^(?=.*\b{_WANTS}\b)(?>.*?\b(?:short|brief|concise|detailed|long|terse|verbose)\b).*\b(?:answers|replies|responses)\b|\b(?:keep|make) (?:your |the )?(?:answers|replies|responses) (?:short|brief|concise|detailed|long|terse)\b")),
    ("tools", "editor", _sentence(r"\bmy editor is\b|\bi (?:now )?(?:use|prefer|switched to|moved to) (?:vs ?code|zed|neovim|nvim|vim|emacs|helix|sublime|intellij|pycharm|webstorm|cursor)\b")),
)  # fmt: skip


def wish(sentence: str) -> tuple[str, str] | None:
    """Category and key of the lasting preference that a sentence states outright."""
    return next((one[:2] for one in WISHES if one[2].search(sentence)), None)


# Preferences: the family that two rivals belong to gives the preference its key.
FAMILIES: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("tools", "package_manager", word_set("npm pnpm yarn bun pip uv poetry conda pipenv")),
    ("tools", "test_framework", word_set("pytest unittest jest vitest mocha junit rspec minitest testng")),
    ("tools", "formatter", word_set("black ruff prettier biome gofmt yapf dprint")),
    ("tools", "linter", word_set("eslint ruff flake8 pylint golangci-lint rubocop clippy")),
    ("tools", "bundler", word_set("webpack vite rollup esbuild parcel turbopack")),
    ("tools", "http_client", word_set("requests httpx axios fetch ky got aiohttp")),
    ("tools", "database", word_set("postgres postgresql mysql sqlite mariadb mongodb redis")),
    ("style", "indentation", word_set("tabs spaces tab")),
    ("style", "quotes", word_set("single-quotes double-quotes")),
    ("workflow", "version_control", word_set("rebase merge squash")),
    ("tools", "test_doubles", word_set("mock mocks fakes unittest.mock stubs mockito")),
)  # fmt: skip
