"""Files in the folder of a run: good ones of every kind that is read, and mutations of them."""

from __future__ import annotations

import io
import json
import os
import stat
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.fuzz_command_line.values import FAMILIES, garbage
from tests.names import names

FABRIC = """summary = "a laboratory"
gpus = 8
ports = 2
bandwidth = "100Gbps"
startup = "300ns"
hop_delay = "200ns"
reconfiguration_delay = "5us+20ns/port"
background_reconfiguration = true
window = "1=20us,5=3us"
initial = "ring"
"""
SWEEP = """name = "small"
summary = "a sweep"
engine = "model"
metrics = ["time", "ratio", "reconfigurations"]
baseline = ["static", {planner = "bvn"}]
[settings]
collective = "all-reduce"
gpus = 4
algorithm = "recursive-doubling"
planner = "harvest"
[axes]
size = { from = "1KiB", to = "1MiB", factor = 32 }
reconfiguration-delay = ["100ns", "10us"]
"""
PLOTS = """[[plots]]
kind = "heat"
x = "size"
y = "reconfiguration-delay"
value = "ratio"
"""
XML = """<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0">
<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb><tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu>
<gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb><tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu></algo>
"""
TECCL = json.dumps(
    {
        "6-Demand_Met": {f"GPU {s}": {f"GPU {d}": {"Chunk 0": 1.0} for d in range(3) if d != s} for s in range(3)},
        "7-Flows": [
            f"Chunk 0 from {(gpu - hop) % 3} traveled over {gpu}->{(gpu + 1) % 3} in epoch {hop}"
            for hop in range(2)
            for gpu in range(3)
        ],
    }
)
HARVEST = json.dumps(
    {
        "n": 3,
        "dims": [3],
        "collective": "all-gather",
        "steps": [{"demand": [[gpu, (gpu + 1) % 3, 1024] for gpu in range(3)], "chunksize": 1024}] * 2,
    }
)
GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="edge" attr.name="count" attr.type="long"/>
<graph edgedefault="directed"><node id="0"/><node id="1"/><node id="2"/><node id="3"/>
<edge source="0" target="1"><data key="d0">1</data></edge><edge source="1" target="2"/><edge source="2" target="3"/>
<edge source="3" target="0"/></graph></graphml>
"""
TIMES = """size_bytes,time_us,steps,hops
1024,30.9,1,1
65536,36.2,1,1
1048576,129.1,2,3
16777216,1610.0,1,1
67108864,6340.5,1,2
"""
RUNS = """size,time,collective,algorithm,gpus
64KiB,50us,all-reduce,ring,8
1MiB,200us,all-reduce,ring,8
4MiB,600us,all-reduce,recursive-doubling,8
64MiB,9ms,all-reduce,recursive-doubling,8
"""
NUMBERS = (0, 1, -1, 2, 7, 2**31, 2**32, 2**53, 2**64, -(2**63), 10**400, 0.5, 1e-320, 1e308, -0.0, 1e-9, 3.0)
LONGEST_NAME = 255
DEEP = "[" * 20_000


def fabric_file(rng: Random, path: Path, wild: float) -> None:
    """A TOML file of a fabric."""
    write(rng, path, FABRIC, wild)


def sweep_file(rng: Random, path: Path, wild: float) -> None:
    """A description of a sweep of few points."""
    # A picture takes longer than all the rest.
    write(rng, path, SWEEP + PLOTS if rng.random() < 0.05 else "plots = []\n" + SWEEP, wild)


def schedule_file(rng: Random, path: Path, wild: float) -> None:
    """A schedule of two or three GPUs, of MSCCL, TE-CCL or HARVEST."""
    text = rng.choice((XML, XML, TECCL, HARVEST))
    if text is not XML and rng.random() < wild:
        document = json.loads(text)
        replace_one(rng, document)
        text = json.dumps(document)
    write(rng, path, text, wild)


def sequence_file(rng: Random, path: Path, wild: float) -> None:
    """HARVEST's topologies of two steps on two to four GPUs."""
    rings = [
        [[gpu, (gpu + shift) % gpus, 1] for gpu in range(gpus)]
        for gpus in (rng.choice((2, 3, 4)),)
        for shift in (1, gpus - 1)
    ]
    document = {
        "alpha_r": 1000.0,
        "collective": rng.choice(("all-reduce", "all-gather", "all_to_all")),
        "cost": 1e5,
        "num_of_reconfigs": int(rings[0] != rings[1]),
        "reconf_cost_total": 1000.0,
        "steps": [{"step": step, "topology": ring} for step, ring in enumerate(rings, 1)],
    }
    if rng.random() < wild:
        replace_one(rng, document)
    write(rng, path, json.dumps(document), wild)


def workload_file(rng: Random, path: Path, wild: float) -> None:
    """A workload of two axes and a group: computation, collectives, and messages."""
    first, second = rng.choice(((2, 2), (4, 2), (3, 1)))
    ranks = list(range(first * second))
    size = rng.choice((1, 4096, 10**6))
    collective = rng.choice(names("collectives"))
    document = {
        "schema": "lightloom.workload/1",
        "name": "small",
        "ranks": len(ranks),
        "mesh": {"tp": first, "dp": second},
        "groups": {"some": ranks[:2]},
        "peak_flops": 1e15,
        "model_flops": 1e12,
        "nodes": [
            {"id": "f", "kind": "compute", "duration_s": 1e-5, "after": []},
            {
                "id": "a",
                "kind": "collective",
                "collective": collective,
                "axis": "tp",
                "size_bytes": size,
                "after": ["f"],
            },
            {"id": "s", "kind": "send", "source": 0, "destination": 1, "size_bytes": size, "after": ["a"]},
            {"id": "g", "kind": "compute", "ranks": "some", "duration_s": 2e-5, "after": rng.choice((["a"], ["s"]))},
            {"id": "d", "kind": "collective", "collective": "all-reduce", "group": "some", "size_bytes": size}
            | {"after": ["a"], "stream": "dp"},
        ],
    }
    for _ in range(rng.choice((1, 1, 2)) if rng.random() < wild else 0):
        replace_one(rng, document)
    write(rng, path, json.dumps(document), wild / 2)


def measurements_file(rng: Random, path: Path, wild: float) -> None:
    """Measured times as `calibrate` takes them."""
    write(rng, path, rng.choice((TIMES, RUNS)), wild)


def topology_file(rng: Random, path: Path, wild: float) -> None:
    """An edge list or a GraphML file."""
    gpus = rng.choice((2, 4, 8))
    edges = "".join(f"{gpu} {(gpu + 1) % gpus} 1\n" for gpu in range(gpus))
    write(rng, path, GRAPHML if path.suffix == ".graphml" else "# src dst count\n" + edges, wild)


def matrix_file(rng: Random, path: Path, wild: float) -> None:
    """An All-to-All matrix, CSV or NPY."""
    gpus = rng.choice((2, 3, 4, 8))
    values = np.array([[rng.choice((0, 1, 7, 4096, 10**6)) for _ in range(gpus)] for _ in range(gpus)], dtype=float)
    if rng.random() < wild:
        values[rng.randrange(gpus), rng.randrange(gpus)] = rng.choice(
            (-1.0, 1e308, np.nan, np.inf, 1e-320, 2.0**63, 1e16)
        )
    if path.suffix != ".npy":
        write(rng, path, "\n".join(",".join(f"{value:g}" for value in row) for row in values), wild)
        return
    stream = io.BytesIO()
    kinds = (np.float64, np.float32, np.int64, np.uint8, np.complex128, np.bool_)
    with np.errstate(all="ignore"):
        np.save(stream, values.astype(rng.choice(kinds) if rng.random() < wild else np.float64))
    content = stream.getvalue()
    path.write_bytes(mutated_bytes(rng, content) if rng.random() < wild else content)


def plan_file(rng: Random, path: Path, wild: float) -> None:
    """A plan, or one of which a value or a character differs."""
    text = rng.choice(plans())
    if rng.random() >= wild:
        path.write_text(text)
    elif rng.random() < 0.3:
        path.write_bytes(mutated_bytes(rng, text.encode()))
    else:
        document = json.loads(text)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            replace_one(rng, document)
        path.write_text(json.dumps(document))


@cache
def plans() -> tuple[str, ...]:
    """Plans of all kinds that a file can hold."""
    import lightloom as ll

    hiding = ll.Fabric(gpus=8, ports=2, background_reconfiguration=True, window="1=1us", initial="ring")
    charged = ll.Fabric(gpus=6, initial="dark", reconfiguration_delay="1us+20ns/port")
    matrix = np.array([[0, 9e3, 1e4, 0], [1, 0, 0, 0], [0, 5e5, 0, 1], [70, 7e4, 1e3, 0]])
    made = (
        ll.plan("all-reduce", "64KiB", fabric=hiding, algorithm="recursive-doubling", planner="harvest"),
        ll.plan("all-to-all", "64KiB", fabric=charged, algorithm="direct", planner="harvest", overlap="pipelined"),
        ll.plan("broadcast", "1MiB", fabric=ll.Fabric(gpus=5), algorithm="binomial-tree", planner="bvn"),
        ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4, ports=2), algorithm="bruck", routing="equal-split"),
        ll.plan(matrix=matrix, fabric=ll.Fabric(gpus=4), planner="static", convention="harvest-published"),
        ll.plan(
            "reduce-scatter", "100003B", fabric=ll.Fabric(dims="2x2", ports=2), algorithm="swing", planner="static"
        ),
    )
    return tuple(plan.to_json() for plan in made)


def replace_one(rng: Random, document: Any) -> None:
    """Change one value somewhere in a JSON document, or take it out, or put one in."""
    place = document
    while True:
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        inner = place[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            place = inner
            continue
        break
    action = rng.random()
    if action < 0.1:
        del place[key]
    elif action < 0.2 and isinstance(place, list):
        place.insert(key, inner)
    elif action < 0.25 and isinstance(place, dict):
        place["surprise"] = inner
    elif isinstance(inner, (int, float)) and rng.random() < 0.5:
        place[key] = rng.choice((inner + 1, inner - 1, inner * 2, -inner, inner * (1 + 1e-9), float(inner)))
    else:
        place[key] = rng.choice(
            (rng.choice(NUMBERS), garbage(rng), None, True, [], {}, [[0, 1]], [inner], {"a": inner})
        )


def write(rng: Random, path: Path, text: str, wild: float) -> None:
    """The text, or with probability `wild` a mutation of it."""
    if rng.random() >= wild:
        path.write_text(text)
    elif rng.random() < 0.5:
        path.write_bytes(mutated_bytes(rng, text.encode()))
    else:
        path.write_text(mutated_lines(rng, text), errors="surrogateescape")


def mutated_lines(rng: Random, text: str) -> str:
    """Lines left out, doubled or moved, and numbers and strings replaced."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        action = rng.random()
        if action < 0.2:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif action < 0.4 and len(lines) > 1:
            lines.pop(at)
        else:
            line = lines[at]
            digits = [place for place, letter in enumerate(line) if letter.isdigit()]
            quotes = [place for place, letter in enumerate(line) if letter == '"']
            if digits and rng.random() < 0.6:
                place = rng.choice(digits)
                number = rng.choice((*map(str, NUMBERS), "nan", "inf", "-inf", "1_0", "0x1", garbage(rng)))
                lines[at] = line[:place] + number + line[place + 1 :]
            elif len(quotes) >= 2:
                begin = rng.randrange(len(quotes) // 2) * 2
                word = rng.choice((garbage(rng), rng.choice(FAMILIES), "1e308s", "65536"))
                lines[at] = line[: quotes[begin] + 1] + word + line[quotes[begin + 1] :]
    return "\n".join(lines)


def mutated_bytes(rng: Random, content: bytes) -> bytes:
    """Cut short, bytes changed, put in or taken out, another encoding, or nested too deeply."""
    action = rng.random()
    if action < 0.2:
        return content[: rng.randrange(len(content))]
    if action < 0.25:
        return content.decode("latin-1").encode("utf-16")
    if action < 0.3:
        return DEEP.encode() + content
    if action < 0.35:
        return rng.choice(
            (b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf" + content, b"\n" * 100, content + content, b"{}", b"[]")
        )
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(changed))
        changed[at : at + rng.choice((0, 1, 1, 4))] = bytes(
            rng.choices(b'\0\n\r\t "[]{}<>,.:;-+0159eEnax\x7f\x80\xc3\xff', k=rng.randint(0, 2))
        )
        if not changed:
            return b"\0"
    return bytes(changed)


def place_of_output(rng: Random, folder: Path, name: str) -> str:
    """Where something is to be written: mostly nowhere special, else where something already is."""
    kind = rng.choice(
        ("existing", "folder", "link", "dangling", "loop", "pipe", "null", "full", "deep", "long", "in-file")
    )
    path = folder / f"{kind}-{name}"
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        return name
    if kind == "existing":
        path.write_text("what was here before\n")
    elif kind == "folder":
        path.mkdir(exist_ok=True)
    elif kind in {"link", "dangling", "loop"} and not path.is_symlink():
        target = folder / (path.name if kind == "loop" else f"target-of-{kind}")
        if kind == "link":
            target.write_text("what was here before\n")
        path.symlink_to(target)
    elif kind == "pipe" and not path.exists():
        os.mkfifo(path)
    elif kind in {"null", "full"}:
        return device(path, kind)
    elif kind == "deep":
        return f"no/such/folder/{name}"
    elif kind == "long":
        return "n" * 300 + name
    elif kind == "in-file":
        path.write_text("a file is no folder\n")
        return f"{path.name}/{name}"
    return path.name


def device(path: Path, kind: str) -> str:
    """/dev/null or /dev/full; where they could be replaced by mistake, a device of the run's own if one can be made."""
    if not os.access("/dev", os.W_OK):
        return f"/dev/{kind}"
    try:
        if not path.exists():
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3 if kind == "null" else 7))
    except OSError:
        path.write_text("")
    return path.name
