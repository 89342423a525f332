"""Which project is meant, and where an operation looks."""

import pytest

from recollect.core.errors import BadInput, NotFound
from recollect.core.projects import ProjectPlace, canonical
from recollect.daemon.runtime import Runtime
from recollect.service import analytics, facets, write
from recollect.service.administration import all_projects
from recollect.service.scope import (
    Scope,
    namespace_to_write,
    namespaces_to_list,
    namespaces_to_search,
    project,
    project_names,
)
from recollect.service.search import Filters


def test_projects_of_one_name_are_told_apart_by_where_they_lie(runtime: Runtime) -> None:
    first = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    second = runtime.store.projects.resolve(ProjectPlace(root="/old/shop"))
    with pytest.raises(BadInput) as told:
        project(runtime, "shop")
    assert f"{first} (/work/shop)" in str(told.value) and f"{second} (/old/shop)" in str(told.value)
    assert "directory" in told.value.hint
    assert project(runtime, first).project_id == first
    assert project(runtime, "work/shop").project_id == first
    far = runtime.store.projects.resolve(ProjectPlace(root="/far/work/shop"))
    alone = runtime.store.projects.resolve(ProjectPlace(root="/work/mail"))
    assert project_names(runtime) == {
        first: "/work/shop", second: "old/shop", far: "far/work/shop", alone: "mail",
    }  # fmt: skip


def test_the_demonstration_and_the_proofs_count_only_when_they_are_named(runtime: Runtime) -> None:
    keys = {}
    for name in ("demo", "prove", "sample"):
        place = ProjectPlace(root=canonical(runtime.settings.path(name)))
        keys[name] = runtime.store.projects.resolve(place)
        namespace = f"/actor/ada/project/{keys[name]}/"
        write.add_note(runtime, write.NewNote(namespace=namespace, text=f"A note of {name}"))
    sample = (f"/actor/ada/project/{keys['sample']}/",)
    assert namespaces_to_list(runtime, Scope()) == sample
    assert namespaces_to_search(runtime, Scope(project="all")) == sample
    assert analytics.stats(runtime, Scope()).records == 1
    assert facets.facets(runtime, Filters()).projects == {keys["sample"]: 1}
    assert {one.name for one in all_projects(runtime)} == {"demo", "sample", "global"}
    assert analytics.stats(runtime, Scope(project="demo")).records == 1


def test_a_search_includes_the_global_namespace_and_a_listing_does_not(
    runtime: Runtime,
) -> None:
    key = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    here = f"/actor/ada/project/{key}/"
    for named in ("shop", key, "/work/shop", "/work/shop/src"):
        scope = Scope(project=named)
        assert namespaces_to_search(runtime, scope) == (here, "/actor/ada/")
        assert (
            namespaces_to_list(runtime, scope) == (here,)
            and namespace_to_write(runtime, scope) == here
        )
    assert namespaces_to_search(runtime, Scope(namespace=here)) == (here,)
    assert namespaces_to_search(runtime, Scope(project="global")) == ("/actor/ada/",)
    assert namespace_to_write(runtime, Scope()) == "/actor/ada/"


@pytest.mark.parametrize("path", ["/no/such/place", "/work/shopping", "/work/\0shop"])
def test_a_directory_that_never_was_is_refused(runtime: Runtime, path: str) -> None:
    runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    with pytest.raises(NotFound, match="there is no directory") as told:
        namespaces_to_search(runtime, Scope(project=path))
    assert "Known: shop" in told.value.hint
