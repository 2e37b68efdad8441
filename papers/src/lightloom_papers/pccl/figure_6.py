"""PCCL, figure 6: transfers that share a link; and the numbers of §3 and §4 that no other figure shows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric, Schedule, plan, route_fibres, simulate
from lightloom.views.charts import lines
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.pccl.iterations import sizes, workloads

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting

# §3.1: eight GPUs, buffers of 32 MB, NVLinks of 450 GB/s; transfers that all use the link from GPU 2 to GPU 3.
GPUS, SIZE = 8, 32_000_000
OVER_LINK = ((2, 3), (1, 3), (0, 3), (7, 3))
SHARING = (1, 2, 4)
# Group index of single-mode fibre at 1550 nm (Corning SMF-28 Ultra, product information), and m/s.
GROUP_INDEX, LIGHT = 1.4682, 299_792_458.0
# §5: startup of a transfer, s.
ALPHA_S = 3e-6
SERVERS, CIRCUITS, MOST_FIBRES_S = 8, 512, 10.0
MANY = (8, 32, 128)
MIB = 1 << 20


def make(_setting: Setting) -> Outcome:
    """The bandwidth of each transfer by packets."""
    rates = [_bandwidth(count) for count in SHARING]

    def draw(picture: Picture) -> None:
        picture.set_size_inches(5, 3.6)
        axes = picture.subplots()
        lines(axes, list(SHARING), {"each transfer": rates}, x_kind="count", y_kind="rate")
        axes.set(xlabel="transfers over one link", ylabel="bandwidth of a transfer")

    return Outcome(
        {"transfers": SHARING, "bandwidth_bps": rates},
        draw,
        (
            *(
                Claim.near(
                    f"{count} transfers over one link divide the bandwidth of each by {count}",
                    "§3.1, fig. 6",
                    paper=float(count),
                    ours=rates[0] / rate,
                    unit="×",
                    why="packets that queue for the link; the paper measures it on a machine with eight GPUs",
                )
                for count, rate in zip(SHARING[1:], rates[1:], strict=True)
            ),
            *_light(),
            _fibres(),
            *_rounds(),
            _twice(),
            _buffers(),
        ),
        "Transfers of 32 MB to GPU 3 on a one-way ring of eight GPUs with 450 GB/s, all over the last link, with every "
        "packet simulated. The claims of §3 to §6 that no other figure shows are judged here as well.",
    )


def _bandwidth(count: int) -> float:
    """Bits per second of each of so many transfers that share a link."""
    pairs = OVER_LINK[:count]
    pieces = [(src, dst, 1 / count) for src, dst in pairs]
    step = [(src, dst, "copy", [chunk]) for chunk, (src, dst) in enumerate(pairs)]
    schedule = Schedule.from_transfers("shared-link", "all-to-all", GPUS, 1, [step], pieces=pieces)
    fabric = Fabric(gpus=GPUS, bandwidth="3600Gbps", startup=0, hop_delay=0, initial="ring:one-way")
    made = plan(
        None,
        count * SIZE,
        fabric=fabric,
        schedule=schedule,
        planner="static",
        topology="ring:one-way",
        routing="single-path",
    )
    return 8 * SIZE / simulate(made).total_s


def _light() -> tuple[Claim, Claim]:
    """The delay of light over 100 m more."""
    delay_s = 100 * GROUP_INDEX / LIGHT
    return (
        Claim.about(
            "light takes 0.3 µs for every additional 100 m",
            "§3.2",
            paper=0.3,
            ours=delay_s * 1e6,
            unit="µs",
            why=f"that is the speed of light in vacuum ({100 / LIGHT * 1e6:.2f} µs); in fibre it is slower by the "
            f"group index, {GROUP_INDEX}",
        ),
        Claim.fact(
            "and that time is negligible",
            "§3.2",
            paper="negligible",
            ours=f"10 m more are {delay_s / 10 / ALPHA_S:.1%} of the startup of 3 µs, 100 m {delay_s / ALPHA_S:.0%}",
            rule="at most 5 % of the startup within a rack, 10 m",
            holds=delay_s / 10 <= 0.05 * ALPHA_S,
        ),
    )


def _fibres() -> Claim:
    """The time to route fibres between servers."""
    draw = np.random.default_rng(0)
    cells = SERVERS**2
    sources = draw.integers(cells, size=CIRCUITS)
    pairs = np.stack([sources, (sources + draw.integers(1, cells, size=CIRCUITS)) % cells], axis=1)
    begin_s = time.process_time()
    route_fibres(f"{SERVERS}x{SERVERS}", pairs).check()
    quick = time.process_time() - begin_s < MOST_FIBRES_S
    return Claim.fact(
        "fibres between servers are routed in under 10 s",
        "§4.2",
        paper="< 10 s",
        ours="< 10 s" if quick else "10 s or more",
        rule="512 circuits on a grid of 64 servers in less than 10 s of processor time",
        holds=quick,
    )


def _steps(algorithm: str, collective: str, gpus: int) -> int:
    return len(plan(collective, "1MB", fabric=Fabric(gpus=gpus), algorithm=algorithm, planner="static").steps)


def _rounds() -> tuple[Claim, ...]:
    ring, rhd = ([_steps(name, "all-reduce", gpus) for gpus in MANY] for name in ("ring", "halving-doubling"))
    sent = [
        sum(
            step.transfer_bytes for step in plan("all-reduce", 1_280_000, fabric=Fabric(gpus=128), algorithm=name).steps
        )
        for name in ("ring", "halving-doubling")
    ]
    return (
        Claim.equal(
            "Ring takes 2(N-1) rounds for an AllReduce, recursive halving and doubling 2 log N",
            "§3",
            paper=", ".join(f"{2 * (gpus - 1)} and {2 * (gpus.bit_length() - 1)}" for gpus in MANY),
            ours=", ".join(f"{one} and {other}" for one, other in zip(ring, rhd, strict=True)),
        ),
        Claim.near(
            "Ring sends about twice the buffer", "§3", paper=2.0, ours=sent[0] / 1_280_000, unit="×", why="128 GPUs"
        ),
        Claim.equal(
            "recursive halving and doubling has the same bandwidth cost",
            "§3, §6",
            paper="as Ring",
            ours="as Ring" if abs(sent[1] / sent[0] - 1) < 1e-9 else f"{sent[1] / sent[0]:.3f}× Ring's",
        ),
    )


def _twice() -> Claim:
    """An AllReduce over a ReduceScatter, as PCCL plans both on each start topology."""
    fabric = Fabric(gpus=64, bandwidth="3600Gbps", startup="3us", hop_delay=0, reconfiguration_delay="5us")
    ratios = [
        plan("all-reduce", size, fabric=fabric, algorithm="halving-doubling", planner="pccl").total_s
        / plan("reduce-scatter", size, fabric=fabric, algorithm="halving-doubling", planner="pccl").total_s
        for size in ("1MB", "256MB")
    ]
    return Claim.near(
        "an AllReduce takes twice the time of a ReduceScatter",
        "§5",
        paper=2.0,
        ours=max(ratios, key=lambda ratio: abs(ratio - 2)),
        unit="×",
        why="by PCCL's planner on the ring, 64 GPUs, 1 and 256 MB, 5 µs: less than twice, since the first circuits of "
        "the AllGather are the last ones of the ReduceScatter",
    )


def _buffers() -> Claim:
    """Sizes of the AllReduces of the training iterations of figures 12 to 16."""
    found = sorted({size for workload in workloads().values() for size in sizes(workload)})
    least, most = found[0] / MIB, found[-1] / MIB
    return Claim.fact(
        "AllReduces of BERT's training have buffers of 1 MB to 64 MB",
        "§6, fig. 10b",
        paper="1 MB to 64 MB",
        ours=f"{least:g} to {most:g} MiB",
        rule="the smallest and the largest",
        holds=(least, most) == (1, 64),
        why="gradients of whole weight matrices, in four bytes: hidden² in attention and 4·hidden² in the feed-forward "
        "layers, hidden 2048; FlexFlow's strategy, which the paper does not state, may divide matrices, and a "
        "sixteenth of the smaller ones is 1 MiB",
    )


FIGURE = Figure("pccl-6", "transfers that share a link", "PCCL, figure 6, §3.1", make)
