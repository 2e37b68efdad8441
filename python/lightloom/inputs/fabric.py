"""The fabric that is planned for: checked user input; presets and TOML files of the same keys."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lightloom import _core
from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.base.port_rates import one_rate
from lightloom.base.whole_numbers import WHOLE_RANGES
from lightloom.inputs.barriers import barrier_text, relative_to
from lightloom.inputs.graphs import is_topology_file, resolve
from lightloom.inputs.optics import Optics
from lightloom.inputs.options import FABRIC, FABRIC_KEYS
from lightloom.inputs.pair_rates import pair_rates_text, relative_pair_rates
from lightloom.inputs.positions import positions_text, relative_positions
from lightloom.inputs.quantities import delay_text

if TYPE_CHECKING:
    from lightloom.inputs.options.settings import TopologyLike

_DEFAULTS: dict[str, Any] = {option.name: option.default for option in FABRIC}
# Keys by which a TOML file may describe itself, in addition to the fabric's keys.
DESCRIPTIVE_KEYS = ("summary", "source")
# Sizes of a grid, each 2 or more, of as many GPUs as are accepted.
MOST_DIMS = WHOLE_RANGES["gpus"][1].bit_length() - 1


@dataclass(frozen=True, kw_only=True)
class Fabric:
    """GPUs behind photonic circuit switches.

    gpus: number of GPUs; may be left out where `dims`, a matrix or a schedule says it.
    ports: circuits in and out of one GPU.
    bandwidth: rate of one circuit, `"800Gbps"` or bit/s; where port k of every GPU has a rate of its own, a list of
        these by port: `["800Gbps", "400Gbps"]`.
    startup: startup latency of a step, `"500ns"` or seconds.
    barrier: time of a barrier of all GPUs before a step, `"5us"` or seconds; `"harvest"`, as HARVEST measured it on 2
        to 256 GPUs; by number of GPUs, `"8=4us,64=20us"`; or the JSON file of `run --barriers`, with the barrier's name
        where it has several, `"costs.json:flags"`.
    hop_delay: delay of one hop, `"500ns"` or seconds.
    reconfiguration_delay: `"10us"`, `"20ns/port"`, `"5us+20ns/port"`, a technology such as `"mems-3d"`, one with rounds
        of signals between the GPUs, `"tunable-laser+500ns/round"`, or seconds; where port k of every GPU is
        on a switch k, a list of these by port: `["10us", "10us", "3ms", "3ms"]`.
    background_reconfiguration: every port is a switch of its own: one that carried nothing during a step was set up
        meanwhile.
    window: computation before a step, which hides a reconfiguration: `"20us"` or seconds before every step,
        `"1=20us,5=3us"` before steps 1 and 5. It is no part of the collective's time.
    initial: the topology before the first step: `"free"` (the first one is not charged), `"repeated"` (that of the last
        step: the plan runs again and again, and every change is charged), a name, an edge-list or GraphML file, a
        NetworkX graph or a Topology; the convention's by default: `"free"` for
        HARVEST's, the default.
    optics: the switches, if they limit topologies: one of `lightloom list optics` with its parameters,
        such as `"islands:4x2"`, a TOML file, or an `Optics`.
    electrical: electrical switches inside islands of GPUs, next to the ports: GPUs of an island, rate of a GPU inside
        it and delay of a hop, `"8:3600Gbps:100ns"`.
    positions: where the GPUs are, in metres, so that a hop takes light in the longest fibre of its topology in
        addition: a CSV file with the columns gpu, x, y and z, `"0:0,3:0"` or `"grid:4x4:8:3"`; settings may follow,
        `"places.csv,switch=middle,ns_per_m=5"`.
    pair_rates: rate and hop delay of circuits by the pair of GPUs that they join, both ways, where they are not those
        of the fabric: a CSV file with the columns gpu, peer, bandwidth and hop_delay, a TOML file with a list `pairs`
        of tables with these keys, or `"inside:8:3600Gbps:100ns,0-7:8-15:400Gbps:1us"`.
    dims: the grid of the GPUs, `"4x4x4"` or a sequence; last dimension fastest.
    failed: the parts that do not work, `"gpu:3,port:5.1,receiver:6.0,link:0-7,switch:1"` or a sequence of such texts;
        GPUs and ports count from 0, and a port is its transmitter.

    Raises `InputError` that names the argument.
    """

    gpus: int | None = None
    ports: int = _DEFAULTS["ports"]
    bandwidth: str | float | Sequence[str | float] = _DEFAULTS["bandwidth"]
    startup: str | float = _DEFAULTS["startup"]
    barrier: str | float | os.PathLike[str] = _DEFAULTS["barrier"]
    hop_delay: str | float = _DEFAULTS["hop_delay"]
    reconfiguration_delay: str | float | Sequence[str | float] = _DEFAULTS["reconfiguration_delay"]
    background_reconfiguration: bool = _DEFAULTS["background_reconfiguration"]
    window: str | float = 0.0
    initial: TopologyLike | None = None
    dims: str | Sequence[int] | None = None
    optics: Optics | str | os.PathLike[str] | None = None
    failed: str | Sequence[str] | None = None
    electrical: str | None = None
    positions: str | os.PathLike[str] | None = None
    pair_rates: str | os.PathLike[str] | None = None

    @cached_property
    def cache(self) -> _core.Cache:
        """The cache that requests on this fabric share: results found for one of them are used by the next."""
        return _core.Cache()

    def varied(self, **fields: Any) -> Self:
        """The fabric with other values of its arguments, and the same cache.

        Raises `InputError` as the class does.
        """
        other = replace(self, **fields)
        other.__dict__["cache"] = self.cache
        return other

    def __post_init__(self) -> None:
        """Refuse wrong values of fields when they are given, not when they are used."""
        _ = self._read

    @property
    def _read(self) -> _core.FabricOptions:
        """The options as the core reads them; an initial topology depends on the number of GPUs."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        del given["initial"]
        if isinstance(self.dims, Sequence) and not isinstance(self.dims, str):
            if len(self.dims) > MOST_DIMS:
                raise refuse("dims", f"{len(self.dims)} sizes are not accepted; it takes at most {MOST_DIMS}")
            given["dims"] = list(self.dims)
        for name in ("failed", "bandwidth"):
            if isinstance(given[name], tuple):
                given[name] = list(given[name])
        given["optics"] = self.optical_layer
        given["barrier"] = barrier_text(self.barrier)
        given["positions"] = positions_text(self.positions)
        given["pair_rates"] = pair_rates_text(self.pair_rates)
        # A field whose default is None may be None, and is left out; None in other fields is refused.
        optional = {field.name for field in fields(self) if field.default is None}
        said = {name: value for name, value in given.items() if not (value is None and name in optional)}
        return _core.FabricOptions(**said)

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str], **overrides: Any) -> Self:
        """A TOML file when it ends in `.toml` or is more than a bare name, else a preset; `overrides` win over it."""
        if not isinstance(name_or_path, (str, os.PathLike)):
            raise refuse(
                "fabric",
                f"`{shown(name_or_path)}` is not accepted; it takes a Fabric, the name of a fabric or a TOML file",
            )
        text = str(name_or_path)
        if text.endswith(".toml") or Path(text).name != text:
            return cls.from_toml(text, **overrides)
        return cls.preset(text, **overrides)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], **overrides: Any) -> Self:
        """The fabric in a TOML file whose keys are this class's arguments; `overrides` win over the file.

        `ports = ["10us", "3ms"]` says the reconfiguration delay of each port, and so how many there are.
        Files that `initial`, `optics`, `barrier`, `positions` and `pair_rates` name are looked for in its folder.
        Raises `InputError` that names `fabric` or the key.
        """
        values = _parse(read_text("fabric", path, MIB), f"`{path}`")
        initial = values.get("initial")
        if isinstance(initial, str) and is_topology_file(initial):
            values["initial"] = str(Path(path).parent / initial)
        optics = values.get("optics")
        if isinstance(optics, str) and optics.endswith(".toml"):
            values["optics"] = str(Path(path).parent / optics)
        if "barrier" in values:
            values["barrier"] = relative_to(Path(path).parent, values["barrier"])
        if "positions" in values:
            values["positions"] = relative_positions(Path(path).parent, values["positions"])
        if "pair_rates" in values:
            values["pair_rates"] = relative_pair_rates(Path(path).parent, values["pair_rates"])
        return cls._merged(values, overrides)

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Self:
        """A fabric that comes with Lightloom (see `lightloom list fabrics`); `overrides` win over it.

        A product of `lightloom list technologies`, such as `polatis`, is a name of its technology's fabric, too.
        """
        known = [preset["name"] for preset in presets()]
        if name not in known:
            products = {one["product"]: one["name"] for one in _core.registry()["technologies"] if one["product"]}
            name = products.get(str(name).lower(), name)
        if name not in known:
            raise unknown_name("fabric", name, known)
        text = resources.files("lightloom.inputs").joinpath("fabrics", f"{name}.toml").read_text("utf-8")
        return cls._merged(_parse(text, f"preset `{name}`"), overrides)

    @classmethod
    def _merged(cls, values: Mapping[str, Any], overrides: Mapping[str, Any]) -> Self:
        merged = {**values, **{key: value for key, value in overrides.items() if value is not None}}
        for key in merged:
            if key not in FABRIC_KEYS:
                raise unknown_name("fabric", key, FABRIC_KEYS)
        return cls(**merged)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Sizes of `dims`, empty if there are none."""
        return tuple(self._read.dims)

    @property
    def bandwidth_bps(self) -> float:
        """Rate of one circuit, bit/s. Raises `InputError` where ports or pairs of GPUs have different rates."""
        return one_rate("bandwidth", self.rates_bps, self.pair_rates)

    @property
    def rates_bps(self) -> tuple[float, ...]:
        """Rate of each port, bit/s; a single one where all have the same."""
        return tuple(self._read.rates_bps)

    @property
    def startup_s(self) -> float:
        """Startup latency of a step, s."""
        return self._read.startup_s

    @property
    def barrier_s(self) -> float:
        """Barrier of all GPUs before a step, s. Raises `InputError` where nothing says how many GPUs there are."""
        gpus = self.sized().gpus
        assert gpus is not None  # noqa: S101 (sized() has it)
        return self._read.barrier_s(gpus)

    def refuse_beyond_circuits(self, what: str) -> None:
        """Raise `InputError` that names what the fabric has beyond circuits that all work and steps without barriers.

        what: a clause such as "jobs are planned".
        """
        if self._read.has_barrier:
            raise refuse("barrier", f"`{shown(self.barrier)}` is not accepted: {what} without barriers; it takes 0s")
        if self.failed:
            failed = self.failed if isinstance(self.failed, str) else ",".join(self.failed)
            raise refuse("failed", f"`{shown(failed)}` is not accepted: {what} where everything works")
        if self.electrical is not None:
            raise refuse("electrical", f"`{shown(self.electrical)}` is not accepted: {what} on circuits alone")
        if self.positions is not None:
            raise refuse(
                "positions", f"`{shown(self.positions)}` is not accepted: {what} with fibres that take no time"
            )
        if self.pair_rates is not None:
            raise refuse(
                "pair_rates", f"`{shown(self.pair_rates)}` is not accepted: {what} with one rate for all pairs of GPUs"
            )

    @property
    def hop_delay_s(self) -> float:
        """Delay of one hop, s."""
        return self._read.hop_delay_s

    @property
    def reconfiguration(self) -> _core.ReconfigurationDelay:
        """The delay of a change of topology. Raises `InputError` where it has rounds of signals and no GPUs."""
        found = self._read.reconfiguration(self.gpus)
        if found.has_rounds:
            found = self._read.reconfiguration(self.sized().gpus)
        return found

    @property
    def optical_layer(self) -> str | None:
        """The kind of optical layer with its parameters; None where nothing but ports limits topologies."""
        return None if self.optics is None else Optics.load(self.optics).kind

    @property
    def windows_s(self) -> tuple[float, dict[int, float]]:
        """Computation: seconds before every step, and before single ones by their index from 0."""
        return self._read.windows_s

    def sized(self, **sizes: int) -> Self:
        """The same fabric with `gpus`, as the fabric, its grid, or `sizes` by the name of their origin state it.

        Raises `InputError` when nothing says it, or two of them disagree.
        """
        said = {"gpus": self.gpus, "dims": math.prod(self.dimensions) if self.dimensions else None, **sizes}
        known = [(origin, size) for origin, size in said.items() if size is not None]
        if not known:
            raise refuse(
                "gpus",
                "nothing says how many there are; it takes a whole number from {} to {}".format(*WHOLE_RANGES["gpus"]),
            )
        (first, gpus), *others = known
        for origin, size in others:
            if size != gpus:
                raise refuse(origin, f"it is for {shown(size)} GPUs and `{first}` for {shown(gpus)}; they must agree")
        return replace(self, gpus=gpus)

    def to_settings(self) -> dict[str, Any]:
        """The differences from the default fabric, by field, as a sweep's settings and a TOML file write it.

        Raises `InputError` that names `initial` where that is a graph or a Topology, which neither can write.
        """
        made = {field.name: getattr(self, field.name) for field in fields(self)}
        made["optics"] = self.optical_layer
        made["barrier"] = barrier_text(self.barrier)
        if not (self.initial is None or isinstance(self.initial, str)):
            raise refuse(
                "initial",
                f"`{shown(self.initial)}` cannot be written as text; it takes the name of a topology or the path of "
                "a topology file",
            )
        return {field.name: made[field.name] for field in fields(self) if made[field.name] != field.default}

    def to_core(self) -> _core.Fabric:
        """The fabric for the compiled core. Raises `InputError`, also for an initial topology of another size."""
        gpus = self.sized().gpus
        assert gpus is not None  # noqa: S101 (sized() has it)
        return self._read.fabric(gpus, None if self.initial is None else resolve("initial", self.initial, gpus))


def presets() -> list[dict[str, str]]:
    """The fabrics that come with Lightloom, by name, with `summary` and `source`."""
    folder = resources.files("lightloom.inputs").joinpath("fabrics")
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            values = tomllib.loads(file.read_text("utf-8"))
            found.append({"name": file.name.removesuffix(".toml"), **{key: values[key] for key in DESCRIPTIVE_KEYS}})
    return found


def _parse(text: str, where: str) -> dict[str, Any]:
    values = {key: value for key, value in parse_toml("fabric", text, where).items() if key not in DESCRIPTIVE_KEYS}
    ports = values.get("ports")
    if not isinstance(ports, list):
        return values
    if "reconfiguration_delay" in values:
        raise refuse(
            "ports", "it lists the delay of every port, and reconfiguration_delay is there too; give one of them"
        )
    if not ports:
        raise refuse("ports", "the list is empty; it takes a number, or the reconfiguration delay of every port")
    for item in ports:
        if isinstance(item, str) and "," in item:
            raise refuse("ports", f"`{shown(item)}` is not accepted in the list; it takes one delay for each port")
    _core.ReconfigurationDelay.parse("ports", delay_text("ports", ports))
    return {**values, "ports": len(ports), "reconfiguration_delay": ports}
