"""`docs/reference/json.md` and the schemas next to it, from `lightloom.schemas`.

`python -m docs.generators.json_page` writes the page, and a file for every schema.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from lightloom.schemas import Document, documents, schema
from lightloom.schemas.forms import Form

PAGE = Path(__file__).resolve().parent.parent / "reference" / "json.md"
FOLDER = PAGE.parent / "schemas"
WORDS = {
    "anything": "anything",
    "array": "list",
    "number": "number",
    "integer": "whole number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}
HEADER = """\
# JSON

JSON that the verbs print with `--format json`, and the files that they write and read back. Times are seconds, sizes
bytes, rates bit/s where a key ends in `_s`, `_bytes` or `_bps`; ranks, steps and places in lists count from 0, ports of
switches from 1. Where a document has a version (`schema`), readers refuse another one, unknown keys and missing ones,
in a line that names the key.

Each has a JSON Schema (draft 2020-12): the files below, and `lightloom.schemas.schema(NAME)` in Python. `python -m
docs.generators.json_page` writes this page and them; the tests hold them to what is printed.

"""


def page() -> str:
    """The page: a table of keys for each kind of document."""
    kinds = documents()
    lines = [HEADER, *table(("document", "printed by", "schema"), map(_place, kinds))]
    for one in kinds:
        lines.append(f"\n## {one.name}\n\n{one.summary[0].upper()}{one.summary[1:]}.\n\n")
        lines += table(("key", "form", "meaning"), dict.fromkeys(rows(schema(one.name), "")))
    return "".join(lines)


def _place(one: Document) -> tuple[str, str, str]:
    commands = ", ".join(f"`{command}`" for command in one.commands)
    return f"[{one.name}](#{one.name})", commands, f"[{one.name}.json](schemas/{one.name}.json)"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Lines of a table in Markdown, with its head."""
    for row in (head, ("---",) * len(head), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n"


def schemas() -> dict[str, str]:
    """Every schema by the name of its file."""
    return {
        f"{one.name}.json": json.dumps(schema(one.name), indent=1, ensure_ascii=False) + "\n" for one in documents()
    }


def rows(form: Form, path: str) -> Iterator[tuple[str, str, str]]:
    """A row for each key of an object, then those of what it holds."""
    if isinstance(named := form.get("additionalProperties"), dict):
        yield from _row(f"{path}.NAME" if path else "NAME", named, "")
    for key, below in form.get("properties", {}).items():
        optional = "" if key in form.get("required", ()) else "may be left out: "
        yield from _row(f"{path}.{key}" if path else key, below, optional)


def _row(path: str, form: Form, optional: str) -> Iterator[tuple[str, str, str]]:
    yield f"`{path}`", _words(form), optional + form.get("description", "")
    yield from _within(form, path)


def _within(form: Form, path: str) -> Iterator[tuple[str, str, str]]:
    if "items" in form:
        yield from _within(form["items"], f"{path}[]")
    for one in form.get("anyOf", ()):
        kind = one.get("properties", {}).get("kind", {}).get("enum", ["", ""])
        yield from _within(one, f"{path} ({kind[0]})" if len(kind) == 1 else path)
    if form.get("type") == "object" or "properties" in form:
        yield from rows(form, path)


def _words(form: Form) -> str:
    """A form in words."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "const" in form or "enum" in form:
        return " or ".join(f"`{value}`" for value in form.get("enum", [form.get("const")]))
    if "anyOf" in form:
        return " or ".join(dict.fromkeys(_words(one) for one in form["anyOf"]))
    if "prefixItems" in form:
        return f"[{', '.join(map(_name, form['prefixItems']))}]"
    if "items" in form:
        return f"list of {_plural(_words(form['items']))}" + (" or null" if "null" in form["type"] else "")
    told = form.get("type", "anything")
    types = told if isinstance(told, list) else [told]
    return " or ".join(WORDS[one] for one in types)


def _name(form: Form) -> str:
    """The meaning of a place of a row, which says more than its form."""
    says_more = "items" in form or "enum" in form or "anyOf" in form
    return f"{form['description']}: {_words(form)}" if says_more else form["description"]


def _plural(words: str) -> str:
    plain = {"number": "numbers", "whole number": "whole numbers", "text": "texts", "object": "objects"}
    return " or ".join(plain.get(one, one) for one in words.split(" or "))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    PAGE.write_text(page())
    for file, text in schemas().items():
        (FOLDER / file).write_text(text)
