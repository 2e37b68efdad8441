"""Values after an option: mostly accepted ones, else its limits, else anything."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from lightloom import _core
from tests.names import names


class Values(NamedTuple):
    """Accepted values of an option, and values at the edges of its range or just beyond."""

    good: tuple[str, ...]
    edges: tuple[str, ...]


COUNT_EDGES = ("0", "1", "-1", "+2", "2.0", "1_000", "0x10", "255", "65535", "4294967295", "4294967296", str(2**64))
TIME_EDGES = (
    "0s",
    "-0s",
    "-1us",
    "0",
    "1",
    "1e-15s",
    "1e-320s",
    "2305s",
    "2306s",
    "9223s",
    "9224s",
    "1e22s",
    "1e300s",
    "1e308s",
    "1.7976931348623157e308s",
    "1e309s",
    "infs",
    "nans",
    "1e5us",
    "1us1us",
    "us",
    "1 us",
    " 1us ",
    "1µs",
    "1μs",
    "1US",
)
TIME = Values(("0s", "1ns", "500ns", "1us", "1.7us", "10us", "1ms"), TIME_EDGES)

SIZE = Values(
    ("1B", "7B", "1KiB", "64KiB", "100003B", "1MiB", "3MB", "64MiB", "1GiB"),
    (
        "0B",
        "0",
        "-1B",
        "0.5B",
        "1.5KiB",
        "1e-9MiB",
        "9007199254740992B",
        "9007199254740993B",
        "8PiB",
        "1e300B",
        "1e400B",
        "18446744073709551616B",
        "1TiB",
        "8PiB/pair",
        "/pair",
        "1KiB/pair/pair",
        "nanB",
        "infB",
        "1kib",
        "1 KiB",
    ),
)
SIZE_OF_PAIRS = Values(("1B/pair", "1KiB/pair", "64KiB/pair", "1MB/pair", *SIZE.good), SIZE.edges)
RATE = Values(
    ("100Gbps", "800Gbps", "1.6Tbps", "25Gbps", "85.11Gbps"),
    (
        "0bps",
        "-1Gbps",
        "1bps",
        "0.1bps",
        "1e-5bps",
        "1e-300bps",
        "1e-320bps",
        "5e-324bps",
        "1e308bps",
        "1e300Gbps",
        "infGbps",
        "nanGbps",
        "800",
        "800GBps",
    ),
)
DELAY = Values(
    (
        "10us",
        "1us",
        "100ns",
        "0s",
        "20ns/port",
        "5us+20ns/port",
        "sip+1us/round",
        "1ms",
        "mems-3d",
        "sip",
        "tunable-laser",
        "piezo",
    ),
    (
        *TIME_EDGES,
        "1e308s+1e308s/port",
        "1e308s/port",
        "1e-320s/port",
        "0s+0s/port",
        "+",
        "5us+",
        "/port",
        "5us+5us",
        "1us/port+1us",
        "1us/port+1us/port",
        "1us/ports",
        "mems3d",
    ),
)
BARRIER = Values(
    ("0s", "5us", "harvest", "2=1us,64=20us", "16=5.92us"),
    (*TIME_EDGES, "harvest,5us", "4=1us,4=2us", "1=1us", "4=", "=1us", "4=1us,", "no.json", "no.json:flags"),
)
WINDOW = Values(
    ("0s", "20us", "1us", "1=20us,5=3us", "2=1us", "1=0s"),
    (
        *TIME_EDGES,
        "0=1us",
        "1=1us,1=2us",
        "1=1e308s",
        "99999999999999999999=1us",
        "1=",
        "=1us",
        "1=1us,",
        ",",
        "4096=1us",
    ),
)
GPUS = Values(("2", "3", "4", "4", "5", "6", "7", "8", "8", "8", "9", "12", "16"), COUNT_EDGES)
PORTS = Values(("1", "1", "2", "2", "3", "4", "6"), COUNT_EDGES)
DIMS = Values(
    ("4x4", "2x4", "2x2x2", "8", "3x3", "4X2", "2x2x4"),
    (
        "1x1",
        "0x4",
        "4x",
        "x",
        "",
        "-2x2",
        "2x2x2x2x2x2x2x2",
        "999999999x999999999",
        "9999999999x2",
        "65536",
        "256x256",
        "2×2",
    ),
)
RADIX = Values(("2", "3", "4"), COUNT_EDGES)
SEED = Values(("0", "1", "42", "18446744073709551615"), ("-1", "18446744073709551616", "1e3", "0x1"))
SMALL_COUNT = Values(("1", "2"), COUNT_EDGES)
BUDGET = Values(("0s", "1ms", "20ms"), ("-1us", "0", "1e308s", "1e-320s", "infs"))
CONFIDENCE = Values(
    ("0.95", "0.5", "0.99"), ("0", "1", "-1", "2", "nan", "inf", "1e-320", "0.9999999999999999", "1e308")
)
INVARIANT = Values(
    ("1", "2", "4", "xor:1", "xor:2"), ("0", "-1", "xor:", "xor:-1", "xor:99999999999999999999", "and:1")
)

CONGESTION_CONTROL = Values(
    ("none", "dcqcn", "window", "dcqcn:kmin=4KB,kmax=40KB,seed=1", "window:threshold=8KB,gain=0.5"),
    (
        "dcqcn:",
        "dcqcn:kmin",
        "dcqcn:kmin=",
        "dcqcn:kmin=1KB,kmin=1KB",
        "dcqcn:kmin=9KB,kmax=1KB",
        "dcqcn:least_rate=1bps",
        "dcqcn:pmax=-1",
        "dcqcn:gain=1e-320",
        "dcqcn:byte_counter=1B,additive_increase=1bps",
        "dcqcn:alpha_interval=1ns,decrease_interval=1ns,increase_interval=1ns",
        "dcqcn:seed=99999999999999999999",
        "none:seed=1",
        "window:initial_window=1B,threshold=1B",
        "window:window=1B",
    ),
)
OPTICS = Values(
    (
        "crossbar",
        "parallel",
        "islands:2x1",
        "islands:4x2",
        "islands:1x1",
        "mesh:4x4",
        "mesh:6x6,wavelengths=2",
        "mesh:8x8",
    ),
    (
        "",
        ":",
        "crossbar:1",
        "parallel:",
        "islands",
        "islands:0x1",
        "islands:1x0",
        "islands:4294967296x1",
        "islands:-2x1",
        "mesh",
        "mesh:0x4",
        "mesh:4",
        "mesh:100000x100000",
        "mesh:4x4,wavelengths=0",
        "mesh:4x4,wavelengths=1e9",
        "mesh:4x4,waveguides=99999999999999999999",
        "mesh:4x4,max-loss=nan",
        "mesh:4x4,max-loss=-1",
        "mesh:4x4,interposers=0x0",
        "mesh:4x4,interposers=1000x1000",
        "mesh:4x4,what=1",
        "mesh:4x4,",
        "nowhere.toml",
        "optics",
    ),
)
DILATION = Values(("1", "10", "100"), ("0", "-1", "1e-9", "1e300", "nan", "inf", "x", ""))
NO_ADDRESSES = (
    "",
    "scpi",
    "scpi:",
    "scpi://",
    "://127.0.0.1",
    "ftp://127.0.0.1",
    "restconf://127.0.0.1:99999",
    "restconf://127.0.0.1:1?field=both",
    "scpi://127.0.0.1:1?timeout=nan",
    "scpi://127.0.0.1:1?what=1",
    "sonic://user:password@127.0.0.1:1",
    "=scpi://127.0.0.1:1?timeout=",
    "scpi://[::1",
)
COLLECTIVES = names("collectives")
ALGORITHMS = ("auto", *names("algorithms"))
ALGORITHMS_OF = {
    collective: (
        "auto",
        *(str(one["name"]) for one in _core.registry()["algorithms"] if collective in one["collectives"].split(", ")),
    )
    for collective in COLLECTIVES
}
# Those that serve any collective come first; planners of All-to-All follow.
ANY_PLANNER = ("auto", "auto", "harvest", "harvest", "static", "static", "bvn", "pccl", "pccl-parallel", "weave")
# `exact` searches for minutes, as its name is there for.
PLANNERS = ("auto", *(name for name in names("planners") if name != "exact"))
TOPOLOGIES = (
    "ring:one-way",
    "ring:two-way",
    "shifted-ring:3",
    "shifted-ring:2,one-way",
    "block-ring:2",
    "circulant:1,3",
    "torus:2x4",
    "shifted-torus:1,1",
    "random-regular:7",
    *names("topologies"),
)
FAMILIES = names("candidates")
TOPOLOGY_EDGES = (
    "shifted-ring:0",
    "shifted-ring:-1",
    "shifted-ring:99999999999999999999",
    "shifted-ring:4294967296,one-way",
    "circulant:",
    "circulant:0",
    "circulant:" + ",".join(["1"] * 3000),
    "torus:0x0",
    "torus:1x8",
    "torus:99999x99999",
    "torus:" + "x".join(["1"] * 500),
    "ring:three-way",
    "random-regular:-1",
    "random-regular:18446744073709551616",
    "block-ring:0",
    "block-ring:3,0",
    "shifted-torus:2x2:1",
    "ring:",
    ":",
    ";",
    "ring,ring;ring",
    "free",
)
WORKLOADS = Values(
    ("uniform", "zipf", "zipf:0.4", "zipf:0.4:7", "random", "random:3"),
    (
        "zipf:nan",
        "zipf:inf",
        "zipf:-1",
        "zipf:1e308",
        "zipf:0.4:18446744073709551616",
        "random:-1",
        "uniform:1",
        "zipf:",
    ),
)
ROUTINGS, CONVENTIONS, OVERLAPS = (names(kind) for kind in ("routings", "conventions", "overlaps"))

GARBAGE = (
    "",
    " ",
    "-",
    "--",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-320",
    "0x1f",
    "9" * 5000,
    "1" + "0" * 400 + "s",
    "\n",
    "a\nb",
    "\t",
    "\x1b[31mred",
    "\x7f",
    "\u202edrow",
    "\ufeff1us",
    "١٢٣",
    "²",
    "½us",
    "日本",
    "🦀",
    "e\u0301",
    "\udcff",
    "%s%n",
    "{}",
    "[red]",
    "[/]",
    "'",
    '"',
    "`",
    "\\",
    "*",
    "None",
    "null",
    "true",
    "auto",
    "free",
    "a" * 300,
    "..",
    ".",
    "~",
    "=",
    "--help",
    "--size",
)


def garbage(rng: Random) -> str:
    """Anything that an operating system lets a person write as an argument."""
    if rng.random() < 0.7:
        return rng.choice(GARBAGE)
    alphabet = (
        "0123456789.eE+-xXsubnKiMGBp/=,:; "
        if rng.random() < 0.6
        else "aZ9\u00e9\u0416\u4e2d\U0001f600\x01\r\x85\u2028\u200b"
    )
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 12)))


def text_of(rng: Random, values: Values, wild: float) -> str:
    """A good value, or with probability `wild` one from an edge or anything at all."""
    if rng.random() >= wild:
        return rng.choice(values.good)
    return rng.choice(values.edges) if rng.random() < 0.65 else garbage(rng)


def name_of(rng: Random, names: tuple[str, ...], wild: float) -> str:
    """A good name, or with probability `wild` one a letter off, or anything at all."""
    name = rng.choice(names)
    if rng.random() >= wild:
        return name
    place = rng.randrange(len(name))
    mutations = (name[:place] + name[place + 1 :], name.upper(), name + " ", name + ":1", garbage(rng))
    return rng.choice(mutations)
