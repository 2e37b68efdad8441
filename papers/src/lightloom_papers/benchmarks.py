"""The settings that the papers evaluate; adding one is an entry of `BENCHMARKS`."""

from __future__ import annotations

from lightloom import Fabric
from lightloom.inputs.quantities import seconds_of
from lightloom.sweeps.benchmarks import Benchmark, BenchmarkSeries
from lightloom.views.axis_units import time_label


def _powers_of_four(first: int, last: int) -> tuple[str, ...]:
    """Sizes from 4^first to 4^last KiB."""
    return tuple(f"{4**power}KiB" for power in range(first, last + 1))


COLLECTIVES = ("reduce-scatter", "all-gather", "all-reduce", "all-to-all")
DECADES = ("10ns", "100ns", "1us", "10us", "100us", "1ms", "10ms")


def _harvest() -> tuple[BenchmarkSeries, ...]:
    def series(label: str, collective: str, fabric: Fabric, last: int = 10) -> BenchmarkSeries:
        return BenchmarkSeries(label, collective, fabric, _powers_of_four(0, last), DECADES)

    one_port = [series(f"{c}, 1 port", c, Fabric(gpus=64)) for c in (*COLLECTIVES, "broadcast")]
    two_ports = [series(f"{c}, 2 ports", c, Fabric(gpus=64, ports=2)) for c in ("all-reduce", "all-to-all")]
    tori = [
        series("all-reduce, 8x8, 4 ports", "all-reduce", Fabric(dims="8x8", ports=4)),
        series("all-reduce, 4x4x4, 6 ports", "all-reduce", Fabric(dims="4x4x4", ports=6)),
    ]
    return (*one_port, *two_ports, *tori)


def _all_to_all() -> tuple[BenchmarkSeries, ...]:
    sizes = ("4KiB/pair", "64KiB/pair", "1MB/pair", "8MB/pair", "16MB/pair", "32MB/pair", "64MB/pair")
    delays = ("1us", "10us", "100us", "1ms", "10ms")
    uniform = [
        BenchmarkSeries(
            f"{gpus} GPUs, {ports} port{'s' if ports > 1 else ''}",
            "all-to-all",
            Fabric(gpus=gpus, ports=ports),
            sizes,
            delays,
            "reconfigure-all-to-all",
        )
        for ports in (1, 2)
        for gpus in (8, 16, 32, 64)
    ]
    return tuple(uniform)


def _pccl() -> tuple[BenchmarkSeries, ...]:
    starts = {"ring": ("64", 2), "torus:8x8": ("8x8", 4), "grid:8x8": ("8x8", 4), "torus:4x4x4": ("4x4x4", 6)}

    def series(collective: str, initial: str) -> BenchmarkSeries:
        dims, ports = starts[initial]
        fabric = Fabric(dims=dims, ports=ports, bandwidth="3600Gbps", startup="0s", hop_delay="3us", initial=initial)
        sizes = _powers_of_four(5, 10)
        delays = ("3.7us", "10us", "25us", "50us", "500us", "1ms")
        return BenchmarkSeries(f"{collective} from {initial}", collective, fabric, sizes, delays, "pccl")

    return tuple(series(collective, initial) for collective in COLLECTIVES[:3] for initial in starts)


def _bridge() -> tuple[BenchmarkSeries, ...]:
    delays = ("1us", "10us", "150us", "1ms", "5ms")

    def series(collective: str, gpus: int) -> BenchmarkSeries:
        fabric = Fabric(gpus=gpus, startup="1.7us", hop_delay="1us")
        return BenchmarkSeries(
            f"{collective}, {gpus} GPUs", collective, fabric, _powers_of_four(0, 9), delays, "bridge"
        )

    collectives = ("reduce-scatter", "all-gather", "all-to-all")
    return tuple(series(collective, gpus) for collective in collectives for gpus in (16, 64, 256))


def _short_circuit() -> tuple[BenchmarkSeries, ...]:
    sizes = ("32B", "1KiB", "32KiB", "1MiB", "4MiB", "32MiB")

    def series(collective: str, hop_delay: str) -> BenchmarkSeries:
        fabric = Fabric(gpus=32, startup="0s", hop_delay=hop_delay)
        label = f"{collective}, {time_label(seconds_of('hop_delay', hop_delay))} a hop"
        return BenchmarkSeries(label, collective, fabric, sizes, DECADES[:5], "short-circuit")

    return tuple(series(c, hop) for c in ("reduce-scatter", "all-reduce") for hop in ("100ns", "1us", "10us"))


BENCHMARKS = (
    Benchmark("harvest", "64 GPUs, one to six ports, first topology free", "HARVEST §6.2, figs. 5, 8–10", _harvest()),
    Benchmark(
        "reconfigure-all-to-all",
        "uniform All-to-All of 8 to 64 GPUs, one and two ports, first topology charged",
        "To reconfigure or not to reconfigure §5, figs. 11, 12, 14",
        _all_to_all(),
    ),
    Benchmark("pccl", "64 GPUs that start on a ring, torus or grid", "PCCL §5, figs. 7–10", _pccl()),
    Benchmark("bridge", "16 to 256 GPUs with one port that start on the ring", "BRIDGE §4, figs. 5–12", _bridge()),
    Benchmark(
        "short-circuit",
        "32 GPUs with one port that start on the ring",
        "Short-circuiting rings, figs. 2, 3",
        _short_circuit(),
    ),
)
