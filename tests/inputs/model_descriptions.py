"""Descriptions of a small model, as TOML, and the communications of its workload."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lightloom.inputs.workloads.model import model_workload

Tables = dict[str, dict[str, Any]]
SMALL: Tables = {
    "model": {"layers": 4, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocabulary": 96, "sequence": 32},
    "batch": {"micro_batch": 2, "microbatches": 3},
    "parallelism": {"tensor": 2, "pipeline": 2, "data": 2},
    "accelerator": {"flops": 1e12, "utilisation": 0.5},
}


def written(tables: Mapping[str, Any]) -> str:
    """The tables as TOML."""
    lines = [f"{key} = {_value(value)}" for key, value in tables.items() if not isinstance(value, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def with_keys(**changes: dict[str, Any]) -> Tables:
    """The small model with other keys; None leaves one out."""
    tables = {name: {**SMALL.get(name, {}), **changes.get(name, {})} for name in SMALL | changes}
    return {name: {key: value for key, value in table.items() if value is not None} for name, table in tables.items()}


def small(**changes: dict[str, Any]) -> dict[str, Any]:
    return model_workload(written(with_keys(**changes)))


def kinds(workload: Mapping[str, Any]) -> Counter[tuple[Any, ...]]:
    """How many communications of each kind, axis or group, and size there are."""
    return Counter(
        (node.get("collective", "send"), node.get("axis", "group"), node["size_bytes"])
        for node in workload["nodes"]
        if node["kind"] != "compute"
    )
