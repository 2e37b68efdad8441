"""Forms of values in JSON, as JSON Schema says them, each with its meaning; units are at the end of a key's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# A JSON Schema, draft 2020-12.
Form = dict[str, Any]
# Units by the end of a key; the first that fits.
UNITS = {
    "_db_per_cm": "dB/cm",
    "_bps": "bit/s",
    "_bytes": "bytes",
    "_dbm": "dBm",
    "_db": "dB",
    "_mw": "mW",
    "_cm": "cm",
    "_ns_per_m": "ns/m",
    "_m": "m",
    "_w": "W",
    "_j": "J",
    "_s": "seconds",
}


def number(meaning: str, *, least: float | None = 0) -> Form:
    """A number; not below `least`, unless that is None."""
    return {"type": "number", **({} if least is None else {"minimum": least}), "description": meaning}


def whole(meaning: str, *, least: int = 0) -> Form:
    """A whole number, not below `least`."""
    return {"type": "integer", "minimum": least, "description": meaning}


def text(meaning: str) -> Form:
    """A text."""
    return {"type": "string", "description": meaning}


def one_of(meaning: str, *values: str) -> Form:
    """One of some texts."""
    return {"type": "string", "enum": list(values), "description": meaning}


def version(schema: str) -> Form:
    """The document's own version."""
    return {"const": schema, "description": "name of the schema and its version"}


def yes_or_no(meaning: str) -> Form:
    """True or false."""
    return {"type": "boolean", "description": meaning}


def several(form: Form, meaning: str) -> Form:
    """A list of values of one form."""
    return {"type": "array", "items": form, "description": meaning}


def row(meaning: str, *forms: Form) -> Form:
    """A list of as many values as there are forms, each of its own."""
    count = len(forms)
    return {"type": "array", "prefixItems": list(forms), "minItems": count, "maxItems": count, "description": meaning}


def _with_unit(key: str, form: Form) -> Form:
    """The form of a number whose meaning ends in the unit that its key ends with, unless it names it already."""
    suffix = next((one for one in UNITS if key.endswith(one)), None)
    kinds = form.get("type", ())
    if suffix is None or not {"number", "integer"}.intersection([kinds] if isinstance(kinds, str) else kinds):
        return form
    meaning, unit = form["description"], UNITS[suffix]
    return form if unit in meaning else {**form, "description": f"{meaning} [{unit}]"}


def record(keys: Mapping[str, Form], meaning: str = "", *, optional: Mapping[str, Form] | None = None) -> Form:
    """An object with these keys and no others; those that are optional may be left out."""
    made: Form = {
        "type": "object",
        "properties": {key: _with_unit(key, form) for key, form in {**keys, **(optional or {})}.items()},
        "required": list(keys),
        "additionalProperties": False,
    }
    return {**made, "description": meaning} if meaning else made


def by_name(form: Form, meaning: str) -> Form:
    """An object whose keys are names, and whose values have one form."""
    return {"type": "object", "additionalProperties": form, "description": meaning}


def or_null(form: Form) -> Form:
    """The same, or null."""
    if isinstance(form.get("type"), str) and "enum" not in form:
        return {**form, "type": [form["type"], "null"]}
    meaning = {"description": form["description"]} if "description" in form else {}
    return {"anyOf": [{key: value for key, value in form.items() if key != "description"}, {"type": "null"}], **meaning}


def either(meaning: str, *forms: Form) -> Form:
    """One of several forms."""
    return {"anyOf": list(forms), "description": meaning}


def document(name: str) -> Form:
    """Another document of this package, by its name."""
    return {"$ref": f"#/$defs/{name}"}


PORT_PAIR = row("ingress and egress port, from 1", whole("ingress port", least=1), whole("egress port", least=1))
LINK = row(
    "source, destination, parallel circuits",
    whole("source rank"),
    whole("destination rank"),
    whole("parallel circuits", least=1),
)
