"""TOML of a request: texts, numbers, truths, lists and tables."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["toml_text"]


def toml_text(told: dict[str, Any]) -> str:
    """The document, its tables after everything else."""
    plain = [f"{key} = {_value(value)}" for key, value in told.items() if not isinstance(value, dict)]
    tables = [
        "\n".join([f"\n[{key}]", *(f"{name} = {_value(item)}" for name, item in value.items())])
        for key, value in told.items()
        if isinstance(value, dict)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(item)}' for key, item in value.items())} }}"
    # Texts, numbers and truths are written as JSON has them; only DEL must be escaped in TOML and is not in JSON.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
