"""Which project is meant, and where an operation looks."""

import pytest

from recollect.core.errors import BadInput, NotFound
from recollect.core.projects import ProjectPlace
from recollect.daemon.runtime import Runtime
from recollect.service.scope import (
    Scope,
    namespace_to_write,
    namespaces_to_list,
    namespaces_to_search,
    project,
    project_names,
)


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
