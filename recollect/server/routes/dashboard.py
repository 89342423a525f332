"""What only the dashboard asks for: the picture of the graph, the agents, and a sample."""

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.runtime import ServerRuntime
from recollect.service import agents, graph_layout, sample_project
from recollect.service.agents import AgentLine, Proven
from recollect.service.graph_layout import Picture, PictureQuery
from recollect.service.sample_project import Sampled


class AllAgents(Value, frozen=True, kw_only=True):
    items: tuple[AgentLine, ...]


class OneAgent(Value, frozen=True, kw_only=True):
    host: Name


def graph(runtime: ServerRuntime, asked: PictureQuery) -> Picture:
    return graph_layout.picture(runtime, asked)


def hosts(runtime: ServerRuntime, asked: Nothing) -> AllAgents:
    return AllAgents(items=agents.agents(runtime))


def prove(runtime: ServerRuntime, asked: OneAgent) -> Proven:
    return agents.proven(runtime, asked.host)


def add_sample(runtime: ServerRuntime, asked: Nothing) -> Sampled:
    return sample_project.add(runtime)


def remove_sample(runtime: ServerRuntime, asked: Nothing) -> Sampled:
    return sample_project.remove(runtime)


ENDPOINTS = (
    Endpoint("GET", "/api/graph", "Nodes and links to draw.", graph, Picture, PictureQuery),
    Endpoint("GET", "/api/hosts", "The agents of this machine.", hosts, AllAgents),
    Endpoint(
        "POST", "/api/hosts/{host}/prove", "Send a marker through an agent's hook.",
        prove, Proven, OneAgent,
    ),
    Endpoint("POST", "/api/sample", "Add a sample project to look at.", add_sample, Sampled),
    Endpoint("DELETE", "/api/sample", "Remove the sample project.", remove_sample, Sampled),
)  # fmt: skip
