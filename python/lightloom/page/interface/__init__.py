"""The server's requests and answers as OpenAPI: made from the table of options and the schemas of the verbs' JSON."""

from __future__ import annotations

from typing import Any

from lightloom import __version__
from lightloom.page.interface.answers import ANSWERS, ERROR
from lightloom.page.interface.arguments import ASKED
from lightloom.page.tasks import TASKS, Task
from lightloom.schemas import schema

__all__ = ["openapi"]

OPENAPI = "3.1.0"
JSON, STREAM = "application/json", "text/event-stream"
ERRORS = {
    "400": "the request is not HTTP/1.1, or states its length twice",
    "401": "the server asks for a token, and the request shows no token or a wrong one",
    "403": "the request comes from another site",
    "408": "the request did not arrive in time",
    "413": "the request or its answer is too large",
    "415": "the content is not JSON",
    "421": "the Host is not a name of this server",
    "422": "an option is wrong: field names it",
    "429": "the server is busy: Retry-After says in how many seconds to ask again",
    "500": "the server failed, and the request is not the cause",
    "503": "the process that worked on the request ended, or the server ends, or it has reached its limit of "
    "connections",
    "504": "the work takes longer than a request may",
}
EVENTS = (
    "Events as they come: `row`, a row as soon as it is found; `progress`, how much is done; at last `end` with the "
    "whole answer, or `error`. For an answer that was kept, only `end`."
)


# The cookie that the page has instead is not for programs.
TOKEN = {"type": "http", "scheme": "bearer", "description": "The token of `lightloom serve --token TOKEN`."}


def openapi(*, with_token: bool = False) -> dict[str, Any]:
    """The description, OpenAPI 3.1. with_token: whether the server asks for one."""
    forms: dict[str, Any] = {"error": ERROR}
    # Schemas that tasks refer to in requests, but that no task answers with.
    for name in ("plan", "workload"):
        _add(name, forms)
    paths = {f"/api/{task.name}": {"post" if task.is_asked else "get": _operation(task, forms)} for task in TASKS}
    return {
        "openapi": OPENAPI,
        "info": {
            "title": "Lightloom",
            "version": __version__,
            "description": "Plans of collective communication on photonic fabrics, as the command line prints them. "
            "Times are seconds, sizes bytes, rates bit/s.",
        },
        "paths": paths,
        "components": {"schemas": _referred(forms), "securitySchemes": {"token": TOKEN}},
        "security": [{"token": []}] if with_token else [{}, {"token": []}],
    }


def _operation(task: Task, forms: dict[str, Any]) -> dict[str, Any]:
    """The operation of a task; the forms that it refers to are added to `forms`."""
    made: dict[str, Any] = {"operationId": task.name, "summary": task.summary, "responses": {}}
    if task.is_asked:
        forms[f"{task.name}-asked"] = ASKED[task.name]
        content = {JSON: {"schema": _reference(f"{task.name}-asked")}}
        made["requestBody"] = {"required": True, "content": content}
    answer = ANSWERS[task.name]
    content = {media: {"schema": {"type": "string", "format": "binary"}} for media in answer.files}
    if answer.form is not None:
        forms.setdefault(answer.name, answer.form)
        content[JSON] = {"schema": _reference(answer.name)}
    elif answer.name:
        _add(answer.name, forms)
        content[JSON] = {"schema": _reference(answer.name)}
    if task.streams:
        content[STREAM] = {"schema": {"type": "string", "description": EVENTS}}
    made["responses"]["200"] = {"description": task.summary, "content": content}
    for status, description in ERRORS.items():
        made["responses"][status] = {
            "description": description,
            "content": {JSON: {"schema": _reference("error")}},
        }
    return made


def _add(name: str, forms: dict[str, Any]) -> None:
    """The schema of a document, and of those that it refers to."""
    whole = schema(name)
    forms |= {key: value for key, value in whole.pop("$defs", {}).items() if key not in forms}
    forms.setdefault(name, whole)


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _referred(form: Any) -> Any:
    """The same form, in which references to other documents are references to components."""
    if isinstance(form, dict):
        return {
            key: value.replace("#/$defs/", "#/components/schemas/")
            if key == "$ref" and isinstance(value, str)
            else _referred(value)
            for key, value in form.items()
        }
    return [_referred(value) for value in form] if isinstance(form, list) else form
