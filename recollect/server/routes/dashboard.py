"""Routes for the dashboard: a one-time address that signs a browser in, the agents, and the
sample project."""

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint
from recollect.server.guard import OPEN
from recollect.server.runtime import ServerRuntime
from recollect.server.tokens import CODE_S
from recollect.service import agents, sample_project


class DashboardAddress(Value, frozen=True, kw_only=True):
    url: str
    seconds: int


def invite(runtime: ServerRuntime) -> DashboardAddress:
    code = runtime.tokens.new_code()
    return DashboardAddress(
        url=f"http://127.0.0.1:{runtime.port}{OPEN}?code={code}", seconds=CODE_S
    )


ENDPOINTS = (
    Endpoint(
        "POST", "/api/open", "Make an address that opens the dashboard once, within a minute.",
        invite,
    ),
    Endpoint("GET", "/api/hosts", "The agents of this machine.", agents.agents),
    Endpoint(
        "POST", "/api/hosts/{host}/prove", "Send a marker through an agent's hook.",
        agents.prove_agent,
    ),
    Endpoint("POST", "/api/sample", "Add a sample project to look at.", sample_project.add),
    Endpoint("DELETE", "/api/sample", "Remove the sample project.", sample_project.remove),
)  # fmt: skip
