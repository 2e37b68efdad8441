"""JSON of advice on switches."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, or_null, record, several, text, version, whole, yes_or_no

ROW = record(
    {
        "switch": text("its name; circuits that never change are a row of their own"),
        "technology": or_null(text("of the switch, null where it is unknown")),
        "reconfiguration_delay_s": or_null(number("of the switch, null where it is unknown or nothing changes")),
        "ports": whole("of a GPU", least=1),
        "total_s": or_null(number("of one run of the mix, null without a time")),
        "never_change_s": or_null(number("of the best circuits that never change, null where none serve the mix")),
        "packet_switch_s": number("on an ideal packet switch"),
        "price": or_null(number("of one switch, null where it is unknown")),
        "power_w": or_null(number("of one switch, null where it is unknown")),
        "radix": or_null(whole("GPUs that a switch joins, null where it is unknown", least=2)),
        "insertion_loss_db": or_null(number("of a circuit, null where it is unknown")),
        "switches": whole("how many it takes"),
        "cost": or_null(number("of all switches, null where it is unknown")),
        "energy_j": or_null(number("of all switches in one run of the mix, null where it is unknown")),
        "usable": yes_or_no("whether it can be recommended"),
        "reason": text("why not, or empty"),
        "source": or_null(text("of the values, null where none is stated")),
    }
)
LIMIT = record(
    {
        "ports": whole("of a GPU", least=1),
        "reconfiguration_delay_s": or_null(number("the largest, null where it holds at none")),
        "unlimited": yes_or_no("whether it holds at every delay that was tried"),
    }
)
ADVICE = record(
    {
        "schema": version("lightloom.advice/1"),
        "job": text("its name"),
        "gpus": whole("of the job", least=2),
        "mix": several(record({"entry": text("its words"), "count": number("in one run")}), "what runs"),
        "rows": several(ROW, "by number of ports and switch"),
        "recommended": or_null(text("a switch of the rows, null where nothing serves the mix")),
        "recommended_ports": or_null(whole("of a GPU, with the recommended switch", least=1)),
        "break_even_s": or_null(number("largest delay at which changing circuits pays, with the recommended ports")),
        "break_even": several(LIMIT, "largest delay at which changing circuits pays, by number of ports"),
        "equal_time": several(LIMIT, "largest delay at which the mix takes as long as recommended, by number of ports"),
        "sensitivity": several(
            record(
                {
                    "input": text("which is another"),
                    "switch": or_null(text("recommended then")),
                    "ports": or_null(whole("of a GPU, then", least=1)),
                    "changes": yes_or_no("whether the recommendation is another"),
                }
            ),
            "one input at a time",
        ),
        "reasons": several(text("a sentence"), "the recommendation first"),
    }
)

DOCUMENTS: dict[str, Form] = {"advice": ADVICE}
