"""`/api/searches`: searches of memories that have a name."""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import saved_searches
from recollect.service.saved_searches import SavedSearch


class SearchFilters(Value, frozen=True, kw_only=True):
    """The filters, as they stand in the address of the dashboard: `q=retry&kind=knowledge`."""

    filters: Annotated[str, Meta(max_length=2000)]


def save(runtime: ServerRuntime, name: Name, given: SearchFilters) -> tuple[SavedSearch, ...]:
    return saved_searches.save(runtime, SavedSearch(name=name, filters=given.filters))


ENDPOINTS = (
    Endpoint("GET", "/api/searches", "Searches that have a name.", saved_searches.searches),
    Endpoint("PUT", "/api/searches/{name}", "Keep a search under a name.", save),
    Endpoint("DELETE", "/api/searches/{name}", "Delete a named search.", saved_searches.delete),
)
