"""`/api/searches`: searches of memories that have a name."""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import saved_searches
from recollect.service.saved_searches import SavedSearch


class SavedSearches(Value, frozen=True, kw_only=True):
    items: tuple[SavedSearch, ...]


class OneSearch(Value, frozen=True, kw_only=True):
    name: Name


class SearchFilters(Value, frozen=True, kw_only=True):
    """The filters, as they stand in the address of the dashboard: `q=retry&kind=knowledge`."""

    filters: Annotated[str, Meta(max_length=2000)]


def listed(runtime: ServerRuntime, asked: NoParameters) -> SavedSearches:
    return SavedSearches(items=saved_searches.searches(runtime))


def save(runtime: ServerRuntime, asked: OneSearch, given: SearchFilters) -> SavedSearches:
    new = SavedSearch(name=asked.name, filters=given.filters)
    return SavedSearches(items=saved_searches.save(runtime, new))


def delete(runtime: ServerRuntime, asked: OneSearch) -> SavedSearches:
    return SavedSearches(items=saved_searches.delete(runtime, asked.name))


ENDPOINTS = (
    Endpoint("GET", "/api/searches", "Searches that have a name.", listed, SavedSearches),
    Endpoint(
        "PUT", "/api/searches/{name}", "Keep a search under a name.",
        save, SavedSearches, OneSearch, SearchFilters,
    ),
    Endpoint(
        "DELETE", "/api/searches/{name}", "Delete a named search.",
        delete, SavedSearches, OneSearch,
    ),
)  # fmt: skip
