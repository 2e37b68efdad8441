"""`docs/reference/server.md`, from the OpenAPI document of the page's server.

`python -m docs.generators.server_page` writes the page; `make docs` puts the whole document next to it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.generators.json_page import rows, table

from lightloom.inputs.options import SIMULATION
from lightloom.page.interface import openapi
from lightloom.page.offer import offered
from lightloom.schemas import documents, schema

PAGE = Path(__file__).resolve().parent.parent / "reference" / "server.md"
HEADER = """\
# Server

`lightloom serve` shows [a page to explore in a browser](../how-to/explore-in-a-browser.md). The requests of the page
are open to other programs too: JSON in, the JSON of the verbs out. `/openapi.json` of a running server describes
every operation (OpenAPI 3.1), from the same schemas as here; `python -m docs.generators.server_page` writes this
page from it.

A body is an object of [options](options.md) by name, with dashes or underscores; a value is text as on the command
line, or a number in bytes, seconds or bit/s. Options that name files of the machine are not taken. Times are seconds,
sizes bytes, rates bit/s. Where the server asks for a token (`serve --token T`), requests send
`Authorization: Bearer T`.

"""
HEAD = ("key", "form", "meaning")
# Names of options that the page of options explains.
NAMES = {*offered("plan"), *(option.name for option in SIMULATION)}
ERRORS = """
## Errors

Every error is JSON: `error`, one line that says what is wrong and what is accepted, `field`, what it is about, and
where it makes sense to ask again `retry_after_s`. In a stream it has the `status` that an answer would have. Where the
time of a request is over, `rows` are those that were found until then, which a stream has sent before.

"""


def page() -> str:
    """The page: every operation, its arguments other than options, and its answer."""
    told = openapi()
    parts = [HEADER, *table(("address", "does"), _addresses(told))]
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            parts += _operation(f"{method.upper()} {path}", operation, told["components"]["schemas"])
    errors = {code: answer for code, answer in next(iter(_operations(told)))["responses"].items() if code >= "400"}
    for operation in _operations(told):
        errors |= {code: answer for code, answer in operation["responses"].items() if code >= "400"}
    parts += [ERRORS, *table(("status", "says"), ((code, errors[code]["description"]) for code in sorted(errors)))]
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


def _operations(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in told["paths"].values():
        yield from methods.values()


def _addresses(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            yield f"[`{method.upper()} {path}`](#{_anchor(method, path)})", operation["summary"]


def _anchor(method: str, path: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    return f"{method}-{path.replace('/', '')}"


def _operation(heading: str, operation: dict[str, Any], forms: dict[str, Any]) -> Iterator[str]:
    yield f"\n## `{heading}`\n\n{operation['summary']}\n\n"
    asked = operation.get("requestBody")
    if asked is not None:
        form = _form(asked["content"]["application/json"]["schema"], forms)
        own = _rows(_without_options(form))
        taken = "options" if NAMES & {key.replace("-", "_") for key in form["properties"]} else ""
        yield f"Takes {taken}{', and' * bool(taken and own)}{':' if own else '.'}\n\n"
        if own:
            yield from table(HEAD, own)
            yield "\n"
    for content, answer in operation["responses"]["200"]["content"].items():
        yield from _answer(content, answer.get("schema", {}), forms)


def _without_options(form: Any) -> Any:
    """A form of a request without the content of the table of options, there and in its parts."""
    if isinstance(form, list):
        return [_without_options(one) for one in form]
    if not isinstance(form, dict):
        return form
    kept = {key: _without_options(below) for key, below in form.items()}
    if "properties" in kept:
        properties = kept["properties"].items()
        kept["properties"] = {key: below for key, below in properties if key.replace("-", "_") not in NAMES}
    return kept


def _answer(content: str, told: dict[str, Any], forms: dict[str, Any]) -> Iterator[str]:
    name = told.get("$ref", "").rpartition("/")[2]
    if not name:
        meaning = f": {told['description'].rstrip('.')}" if "description" in told else ""
        yield f"Answers `{content}`{meaning}.\n\n"
        return
    form = _form(told, forms)
    known = next((one.name for one in documents() if _is_part(schema(one.name), form)), None)
    of_known = schema(known)["properties"] if known else {}
    more = {key: below for key, below in form.get("properties", {}).items() if key not in of_known}
    own = _rows({**form, "properties": more}) if more or not known else []
    link = f": [{known}](json.md#{known})" if known else ""
    yield f"Answers `{content}`{link}{', and' * bool(known and own)}{':' if own else '.'}\n\n"
    if own:
        yield from table(HEAD, own)
        yield "\n"


def _is_part(document: dict[str, Any], form: dict[str, Any]) -> bool:
    """Whether a form is a document, of the same version where it has one, or one with more keys."""
    own, all_keys = document.get("properties", {}), form.get("properties", {})
    return bool(own) and own.keys() <= all_keys.keys() and own.get("schema") == all_keys.get("schema")


def _rows(form: dict[str, Any]) -> list[tuple[str, ...]]:
    """Rows of the table of keys, whose links lead to the page of documents."""
    found = rows(form, "")
    return list(dict.fromkeys(tuple(cell.replace("](#", "](json.md#") for cell in row) for row in found))


def _form(schema: dict[str, Any], forms: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = forms[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


if __name__ == "__main__":
    PAGE.write_text(page())
