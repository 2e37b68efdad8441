"""PCCL figures 12 to 16: training throughput of a transformer at five reconfiguration delays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lightloom.views.axis_units import size_label, time_label
from lightloom.views.charts import bars
from lightloom.views.fitting import legend_above
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.looks import looks
from lightloom_papers.pccl.iterations import GPUS, MODELS, SAMPLES, baselines, iterations, planned, sizes, workloads
from lightloom_papers.pccl.training_claims import Found, claims_at_5_us, claims_at_500_us, claims_between

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.claims import Claim
    from lightloom_papers.figure import Setting

# Other times of computation, as factors of the assumed one.
COMPUTING = (0.5, 2.0)
# Number of the first of figures 12, 13 and so on.
FIRST = 12
DELAYS_S = (5e-6, 10e-6, 25e-6, 50e-6, 500e-6)
NOTES = (
    "12 layers, hidden size 2048, 16 samples of 64 tokens a GPU; data parallel, no peer-to-peer. The paper publishes "
    "neither FlexFlow's task graph nor its times: each layer reduces {sizes}, as in TopoOpt's task graph of the same "
    "family, and an iteration computes for {compute}, from FlexFlow's measurements of layers with as many operations. "
    "Whether gradients are reduced during the backward pass, a layer's as soon as it ends, or after it, it does not "
    "say: both are shown. 3 µs a hop, 450 GB/s a circuit, reconfiguration delay {delay}; one AllReduce at a time, each "
    "from the start topology, to which PCCL's circuits go back after an AllReduce that has changed them. PCCL is given "
    "halving/doubling with one circuit for each pair; with ports divided over a step's one peer it is a scheme of its "
    "own. Swing has one port."
)


def measured(setting: Setting, delay_s: float) -> Found:
    """Iterations and PCCL's AllReduces at this delay."""
    graphs = workloads()
    reduced = sizes(next(iter(graphs.values())))
    every = {**planned(setting, reduced, delay_s), **baselines(setting, reduced)}
    one_way = {key: {size: one._replace(back_s=0.0) for size, one in alone.items()} for key, alone in every.items()}
    return Found(delay_s, every, iterations(graphs, every), iterations(graphs, one_way))


def make(setting: Setting, *, number: int, delay_s: float) -> Outcome:
    """A panel for every number of GPUs, with gradients reduced during and after the backward pass."""
    found = measured(setting, delay_s)
    rows = [
        (place, scheme, time_s) for place, schemes in found.iterations.items() for scheme, time_s in schemes.items()
    ]
    throughputs = [SAMPLES * place.gpus / time_s for place, _, time_s in rows]

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

    graph = next(iter(workloads().values()))
    reduced = sizes(graph)
    compute_s = sum(node["duration_s"] for node in graph.nodes if node["kind"] == "compute")
    return Outcome(
        {
            "reduced": [place.when for place, _, _ in rows],
            "gpus": [place.gpus for place, _, _ in rows],
            "topology": [place.topology for place, _, _ in rows],
            "scheme": [scheme for _, scheme, _ in rows],
            "iteration_s": [time_s for _, _, time_s in rows],
            "samples_per_s": throughputs,
        },
        draw,
        _judge(setting, found, number),
        NOTES.format(
            sizes=f"{size_label(reduced[0])} and twice {size_label(reduced[1])}",
            compute=time_label(compute_s),
            delay=time_label(delay_s),
        ),
    )


def _judge(setting: Setting, found: Found, number: int) -> tuple[Claim, ...]:
    if number == FIRST:
        graphs = workloads()
        return claims_at_5_us(found, {times: iterations(graphs, found.reductions, times) for times in COMPUTING})
    if number < FIRST + len(DELAYS_S) - 1:
        return claims_between(found, number)
    return claims_at_500_us([measured(setting, delay_s) for delay_s in (0.0, *DELAYS_S[:-1])] + [found])


FIGURES = tuple(
    Figure(
        f"pccl-{number}",
        f"Training throughput of a transformer, {time_label(delay_s)}",
        f"PCCL figure {number}, {'§6' if number == FIRST else 'appendix A'}",
        partial(make, number=number, delay_s=delay_s),
    )
    for number, delay_s in enumerate(DELAYS_S, FIRST)
)
