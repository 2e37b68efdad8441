"""Training iterations: the workload that `train` takes, and the documents that it and `simulate` print."""

from __future__ import annotations

from lightloom.schemas.forms import (
    LINK,
    Form,
    by_name,
    document,
    either,
    number,
    one_of,
    or_null,
    record,
    several,
    text,
    version,
    whole,
    yes_or_no,
)
from lightloom.schemas.judgements import SETTINGS
from lightloom.schemas.plans import BANDWIDTH, BY_RATE

RANKS = several(whole("rank"), "ranks")
SOME_RANKS = either(
    "a list of ranks, or the name of a group; all ranks where it is left out", RANKS, text("name of a group")
)
ENDS = either("a rank, or a list: messages that start together", whole("rank"), RANKS)
NODE = {
    "id": text("name of the node, which no other node has"),
    "after": several(text("id of a node"), "nodes that must have ended before this one starts"),
}
SENT = whole("bytes of each message", least=1)
WORKLOAD = record(
    {
        "schema": version("lightloom.workload/1"),
        "ranks": whole("number of ranks", least=1),
        "nodes": several(
            {
                "anyOf": [
                    record(
                        {
                            **NODE,
                            "kind": one_of("kind of the node: a computation", "compute"),
                            "duration_s": number("duration of the computation"),
                        },
                        optional={"ranks": SOME_RANKS},
                    ),
                    record(
                        {
                            **NODE,
                            "kind": one_of("kind of the node: a collective", "collective"),
                            "collective": text("name of the collective"),
                        },
                        optional={
                            "size_bytes": whole(
                                "bytes of one rank's whole buffer; needed where there is no matrix", least=1
                            ),
                            "axis": text("axis of the mesh; every group of ranks along it runs the collective"),
                            "ranks": SOME_RANKS,
                            "group": either(
                                "groups that run the collective",
                                text("name of a group"),
                                several(text("name of a group"), "groups"),
                            ),
                            "matrix": either(
                                "matrix of an All-to-All: bytes from each rank of a group to each other",
                                text("name of the matrix of all groups"),
                                several(text("name of a matrix"), "names of matrices, one for each group"),
                            ),
                            "transposed": yes_or_no("whether rows of the matrix are destinations, in place of sources"),
                            "stream": text(
                                "name of a stream; the collectives of one stream run one at a time on each rank"
                            ),
                        },
                    ),
                    record(
                        {
                            **NODE,
                            "kind": one_of("kind of the node: messages between ranks", "send"),
                            "source": ENDS,
                            "destination": ENDS,
                            "size_bytes": SENT,
                        }
                    ),
                ]
            },
            "nodes of the graph: computations, collectives and messages",
        ),
    },
    optional={
        "name": text("name of the workload"),
        "mesh": by_name(
            whole("size of the axis", least=1),
            "sizes of the mesh's axes by name; ranks count along the first axis fastest",
        ),
        "groups": by_name(RANKS, "lists of ranks by name"),
        "matrices": by_name(
            several(several(whole("bytes"), "a row: bytes to every rank"), "rows, one for each source"),
            "matrices by name",
        ),
        "same_bits": yes_or_no("whether AllReduces end with the same bits at every rank"),
        "model_flops": number("floating-point operations of the model in one iteration, over all ranks"),
        "peak_flops": number("peak rate of a rank, FLOP/s"),
        "inference": record(
            {
                "prompts": whole("prompts that are read in an iteration, over all ranks"),
                "requests": whole("requests that get a token in each decode step"),
                "steps": whole("decode steps of an iteration"),
            },
            "amount of work in an iteration of inference",
            optional={
                "first_token": text("id of the node at whose end the prompts have their first tokens"),
                "caches": text("id of the node at whose end the KV caches have reached the ranks that decode"),
            },
        ),
    },
)
TRAINING = record(
    {
        "schema": version("lightloom.training/1"),
        "policy": text("name of the policy, which decides when circuits change"),
        "exact": yes_or_no(
            "whether the time is proved least: it is the lower bound, or the communications are one after the other "
            "in groups of one kind, and no other choice from the library of plans on all ports is faster"
        ),
        "total_s": number("time of an iteration"),
        "compute_s": number("time of an iteration if communication took none"),
        "exposed_communication_s": number("time that communication adds to the iteration"),
        "lower_bound_s": number("lower bound: no plan of the class `bound_class` takes less"),
        "bound_class": text("class of plans that the lower bound holds for"),
        "reconfigurations": whole("number of reconfigurations in an iteration"),
        "reconfiguration_hidden_s": number("dark time of circuits that nothing waits for"),
        "reconfiguration_exposed_s": number("dark time of circuits that the iteration waits for"),
        "critical_path_s": by_name(
            number("part of the iteration's time"), "parts of the iteration's time, by axis, group, `compute`, …"
        ),
        "policies": by_name(
            or_null(number("time of an iteration")),
            "time of an iteration by policy; null where a policy cannot serve the workload",
        ),
        "policy_notes": by_name(
            text("a sentence"), "notes by policy: its choice, or the reason why it cannot serve the workload"
        ),
        "fabric": record(
            {
                "ports": whole("circuits out of and into each GPU", least=1),
                "bandwidth_bps": BANDWIDTH,
                "startup_s": number("startup latency of a step"),
                "hop_delay_s": number("delay of a hop"),
                "reconfiguration_delay_s": number("delay of any change of circuits"),
                "initial": text("topology that each group has at rest"),
            },
            "fabric that the iteration is planned for",
            optional={"optics": text("kind of the optical layer that circuits are for")},
        ),
        "workload": document("workload"),
        "events": several(
            record(
                {
                    "node": text("id of the workload's node"),
                    "start_s": number("start of the event"),
                    "end_s": number("end of the event"),
                    "plan": or_null(whole("place of the event's plan in `plans`; null where it has none")),
                    "ports": several(
                        whole("port"),
                        "ports that the event uses at all its ranks, or, where messages pass others, in all its groups",
                    ),
                    "reconfigured": yes_or_no("whether circuits change before the event"),
                    "returns": yes_or_no("whether the event's ports go back to the resting topology"),
                    "direct": yes_or_no(
                        "whether messages have circuits from source to destination, used by nothing else"
                    ),
                    "topology": or_null(
                        whole("place in `topologies` of the topology that messages go over; null for others")
                    ),
                    "reconfiguration_exposed_s": number("part of the change before the event that is waited for"),
                    "waits_for": or_null(
                        whole("place of the event whose end this one waited for last; null where it waited for none")
                    ),
                },
                optional={
                    "gives_up": several(
                        whole("place of an event"),
                        "events whose circuits, used by nothing else, go dark when the change before this event "
                        "begins, so that the optical layer has room",
                    ),
                },
            ),
            "events, one for every node of the workload, in its order",
        ),
        "topologies": several(
            record(
                {
                    "name": text("name of the topology"),
                    "axis": or_null(text("axis whose groups have the topology; null where all ranks are one group")),
                    "rests": yes_or_no("whether it is the topology of these groups at rest"),
                    "links": several(LINK, "circuits of one group"),
                },
                optional=BY_RATE,
            ),
            "topologies that messages go over",
        ),
        "plans": several(document("plan"), "plans, each for one group; its GPUs are the group's ranks in order"),
    },
    optional={
        "first_token_s": by_name(
            or_null(number("time since the iteration began")), "time by policy at which prompts have their first tokens"
        ),
        "caches_s": by_name(
            or_null(number("time since the iteration began")),
            "time by policy at which the KV caches have reached the ranks that decode",
        ),
        "order_bound_s": number("lower bound for every order of the events, with the same plans on the same ports"),
        "order_exact": yes_or_no(
            "whether it is proved that no other order of the events is faster, with the same plans on the same ports"
        ),
    },
)
TRAINING_SIMULATION = record(
    {
        "schema": version("lightloom.training-simulation/1"),
        "name": or_null(text("name of the workload")),
        "ranks": whole("number of ranks", least=1),
        "policy": text("name of the policy, which decides when circuits change"),
        "settings": SETTINGS,
        "total_s": number("time of an iteration"),
        "predicted_s": number("time of an iteration by the cost model"),
        "ratio": number("simulated over predicted time"),
        "packets": whole("packets that all ranks send"),
        "packet_hops": whole("sum over the packets of the circuits that each crosses"),
        "by_label": by_name(
            record(
                {
                    "simulated_s": number("simulated time of all events"),
                    "predicted_s": number("predicted time of all events"),
                }
            ),
            "times of the events by label: axis, group, `compute` or `sends`",
        ),
        "events": several(
            record(
                {
                    "node": text("id of the workload's node"),
                    "kind": one_of("kind of the node", "compute", "collective", "send"),
                    "label": text("axis, groups, `sends` or `compute`"),
                    "start_s": number("start of the event"),
                    "end_s": number("end of the event"),
                    "predicted_start_s": number("time by the cost model"),
                    "predicted_end_s": number("time by the cost model"),
                }
            ),
            "events, one for every node of the workload",
        ),
    }
)

LAYOUTS = record(
    {
        "schema": version("lightloom.layouts/1"),
        "workload": or_null(text("name of the model")),
        "ranks": whole("number of ranks", least=1),
        "policy": text("policy under which layouts are compared"),
        "legal": whole("number of layouts that the model's dimensions allow", least=1),
        "fitting": whole("number of layouts that fit into memory", least=1),
        "planned": whole("number of layouts that were planned; no other is faster, by its lower bound", least=1),
        "refused": whole("number of layouts that the policy does not serve or the optical layer has no room for"),
        "layouts": several(
            record(
                {
                    "name": text("degrees of the layout in words"),
                    "tensor": whole("degree of tensor parallelism", least=1),
                    "context": whole("degree of context parallelism", least=1),
                    "expert": whole("degree of expert parallelism", least=1),
                    "data": whole("degree of data parallelism", least=1),
                    "pipeline": whole("degree of pipeline parallelism: number of stages", least=1),
                    "sequence_parallel": yes_or_no(
                        "whether ranks of tensor parallelism divide the tokens outside of the divided layers"
                    ),
                    "sharded": yes_or_no("whether replicas of data parallelism each hold a part of the parameters"),
                    "microbatches": whole("number of microbatches in an iteration", least=1),
                    "memory_bytes": whole("memory of the rank that needs the most bytes", least=1),
                    "total_s": number("time of the iteration"),
                    "fixed_s": or_null(
                        number("time on the best circuits that never change; null where there are none that serve it")
                    ),
                }
            ),
            "fastest layouts, the best first",
        ),
    }
)
DOCUMENTS: dict[str, Form] = {
    "workload": WORKLOAD,
    "training": TRAINING,
    "layouts": LAYOUTS,
    "training-simulation": TRAINING_SIMULATION,
}
