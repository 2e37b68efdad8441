"""PCCL figures 12 to 16: training throughput of a transformer at five reconfiguration delays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lightloom.views.axis_units import size_label, time_label
from lightloom.views.charts import bars
from lightloom.views.fitting import legend_above
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.looks import looks
from lightloom_papers.pccl.compute_times import OURS, PUBLISHED
from lightloom_papers.pccl.iterations import GPUS, MODELS, SAMPLES, baselines, iterations, planned, sizes, workloads
from lightloom_papers.pccl.sensitivity import with_ranges
from lightloom_papers.pccl.training_claims import Found, claims_at_5_us, claims_at_500_us, claims_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Picture

    from lightloom_papers.claims import Claim
    from lightloom_papers.figure import Setting
    from lightloom_papers.pccl.iterations import Iterations

# Number of the first of figures 12, 13 and so on.
FIRST = 12
DELAYS_S = (5e-6, 10e-6, 25e-6, 50e-6, 500e-6)
NOTES = (
    "12 layers, hidden size 2048, 16 samples of 64 tokens a GPU; data parallel, no peer-to-peer. The paper publishes "
    "neither FlexFlow's task graph nor its times: each layer reduces {sizes}, as in TopoOpt's task graph of the same "
    "family, and an iteration computes for {compute}, an assumption: {rate:.0f} TFLOP/s in FlexFlow's layers of 6 × "
    "hidden² weights. Published rates of A100s give {published}; the data has the throughput with each, and every "
    "claim that depends on the time says for which it holds. Whether gradients are reduced during the backward pass, a "
    "layer's as soon as it ends, or after it, it does not say: both are shown. 3 µs a hop, 450 GB/s a circuit, "
    "reconfiguration delay {delay}; one AllReduce at a time, each "
    "from the start topology, to which PCCL's circuits go back after an AllReduce that has changed them. PCCL is given "
    "halving/doubling with one circuit for each pair; with ports divided over a step's one peer it is a scheme of its "
    "own. Swing has one port."
)


# Published times of computation, by the names of their columns (s).
PUBLISHED_S = {one.name: one.iteration_s(SAMPLES) for one in PUBLISHED}


def measured(setting: Setting, delay_s: float) -> Found:
    """Iterations and PCCL's AllReduces at this delay."""
    graphs = workloads()
    reduced = sizes(next(iter(graphs.values())))
    return Found.of(delay_s, {**planned(setting, reduced, delay_s), **baselines(setting, reduced)}, graphs)


def assumed_s() -> float:
    """The time for which a GPU computes in an iteration, as the models assume it (s)."""
    nodes = next(iter(workloads().values())).nodes
    return float(sum(node["duration_s"] for node in nodes if node["kind"] == "compute"))


def by_published(found: Found) -> dict[str, Iterations]:
    """Iterations with the published times of computation, by the names of these."""
    graphs, assumed = workloads(), assumed_s()
    return {name: iterations(graphs, found.reductions, time_s / assumed) for name, time_s in PUBLISHED_S.items()}


def make(setting: Setting, *, number: int, delay_s: float) -> Outcome:
    """A panel for every number of GPUs, with gradients reduced during and after the backward pass."""
    found = measured(setting, delay_s)
    rows = [
        (place, scheme, time_s) for place, schemes in found.iterations.items() for scheme, time_s in schemes.items()
    ]
    throughputs = [SAMPLES * place.gpus / time_s for place, _, time_s in rows]
    published = by_published(found)

    def draw(picture: Picture) -> None:
        picture.set_size_inches(15, 7.5)
        panels = picture.subplots(len(MODELS), len(GPUS), sharey="col", squeeze=False)
        for row, when in zip(panels, MODELS, strict=True):
            for axes, gpus in zip(row, GPUS, strict=True):
                of_panel = {
                    place.topology: schemes
                    for place, schemes in found.iterations.items()
                    if (place.when, place.gpus) == (when, gpus)
                }
                names = list(next(iter(of_panel.values())))
                series = {name: [SAMPLES * gpus / schemes[name] for schemes in of_panel.values()] for name in names}
                bars(axes, list(of_panel), series, y_kind="count", looks=looks(names))
                axes.set_title(f"{gpus} GPUs, gradients reduced {when}", fontsize=10)
            row[0].set_ylabel("samples per second")
        legend_above(picture, *panels[0][0].get_legend_handles_labels())

    reduced = sizes(next(iter(workloads().values())))
    compute_s = assumed_s()
    return Outcome(
        {
            "reduced": [place.when for place, _, _ in rows],
            "gpus": [place.gpus for place, _, _ in rows],
            "topology": [place.topology for place, _, _ in rows],
            "scheme": [scheme for _, scheme, _ in rows],
            "iteration_s": [time_s for _, _, time_s in rows],
            "samples_per_s": throughputs,
            **{
                f"samples_per_s_{name}": [SAMPLES * place.gpus / times[place][scheme] for place, scheme, _ in rows]
                for name, times in published.items()
            },
        },
        draw,
        _judge(setting, found, published, number),
        NOTES.format(
            sizes=f"{size_label(reduced[0])} and twice {size_label(reduced[1])}",
            compute=time_label(compute_s),
            rate=SAMPLES * OURS.training_flops / compute_s / 1e12,
            published=f"{time_label(min(PUBLISHED_S.values()))} to {time_label(max(PUBLISHED_S.values()))}",
            delay=time_label(delay_s),
        ),
    )


def _judge(setting: Setting, found: Found, published: Mapping[str, Iterations], number: int) -> tuple[Claim, ...]:
    """The claims of a figure, with the times of computation for which each holds."""
    graphs = workloads()
    last = number == FIRST + len(DELAYS_S) - 1
    every = [measured(setting, delay_s) for delay_s in (0.0, *DELAYS_S[:-1])] + [found] if last else [found]

    def claims_at(computing: float) -> tuple[Claim, ...]:
        *others, at = [Found.of(one.delay_s, one.reductions, graphs, computing) for one in every]
        if number == FIRST:
            return claims_at_5_us(at, {PUBLISHED_S[name]: times for name, times in published.items()})
        return claims_at_500_us([*others, at]) if last else claims_between(at, number)

    return with_ranges(claims_at, assumed_s(), list(PUBLISHED_S.values()))


FIGURES = tuple(
    Figure(
        f"pccl-{number}",
        f"Training throughput of a transformer, {time_label(delay_s)}",
        f"PCCL figure {number}, {'§6' if number == FIRST else 'appendix A'}",
        partial(make, number=number, delay_s=delay_s),
    )
    for number, delay_s in enumerate(DELAYS_S, FIRST)
)
