"""JSON of advice on switches."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, or_null, record, several, text, version, whole, yes_or_no

ROW = record(
    {
        "switch": text("name of the switch; circuits that never change have a separate row"),
        "technology": or_null(text("technology of the switch, null where it is unknown")),
        "reconfiguration_delay_s": or_null(
            number("reconfiguration delay of the switch, null where it is unknown or nothing changes")
        ),
        "ports": whole("ports of a GPU", least=1),
        "total_s": or_null(number("time of one run of the mix, null where there is none")),
        "never_change_s": or_null(
            number("time on the best circuits that never change, null where there are none that serve the mix")
        ),
        "packet_switch_s": number("time on an ideal packet switch"),
        "price": or_null(number("price of one switch in the currency of its description, null where it is unknown")),
        "power_w": or_null(number("power of one switch, null where it is unknown")),
        "radix": or_null(whole("number of GPUs that a switch connects, null where it is unknown", least=2)),
        "insertion_loss_db": or_null(number("insertion loss of a circuit, null where it is unknown")),
        "switches": whole("number of switches that the job needs"),
        "cost": or_null(number("price of all switches, null where it is unknown")),
        "energy_j": or_null(number("energy of all switches in one run of the mix, null where it is unknown")),
        "usable": yes_or_no("whether the switch can be recommended"),
        "reason": text("reason why it cannot be recommended, else empty"),
        "source": or_null(text("source of the values, null where none is stated")),
    }
)
LIMIT = record(
    {
        "ports": whole("ports of a GPU", least=1),
        "reconfiguration_delay_s": or_null(number("largest delay at which this holds, null where it holds at none")),
        "unlimited": yes_or_no("whether this holds at every delay that was tried"),
    }
)
ADVICE = record(
    {
        "schema": version("lightloom.advice/1"),
        "job": text("name of the job"),
        "gpus": whole("number of GPUs of the job", least=2),
        "mix": several(
            record(
                {
                    "entry": text("description of the entry"),
                    "count": number("number of times that the entry runs in one run of the mix"),
                }
            ),
            "collectives, models and traces of the mix",
        ),
        "rows": several(ROW, "rows, one for each number of ports and switch"),
        "recommended": or_null(text("name of the recommended switch, null where no switch serves the mix")),
        "recommended_ports": or_null(whole("ports of a GPU with the recommended switch", least=1)),
        "break_even_s": or_null(number("largest delay at which changing circuits pays, with the recommended ports")),
        "break_even": several(LIMIT, "largest delay at which changing circuits pays, by number of ports"),
        "equal_time": several(
            LIMIT, "largest delay at which the mix takes no longer than on the recommended switch, by number of ports"
        ),
        "sensitivity": several(
            record(
                {
                    "input": text("input that is changed, and how"),
                    "switch": or_null(text("switch that is recommended with the changed input")),
                    "ports": or_null(whole("ports of a GPU that are recommended with the changed input", least=1)),
                    "changes": yes_or_no("whether the recommendation changes"),
                }
            ),
            "recommendations with one input changed at a time",
        ),
        "reasons": several(text("a sentence"), "reasons, that of the recommendation first"),
    }
)

DOCUMENTS: dict[str, Form] = {"advice": ADVICE}
