"""Which project is meant."""

import pytest

from recollect.core.errors import BadInput
from recollect.core.projects import ProjectPlace
from recollect.daemon.runtime import Runtime
from recollect.service.scope import project


def test_projects_of_one_name_are_told_apart_by_where_they_lie(runtime: Runtime) -> None:
    first = runtime.store.projects.resolve(ProjectPlace(root="/work/shop"))
    second = runtime.store.projects.resolve(ProjectPlace(root="/old/shop"))
    with pytest.raises(BadInput) as told:
        project(runtime, "shop")
    assert f"{first} (/work/shop)" in str(told.value) and f"{second} (/old/shop)" in str(told.value)
    assert "directory" in told.value.hint
    assert project(runtime, first).project_id == first
