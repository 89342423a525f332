"""Concepts, category and importance of a memory, by rules that are tables.

In: its words, files and commands. Out: at most five concepts (A28), one of nine categories (A29),
a score from 1 to 10 (D20). The first rule of a table wins a tie.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable

from recollect.core.kinds import TYPES

MOST_CONCEPTS = 5

_LANGUAGES = {
    suffix: language
    for language, suffixes in (
        ("python", ".py .pyi"), ("typescript", ".ts"), ("react", ".tsx .jsx"),
        ("javascript", ".js .mjs"), ("go", ".go"), ("rust", ".rs"), ("java", ".java"),
        ("kotlin", ".kt"), ("gradle", ".kts .gradle"), ("ruby", ".rb"), ("rails", ".erb"),
        ("php", ".php"), ("c-sharp", ".cs"), ("c++", ".cpp .hpp .cc"), ("c", ".c .h"),
        ("swift", ".swift"), ("elixir", ".ex .exs"), ("sql", ".sql"), ("terraform", ".tf"),
        ("css", ".css .scss"), ("html", ".html"), ("vue", ".vue"), ("svelte", ".svelte"),
        ("docs", ".md .rst"), ("protobuf", ".proto"), ("shell", ".sh"),
        ("config", ".yml .yaml .toml .ini"),
    )
    for suffix in suffixes.split()
}  # fmt: skip
_PLACES = (
    (re.compile(r"(?:^|/)tests?/|_test\.|\.test\.|\.spec\.|(?:^|/)test_"), "testing"),
    (re.compile(r"\.github/|\.gitlab-ci|jenkinsfile|(?:^|/)ci/", re.I), "ci"),
    (re.compile(r"(?:^|/)(?:migrations?|alembic)/", re.I), "migration"),
    (re.compile(r"dockerfile|docker-compose|compose\.ya?ml", re.I), "docker"),
    (re.compile(r"(?:^|/)(?:api|routes|controllers|handlers|endpoints)/", re.I), "api"),
    (re.compile(r"(?:^|/)(?:auth|login|security)(?:/|\.|_)", re.I), "auth"),
    (re.compile(r"(?:^|/)(?:deploy|k8s|helm|charts|ops|infra|envs)/", re.I), "deployment"),
    (re.compile(r"(?:^|/)docs?/|readme", re.I), "docs"),
    (
        re.compile(r"(?:package|composer)\.json|pyproject|cargo\.toml|go\.mod|gemfile", re.I),
        "dependencies",
    ),
)
_PROGRAMS = re.compile(
    r"(?:^|[\s;&|(])(docker|kubectl|helm|terraform|npm|pnpm|yarn|bun|pip|uv|poetry|cargo|go|mvn|gradle|"
    r"gradlew|pytest|jest|vitest|playwright|dbt|psql|redis-cli|aws|gcloud|fly|vercel|make|cmake|rails|"
    r"mix|php|xcodebuild|mise|tox|ruff|eslint)(?=\s|$)"
)
_WORDS = (
    (re.compile(r"\b(?:cache|caching|cached)\b", re.I), "caching"),
    (re.compile(r"\b(?:sql|quer(?:y|ies)|postgres\w*|explain analyze)\b|n\+1", re.I), "database"),
    (re.compile(r"\b(?:auth|authenti\w+|authori[sz]\w+|login|oauth|jwt|password)\b", re.I), "auth"),
    (
        re.compile(r"\b(?:race condition|deadlock|concurren\w+|goroutine|thread|mutex)\b", re.I),
        "concurrency",
    ),
    (re.compile(r"\b(?:rate.?limit\w*|throttl\w+)\b", re.I), "rate-limiting"),
    (re.compile(r"\b(?:retry|retries|timeout|backoff)\b", re.I), "resilience"),
    (re.compile(r"\b(?:memory leak|oom|out of memory|heap)\b", re.I), "memory"),
    (re.compile(r"\b(?:flaky|flake)\b", re.I), "flaky-test"),
    (re.compile(r"\b(?:releas\w+|changelog|version bump)\b", re.I), "release"),
    (re.compile(r"\b(?:slow|latency|performance|faster)\b", re.I), "performance"),
    (re.compile(r"\b(?:logging|logger|telemetry|metrics)\b", re.I), "observability"),
    (re.compile(r"\bmigrat\w+\b", re.I), "migration"),
)

# Each category with its evidence: patterns over words and files, and their weights.
_CATEGORIES: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (name, weight, re.compile(words, re.IGNORECASE))
    for name, weight, words in (
        ("security", 4, r"\b(?:secur\w+|vulnerab\w+|cve-\d|xss|injection|secret|credential|csrf|"
         r"redact\w*|permission|authenti\w+|authori[sz]\w+)\b"),
        ("debugging", 3, r"\b(?:root cause|bug|crash\w*|fail(?:s|ed|ure|ing)|error|fix(?:es|ed)?|"
         r"exception|leak|deadlock|hangs?|flak\w+|regression)\b"),
        ("testing", 3, r"\b(?:tests?|coverage|fixture|mock|assert\w*|snapshot)\b|_test\.|\.test\.|"
         r"test_|\btests?/"),
        ("architecture", 3, r"\b(?:architecture|design|decid\w+|decision|instead of|strategy|"
         r"pattern|trade-?off|option \d|schema|interface)\b"),
        ("refactoring", 3, r"\b(?:refactor\w*|renam\w+|extract(?:ed)?|simplif\w+|clean(?:ed)? ?up|"
         r"dedup\w*|remov\w+|moved)\b"),
        ("config", 2, r"\b(?:config\w*|settings?|env|flag|docker\w*|terraform|helm|ci|workflow|"
         r"deploy\w*|gradle|cmake\w*|version)\b|\.ya?ml|\.toml|\.tf\b|\.json\b"),
        ("docs", 2, r"\b(?:docs?|readme|documentation|changelog|comment|adr)\b|\.md\b"),
        ("feature-dev", 2, r"\b(?:add(?:s|ed)?|implement\w*|creat\w+|new|support\w*|feature|"
         r"introduc\w+)\b"),
    )
)  # fmt: skip
GENERAL = "general"


def concepts(text: str, files: Iterable[str], commands: Iterable[str] = ()) -> tuple[str, ...]:
    """The concepts of a text, the most frequent first."""
    found: Counter[str] = Counter()
    for path in files:
        language = _LANGUAGES.get(os.path.splitext(path)[1].lower())
        if language:
            found[language] += 2
        for pattern, concept in _PLACES:
            if pattern.search(path):
                found[concept] += 2
    for command in commands:
        for program in _PROGRAMS.findall(command[:300]):
            found[program.replace("gradlew", "gradle")] += 1
    for pattern, concept in _WORDS:
        if pattern.search(text):
            found[concept] += 3
    return tuple(concept for concept, _ in found.most_common(MOST_CONCEPTS))


def category(text: str, files: Iterable[str] = ()) -> str:
    scores: dict[str, int] = {}
    looked_at = text[:1500] + " " + " ".join(list(files)[:10])
    for name, weight, pattern in _CATEGORIES:
        hits = min(len(pattern.findall(looked_at)), 3)
        if hits:
            scores[name] = hits * weight
    return max(scores, key=lambda name: scores[name]) if scores else GENERAL


def importance(type_: str, category: str, *, files: int = 0, verified: bool = False) -> int:
    """From the type, the number of files touched, and whether it was verified."""
    score = TYPES[type_].importance
    score += (category == "security") + (files >= 4) + verified
    return max(1, min(10, score))
