"""Routes as data: one table from which both the app and the OpenAPI document are made.

In: a table of endpoints. Out: Starlette routes and an OpenAPI 3.1 document. A request that does not
match the declared parameters or body is answered with 400 and the name of the field.
"""

import functools
import inspect
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect import __version__
from recollect.core import errors
from recollect.core.values import Value, convert, decode
from recollect.server import responses
from recollect.server.runtime import ServerRuntime
from recollect.service.clean_input import scrubbed

T = TypeVar("T")


class Items(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A list that is short enough to be given whole."""

    items: Sequence[T]


@dataclass(frozen=True)
class Endpoint:
    """One method of one path. `handler` is a plain function that runs in a thread. Its first
    argument is the runtime, and its annotations say what a request may hold: a struct is the body,
    or for GET and DELETE all parameters; any other argument is one parameter, of the path or the
    query. What it returns is the answer; a tuple or a list is answered as `items`. `as_sent` is for
    what is only compared with what is stored, for settings, and for what scrubs it itself."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    handler: Callable[..., Any]
    returns: Any = None  # for the document, when the handler makes the response itself
    always: bool = False  # answered even when all threads wait for a store that is down
    as_sent: tuple[str, ...] = ()  # fields that are not scrubbed before the handler has them

    @functools.cached_property
    def answer(self) -> Any:
        found = self.returns or self.handler.__annotations__["return"]
        if get_origin(found) in (tuple, list):
            return Items[get_args(found)[0]]  # type: ignore[misc]
        return found

    @functools.cached_property
    def body(self) -> type[Value] | None:
        return self._struct if self.method in ("POST", "PUT", "PATCH") else None

    @functools.cached_property
    def parameters(self) -> type[Value]:
        if self._struct is not None and self.body is None:
            return self._struct
        fields = [
            (one.name, one.annotation)
            if one.default is one.empty
            else (one.name, one.annotation, one.default)
            for one in self._arguments
            if one.annotation is not self.body
        ]
        made: Any = msgspec.defstruct(
            "Parameters", fields, bases=(Value,), frozen=True, kw_only=True
        )
        parameters: type[Value] = made
        return parameters

    def call(self, runtime: ServerRuntime, parameters: Value, body: Value | None) -> Any:
        """What the handler answers. Whatever may be stored is scrubbed here, for all routes."""
        if self.method != "GET":
            parameters = scrubbed(runtime, parameters, self.as_sent)
            body = body if body is None else scrubbed(runtime, body, self.as_sent)
        arguments = {
            one.name: (parameters if body is None else body)
            if one.annotation is self._struct
            else getattr(parameters, one.name)
            for one in self._arguments
        }
        found = self.handler(runtime, **arguments)
        return Items(items=found) if isinstance(found, tuple | list) else found

    @functools.cached_property
    def _arguments(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.handler).parameters.values())[1:]

    @functools.cached_property
    def _struct(self) -> type[Value] | None:
        kinds = (one.annotation for one in self._arguments)
        return next(
            (one for one in kinds if isinstance(one, type) and issubclass(one, Value)), None
        )


def routes(endpoints: Sequence[Endpoint], runtime: ServerRuntime) -> list[Route]:
    """One route per path, so that the answer to a wrong method lists all allowed ones."""
    by_path: dict[str, dict[str, Endpoint]] = defaultdict(dict)
    for endpoint in endpoints:
        by_path[endpoint.path][endpoint.method] = endpoint
    return [
        Route(path, _serve(methods, runtime), methods=list(methods))
        for path, methods in by_path.items()
    ]


def _serve(
    methods: dict[str, Endpoint], runtime: ServerRuntime
) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods[method]
        parameters = _parameters(endpoint, request)
        body = decode(endpoint.body, await request.body()) if endpoint.body else None
        limiter = _reserved() if endpoint.always else None
        result = await to_thread.run_sync(endpoint.call, runtime, parameters, body, limiter=limiter)
        return result if isinstance(result, Response) else responses.json(result)

    return serve


@functools.cache
def _reserved() -> CapacityLimiter:
    return CapacityLimiter(4)


def _parameters(endpoint: Endpoint, request: Request) -> Value:
    given: dict[str, str] = dict(request.path_params)
    for name, value in request.query_params.multi_items():
        if name in given:
            raise errors.BadInput(f"the parameter {name} is given twice", field=name)
        given[name] = value
    return convert(endpoint.parameters, given, strict=False)


# --- the document -------------------------------------------------------------------------------

_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                name: {"type": "string"} for name in ("code", "message", "field", "hint")
            },
        }
    },
}
_ERRORS = {
    "400": "The request is not valid; `field` names what is wrong.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another origin, or the token does not allow it.",
    "413": "Too large.",
    "415": "Not JSON.",
    "429": "Too many requests; `Retry-After` says when.",
    "503": "The store cannot do this now.",
}


def openapi(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The document, generated from the table."""
    bodies = [one.body for one in endpoints if one.body is not None]
    schemas, components = msgspec.json.schema_components(
        [one.answer for one in endpoints] + bodies, ref_template="#/components/schemas/{name}"
    )
    answer_of = dict(enumerate(schemas[: len(endpoints)]))
    # Keyed by class, not by name: two classes of the same name have two schemas.
    body_of = {id(body): schema for body, schema in zip(bodies, schemas[len(endpoints) :],
                                                        strict=True)}  # fmt: skip
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for index, endpoint in enumerate(endpoints):
        method = endpoint.method.lower()
        operation: dict[str, Any] = {
            "summary": endpoint.summary,
            "operationId": "_".join([method, *re.findall(r"\w+", endpoint.path)]),
            "parameters": _parameter_list(endpoint),
            "responses": {
                "200": {
                    "description": "Done.",
                    "content": {"application/json": {"schema": answer_of[index]}},
                },
                **{
                    status: {
                        "description": text,
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}
                        },
                    }
                    for status, text in _ERRORS.items()
                },
            },
        }
        if endpoint.body is not None:
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": body_of[id(endpoint.body)]}},
            }
        paths[endpoint.path][method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Recollect", "version": __version__},
        "paths": dict(paths),
        "components": {
            "schemas": {**components, "Error": _ERROR_SCHEMA},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _parameter_list(endpoint: Endpoint) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([endpoint.parameters])
    schema = components[endpoint.parameters.__name__]
    in_path = set(re.findall(r"{(\w+)}", endpoint.path))
    return [
        {
            "name": name,
            "description": described.get("description", ""),
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in schema.get("required", ()),
            "schema": described,
        }
        for name, described in schema.get("properties", {}).items()
    ]
