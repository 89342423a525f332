"""Every regular expression of the package, and texts that are hard for each.

In: the package. Out: its patterns, whether a module compiles them when it is imported, a function
when it is first called, or a call of `re` each time; and for a pattern the texts that make a
careless one slow: each of its repeats pumped, alone, after what leads to it, and together with it.
"""

import ast
import collections
import contextlib
import dataclasses
import functools
import importlib
import inspect
import itertools
import json
import pkgutil
import random
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any

# Modules that can be imported on Windows only; they have no patterns.
_OF_WINDOWS = ("oslayer_windows", "windows_hook")
ROOT = Path(__file__).parents[1] / "recollect"
CALLS = frozenset(
    ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
)
STAND_IN = "abc"  # for a name that only a running program knows


LOOKED = frozenset({"match", "fullmatch", "search"})  # look once; anything else goes on to the end
EVERY = frozenset({"finditer"})


@dataclass(frozen=True)
class Found:
    where: str  # file:line
    source: str
    flags: int = 0
    methods: frozenset[str] = EVERY  # how it is used


# --- finding them ------------------------------------------------------------------------------


@dataclass
class _Recorded:
    """What is compiled while `re` is listened to, by the line of the package that asked for it."""

    found: list[Found] = field(default_factory=list)
    lines: set[str] = field(default_factory=set)

    def note(self, source: Any, flags: int) -> None:
        if not isinstance(source, str):
            return
        ours = [frame for frame in _frames() if frame.f_code.co_filename.startswith(str(ROOT))]
        if ours:
            places = [
                f"{Path(one.f_code.co_filename).relative_to(ROOT.parent)}:{one.f_lineno}"
                for one in ours
            ]
            self.found.append(Found(places[-1], source, int(flags)))
            self.lines.update(places)


def _frames() -> Iterator[FrameType]:
    """From whoever called `re`, as long as it is the package that calls."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename in (__file__, re.__file__):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.startswith(str(ROOT)):
        yield frame
        frame = frame.f_back


@contextlib.contextmanager
def _listening() -> Iterator[_Recorded]:
    recorded = _Recorded()
    original = re._compile  # type: ignore[attr-defined]

    def compile_(source: Any, flags: int) -> Any:
        recorded.note(source, flags)
        return original(source, flags)

    re._compile = compile_  # type: ignore[attr-defined]
    try:
        yield recorded
    finally:
        re._compile = original  # type: ignore[attr-defined]


def every_pattern() -> tuple[list[Found], list[str]]:
    """All patterns of the package, and the calls whose pattern cannot be known. For a fresh
    process: what is imported already is not compiled again."""
    modules = []
    with _listening() as recorded:
        for info in pkgutil.walk_packages([str(ROOT)], "recollect."):
            if not info.name.endswith(("__main__", *_OF_WINDOWS)):
                modules.append(importlib.import_module(info.name))
        for module in modules:
            for function in vars(module).values():
                if isinstance(function, functools._lru_cache_wrapper):
                    for arguments in _arguments(function, modules):
                        function(*arguments)
    uses = _Uses(modules)
    found = [dataclasses.replace(one, methods=uses.of(one.where)) for one in recorded.found]
    unknown = []
    for module in modules:
        for call in _calls(module):
            if not call.in_function or call.lines & recorded.lines:
                continue
            known = _evaluated(call, module)
            found += known
            if not known:
                unknown.append(f"{call.where}: {ast.unparse(call.pattern)}")
    return _once(found), unknown


def _arguments(function: Any, modules: list[ModuleType]) -> Iterator[tuple[Any, ...]]:
    """With what a cached function can be called: nothing, or each entry of a table of its kind."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        yield ()
    elif len(parameters) == 1 and _is_ours(parameters[0].annotation):
        for table in itertools.chain.from_iterable(vars(one).values() for one in modules):
            if isinstance(table, tuple):
                yield from ((one,) for one in table if type(one) is parameters[0].annotation)


def _is_ours(kind: Any) -> bool:
    return inspect.isclass(kind) and kind.__module__.startswith("recollect.")


def _once(found: list[Found]) -> list[Found]:
    """Each pattern once, with all the ways in which it is used."""
    once: dict[tuple[str, int], Found] = {}
    for one in found:
        before = once.get((one.source, one.flags), one)
        methods = before.methods | one.methods
        once[one.source, one.flags] = dataclasses.replace(before, methods=methods)
    return list(once.values())


class _Uses:
    """Which methods are called of a pattern that has a name, or a function that gives it."""

    def __init__(self, modules: list[ModuleType]) -> None:
        self._named: dict[str, str] = {}  # file:line -> name
        self._methods: dict[tuple[str, str], set[str]] = {}  # file and name, or of any file
        for module in modules:
            path = Path(module.__file__ or "")
            file = str(path.relative_to(ROOT.parent))
            tree = ast.parse(path.read_text())
            for node in tree.body:
                name = _name_of(node)
                for line in range(node.lineno, (node.end_lineno or 0) + 1) if name else ():
                    self._named[f"{file}:{line}"] = name
            self._read(tree, file)

    def of(self, where: str) -> frozenset[str]:
        name = self._named.get(where, "")
        file = where.partition(":")[0]
        methods = self._methods.get((file, name), set()) | self._methods.get(("", name), set())
        return frozenset(methods) if methods and methods <= LOOKED else EVERY

    def _read(self, tree: ast.AST, file: str) -> None:
        """A name that is only ever followed by a method's; any other use may be anything."""
        direct: set[int] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=(ast.Name() | ast.Attribute()) as of)):
                    self._note(file, of, node.func.attr, direct)  # type: ignore[attr-defined]
                case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name() as of, args=[]))):
                    self._note(file, of, node.func.attr, direct)  # type: ignore[attr-defined]
                case ast.ImportFrom(names=names):
                    for one in names:
                        self._methods.setdefault(("", one.name), set()).add("finditer")
        for node in ast.walk(tree):
            loads = isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
            own = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
            if loads and not own and id(node) not in direct:
                self._note(file, node, "finditer", set())

    def _note(self, file: str, of: ast.AST, method: str, direct: set[int]) -> None:
        direct.add(id(of))
        key = (file, of.id) if isinstance(of, ast.Name) else ("", getattr(of, "attr", ""))
        self._methods.setdefault(key, set()).add(method)


def _name_of(node: ast.stmt) -> str:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name if isinstance(node.value, ast.Call) else ""
        case ast.FunctionDef(name=name):
            return name
    return ""


@dataclass(frozen=True)
class _Call:
    where: str
    lines: frozenset[str]
    function: ast.expr
    pattern: ast.expr
    flags: ast.expr | None
    method: str
    around: tuple[ast.AST, ...]  # what it stands in, outermost first

    @property
    def in_function(self) -> bool:
        return any(isinstance(one, ast.FunctionDef) for one in self.around)


def _calls(module: ModuleType) -> Iterator[_Call]:
    """Calls that compile a pattern in a function's body: of `re`, or of a function of ours that
    hands its argument on."""
    path = Path(module.__file__ or "")
    name = str(path.relative_to(ROOT.parent))

    def walk(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[_Call]:
        compiles = isinstance(node, ast.Call) and node.args and _compiles(node.func)
        if isinstance(node, ast.Call) and compiles and not _handed_on(node.args[0], around):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            flags = next(
                (one.value for one in node.keywords if one.arg == "flags"),
                node.args[-1] if len(node.args) > 1 else None,
            )
            yield _Call(
                f"{name}:{node.lineno}",
                frozenset(f"{name}:{line}" for line in lines),
                node.func,
                node.args[0],
                flags,
                _method(node, around[-1]),
                around,
            )
        for child in ast.iter_child_nodes(node):
            yield from walk(child, (*around, node))

    yield from walk(ast.parse(path.read_text()), ())


def _method(call: ast.Call, parent: ast.AST) -> str:
    """`search` of `re.search(…)` and of `pattern(…).search(…)`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else "compile"
    if name == "compile" and isinstance(parent, ast.Attribute):
        name = parent.attr
    return name if name in LOOKED else "finditer"


def _compiles(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name in CALLS
        case ast.Name(id=name):
            return name in ("compiled", "_compiled", "pattern")
    return False


def _handed_on(pattern: ast.expr, around: Sequence[ast.AST]) -> bool:
    """Whether it is the function's own argument: whoever calls that function is looked at."""
    names = {one.id for one in ast.walk(pattern) if isinstance(one, ast.Name)}
    return any(
        isinstance(one, ast.FunctionDef)
        and one.name in ("compiled", "_compiled", "pattern")
        and names & {argument.arg for argument in one.args.args}
        for one in around
    )


def _evaluated(call: _Call, module: ModuleType) -> list[Found]:
    """The patterns that a call can have, as far as the module itself says."""
    scope = vars(module)
    flags = 0
    if call.flags is not None:
        with contextlib.suppress(Exception):
            flags = int(eval(ast.unparse(call.flags), scope))  # noqa: S307 - our own source
    for text in _ways(call):
        with contextlib.suppress(Exception):
            value = eval(text, scope)  # noqa: S307 - our own source
            sources = [value] if isinstance(value, str) else list(value)
            if all(isinstance(one, str) for one in sources):
                return list(_as_compiled(call, sources, flags, scope))
    if isinstance(call.pattern, ast.Attribute):
        name = call.pattern.attr
        held = {getattr(one, name, None) for one in _reachable(scope)}
        sources = [one for one in held if isinstance(one, str)]
        return list(_as_compiled(call, sources, flags, scope))
    return []


def _as_compiled(
    call: _Call, sources: list[str], flags: int, scope: dict[str, Any]
) -> Iterator[Found]:
    """What becomes of a source: a function of ours may add to it before it compiles it."""
    own = call.function.id if isinstance(call.function, ast.Name) else ""
    for source in sources:
        if own:
            made = scope[own](source, flags) if flags else scope[own](source)
            source, flags = made.pattern, made.flags & ~re.UNICODE
        yield Found(call.where, source, flags, frozenset({call.method}))


def _ways(call: _Call) -> Iterator[str]:
    """Expressions that may give the pattern: as it stands, for each of the table it is taken from,
    and with a stand-in for what is only known at run time and escaped."""
    yield ast.unparse(call.pattern)
    loops = []
    for one in call.around:
        match one:
            case ast.For(target=target, iter=table):
                loops.append((target, table))
            case ast.GeneratorExp(generators=many) | ast.ListComp(generators=many):
                loops += [(each.target, each.iter) for each in many]
    for count in range(1, len(loops) + 1):
        inner = " ".join(f"for {ast.unparse(a)} in {ast.unparse(b)}" for a, b in loops[-count:])
        yield f"[{ast.unparse(call.pattern)} {inner}]"
    escaped = {
        ast.unparse(one.targets[0])
        for function in call.around
        if isinstance(function, ast.FunctionDef)
        for one in ast.walk(function)
        if isinstance(one, ast.Assign) and "re.escape" in ast.unparse(one.value)
    }
    yield ast.unparse(_Stand(escaped).visit(ast.parse(ast.unparse(call.pattern), mode="eval")))


class _Stand(ast.NodeTransformer):
    """Text that was escaped is text: any will do."""

    def __init__(self, escaped: set[str]) -> None:
        self._escaped = escaped

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(STAND_IN) if node.id in self._escaped else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return ast.Constant(STAND_IN) if "re.escape" in ast.unparse(node) else node


def _reachable(scope: dict[str, Any]) -> Iterator[Any]:
    seen: set[int] = set()
    todo = [value for name, value in scope.items() if not name.startswith("__")]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, (str, bytes, ModuleType, type)):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, (tuple, list, set, frozenset)):
            todo += one


# --- making them hard ----------------------------------------------------------------------------

MANY = 32  # a repeat that may go on for longer is pumped
_PLAIN = " \na0A_-./:\"'\\<>(,@=#é\u200b"
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d", op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def hostile(source: str, flags: int, size: int) -> Iterator[str]:
    """Texts of about this size that are hard for a pattern; none for one that repeats nothing."""
    units: dict[tuple[str, str, str], None] = {}
    for lead, pump, tail in _pumps(_parser.parse(source, flags), "", ""):
        for end in ("", "\0", tail[:-1]):
            units[lead, pump, end] = None
        for gap in ("", " ", "\n"):
            units["", lead + pump + gap, ""] = None
            units["", gap + lead + pump + tail[:-1], ""] = None
    for start, unit, end in units:
        if unit:
            yield start + unit * max(1, size // len(unit)) + end


def _pumps(items: Any, before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """What leads to a repeat, what goes round in it, and what must follow."""
    for at, (kind, value) in enumerate(items):
        lead = before + _sample(items[:at])
        tail = _sample(items[at + 1 :]) + after
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _, most, body = value
            if most >= MANY:
                for pump in _samples(body):
                    yield lead, pump, tail
            yield from _pumps(body, lead, tail)
        elif kind is op.SUBPATTERN:
            yield from _pumps(value[3], lead, tail)
        elif kind is op.ATOMIC_GROUP:
            yield from _pumps(value, lead, tail)
        elif kind is op.BRANCH:
            for one in value[1]:
                yield from _pumps(one, lead, tail)
        elif kind in (op.ASSERT, op.ASSERT_NOT) and value[0] > 0:
            yield from _pumps(value[1], lead, tail)
        elif kind is op.GROUPREF_EXISTS:
            for one in value[1:]:
                yield from _pumps(one or (), lead, tail)


def _sample(items: Any) -> str:
    return next(iter(_samples(items, most=1)), "")


def _samples(items: Any, most: int = 6) -> list[str]:
    """A few short texts that the items match, one for each way at the first fork."""
    found = [""]
    for kind, value in items:
        ways = _ways_of(kind, value, most)
        if len(found) > 1:
            ways = ways[:1]
        found = [one + way for one in found for way in ways][:most]
    return found


def _ways_of(kind: Any, value: Any, most: int) -> list[str]:
    if kind is op.LITERAL:
        return [chr(value)]
    if kind in (op.IN, op.NOT_LITERAL, op.ANY):
        fits = [char for char in _letters(kind, value) if _fits(kind, value, char)]
        return fits[:most] or [""]
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, _, body = value
        return [one * max(1, min(least, 64)) for one in _samples(body, most)]
    if kind is op.SUBPATTERN:
        return _samples(value[3], most)
    if kind is op.ATOMIC_GROUP:
        return _samples(value, most)
    if kind is op.BRANCH:
        return list(itertools.chain.from_iterable(_samples(one, 2) for one in value[1]))[:most]
    if kind is op.GROUPREF_EXISTS:
        return _samples(value[1], most)
    return [""]


def _letters(kind: Any, value: Any) -> Iterator[str]:
    yield from _PLAIN
    for what, one in value if kind is op.IN else ():
        if what is op.LITERAL:
            yield chr(one)
        elif what is op.RANGE:
            yield chr(one[0])
    yield "\u2603"


def _fits(kind: Any, value: Any, char: str) -> bool:
    if kind is op.ANY:
        return char != "\n"
    if kind is op.NOT_LITERAL:
        return bool(ord(char) != value)
    negated = False
    for what, one in value:
        if what is op.NEGATE:
            negated = True
        elif (
            (what is op.LITERAL and one == ord(char))
            or (what is op.RANGE and one[0] <= ord(char) <= one[1])
            or (what is op.CATEGORY and re.match(_CATEGORIES[one], char))
        ):
            return not negated
    return negated


# --- measuring -----------------------------------------------------------------------------------

SIZE = 2000  # of the texts that are tried; linear work on them is a fraction of a millisecond
MOST_TEXTS = 80  # of one pattern
SUPERLINEAR = 8.0  # times the cost at four times the size: 4 is linear, 16 is the square


class _TooLong(Exception):
    """Of any text of this size: the work does not end."""


def slow(one: Found) -> str:
    """The text on which a pattern's work grows faster than the text; empty if there is none."""
    texts = list(hostile(one.source, one.flags, SIZE))
    step = max(1, len(texts) // MOST_TEXTS)
    tried = sorted(((cost(one, texts[at]), at) for at in range(0, len(texts), step)), reverse=True)
    for took, at in tried[:3]:
        if took == ENDLESS or (took > 20 * _unit() and _grows(one, at)):
            return next(itertools.islice(hostile(one.source, one.flags, 60), at, None))
    return ""


def _grows(one: Found, at: int) -> bool:
    """Whether four times the text is clearly more than four times the work, each time we look."""

    def sized(size: int, tries: int) -> float:
        text = next(itertools.islice(hostile(one.source, one.flags, size), at, None))
        return cost(one, text, tries)

    return all(
        sized(4 * SIZE, tries) > SUPERLINEAR * max(sized(SIZE, tries), 1e-7) for tries in (1, 3, 5)
    )


ENDLESS = float("inf")


def cost(one: Found, text: str, tries: int = 1) -> float:
    """The CPU seconds that a text takes, at best of a few tries, used as the pattern is."""
    pattern = re.compile(one.source, one.flags)
    took = []
    for _ in range(tries):
        before = time.thread_time()
        try:
            with _at_most(5000 * _unit() * len(text) / SIZE):
                for method in one.methods:
                    if method == "finditer":
                        collections.deque(pattern.finditer(text), maxlen=0)
                    else:
                        getattr(pattern, method)(text)
        except _TooLong:
            return ENDLESS
        took.append(time.thread_time() - before)
    return min(took)


@functools.cache
def _unit() -> float:
    """What a plain pattern takes for a text of our size, on this machine."""
    text, plain = "a" * SIZE, re.compile("b")
    started = time.thread_time()
    for _ in range(200):
        plain.search(text)
    return (time.thread_time() - started) / 200


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """`re` looks for signals as it goes: CPU time of ours that is up ends it."""

    def over(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 0.05))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def drawn(seed: int, count: int, size: int) -> list[str]:
    """So many hostile texts, of any of the package's patterns."""
    dice = random.Random(seed)
    found = sorted(every_pattern()[0], key=lambda one: (one.where, one.source))
    texts: list[str] = []
    while len(texts) < count:
        one = dice.choice(found)
        hard = list(hostile(one.source, one.flags, size))
        texts += dice.sample(hard, 1) if hard else []
    return texts


def main() -> None:
    """All patterns, as JSON: how many there are, which are slow, which cannot be known. With a
    seed, a count and a size: so many hostile texts instead."""
    if len(sys.argv) == 4:
        seed, count, size = map(int, sys.argv[1:])
        sys.stdout.write(json.dumps(drawn(seed, count, size)))
        return
    found, unknown = every_pattern()
    bad = {f"{one.where} {one.source}": text for one in found if (text := slow(one))}
    sys.stdout.write(json.dumps({"count": len(found), "slow": bad, "unknown": unknown}))


if __name__ == "__main__":
    main()
