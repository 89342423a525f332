"""`/api/open`: a one-time address that signs a browser in."""

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.guard import OPEN
from recollect.server.runtime import ServerRuntime
from recollect.server.tokens import CODE_S


class DashboardAddress(Value, frozen=True, kw_only=True):
    url: str
    seconds: int


def invite(runtime: ServerRuntime, parameters: NoParameters) -> DashboardAddress:
    code = runtime.tokens.new_code()
    return DashboardAddress(
        url=f"http://127.0.0.1:{runtime.port}{OPEN}?code={code}", seconds=CODE_S
    )


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/open",
        "Make an address that opens the dashboard once, within a minute.",
        invite,
        DashboardAddress,
    ),
)
