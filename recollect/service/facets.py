"""How many memories there are of what, for the filters of a list.

In: filters. Out: counts by kind, type, project, branch, freshness and use. Each is counted as if
its own filter were not set, so that it says what choosing something else would show.
"""

from collections import Counter
from collections.abc import Callable

from msgspec import structs

from recollect.core.values import Value
from recollect.service.read import selected
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import namespaces_to_list, project_id, worked_namespaces
from recollect.service.search import Filters
from recollect.store.interface import RecordCount

BRANCHES = 12  # of a project, those that were worked on last


class Facets(Value, frozen=True, kw_only=True):
    """`projects` are named by their ids, `global` is what belongs to none; `branches` are given
    when one project is chosen; `used` has the keys true and false."""

    total: int
    kinds: dict[str, int]
    types: dict[str, int]
    projects: dict[str, int]
    branches: dict[str, int]
    freshness: dict[str, int]
    used: dict[str, int]


def facets(runtime: ServiceRuntime, asked: Filters) -> Facets:
    chosen = namespaces_to_list(runtime, asked)
    # What the groups of a count can tell is left to them, so that each namespace is read once.
    rest = structs.replace(asked, kind=None, type=None, freshness=None, used=None)
    counted = {
        namespace: runtime.visible_store.records.counts(
            namespace, selected(runtime, namespace, rest)
        )
        for namespace in dict.fromkeys((*worked_namespaces(runtime), *chosen))
    }
    here = [one for namespace in chosen for one in counted.get(namespace, ())]
    by_project = {
        project_id(namespace) or "global": sum(one.count for one in some if _fits(one, asked))
        for namespace, some in counted.items()
    }
    named = asked.project not in (None, "all")
    one_project = named or bool(asked.namespace or asked.project_path)
    return Facets(
        total=sum(one.count for one in here if _fits(one, asked)),
        kinds=_counted(here, structs.replace(asked, kind=None, type=None), lambda one: one.kind),
        types=_counted(here, structs.replace(asked, type=None), lambda one: one.type),
        projects={name: count for name, count in by_project.items() if count},
        branches=_branches(runtime, chosen[0], asked) if one_project and chosen else {},
        freshness=_counted(here, structs.replace(asked, freshness=None), lambda one: one.freshness),
        used=_counted(
            here, structs.replace(asked, used=None), lambda one: "true" if one.used else "false"
        ),
    )


def _counted(
    found: list[RecordCount], asked: Filters, name: Callable[[RecordCount], str]
) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in found:
        if name(one) and _fits(one, asked):
            total[name(one)] += one.count
    return dict(total.most_common())


def _fits(one: RecordCount, asked: Filters) -> bool:
    return (
        asked.kind in (None, one.kind)
        and asked.type in (None, one.type)
        and asked.freshness in (None, one.freshness)
        and asked.used in (None, one.used)
    )


def _branches(runtime: ServiceRuntime, namespace: str, asked: Filters) -> dict[str, int]:
    runtime.work.fill((namespace,))
    worked_on = runtime.work.ask(
        namespace,
        lambda work: {
            name: max(branch.sessions.values(), default=0.0)
            for name, branch in work.by_branch.items()
        },
    )
    found = {}
    for branch in sorted(worked_on, key=lambda name: -worked_on[name])[:BRANCHES]:
        where = selected(runtime, namespace, structs.replace(asked, branch=branch))
        count = sum(one.count for one in runtime.visible_store.records.counts(namespace, where))
        if count or branch == asked.branch:
            found[branch] = count
    return found
