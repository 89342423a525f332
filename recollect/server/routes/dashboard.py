"""Routes for the dashboard: a one-time address that signs a browser in, the agents, and the
sample project."""

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.guard import OPEN
from recollect.server.runtime import ServerRuntime
from recollect.server.tokens import CODE_S
from recollect.service import agents, sample_project
from recollect.service.agents import AgentLine, AgentProof
from recollect.service.sample_project import SampleProject


class DashboardAddress(Value, frozen=True, kw_only=True):
    url: str
    seconds: int


class AllAgents(Value, frozen=True, kw_only=True):
    items: tuple[AgentLine, ...]


class OneAgent(Value, frozen=True, kw_only=True):
    host: Name


def invite(runtime: ServerRuntime, asked: NoParameters) -> DashboardAddress:
    code = runtime.tokens.new_code()
    return DashboardAddress(
        url=f"http://127.0.0.1:{runtime.port}{OPEN}?code={code}", seconds=CODE_S
    )


def hosts(runtime: ServerRuntime, asked: NoParameters) -> AllAgents:
    return AllAgents(items=agents.agents(runtime))


def prove(runtime: ServerRuntime, asked: OneAgent) -> AgentProof:
    return agents.prove_agent(runtime, asked.host)


def add_sample(runtime: ServerRuntime, asked: NoParameters) -> SampleProject:
    return sample_project.add(runtime)


def remove_sample(runtime: ServerRuntime, asked: NoParameters) -> SampleProject:
    return sample_project.remove(runtime)


ENDPOINTS = (
    Endpoint(
        "POST", "/api/open", "Make an address that opens the dashboard once, within a minute.",
        invite, DashboardAddress,
    ),
    Endpoint("GET", "/api/hosts", "The agents of this machine.", hosts, AllAgents),
    Endpoint(
        "POST", "/api/hosts/{host}/prove", "Send a marker through an agent's hook.",
        prove, AgentProof, OneAgent,
    ),
    Endpoint("POST", "/api/sample", "Add a sample project to look at.", add_sample, SampleProject),
    Endpoint("DELETE", "/api/sample", "Remove the sample project.", remove_sample, SampleProject),
)  # fmt: skip
