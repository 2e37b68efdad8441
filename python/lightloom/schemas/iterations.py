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

RANKS = several(whole("rank"), "ranks")
SOME_RANKS = either("a list of ranks, or the name of a group; all where it is left out", RANKS, text("a group"))
ENDS = either("a rank, or a list: messages that start together", whole("rank"), RANKS)
NODE = {
    "id": text("a text, of one node"),
    "after": several(text("an id"), "nodes that must have ended before"),
}
SENT = whole("the message", least=1)
WORKLOAD = record(
    {
        "schema": version("lightloom.workload/1"),
        "ranks": whole("how many", least=1),
        "nodes": several(
            {
                "anyOf": [
                    record(
                        {
                            **NODE,
                            "kind": one_of("what it is", "compute"),
                            "duration_s": number("of the computation"),
                        },
                        optional={"ranks": SOME_RANKS},
                    ),
                    record(
                        {
                            **NODE,
                            "kind": one_of("what it is", "collective"),
                            "collective": text("name of the collective"),
                        },
                        optional={
                            "size_bytes": whole("the whole buffer; needed without a matrix", least=1),
                            "axis": text("in whose groups it runs"),
                            "ranks": SOME_RANKS,
                            "group": either("groups that run it", text("a group"), several(text("a group"), "groups")),
                            "matrix": text("of bytes from each rank of a group to each, of an all-to-all"),
                            "transposed": yes_or_no("whether its rows are destinations"),
                            "stream": text("collectives of one stream run one at a time on each rank"),
                        },
                    ),
                    record(
                        {
                            **NODE,
                            "kind": one_of("what it is", "send"),
                            "source": ENDS,
                            "destination": ENDS,
                            "size_bytes": SENT,
                        }
                    ),
                ]
            },
            "the graph",
        ),
    },
    optional={
        "name": text("what it is called"),
        "mesh": by_name(whole("size", least=1), "axes of ranks, the first the fastest"),
        "groups": by_name(RANKS, "lists of ranks by name"),
        "matrices": by_name(several(several(whole("bytes"), "to every rank"), "from every rank"), "matrices by name"),
        "model_flops": number("of one iteration over all ranks"),
        "peak_flops": number("of a rank, FLOP/s"),
        "inference": record(
            {
                "prompts": whole("read in an iteration, over all ranks"),
                "requests": whole("that get a token in each decode step"),
                "steps": whole("decode steps of an iteration"),
            },
            "what an iteration of inference does",
            optional={
                "first_token": text("id of the node at whose end the prompts have their first tokens"),
                "caches": text("id of the node at whose end their KV caches are where they are decoded"),
            },
        ),
    },
)
TRAINING = record(
    {
        "schema": version("lightloom.training/1"),
        "policy": text("what decided when circuits change"),
        "exact": yes_or_no(
            "whether nothing takes less, proved: it is the lower bound, or the communications are one after the other "
            "in groups of one kind, and no other choice from the library of plans on all ports is faster"
        ),
        "total_s": number("of an iteration"),
        "compute_s": number("of an iteration if communication took no time"),
        "exposed_communication_s": number("what communication adds"),
        "lower_bound_s": number("no plan of `bound_class` takes less"),
        "bound_class": text("which plans that is said of"),
        "reconfigurations": whole("in an iteration"),
        "reconfiguration_hidden_s": number("dark time behind what is waited for anyway"),
        "reconfiguration_exposed_s": number("dark time that is waited for"),
        "critical_path_s": by_name(
            number("of the iteration's time"), "what the time goes to, by axis, group, `compute`, …"
        ),
        "policies": by_name(or_null(number("its time")), "every policy; null where it cannot serve the workload"),
        "policy_notes": by_name(text("a sentence"), "what policies chose, or why they cannot serve"),
        "fabric": record(
            {
                "ports": whole("circuits out of and into each GPU", least=1),
                "bandwidth_bps": number("rate of a circuit, bit/s"),
                "startup_s": number("startup latency of a step"),
                "hop_delay_s": number("delay of a hop"),
                "reconfiguration_delay_s": number("of any change"),
                "initial": text("topology in which each group rests"),
            },
            "what was planned for",
            optional={"optics": text("kind of optical layer, where circuits are for one")},
        ),
        "workload": document("workload"),
        "events": several(
            record(
                {
                    "node": text("id of the workload's node"),
                    "start_s": number("when it starts"),
                    "end_s": number("when it ends"),
                    "plan": or_null(whole("place of its plan")),
                    "ports": several(
                        whole("port"), "at all its ranks; if messages pass others, at all of their groups"
                    ),
                    "reconfigured": yes_or_no("whether circuits change before it"),
                    "returns": yes_or_no("whether its ports go back to the resting topology"),
                    "direct": yes_or_no("of messages, whether they have circuits of their own"),
                    "topology": or_null(whole("place of the topology that messages go over")),
                    "reconfiguration_exposed_s": number("of the change, what is waited for"),
                    "waits_for": or_null(whole("place of the event that it was the last to wait for")),
                },
                optional={
                    "gives_up": several(
                        whole("place of an event"),
                        "whose circuits, which nobody uses, go dark when the change before this one begins, so that "
                        "the optical layer has room",
                    ),
                },
            ),
            "one for every node, in their order",
        ),
        "topologies": several(
            record(
                {
                    "name": text("what it is called"),
                    "axis": or_null(text("whose groups have it; null where all ranks are one group")),
                    "rests": yes_or_no("whether it is these groups' resting topology"),
                    "links": several(LINK, "of one group"),
                }
            ),
            "that messages go over",
        ),
        "plans": several(document("plan"), "of single groups, whose GPUs are the group's ranks in order"),
    },
    optional={
        "first_token_s": by_name(
            or_null(number("since the iteration began")), "by policy, when prompts have their first tokens"
        ),
        "caches_s": by_name(
            or_null(number("since the iteration began")), "by policy, when their KV caches are where they are decoded"
        ),
        "order_bound_s": number("no order of the events takes less, with their plans on their ports"),
        "order_exact": yes_or_no("whether no order of the events is faster, with their plans on their ports, proved"),
    },
)
TRAINING_SIMULATION = record(
    {
        "schema": version("lightloom.training-simulation/1"),
        "name": or_null(text("of the workload")),
        "ranks": whole("how many", least=1),
        "policy": text("what decided when circuits change"),
        "settings": SETTINGS,
        "total_s": number("of an iteration"),
        "predicted_s": number("by the cost model"),
        "ratio": number("of the two"),
        "packets": whole("that all ranks send"),
        "packet_hops": whole("packets times the circuits that each crosses"),
        "by_label": by_name(
            record({"simulated_s": number("all its events"), "predicted_s": number("all its events")}),
            "by axis, group, `compute` and `sends`",
        ),
        "events": several(
            record(
                {
                    "node": text("id of the workload's node"),
                    "kind": one_of("what it is", "compute", "collective", "send"),
                    "label": text("axis, groups, `sends` or `compute`"),
                    "start_s": number("when it starts"),
                    "end_s": number("when it ends"),
                    "predicted_start_s": number("by the cost model"),
                    "predicted_end_s": number("by the cost model"),
                }
            ),
            "one for every node",
        ),
    }
)

LAYOUTS = record(
    {
        "schema": version("lightloom.layouts/1"),
        "workload": or_null(text("name of the model")),
        "ranks": whole("ranks", least=1),
        "policy": text("policy under which layouts are compared"),
        "legal": whole("layouts that the model's dimensions allow", least=1),
        "fitting": whole("those that fit into memory", least=1),
        "planned": whole("those that were planned; the others' lower bounds are not below the times", least=1),
        "refused": whole("those that the policy does not serve"),
        "layouts": several(
            record(
                {
                    "name": text("its degrees in words"),
                    "tensor": whole("degree", least=1),
                    "context": whole("degree", least=1),
                    "expert": whole("degree", least=1),
                    "data": whole("degree", least=1),
                    "pipeline": whole("degree: stages", least=1),
                    "sequence_parallel": yes_or_no("whether ranks of tp share tokens between parts"),
                    "sharded": yes_or_no("whether replicas share parameters"),
                    "microbatches": whole("of an iteration", least=1),
                    "memory_bytes": whole("of the rank that must hold most", least=1),
                    "total_s": number("of the iteration"),
                    "fixed_s": or_null(number("on the best circuits that never change; null where none serve it")),
                }
            ),
            "the fastest, best first",
        ),
    }
)
DOCUMENTS: dict[str, Form] = {
    "workload": WORKLOAD,
    "training": TRAINING,
    "layouts": LAYOUTS,
    "training-simulation": TRAINING_SIMULATION,
}
