"""Calls that take long, by name, which an interrupt must end soon."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import lightloom as ll
from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    Call: TypeAlias = Callable[[], object]

# Planners that take only one collective or shape, each with problems that they take; others take those of `PLANNED`.
OWN_PROBLEMS: dict[str, list[tuple[str, int, int, dict[str, Any]]]] = {
    "exact": [("all-reduce", 9, 1, {"algorithm": "ring"}), ("all-to-all", 9, 1, {"algorithm": "direct"})],
    "short-circuit": [("all-reduce", 1024, 2, {"algorithm": "recursive-doubling"})],
}
PLANNED: list[tuple[str, int, int, dict[str, Any]]] = [
    ("all-to-all", 256, 4, {}),
    ("all-to-all", 90, 3, {}),
    ("all-reduce", 1000, 2, {}),
    ("all-gather", 768, 3, {}),
    ("all-to-all", 512, 1, {}),
]


def calls() -> dict[str, Call]:
    """All of them."""
    return {**_plans(), **_comparisons(), **_matrices(), **_of_plans(), **_optics(), **_others()}


def _plans() -> dict[str, Call]:
    """Every planner of the registry, and searches with a budget."""
    found: dict[str, Call] = {}
    for planner in (entry["name"] for entry in _core.registry()["planners"]):
        for collective, gpus, ports, options in OWN_PROBLEMS.get(planner, PLANNED):
            fabric = ll.Fabric(gpus=gpus, ports=ports)
            found[f"plan {collective} {gpus}x{ports} {planner}"] = partial(
                ll.plan, collective, "64MiB", fabric=fabric, planner=planner, **options
            )
    for gpus, ports in [(64, 3), (48, 4), (1024, 4), (2000, 8)]:
        fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay="1ms")
        found[f"plan all-to-all {gpus}x{ports}"] = partial(ll.plan, "all-to-all", "64MiB", fabric=fabric)
    found["search with a budget"] = lambda: ll.plan(
        "all-reduce", "64MiB", fabric=ll.Fabric(gpus=36, ports=3), planner="weave", budget="20s"
    )
    found["exact for two ports"] = lambda: ll.exact_plan(
        "all-to-all", "8MiB", fabric=ll.Fabric(gpus=8, ports=2), algorithm="direct", budget="60s"
    )
    return found


def _comparisons() -> dict[str, Call]:
    fabrics = {
        f"{gpus}x{ports}": ll.Fabric(gpus=gpus, ports=ports) for gpus, ports in [(256, 4), (128, 2), (96, 3), (512, 2)]
    }
    return {
        f"compare {collective} {shape}": lambda collective=collective, fabric=fabric: ll.compare(  # type: ignore[misc]
            collective, "1GiB", fabric=fabric
        )
        for shape, fabric in fabrics.items()
        for collective in ("all-to-all", "all-reduce", "broadcast")
    }


@cache
def _zipf(gpus: int) -> NDArray[np.float64]:
    """Bytes of pairs that fall by rank, in an order that is drawn."""
    drawn = np.random.default_rng(gpus)
    ranks = drawn.permutation(gpus * gpus).reshape(gpus, gpus)
    matrix = np.asarray(1e9 / (1 + ranks) ** 0.8, dtype=np.float64)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _matrices() -> dict[str, Call]:
    return {
        f"{verb} matrix {gpus}x{ports}": lambda call=call, gpus=gpus, ports=ports: call(  # type: ignore[misc]
            fabric=ll.Fabric(gpus=gpus, ports=ports), matrix=_zipf(gpus)
        )
        for verb, call in (("plan", ll.plan), ("compare", ll.compare), ("bound", ll.bound))
        for gpus, ports in ((500, 4), (100, 2))
    }


@cache
def _planned(collective: str, gpus: int, ports: int, algorithm: str) -> ll.Plan:
    return ll.plan(collective, "64MiB", fabric=ll.Fabric(gpus=gpus, ports=ports), algorithm=algorithm, planner="static")


def _of_plans() -> dict[str, Call]:
    """What is done with plans, which are made before."""
    found: dict[str, Call] = {}
    for shape in [("all-to-all", 256, 2, "direct"), ("all-reduce", 500, 2, "ring")]:
        name = f"{shape[0]} of {shape[1]}"
        found[f"verify {name}"] = lambda shape=shape: ll.verify(_read(*shape))  # type: ignore[misc]
        for settings in [{"injection": "burst"}, {"injection": "paced", "symmetry": "full"}, {"level": "flow"}]:
            words = " ".join(settings.values())
            found[f"simulate {name} {words}"] = lambda shape=shape, settings=settings: ll.simulate(  # type: ignore[misc]
                _planned(*shape), **{"symmetry": "full", **settings}
            )
    return found


def _read(collective: str, gpus: int, ports: int, algorithm: str) -> ll.Plan:
    """The plan as a file would hold it: not judged yet."""
    return ll.Plan.from_json(_planned(collective, gpus, ports, algorithm).to_json())


def _optics() -> dict[str, Call]:
    drawn = np.random.default_rng(7)
    pairs = [(int(a), int(b)) for a, b in drawn.integers(0, 64 * 64, (900, 2)) if a != b]
    servers = [(int(a), int(b)) for a, b in drawn.integers(0, 32 * 32, (4000, 2)) if a != b]
    return {
        "mesh": lambda: ll.route_mesh("64x64", pairs),
        "mesh with losses": lambda: ll.route_mesh(
            ll.Mesh(mzis="64x64", waveguides=4, wavelengths=8, max_loss_db=30.0), pairs
        ),
        "fibres": lambda: ll.route_fibres("32x32", servers),
        "fibres by an integer program": lambda: ll.route_fibres("12x12", servers_of(12), budget="60s"),
        "plan for a mesh": lambda: ll.plan(
            "all-reduce", "64MiB", fabric=ll.Fabric(gpus=64, ports=4, optics="mesh:16x16")
        ),
        "plan for parallel switches": lambda: ll.plan(
            "all-to-all", "64MiB", fabric=ll.Fabric(gpus=64, ports=4, optics="parallel")
        ),
    }


def servers_of(side: int) -> list[tuple[int, int]]:
    """Random circuits between the servers of a square."""
    drawn = np.random.default_rng(side).integers(0, side * side, (300, 2))
    return [(int(a), int(b)) for a, b in drawn if a != b]


def _others() -> dict[str, Call]:
    found: dict[str, Call] = {
        f"bound {collective} {gpus}x{ports}": lambda collective=collective, gpus=gpus, ports=ports: ll.bound(  # type: ignore[misc]
            collective, "64MiB", fabric=ll.Fabric(gpus=gpus, ports=ports)
        )
        for collective, gpus, ports in [("all-to-all", 60, 2), ("all-reduce", 16384, 4), ("broadcast", 5000, 3)]
    }
    found["bound of a schedule"] = lambda: ll.bound(
        "all-to-all", "64MiB", fabric=ll.Fabric(gpus=48, ports=2), algorithm="direct"
    )
    for model, ranks in [("bert-pccl", 16), ("llama-3-70b", 128)]:
        found[f"train {model} {ranks}"] = lambda model=model, ranks=ranks: ll.train(  # type: ignore[misc]
            ll.Workload.read(model, ranks=ranks), fabric=ll.Fabric(gpus=ranks, ports=4)
        )
    sizes, delays = [float(1 << log) for log in range(10, 31)], [10.0**power for power in range(-7, -1)]
    found["sweep of a problem"] = lambda: ll.Problem(
        "all-to-all", fabric=ll.Fabric(gpus=96, ports=4), algorithm="direct"
    ).sweep(sizes, delays)
    found["sweep"] = lambda: ll.sweep(
        {
            "settings": {"collective": "all-to-all", "gpus": 128, "ports": 3},
            "axes": {
                "size": [f"{size:.0f}B" for size in sizes],
                "reconfiguration_delay": [f"{delay}s" for delay in delays],
            },
        }
    )
    return found
