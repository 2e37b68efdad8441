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
                    "file": text("file as it was named on the command line"),
                    "kind": text("kind of file: a plan, a schedule, a trace, …"),
                    "passed": yes_or_no("whether all checks of the file passed"),
                    "checks": several(
                        record(
                            {
                                "name": text("name of the check"),
                                "passed": yes_or_no("whether the check passed"),
                                "detail": text("details: what was checked, or what is wrong"),
                            }
                        ),
                        "checks, in the order in which they were made",
                    ),
                }
            ),
            "results, one for each file",
        ),
    }
)
SETTINGS = record(
    {
        "level": one_of("unit that the simulation follows", "packet", "flow"),
        "packet_bytes": whole("payload of a packet", least=1),
        "header_bytes": whole("header of a packet, sent in addition to its payload"),
        "injection": one_of(
            "time at which a step's packets are injected: all at once, or at the rate of the circuit", "burst", "paced"
        ),
        "forwarding": one_of(
            "time at which a hop forwards a packet: after its last bit, or after its header",
            "store-and-forward",
            "cut-through",
        ),
        "sync": one_of(
            "condition under which a GPU begins a step: all have ended the one before, or its own data are there",
            "barrier",
            "dataflow",
        ),
        "barrier_s": number("duration of a barrier between two steps"),
        "reconfiguration": one_of(
            "circuits that are dark during a change: all, or those whose ports change", "global", "ports"
        ),
        "buffer_bytes": or_null(whole("buffer at the far end of a circuit; null for no limit")),
        "congestion_control": text("rule by which senders slow down when queues grow, with its settings"),
        "symmetry": one_of(
            "use of symmetry: one GPU simulated for all that are alike, or every GPU", "quotient", "full"
        ),
    },
    "assumptions of the simulation",
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
        "total_s": number("time at which the last bit of the last step is received"),
        "predicted_total_s": number("completion time by the plan's cost model"),
        "packets": whole("number of packets that all GPUs send; at flow level, of those that the flows stand for"),
        "packet_hops": whole("sum over the packets of the circuits that each crosses"),
        "payload_bytes": whole("bytes that receivers get, without headers"),
        "wire_bytes": whole("bytes with headers on all circuits together, counted on every circuit that they cross"),
        "circuits": whole("number of circuits that are there in any step"),
        "highest_utilisation": number("share of its time in which the busiest circuit sends"),
        "mean_utilisation": number("mean of that share over all circuits"),
        "longest_queue_bytes": whole("most bytes that waited at one circuit at the same time"),
        "steps": several(
            record(
                {
                    "index": whole("place of the step, from 0"),
                    "topology": whole("place of the step's topology in the plan"),
                    "topology_name": text("name of the step's topology"),
                    "reconfigured": yes_or_no("whether circuits change before the step"),
                    "start_s": number("start of the step, which is the start of the change before it"),
                    "reconfiguration_s": number("duration of the change"),
                    "startup_s": number("startup latency"),
                    "end_s": number("time at which the last bit of the step is received"),
                    "duration_s": number("duration of the step, the change included"),
                    "predicted_s": number("duration of the step by the plan"),
                }
            ),
            "steps, in order",
        ),
    },
    optional={
        "congestion": record(
            {
                "marked_packets": whole("packets that a circuit marked, each counted once"),
                "notifications": whole("notifications of marks that receivers sent; 0 for a window, which needs none"),
                "decreases": whole("cuts of the rate or the window of a flow"),
            },
            "counts of congestion control, all GPUs together; only where there is one",
        ),
        "differences": several(
            record(
                {
                    "name": text("name of the part"),
                    "seconds": number(
                        "seconds that the part adds to the predicted time; negative where it takes some away",
                        least=None,
                    ),
                    "reason": text("reason of the difference"),
                }
            ),
            "parts of the difference between simulated and predicted time, with `--explain`",
        ),
        "links": several(
            record(
                {
                    "src": whole("source rank"),
                    "dst": whole("destination rank"),
                    "circuit": whole("number of the circuit among the parallel ones"),
                    "bytes": whole("bytes with headers that crossed the circuit"),
                    "busy_s": number("time in which the circuit sent"),
                    "utilisation": number("share of that in the time for which the circuit was there"),
                    "queue_bytes": whole("most bytes that waited for the circuit at the same time"),
                }
            ),
            "use of every circuit, with `--links`",
        ),
    },
)
GRID = row("rows and columns", whole("rows", least=1), whole("columns", least=1))
MESH = record(
    {
        "mzis": {**GRID, "description": "rows and columns of cells (MZIs) of an interposer"},
        "tiles": {**GRID, "description": "rows and columns of tiles of an interposer"},
        "interposers": {**GRID, "description": "rows and columns of interposers"},
        "waveguides": whole("number of waveguides between two cells", least=1),
        "wavelengths": whole("number of wavelengths on a waveguide", least=1),
        "fibres": whole("number of fibres between two interposers, in each direction", least=0),
        "transmitters": whole("number of transmitters of a tile", least=1),
        "receivers": whole("number of receivers of a tile", least=1),
        "tile_size_cm": number("side of a tile"),
        "crossing_loss_db": number("loss of a crossing from tile to tile"),
        "waveguide_loss_db_per_cm": number("loss of a waveguide for its length"),
        "coupling_loss_db": number("loss at each end of a fibre"),
        "max_loss_db": or_null(number("largest loss that a circuit may have; null for no limit")),
    },
    "construction of the mesh of MZIs",
    optional={
        "launch_power": record(
            {
                "sensitivity_dbm": number("least power at which a receiver works", least=None),
                "margin_db": number("power above that which every circuit is given"),
                "max_launch_dbm": or_null(number("most that a laser launches; null for no limit", least=None)),
                "max_tile_mw": or_null(number("most that a tile's lasers launch at once; null for no limit")),
                "max_interposer_mw": or_null(
                    number("most that an interposer's lasers launch at once; null for no limit")
                ),
                "laser_efficiency": or_null(number("light over electrical power of a laser; null if not known")),
            },
            "powers that receivers need and lasers may launch",
        ),
        "fibre_lengths": record(
            {
                "row_positions_m": several(number("position of a row [m]"), "positions of rows of interposers"),
                "column_positions_m": several(number("position of a column [m]"), "positions of columns"),
                "fibre_delay_ns_per_m": number("time of light through a metre of fibre"),
            },
            "positions of interposers, and the speed of light between them",
        ),
        "interposer_order": several(whole("interposer"), "interposer of the first GPUs, of the next, and so on"),
    },
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
            record({"name": text("name of the switch"), "ports": whole("number of ports on each side", least=1)}),
            "switches, in order",
        ),
        "configurations": several(
            record(
                {
                    "topology": whole(
                        "place of the topology in the plan; in others the same number means the same connections"
                    ),
                    "steps": several(
                        whole("step, from 0"), "steps that the configuration serves; empty in iterations and timelines"
                    ),
                    "time_s": number(
                        "time since the plan or iteration began at which switches must begin to change",
                        least=None,
                    ),
                    "switches": several(
                        record(
                            {
                                "name": text("name of the switch"),
                                "connections": several(PORT_PAIR, "all connections of the configuration"),
                                "connect": several(PORT_PAIR, "connections to make"),
                                "disconnect": several(PORT_PAIR, "connections to take down"),
                            },
                            optional={
                                "wavelengths": several(
                                    whole("wavelength, from 0"),
                                    "wavelength of each of `connections`, or the first of its band",
                                )
                            },
                        ),
                        "connections of each switch, in order",
                    ),
                },
                optional={
                    "events": record(
                        {
                            "after": several(text("id of a node"), "events that used the ports last"),
                            "before": several(
                                text("id of a node"), "events that need the configuration; empty where ports go to rest"
                            ),
                            "steps": several(
                                whole("step, from 0"),
                                "steps, one for each of `before`: the first that needs the configuration",
                            ),
                        },
                        "events of a training iteration between which the configuration is set; the first has none",
                    ),
                    "light": several(
                        record(
                            {
                                "ingress": whole("transmitter's port", least=1),
                                "egress": whole("receiver's port", least=1),
                                "mzis": several(whole("cell"), "cells (MZIs) that the light passes"),
                                "waveguides": several(whole("waveguide"), "waveguides, from each cell to the next"),
                                "wavelength": whole("wavelength of the light"),
                                "loss_db": number("loss along the way"),
                            },
                            optional={
                                "launch_mw": number("power that the laser launches"),
                                "fibre_m": number("fibre on the way"),
                            },
                        ),
                        "way of the light of each circuit through a mesh",
                    ),
                    "mzis": several(
                        record(
                            {
                                "mzi": whole("cell"),
                                "wavelength": whole("wavelength that the cell guides"),
                                "from": SIDE,
                                "to": SIDE,
                            }
                        ),
                        "settings of the cells (MZIs) of a mesh",
                    ),
                },
            ),
            "configurations, in order of time",
        ),
    },
    optional={
        "mesh": or_null(MESH),
        "fibre_delay": record(
            {
                "steps_s": several(number("delay of the step"), "delay of fibres, by step [seconds]"),
                "total_s": number("delay of all steps"),
            },
            "time of light through the fibres in a plan, where their lengths are known",
        ),
        "energy": record(
            {
                "steps_j": several(number("energy of the step"), "electrical energy of the lasers, by step"),
                "changes_j": number("part of the energy that is spent while circuits change"),
                "total_j": number("energy of all steps"),
                "sent_bits": number("bits that GPUs send to each other"),
                "picojoules_per_bit": number("energy for each of those bits [pJ/bit]"),
            },
            "electrical energy of the lasers in a plan, where their efficiency is known",
        ),
    },
)

DOCUMENTS: dict[str, Form] = {"checks": CHECKS, "simulation": SIMULATION, "circuits": CIRCUITS}
