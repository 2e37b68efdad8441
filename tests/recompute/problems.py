"""Random problems: arguments of `lightloom.plan`, by category."""

from __future__ import annotations

import math
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tests.names import names

CATEGORIES = ("pipelined", "hidden", "per-port", "given start", "plain")
# How often each, of a round of ten: the last is there to be compared with.
ROUND = ("pipelined", "hidden", "per-port", "given start") * 2 + ("pipelined", "plain")

GPUS = (2, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 10, 12, 15, 16, 16, 18, 24, 27, 32)
COLLECTIVES = names("collectives")
# Which GPUs an algorithm takes: any number, powers of two, or grids.
ANY, POWERS, GRIDS = "any", "powers", "grids"
REDUCTIONS = {
    "ring": ANY,
    "recursive-doubling": POWERS,
    "halving-doubling": POWERS,
    "swing": POWERS,
    "swing-mirrored": POWERS,
    "bucket": GRIDS,
    "bruck": ANY,
    "bruck-doubling": ANY,
    "bruck-mirrored": ANY,
    "bruck-torus": GRIDS,
    "one-step": ANY,
    "bine-butterfly": POWERS,
}
TREES = {"one-step": ANY, "binomial-tree": ANY, "binary-tree": ANY, "bine-tree": POWERS}
ALGORITHMS: dict[str, dict[str, str]] = {
    "all-reduce": {**REDUCTIONS, "dissemination": POWERS},
    "reduce-scatter": {**REDUCTIONS, "pat": ANY},
    "all-gather": {**REDUCTIONS, "pat": ANY},
    "all-to-all": {
        "bruck": ANY,
        "bruck-mirrored": ANY,
        "bruck-torus": GRIDS,
        "direct": ANY,
        "pairwise-xor": POWERS,
        "dex": POWERS,
    },
    "broadcast": {**TREES, "scatter-allgather": ANY},
    "reduce": {**TREES, "scatter-allgather": ANY},
    "gather": TREES,
    "scatter": TREES,
}
PLANNERS = ("harvest", "harvest", "static", "bvn", "pccl", "pccl-parallel", "weave", "never-change", "auto")
# They choose the algorithm themselves.
PLANNERS_OF_ALL_ALGORITHMS = ("weave", "never-change")
PLANNERS_OF_ALL_TO_ALL = (
    "reconfigure-all-to-all",
    "mixnet",
    "fast",
    "direct-connect-kautz",
    "direct-connect-circulant",
    "topo-opt",
)
PLANNERS_OF_ONE_PORT = {"bridge": ("bruck", "bruck-doubling"), "short-circuit": ("recursive-doubling",)}
# Of the collectives whose blocks spread alike, and of as many GPUs as can be searched whole.
PLANNERS_OF_FEW_GPUS = {"synthesize": 16, "exact": 5}
PLANNERS_OF_ONE_ROUTING = (
    *("pccl", "pccl-parallel", "bridge", "short-circuit"),
    *PLANNERS_OF_ALL_TO_ALL,
    *PLANNERS_OF_FEW_GPUS,
)
ROUTINGS = ("concurrent-flow", "equal-split", "single-path")
CONVENTIONS = names("conventions")
# How often the optical layer limits topologies, or is said to be one that limits none.
OPTICS_OFTEN = 0.15
# How often barriers take time.
BARRIERS_OFTEN = 0.25
# More GPUs than these cost too much where every pair is routed by a program of its own, or every planner is tried.
MOST_GPUS_OF_SEARCHES = 16


class Question(NamedTuple):
    """A category, and the arguments of `lightloom.Fabric` and `lightloom.plan`."""

    category: str
    fabric: dict[str, Any]
    settings: dict[str, Any]


def question(seed: int, index: int) -> Question:
    """Problem `index` of a seed."""
    rng = Random(f"{seed}:{index}")  # noqa: S311 (nothing here is secret)
    category = ROUND[index % len(ROUND)]
    sizes = _Sizes(rng, category)
    settings = sizes.settings
    fabric: dict[str, Any] = {"gpus": sizes.gpus, "ports": sizes.ports, "dims": sizes.dims, **_times(rng)}
    _category(rng, category, fabric)
    if category == "pipelined":
        settings["overlap"] = "pipelined"
    if settings["planner"] not in PLANNERS_OF_ONE_ROUTING and rng.random() < 0.35:
        settings["routing"] = rng.choice(ROUTINGS)
    if rng.random() < 0.2:
        settings["convention"] = rng.choice(CONVENTIONS)
    if rng.random() < OPTICS_OFTEN:
        fabric["optics"] = _optics(rng)
    # Of its own sequence, so that the other arguments are those of fabrics without barriers.
    of_barriers = Random(f"{seed}:{index}:barrier")  # noqa: S311
    if of_barriers.random() < BARRIERS_OFTEN:
        fabric["barrier"] = float(f"{10 ** of_barriers.uniform(-7, -4):.3g}")
    return Question(category, fabric, settings)


class _Sizes:
    """The collective, its algorithm and planner, GPUs and ports that these take, and how much is sent."""

    def __init__(self, rng: Random, category: str) -> None:
        self.rng = rng
        self.most_packets = rng.choice((3, 30, 300)) if category == "pipelined" else None
        self.collective = rng.choice(COLLECTIVES)
        self.gpus = 64 if rng.random() < 0.05 else rng.choice(GPUS)
        self.ports = rng.choice((1, 1, 2, 2, 3, 4, 4, 6))
        self.planner = rng.choice(PLANNERS)
        self.algorithm: str | None = None
        self.dims: tuple[int, ...] | None = None
        self._choose_planner()
        if self.planner in {*PLANNERS, "exact"} - {*PLANNERS_OF_ALL_ALGORITHMS}:
            self._choose_algorithm()
        if self.dims is None and rng.random() < 0.15:
            self.dims = next(((a, self.gpus // a) for a in (4, 3, 2) if self.gpus % a == 0 and self.gpus > a), None)
        if self.dims is not None:
            self.gpus = math.prod(self.dims)
        self.settings = self._settings()

    def _choose_planner(self) -> None:
        """Planners of one collective, or of one port, in place of those that serve all."""
        rng = self.rng
        pairwise = self.collective == "all-to-all"
        if pairwise and rng.random() < 0.35:
            self.planner = rng.choice(PLANNERS_OF_ALL_TO_ALL)
            self.gpus = min(self.gpus, 24)
            self.ports = max(self.ports, 2) if self.planner == "direct-connect-kautz" else self.ports
        elif rng.random() < 0.1 and not pairwise:
            self.planner, self.ports = rng.choice(tuple(PLANNERS_OF_ONE_PORT)), 1
            self.collective = rng.choice(("all-reduce", "reduce-scatter", "all-gather"))
            self.algorithm = rng.choice(PLANNERS_OF_ONE_PORT[self.planner]) if rng.random() < 0.8 else None
            self.gpus = 1 << rng.randint(1, 6)
        elif rng.random() < 0.08 and not pairwise:
            self.planner = rng.choice(tuple(PLANNERS_OF_FEW_GPUS))
            self.collective = rng.choice(("all-reduce", "reduce-scatter", "all-gather"))
            self.gpus = min(self.gpus, PLANNERS_OF_FEW_GPUS[self.planner])
            self.ports = 1 if self.planner == "exact" else self.ports
        elif self.planner in {*PLANNERS_OF_ALL_ALGORITHMS, "auto"}:
            self.gpus = min(self.gpus, MOST_GPUS_OF_SEARCHES)

    def _choose_algorithm(self) -> None:
        rng = self.rng
        if self.planner == "auto" and rng.random() < 0.4:
            return
        self.algorithm = rng.choice(tuple(ALGORITHMS[self.collective]))
        takes = ALGORITHMS[self.collective][self.algorithm]
        if takes == POWERS:
            self.gpus = 1 << max(1, round(math.log2(self.gpus)))
        elif takes == GRIDS:
            self.dims = rng.choice(((2, 2), (2, 3), (4, 2), (3, 3), (4, 4), (2, 2, 2), (8, 8), (4, 4, 4)))

    def _settings(self) -> dict[str, Any]:
        rng = self.rng
        settings: dict[str, Any] = {"planner": self.planner, "algorithm": self.algorithm, "seed": rng.randrange(100)}
        if (self.algorithm or "").startswith("bruck") and self.planner != "bridge" and rng.random() < 0.3:
            settings["radix"] = rng.randint(2, 4)
        if self.planner == "static" and rng.random() < 0.6:
            other = "torus" if self.dims else "ring:one-way"
            settings["topology"] = rng.choice(("ring", other, "static-baselines", "shifted-ring:1"))
        if self.planner == "harvest" and rng.random() < 0.3:
            lists = ("shifted-rings", "shifted-rings,step-matchings", "shifted-rings,expanders")
            settings["candidates"] = rng.choice(lists)
        size = max(1, int(2 ** rng.uniform(0, 30)))
        if self.most_packets is not None:
            # Every packet is an event: about this many in the buffer, and each crosses some circuits.
            size = min(size, 4096 * self.most_packets * (1 if self.gpus > 8 else 4 if self.gpus > 4 else 20))
        if self.collective == "all-to-all" and self.algorithm in {None, "direct"} and rng.random() < 0.3:
            self.gpus, self.dims = min(self.gpus, 12), None
            return {**settings, "matrix": _matrix(rng, self.gpus, size)}
        return {**settings, "collective": self.collective, "size": size}


def _matrix(rng: Random, gpus: int, size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Bytes between pairs, some of them zero, over some magnitudes."""
    matrix = np.array(
        [
            [0 if rng.random() < 0.3 else int(2 ** rng.uniform(0, math.log2(size) + 1)) for _ in range(gpus)]
            for _ in range(gpus)
        ],
        dtype=float,
    )
    matrix[0, gpus - 1] = size
    return matrix


def _times(rng: Random) -> dict[str, Any]:
    def seconds(least: float, most: float) -> float:
        return 0.0 if rng.random() < 0.08 else float(f"{10 ** rng.uniform(math.log10(least), math.log10(most)):.3g}")

    return {
        "bandwidth": rng.choice(("10Gbps", "85.11Gbps", "100Gbps", "800Gbps", "1.6Tbps")),
        "startup": seconds(1e-9, 1e-4),
        "hop_delay": seconds(1e-10, 1e-4),
        "reconfiguration_delay": seconds(1e-8, 2e-2),
    }


def _optics(rng: Random) -> str:
    return rng.choice(
        (
            f"islands:{rng.choice((2, 3, 4, 4, 8))}x{rng.choice((1, 2, 2, 3, 4, 8))}",
            f"mesh:{rng.choice(('8x8', '8x16', '16x16', '32x32'))},wavelengths={rng.choice((1, 2, 4))}",
            rng.choice(("crossbar", "parallel")),
        )
    )


def _category(rng: Random, category: str, fabric: dict[str, Any]) -> None:
    """Add the settings of the problem's category, and sometimes some of the others."""
    also = {name for name in CATEGORIES if rng.random() < 0.2}
    if category == "hidden" or "hidden" in also:
        delay_s = fabric["reconfiguration_delay"]
        kinds = rng.choice(("background", "background", "window", "windows", "both"))
        if kinds in {"background", "both"}:
            fabric["background_reconfiguration"] = True
            fabric["ports"] = max(2, fabric["ports"])
        if kinds in {"window", "both"}:
            fabric["window"] = rng.choice((delay_s * 0.3, delay_s * 2, 1e-6))
        if kinds == "windows":
            steps = sorted(rng.sample(range(1, 9), rng.randint(1, 4)))
            fabric["window"] = ",".join(f"{step}={rng.choice((delay_s * 0.5, delay_s, 1e-6)):.6e}s" for step in steps)
    if category == "per-port" or "per-port" in also:
        fixed_s, port_s = fabric["reconfiguration_delay"], 10 ** rng.uniform(-9, -5)
        by_port = [f"{fixed_s * rng.choice((0.01, 1, 1, 30)):.4e}s" for _ in range(fabric["ports"])]
        fabric["reconfiguration_delay"] = (
            by_port
            if rng.random() < 0.5
            else (f"{port_s:.4e}s/port" if rng.random() < 0.4 else f"{fixed_s:.4e}s+{port_s:.4e}s/port")
        )
    if category == "given start" or "given start" in also:
        starts = [
            "dark",
            "dark",
            "repeated",
            "repeated",
            "ring",
            "ring",
            "ring:one-way",
            "shifted-ring:1",
            "random-lift",
        ]
        if fabric["gpus"] > 4:
            starts += ["shifted-ring:2", "shifted-ring:3,one-way"]
        if fabric["dims"] is not None:
            starts += ["torus", "torus"]
        if fabric["ports"] > 1:
            starts += ["kautz"]
        fabric["initial"] = rng.choice(starts)
