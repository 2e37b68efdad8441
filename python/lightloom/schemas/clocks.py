"""JSON of timelines of switches on clocks of their own."""

from __future__ import annotations

from lightloom.schemas.forms import Form, document, number, one_of, or_null, record, several, text, version, whole

GPU = whole("a GPU, from 0")
CONFIGURATION = record(
    {
        "ready_s": number("time at which its circuits are there"),
        "end_s": number("time at which it ends: its last bytes are through, and the switch may turn"),
        "circuits": several(several(GPU, "transmitting and receiving GPU"), "circuits that the switch holds"),
    }
)
TRANSMISSION = record(
    {
        "start_s": number("time at which its first byte leaves; bytes leave at an even rate"),
        "duration_s": number("time in which all leave"),
        "size_bytes": number("bytes"),
        "step": or_null(whole("the plan's step whose transfer it is part of; null where it is what a pair sends")),
        "source": whole("GPU that the transfer, or the pair's bytes, come from"),
        "destination": whole("GPU that they are for"),
        "path": several(
            several(whole("switch, transmitting GPU or receiving GPU"), "switch, transmitting and receiving GPU"),
            "circuits that it takes",
        ),
    }
)
TIMELINE = record(
    {
        "schema": version("lightloom.timeline/1"),
        "planner": one_of("name of the way in which it was made", "relaxed", "journeys", "listed"),
        "total_s": number("time at which the last byte is there"),
        "lower_bound_s": number("time that no timeline of the class falls below"),
        "bound_class": text("timelines that the bound holds for"),
        "switches": several(
            record({"configurations": several(CONFIGURATION, "configurations in the order of time")}),
            "switches; port k of each GPU is on switch k",
        ),
        "transmissions": several(TRANSMISSION, "transmissions, together all that is sent"),
        "plan": document("plan"),
    }
)
TIMELINE_SIMULATION = record(
    {
        "schema": version("lightloom.timeline-simulation/1"),
        "settings": record(
            {
                "packet_bytes": whole("payload of a packet", least=1),
                "header_bytes": whole("header of a packet, sent in addition to its payload"),
                "forwarding": one_of(
                    "time at which a hop forwards a packet: after its last bit, or after its header",
                    "store-and-forward",
                    "cut-through",
                ),
            },
            "assumptions of the simulation",
        ),
        "total_s": number("time at which the last packet is there"),
        "predicted_s": number("time of the timeline"),
        "ratio": number("simulated over predicted time"),
        "packets": whole("packets that all GPUs send; one that waits at a GPU is sent again"),
        "packet_hops": whole("sum over the packets of the circuits that each crosses"),
        "configurations": several(
            record(
                {
                    "switch": whole("switch"),
                    "configuration": whole("place of the configuration among the switch's"),
                    "ready_s": number("time at which its circuits are there"),
                    "end_s": number("time at which the last packet over them is through"),
                    "predicted_ready_s": number("time by the timeline"),
                    "predicted_end_s": number("time by the timeline"),
                }
            ),
            "configurations of the switches, switch by switch",
        ),
    }
)

DOCUMENTS: dict[str, Form] = {"timeline": TIMELINE, "timeline-simulation": TIMELINE_SIMULATION}
