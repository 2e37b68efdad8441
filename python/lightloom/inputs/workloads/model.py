"""Descriptions of models: a TOML text of a model, its batch and parallelism makes the workload of one iteration.

One with a table `[prefill]` or `[decode]` is of inference (`inference`).

`model_keys.KEYS` lists the keys, `model_counts` has every formula of parameters and FLOPs, `model_layers` what a layer
exchanges and `model_iteration` the order of it all, with their sources. Ranks are numbered as Megatron-LM does by
default: tp fastest, then ep, dp and pp.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.inputs.workloads.inference import inference_workload
from lightloom.inputs.workloads.inference_keys import is_inference
from lightloom.inputs.workloads.model_counts import Counts
from lightloom.inputs.workloads.model_description import Description
from lightloom.inputs.workloads.model_iteration import Iteration

if TYPE_CHECKING:
    import os
    from importlib.resources.abc import Traversable

__all__ = ["model_workload", "preset_workload", "presets", "summaries", "trained_model", "workload_of"]

SCHEMA = "lightloom.workload/1"


def model_workload(path_or_text: str | os.PathLike[str], *, ranks: int | None = None) -> dict[str, Any]:
    """The workload, as `lightloom.workload/1` has it, of a description: a TOML file, or its text of several lines.

    ranks: ranks in all; the data-parallel size follows from it.

    Raises `InputError` that names `model`, the key, or `ranks`.
    """
    return _workload(*_read(path_or_text), ranks)


def preset_workload(name: str, *, ranks: int | None = None) -> dict[str, Any]:
    """The workload of a model that comes with Lightloom; arguments and errors as for `model_workload`."""
    return _workload(*_preset(name), ranks)


def trained_model(name_or_path: str | os.PathLike[str]) -> Description:
    """The description of a model's training: a TOML file, its text of several lines, or the name of one of `presets()`.

    Raises `InputError` that names `model` or the key, and `layout` for what is no description of training.
    """
    is_text = isinstance(name_or_path, str) and "\n" in name_or_path
    is_preset = str(name_or_path) in presets() and not Path(name_or_path).exists()
    if not is_preset and not is_text and Path(name_or_path).suffix != ".toml":
        raise refuse("layout", f"it is for models, and `{shown(name_or_path)}` is neither TOML nor the name of one")
    text, where, folder = _preset(str(name_or_path)) if is_preset else _read(name_or_path)
    values = parse_toml("model", text, where)
    if is_inference(values):
        raise refuse("layout", f"it is for training, and {where} is of inference")
    return Description.of(values, where, None, folder)


def presets() -> list[str]:
    """The names of the models that come with Lightloom."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


def summaries() -> list[dict[str, str]]:
    """The models that come with Lightloom: `name`, `summary` and `source` of each."""
    found = []
    for name in presets():
        values = tomllib.loads(_folder().joinpath(f"{name}.toml").read_text("utf-8"))
        found.append({"name": name, "summary": values["summary"], "source": values["source"]})
    return found


def _folder() -> Traversable:
    return resources.files("lightloom.inputs.workloads").joinpath("presets")


def workload_of(model: Description) -> dict[str, Any]:
    """The workload of one training iteration of a model, as `lightloom.workload/1` has it."""
    iteration = Iteration(model)
    rates = {}
    if model.flops is not None:
        rates = {"model_flops": float(Counts(model).model_flops), "peak_flops": model.flops}
    return {
        "schema": SCHEMA,
        **({} if model.name is None else {"name": model.name}),
        "ranks": model.ranks,
        "mesh": model.mesh,
        "groups": iteration.groups,
        **({"matrices": iteration.matrices} if iteration.matrices else {}),
        **rates,
        "nodes": iteration.nodes,
    }


def _read(path_or_text: str | os.PathLike[str]) -> tuple[str, str, Path | None]:
    """The text of a description, what messages call it, and the folder of its file."""
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        return path_or_text, "the description", None
    path = Path(path_or_text)
    return read_text("model", path, MIB), f"`{path}`", path.parent


def _preset(name: str) -> tuple[str, str, None]:
    if text_of("model", name) not in presets():
        raise unknown_name("model", name, presets())
    return _folder().joinpath(f"{name}.toml").read_text("utf-8"), f"preset `{name}`", None


def _workload(text: str, where: str, folder: Path | None, ranks: int | None) -> dict[str, Any]:
    values = parse_toml("model", text, where)
    if is_inference(values):
        return inference_workload(values, where, ranks, folder)
    return workload_of(Description.of(values, where, ranks, folder))
