"""JSON that `verify`, `simulate` and `circuits` print."""

from __future__ import annotations

from lightloom.schemas.forms import (
    PORT_PAIR,
    Form,
    number,
    one_of,
    or_null,
    record,
    row,
    several,
    text,
    version,
    whole,
    yes_or_no,
)

CHECKS = record(
    {
        "passed": yes_or_no("whether all checks of all files passed"),
        "files": several(
            record(
                {
                    "file": text("as it was named"),
                    "kind": text("what it is: a plan, a schedule, a trace, …"),
                    "passed": yes_or_no("whether all its checks passed"),
                    "checks": several(
                        record(
                            {
                                "name": text("which check"),
                                "passed": yes_or_no("whether it passed"),
                                "detail": text("what was checked, or is wrong"),
                            }
                        ),
                        "in the order in which they were made",
                    ),
                }
            ),
            "a file each",
        ),
    }
)
SETTINGS = record(
    {
        "level": one_of("what is followed", "packet", "flow"),
        "packet_bytes": whole("payload of a packet", least=1),
        "header_bytes": whole("on the wire in addition to it"),
        "injection": one_of("when a step's packets are handed over", "burst", "paced"),
        "forwarding": one_of("when a packet goes on", "store-and-forward", "cut-through"),
        "sync": one_of("when a GPU begins a step", "barrier", "dataflow"),
        "barrier_s": number("of a barrier between two steps"),
        "reconfiguration": one_of("which circuits are dark during a change", "global", "ports"),
        "buffer_bytes": or_null(whole("that the far end of a circuit can hold; null for no limit")),
        "symmetry": one_of("whether one GPU stands for all that are like it", "quotient", "full"),
    },
    "what was assumed",
)
SIMULATION = record(
    {
        "schema": version("lightloom.simulation/1"),
        "collective": text("name of the collective"),
        "algorithm": text("name of the algorithm"),
        "planner": text("name of the planner"),
        "gpus": whole("number of ranks", least=1),
        "size_bytes": whole("bytes m of one rank's whole buffer", least=1),
        "settings": SETTINGS,
        "total_s": number("when the last bit of the last step is received"),
        "predicted_total_s": number("by the plan's cost model"),
        "packets": whole("that all GPUs send; at flow level those that flows stand for"),
        "packet_hops": whole("packets times the circuits that each crosses"),
        "payload_bytes": whole("that receivers get, without headers"),
        "wire_bytes": whole("on all circuits together, with headers, counted once a circuit"),
        "circuits": whole("that are there in any step"),
        "highest_utilisation": number("share of its time that the busiest circuit sends"),
        "mean_utilisation": number("the mean of all circuits"),
        "longest_queue_bytes": whole("that waited at a circuit at once"),
        "steps": several(
            record(
                {
                    "index": whole("its place, from 0"),
                    "topology": whole("place of its topology in the plan"),
                    "topology_name": text("its name"),
                    "reconfigured": yes_or_no("whether circuits change before it"),
                    "start_s": number("when it begins, the change included"),
                    "reconfiguration_s": number("of the change"),
                    "startup_s": number("startup latency"),
                    "end_s": number("when its last bit is received"),
                    "duration_s": number("from its begin to its end"),
                    "predicted_s": number("by the plan"),
                }
            ),
            "in order",
        ),
    },
    optional={
        "differences": several(
            record(
                {
                    "name": text("of the part"),
                    "seconds": number("what it adds to the predicted time, or takes from it", least=None),
                    "reason": text("why"),
                }
            ),
            "with `--explain`: what the difference between the two times is made of",
        ),
        "links": several(
            record(
                {
                    "src": whole("source rank"),
                    "dst": whole("destination rank"),
                    "circuit": whole("its number among the parallel ones"),
                    "bytes": whole("that crossed it, with headers"),
                    "busy_s": number("that it sent"),
                    "utilisation": number("share of the time that it was there"),
                    "queue_bytes": whole("that waited for it at once"),
                }
            ),
            "with `--links`: the use of every circuit",
        ),
    },
)
GRID = row("rows and columns", whole("rows", least=1), whole("columns", least=1))
MESH = record(
    {
        "mzis": {**GRID, "description": "cells of an interposer"},
        "tiles": {**GRID, "description": "tiles of an interposer"},
        "interposers": {**GRID, "description": "interposers"},
        "waveguides": whole("between two cells", least=1),
        "wavelengths": whole("on a waveguide", least=1),
        "fibres": whole("between two interposers, in each direction", least=0),
        "transmitters": whole("of a tile", least=1),
        "receivers": whole("of a tile", least=1),
        "tile_size_cm": number("side of a tile"),
        "crossing_loss_db": number("of a crossing from tile to tile"),
        "waveguide_loss_db_per_cm": number("of a waveguide"),
        "coupling_loss_db": number("of an end of a fibre"),
        "max_loss_db": or_null(number("that a circuit may have; null for no limit")),
    },
    "how the mesh of MZIs is built",
)
SIDE = row(
    "a side of a cell and a waveguide there",
    one_of("side", "north", "east", "south", "west", "tile"),
    whole("waveguide"),
)
CIRCUITS = record(
    {
        "schema": version("lightloom.circuits/1"),
        "switches": several(
            record({"name": text("its name"), "ports": whole("on either side", least=1)}), "the switches, in order"
        ),
        "configurations": several(
            record(
                {
                    "topology": whole(
                        "place of the topology in the plan; in an iteration the same number means the same connections"
                    ),
                    "steps": several(whole("step, from 0"), "steps that it serves; none in an iteration"),
                    "time_s": number("when it has to begin being set, since the plan or iteration began", least=None),
                    "switches": several(
                        record(
                            {
                                "name": text("of the switch"),
                                "connections": several(PORT_PAIR, "all that are there in it"),
                                "connect": several(PORT_PAIR, "those that come"),
                                "disconnect": several(PORT_PAIR, "those that go"),
                            }
                        ),
                        "a switch each, in order",
                    ),
                },
                optional={
                    "events": record(
                        {
                            "after": several(text("id of a node"), "events that used the ports last"),
                            "before": several(text("id of a node"), "events that need it; none where ports go to rest"),
                            "steps": several(
                                whole("step, from 0"), "by entry of `before`, the step of its plan that needs it first"
                            ),
                        },
                        "the events of a training iteration that it is set between; the first configuration has none",
                    ),
                    "light": several(
                        record(
                            {
                                "ingress": whole("transmitter's port", least=1),
                                "egress": whole("receiver's port", least=1),
                                "mzis": several(whole("cell"), "that it passes"),
                                "waveguides": several(whole("waveguide"), "from each cell to the next"),
                                "wavelength": whole("that it has"),
                                "loss_db": number("of the way"),
                            }
                        ),
                        "of a mesh: the way of each circuit",
                    ),
                    "mzis": several(
                        record(
                            {
                                "mzi": whole("cell"),
                                "wavelength": whole("that it guides"),
                                "from": SIDE,
                                "to": SIDE,
                            }
                        ),
                        "of a mesh: what each cell does",
                    ),
                },
            ),
            "in order of time",
        ),
    },
    optional={"mesh": or_null(MESH)},
)

DOCUMENTS: dict[str, Form] = {"checks": CHECKS, "simulation": SIMULATION, "circuits": CIRCUITS}
