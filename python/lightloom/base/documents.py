"""Lightloom's own documents in JSON: their schema, and the keys of their outermost object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import key_given_twice

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["document_of", "has_schema", "keys_of"]

# Characters in which the schema of a document stands.
BEGINNING = 200


def has_schema(text: str, schema: str) -> bool:
    """Whether a text is meant to be a document of a schema, such as `lightloom.timeline/1`, of any version."""
    return text.lstrip().startswith("{") and f'"{schema.rpartition("/")[0]}/' in text[:BEGINNING]


def document_of(field: str, text: str, schema: str, keys: Sequence[str]) -> dict[str, Any]:
    """The outermost object of a document, which has these keys and `schema`, each once; the values are not checked.

    Raises `InputError` that names `field`, or the key.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (key := key_given_twice(pairs)) is not None:
            raise refuse(field, f"key `{shown(key)}` is given twice in one object")
        return dict(pairs)

    def no_number(constant: str) -> float:
        raise refuse(field, f"`{constant}` is not a JSON number")

    try:
        told = json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise refuse(field, f"it is not JSON: {str(error)[:200]}") from error
    if not isinstance(told, dict) or told.get("schema") != schema:
        found = told.get("schema") if isinstance(told, dict) else told
        raise refuse("schema", f"`{shown(found)}` is not accepted; it takes {schema}")
    return keys_of("", told, ("schema", *keys))


def keys_of(place: str, told: Any, keys: Sequence[str]) -> dict[str, Any]:
    """An object that has these keys and no others. Raises `InputError` that names its `place`, or the key there."""
    if not isinstance(told, dict):
        raise refuse(place, f"`{shown(told)}` is not accepted; it takes an object with {', '.join(keys)}")
    for key in (*keys, *told):
        if key not in told or key not in keys:
            where = f"{place}.{key}" if place else key
            raise refuse(where, "missing" if key in keys else f"unknown; the keys are {', '.join(keys)}")
    return told
