"""JSON that `plan`, `compare` and `bound` print."""

from __future__ import annotations

from lightloom.schemas.forms import (
    LINK,
    Form,
    document,
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
    row("stride and radix of a digit", whole("stride", least=1), whole("radix", least=1)),
    "translations of ranks that change nothing: digits of ranks, stride and radix, shifted cyclically without carry",
)
TERMS = {
    "startup_s": number("startup latency"),
    "propagation_s": number("hop delays on the longest path"),
    "transmission_s": number("bytes over the busiest circuit"),
    "reconfiguration_s": number("time charged for the change of circuits before the step"),
}
BARRIER = {"barrier_s": number("time of the barrier before a step, where it takes time")}
BANDWIDTH = either(
    "rate of a circuit, bit/s",
    number("rate of every port"),
    several(number("rate of a port"), "rates by port, where they differ"),
)
FABRIC = record(
    {
        "dims": several(
            whole("size", least=1),
            "sizes of the grid of GPUs, the last dimension fastest; one number if there is no grid",
        ),
        "ports": whole("circuits out of and into each GPU", least=1),
        "bandwidth_bps": BANDWIDTH,
        "startup_s": number("startup latency of a step"),
        "hop_delay_s": number("delay of a hop"),
        "reconfiguration_delay_s": number("delay of any change of topology"),
        "reconfiguration_delay_per_port_s": number(
            "delay of a change for each port that changes, counted over all GPUs"
        ),
        "initial": text(
            "topology before the first step: its name, `free`, `dark` or `repeated` (that of the last step)"
        ),
    },
    "fabric that was planned for",
    optional={
        "background_reconfiguration": yes_or_no(
            "whether a port that carries nothing during a step is set up for a later one meanwhile"
        ),
        "window_s": number("computation before every step, during which circuits may change"),
        "windows_s": several(
            row("a step and its window", whole("step"), number("window, seconds")),
            "windows of single steps, which replace `window_s` there",
        ),
        "reconfiguration_delays_by_port_s": several(
            number("delay of a port, seconds"), "delay of each port, where port k of every GPU is on switch k"
        ),
        "optics": text("the optical layer that limits topologies, as `--optics` spells it"),
        "failed": several(
            text("a GPU, transmitter, receiver, link or switch, as `--failed` spells it"), "the parts that do not work"
        ),
        "electrical": record(
            {
                "gpus": whole("GPUs of an island; the first GPUs are the first island"),
                "bandwidth_bps": number("rate of a GPU into its island, and of the island into a GPU, bit/s"),
                "hop_delay_s": number("delay of a hop through the switch of an island"),
            },
        ),
        "positions": text("places of the GPUs, as `--positions` spells them, where fibres take time"),
        "pair_rates": text(
            "rates and hop delays of circuits by pair of GPUs, as `--pair-rates` spells them; other pairs have "
            "`bandwidth_bps`, which is the fastest, and `hop_delay_s`, the least"
        ),
        **BARRIER,
    },
)
CHUNKS = either(
    "chunks that transfers name by number; the parts of one block have consecutive numbers",
    record({"kind": one_of("kind: one block for each rank", "owned"), "parts": whole("chunks of a block", least=1)}),
    record(
        {
            "kind": one_of("kind: one block for each pair of ranks", "pairs"),
            "parts": whole("chunks of a block", least=1),
        }
    ),
    record(
        {
            "kind": one_of("kind: the whole buffer is one block", "buffer"),
            "root": whole("rank that has or gets the buffer, or from which ranks are counted"),
            "parts": whole("chunks of the buffer", least=1),
        }
    ),
    record(
        {
            "kind": one_of("kind: one block for each rank, all of them at the root at the start or end", "rooted"),
            "root": whole("rank that has or gets all blocks"),
            "parts": whole("chunks of a block", least=1),
        }
    ),
    record(
        {
            "kind": one_of("kind: blocks of unequal sizes", "pieces"),
            "pieces": several(
                row(
                    "source, destination and size of a block",
                    whole("source rank"),
                    whole("destination rank"),
                    number("size of the block over the buffer m"),
                ),
                "blocks, each one chunk",
            ),
        }
    ),
)
TOPOLOGY = {
    "id": whole("place of the topology in the list"),
    "name": text("name of the topology"),
    "symmetry": SYMMETRY,
}
BY_RATE = {
    "circuits_by_rate": several(
        several(whole("circuits of a rate"), "circuits of a listed pair by their rate, the fastest first"),
        "circuits of the listed pairs, in their order, where ports or pairs of GPUs have different rates",
    ),
}
RUN = either(
    "numbers of chunks",
    whole("number of a chunk"),
    row(
        "first, last and stride of an arithmetic run",
        whole("first chunk"),
        whole("last chunk"),
        whole("stride", least=1),
    ),
)
STEP = record(
    {
        "index": whole("place of the step, from 0"),
        "topology": whole("`id` of the step's topology"),
        "reconfigured": yes_or_no("whether circuits change before the step"),
        "transfer_bytes": number("bytes m_i of the step's largest transfer"),
        "hops": whole("number of hops on the longest path in use"),
        "load": number("bytes on the busiest circuit over m_i; where ports differ, over its part of the fastest rate"),
        **TERMS,
        "symmetry": SYMMETRY,
        "transfers": several(
            row(
                "source, destination, action and chunks of a transfer",
                whole("source"),
                whole("destination"),
                one_of("action of the receiver: copy the chunks, or add them to its own", "copy", "reduce"),
                several(RUN, "numbers of the chunks, ascending"),
            ),
            "transfers, one of each orbit of the symmetry. All send what they held before the step. Several may write "
            "one chunk of a rank, in the order of their numbers: all add to it (`reduce`); or all bring the same sum "
            "in its place (`copy`); or the first ones bring the same sum in its place and all after them add to that",
        ),
        "routes": record(
            {
                "symmetry": SYMMETRY,
                "arcs": several(
                    row(
                        "source, destination and paths of a pair of ranks",
                        whole("source"),
                        whole("destination"),
                        several(
                            row(
                                "share and ranks of a path",
                                number("share of the pair's bytes"),
                                several(whole("rank"), "ranks on the path"),
                            ),
                            "paths of the pair with their shares",
                        ),
                    ),
                    "pairs of ranks, one of each orbit of the symmetry",
                ),
            },
            "paths of the step's bytes; a hop between two GPUs of an island, where the topology has no circuit between "
            "them, goes through the island's electrical switch",
        ),
    },
    optional={
        "electrical_load": number(
            "bytes out of or into the busiest GPU through its island's electrical switch over m_i, where any go so"
        ),
        **BARRIER,
    },
)
BASELINE = {
    "planner": text("name of the planner"),
    "algorithm": text("name of the algorithm"),
    "topology": text("topology of a static plan, empty for other planners"),
    "total_s": number("completion time"),
    "reconfigurations": whole("number of steps before which circuits change"),
}

REPAIR = {
    "circuits_kept": whole("circuits of the plan's topologies that the plan before has too"),
    "circuits_new": whole("circuits of the plan's topologies that the plan before has not"),
    "planned_anew": yes_or_no("whether nothing could be mended, so that it is planned anew, as where a GPU fails"),
    "before_s": number("completion time of the plan before"),
    "over_before": number("completion time over that of the plan before"),
    "anew_s": or_null(number("completion time of a plan made anew, null where it was not asked for")),
    "over_anew": or_null(number("completion time over that of a plan made anew")),
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
        "routing": one_of(
            "rule by which bytes are divided over paths", "concurrent-flow", "equal-split", "single-path"
        ),
        "propagation": one_of("quantity that the hop delay multiplies", "hops", "inverse-throughput"),
        "overlap": one_of(
            "way to time a step: the sum of its terms, or a simulation of its packets", "additive", "pipelined"
        ),
        "chunks": CHUNKS,
        "total_s": number("completion time: the sum of the terms over the steps"),
        "reconfigurations": whole("number of steps before which circuits change"),
        "lower_bound_s": number("lower bound: no schedule of the class `bound_class` takes less"),
        "bound_class": text("class of schedules that the lower bound holds for"),
        "initial_topology": or_null(whole("`id` of the topology before the first step; null where the start is free")),
        "topologies": several(
            {
                "anyOf": [
                    record(
                        {**TOPOLOGY, "links": several(LINK, "circuits of every pair of ranks that has some")},
                        optional=BY_RATE,
                    ),
                    record(
                        {
                            **TOPOLOGY,
                            "representatives": several(
                                LINK, "circuits of one pair of ranks from each orbit of the symmetry"
                            ),
                        },
                        optional=BY_RATE,
                    ),
                ]
            },
            "topologies of the plan, each once",
        ),
        "steps": several(STEP, "steps of the schedule, in order"),
    },
    optional={
        "fabric_gpus": whole("number of GPUs of the fabric, where only some take part", least=2),
        "ranks": several(whole("GPU of the fabric"), "GPU of every rank, where only some take part"),
        "forwarding_gpus": whole("number of ranks, the last ones, that have no data and only forward"),
        "narrow_lower_bound_s": number(
            "larger lower bound: no schedule of the narrower class `narrow_bound_class` takes less"
        ),
        "narrow_bound_class": text("narrower class of schedules that `narrow_lower_bound_s` holds for"),
        "traffic_bytes": or_null(
            whole("bytes that all GPUs send to others in an All-to-All, null for others; by the verb `plan`")
        ),
        "repeated_s": number(
            "completion time when the collective is repeated, every change charged; by the verb `plan`"
        ),
        "never_change_s": or_null(
            number("completion time of the best plan, over all algorithms, without changes; by the verb `plan`")
        ),
        "sampled": {
            **document("sampled-plans"),
            "description": "plans that it was chosen from, where times are uncertain; by the verb `plan`",
        },
        "repair": record(
            REPAIR, "comparison with the plan that it was mended from; by the verb `plan` with `--repair`"
        ),
        "baselines": several(record(BASELINE), "baselines: each planner at its best algorithm; by the verb `plan`"),
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
                    "algbw": number("algorithm bandwidth in B/s as NCCL's tests count it: m over the time"),
                    "busbw": number("bus bandwidth in B/s: algbw times the collective's bus factor"),
                    "algorithm": text("name of the algorithm that was chosen"),
                    "planner": text("name of the planner that was chosen"),
                    "reconfigurations": whole("number of steps before which circuits change"),
                }
            ),
            "rows, one for each size",
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
            "planners and algorithms that served the problem, the fastest first",
        ),
        "lower_bound_s": number("lower bound: no schedule of the class `bound_class` takes less"),
        "bound_class": text("class of schedules that the lower bound holds for"),
        "traffic_bytes": TRAFFIC,
        "not_applicable": several(
            record(
                {
                    "planner": text("name of the planner"),
                    "algorithm": text("name of the algorithm"),
                    "topology": text("topology of a static plan, empty for other planners"),
                    "at_least_s": or_null(
                        number("lower bound of its time, where that shows that it is slower; else null")
                    ),
                    "reason": text("reason why it has no time"),
                }
            ),
            "planners and algorithms without a time: they cannot serve the problem, or were left out",
        ),
    }
)
BOUNDS = record(
    {
        "lower_bound_s": number("largest of the bounds"),
        "bound_class": text("class of schedules that the largest bound holds for"),
        "traffic_bytes": TRAFFIC,
        "bounds": several(
            record(
                {
                    "name": text("name of the argument"),
                    "bound_class": text("class of schedules that the bound holds for"),
                    "why": text("reason why it holds, in a sentence"),
                    "lower_bound_s": number("sum of the bound's terms, less the error that rounding may have added"),
                    **TERMS,
                    "startup_s": number("startup latency and barriers"),
                    "topologies": whole("number of topologies, one after the other, that the bound assumes"),
                    "steps": whole("number of steps that the bound assumes"),
                    "segments": several(
                        record(
                            {
                                "steps": whole("least number of steps"),
                                "hops": whole("least number of hops"),
                                "growth": number("factor by which the ranks that hold a block increase", least=1),
                            }
                        ),
                        "assumptions by topology; empty for bounds that follow no block",
                    ),
                }
            ),
            "bounds with their terms",
        ),
    }
)

DOCUMENTS: dict[str, Form] = {"plan": PLAN, "sizes": SIZES, "comparison": COMPARISON, "bounds": BOUNDS}
