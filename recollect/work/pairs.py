"""Which file tests which, by the conventions of the languages.

In: a file's name. Out: the name of what it tests, or "" when it is no test.
"""

import re

_CONVENTIONS = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (
            r"^(?P<name>.+)_test\.(?P<ext>go|py|rb|rs|exs|dart|cc|cpp|c|lua|nim|zig|jl)$",
            "{name}.{ext}",
        ),
        (r"^test_(?P<name>.+)\.(?P<ext>py|rb|c|cc|cpp|lua|jl|R|sh)$", "{name}.{ext}"),
        (r"^(?P<name>.+)\.(?:test|spec|cy|e2e)\.(?P<ext>[cm]?[jt]sx?|vue|svelte)$", "{name}.{ext}"),
        (r"^(?P<name>.+)_spec\.(?P<ext>rb|lua|cr)$", "{name}.{ext}"),
        (
            r"^(?P<name>.+?)(?:Tests?|TestCase|Spec|IT)\.(?P<ext>java|kt|cs|php|scala|swift|groovy|fs|vb)$",
            "{name}.{ext}",
        ),
        (r"^(?P<name>.+)[-.]test\.(?P<ext>el|clj|cljs|R|r)$", "{name}.{ext}"),
    )
)
_SAME = {"exs": "ex", "cc": "cc", "tsx": "tsx"}


def subject_of(name: str) -> str:
    """The name of the file that a test of this name tests; "" when it is no test."""
    for pattern, form in _CONVENTIONS:
        found = pattern.match(name)
        if found is not None:
            return form.format(name=found["name"], ext=_SAME.get(found["ext"], found["ext"]))
    return ""


def are_pair(one: str, other: str) -> bool:
    """Whether one of two base names tests the other."""
    return subject_of(one) == other or subject_of(other) == one
