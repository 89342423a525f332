"""Which project is meant, and where an operation looks."""

import pytest

from recollect.core.errors import BadInput, NotFound
from recollect.core.projects import ProjectPlace
from recollect.daemon.runtime import Runtime
from recollect.service.scope import Scope, listing, project, reading, writing


def test_projects_of_one_name_are_told_apart_by_where_they_lie(runtime: Runtime) -> None:
    first = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    second = runtime.store.projects.resolve(ProjectPlace(root="/old/shop"))
    with pytest.raises(BadInput) as told:
        project(runtime, "shop")
    assert f"{first} (/work/shop)" in str(told.value) and f"{second} (/old/shop)" in str(told.value)
    assert "directory" in told.value.hint
    assert project(runtime, first).project_id == first


def test_a_question_looks_also_at_what_holds_everywhere_and_a_listing_does_not(
    runtime: Runtime,
) -> None:
    key = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    here = f"/actor/ada/project/{key}/"
    for named in ("shop", key, "/work/shop", "/work/shop/src"):
        scope = Scope(project=named)
        assert reading(runtime, scope) == (here, "/actor/ada/")
        assert listing(runtime, scope) == (here,) and writing(runtime, scope) == here
    assert reading(runtime, Scope(namespace=here)) == (here,)
    assert reading(runtime, Scope(project="global")) == ("/actor/ada/",)
    assert writing(runtime, Scope()) == "/actor/ada/"


@pytest.mark.parametrize("path", ["/no/such/place", "/work/shopping", "/work/\0shop"])
def test_a_directory_that_never_was_is_refused(runtime: Runtime, path: str) -> None:
    runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    with pytest.raises(NotFound, match="there is no directory") as told:
        reading(runtime, Scope(project=path))
    assert "Known: shop" in told.value.hint
