"""JSON that `plan`, `compare` and `bound` print."""

from __future__ import annotations

from lightloom.schemas.forms import (
    LINK,
    Form,
    either,
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

SYMMETRY = several(
    row("a digit", whole("stride", least=1), whole("radix", least=1)),
    "translations that leave it as it is: digits of ranks, stride and radix, shifted cyclically without carry",
)
TERMS = {
    "startup_s": number("startup latency"),
    "propagation_s": number("hop delays on the longest path"),
    "transmission_s": number("bytes over the busiest circuit"),
    "reconfiguration_s": number("charged for the change before it"),
}
BARRIER = {"barrier_s": number("of the barrier before a step, where it takes time")}
FABRIC = record(
    {
        "dims": several(
            whole("size", least=1), "grid of the GPUs, the last dimension fastest; one number if there is no grid"
        ),
        "ports": whole("circuits out of and into each GPU", least=1),
        "bandwidth_bps": number("rate of a circuit, bit/s"),
        "startup_s": number("startup latency of a step"),
        "hop_delay_s": number("delay of a hop"),
        "reconfiguration_delay_s": number("of any change of topology"),
        "reconfiguration_delay_per_port_s": number("of a change, for each port that changes, of all GPUs together"),
        "initial": text(
            "name of the topology before the first step, `free`, `dark` or `repeated` (that of the last step)"
        ),
    },
    "what was planned for",
    optional={
        "background_reconfiguration": yes_or_no("whether a port that carries nothing is set up meanwhile"),
        "window_s": number("computation before every step, which hides changes"),
        "windows_s": several(
            row("a window", whole("step"), number("its window")),
            "windows of single steps, in place of `window_s`",
        ),
        "reconfiguration_delays_by_port_s": several(
            number("delay of a port"), "where port k of each GPU is on a switch k"
        ),
        "optics": text("the optical layer that limits topologies, as `--optics` spells it"),
        **BARRIER,
    },
)
CHUNKS = either(
    "the chunks that transfers name by number, the parts of a block in a row",
    record({"kind": one_of("a block a rank", "owned"), "parts": whole("chunks of a block", least=1)}),
    record({"kind": one_of("a block a pair of ranks", "pairs"), "parts": whole("chunks of a block", least=1)}),
    record(
        {
            "kind": one_of("the whole buffer", "buffer"),
            "root": whole("rank that has it, or of which it is counted"),
            "parts": whole("chunks of it", least=1),
        }
    ),
    record(
        {
            "kind": one_of("blocks of their own sizes", "pieces"),
            "pieces": several(
                row("a block", whole("source"), whole("destination"), number("over the buffer m")), "a chunk each"
            ),
        }
    ),
)
TOPOLOGY = {
    "id": whole("its place in the list"),
    "name": text("what it is called"),
    "symmetry": SYMMETRY,
}
RUN = either(
    "chunks",
    whole("one chunk"),
    row("an arithmetic run", whole("first chunk"), whole("last chunk"), whole("stride", least=1)),
)
STEP = record(
    {
        "index": whole("its place, from 0"),
        "topology": whole("`id` of its topology"),
        "reconfigured": yes_or_no("whether circuits change before it"),
        "transfer_bytes": number("bytes m_i of its largest transfer"),
        "hops": whole("on the longest path in use"),
        "load": number("bytes on the busiest circuit over m_i"),
        **TERMS,
        "symmetry": SYMMETRY,
        "transfers": several(
            row(
                "a transfer",
                whole("source"),
                whole("destination"),
                one_of("what the receiver does", "copy", "reduce"),
                several(RUN, "ascending"),
            ),
            "one of each orbit of the symmetry. All senders send what they held before the step. Several may write "
            "one chunk of a rank, in the order of their numbers: all add to it (`reduce`); or all bring the same sum "
            "in its place (`copy`); or the first ones bring the same sum in its place and all after them add to that",
        ),
        "routes": record(
            {
                "symmetry": SYMMETRY,
                "arcs": several(
                    row(
                        "a pair of ranks",
                        whole("source"),
                        whole("destination"),
                        several(
                            row("a path", number("share"), several(whole("rank"), "ranks on it")),
                            "paths with their shares",
                        ),
                    ),
                    "one of each orbit of the symmetry",
                ),
            },
            "the paths of the step's bytes",
        ),
    },
    optional=BARRIER,
)
BASELINE = {
    "planner": text("its name"),
    "algorithm": text("its algorithm"),
    "topology": text("that of a static plan, else empty"),
    "total_s": number("its time"),
    "reconfigurations": whole("steps before which circuits change"),
}

PLAN = record(
    {
        "schema": version("lightloom.plan/1"),
        "collective": text("name of the collective"),
        "algorithm": text("name of the algorithm"),
        "planner": text("name of the planner"),
        "gpus": whole("number of ranks", least=1),
        "size_bytes": whole("bytes m of one rank's whole buffer", least=1),
        "fabric": FABRIC,
        "routing": one_of("how bytes are put on paths", "concurrent-flow", "equal-split", "single-path"),
        "propagation": one_of("what the hop delay multiplies", "hops", "inverse-throughput"),
        "overlap": one_of("whether a step's terms add up, or are simulated", "additive", "pipelined"),
        "chunks": CHUNKS,
        "total_s": number("completion time: the sum of the terms over the steps"),
        "reconfigurations": whole("steps before which circuits change"),
        "lower_bound_s": number("no schedule of `bound_class` takes less"),
        "bound_class": text("which schedules that is said of"),
        "initial_topology": or_null(whole("`id` of the topology before the first step; null where the start is free")),
        "topologies": several(
            {
                "anyOf": [
                    record({**TOPOLOGY, "links": several(LINK, "every pair of ranks with circuits")}),
                    record({**TOPOLOGY, "representatives": several(LINK, "one of each orbit of the symmetry")}),
                ]
            },
            "each once",
        ),
        "steps": several(STEP, "in order"),
    },
    optional={
        "narrow_lower_bound_s": number("no schedule of `narrow_bound_class` takes less; where that is larger"),
        "narrow_bound_class": text("a narrower class of schedules"),
        "traffic_bytes": or_null(
            whole("what the verb `plan` adds: bytes that all GPUs send to others in an All-to-All, else null")
        ),
        "repeated_s": number("what the verb `plan` adds: its time when it runs again and again, every change charged"),
        "never_change_s": or_null(
            number(
                "what the verb `plan` adds: the time of the best plan, over all algorithms, whose circuits never change"
            )
        ),
        "baselines": several(
            record(BASELINE), "printed by the verb `plan` with a plan: planners at their best algorithm"
        ),
    },
)
SIZES = record(
    {
        "schema": version("lightloom.sizes/1"),
        "collective": text("name of the collective"),
        "gpus": whole("number of ranks", least=1),
        "rows": several(
            record(
                {
                    "size_bytes": whole("bytes m of one rank's whole buffer", least=1),
                    "total_s": number("completion time"),
                    "algbw": number("m over the time, B/s, as NCCL's tests count it"),
                    "busbw": number("algbw times the collective's bus factor"),
                    "algorithm": text("that was chosen"),
                    "planner": text("that was chosen"),
                    "reconfigurations": whole("steps before which circuits change"),
                }
            ),
            "a row a size",
        ),
    }
)
TRAFFIC = or_null(whole("bytes that all GPUs together send to others in an All-to-All, null for other collectives"))
COMPARISON = record(
    {
        "rows": several(
            record(
                {
                    **BASELINE,
                    **TERMS,
                    "ratio": number("time over the least time", least=1),
                    "gap": or_null(number("time over the bound; null where the bound is zero")),
                },
                optional=BARRIER,
            ),
            "what served the problem, the fastest first",
        ),
        "lower_bound_s": number("no schedule of `bound_class` takes less"),
        "bound_class": text("which schedules that is said of"),
        "traffic_bytes": TRAFFIC,
        "not_applicable": several(
            record(
                {
                    "planner": text("its name"),
                    "algorithm": text("its algorithm"),
                    "topology": text("that of a static plan, else empty"),
                    "at_least_s": or_null(
                        number("what it takes at least, where it is known to be slower and was not solved to the end")
                    ),
                    "reason": text("why not"),
                }
            ),
            "what has no time: what could not serve it, and what was left out",
        ),
    }
)
BOUNDS = record(
    {
        "lower_bound_s": number("the largest bound"),
        "bound_class": text("its class of schedules"),
        "traffic_bytes": TRAFFIC,
        "bounds": several(
            record(
                {
                    "name": text("which argument"),
                    "bound_class": text("which schedules it bounds"),
                    "why": text("why it holds, in a sentence"),
                    "lower_bound_s": number("the sum of its terms, less what rounding may have added"),
                    **TERMS,
                    "startup_s": number("startup latency, and barriers"),
                    "topologies": whole("it counts with so many, one after the other"),
                    "steps": whole("it counts with so many"),
                    "segments": several(
                        record(
                            {
                                "steps": whole("least steps"),
                                "hops": whole("least hops"),
                                "growth": number("how many times more ranks hold a block after it", least=1),
                            }
                        ),
                        "by topology; empty for bounds that follow no block",
                    ),
                }
            ),
            "all bounds with their terms",
        ),
    }
)

DOCUMENTS: dict[str, Form] = {"plan": PLAN, "sizes": SIZES, "comparison": COMPARISON, "bounds": BOUNDS}
