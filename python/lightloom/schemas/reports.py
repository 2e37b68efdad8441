"""JSON that `sweep`, `compare --benchmark`, `export`, `circuits --send` and `list` print."""

from __future__ import annotations

from lightloom.schemas.forms import PORT_PAIR, Form, by_name, number, or_null, record, several, text, whole, yes_or_no

# Extreme points have a key for every axis, whose values are numbers or names.
EXTREME: Form = {"type": "object", "description": "the value under the metric's name, and its point, an axis a key"}
SWEEP = record(
    {
        "sweep": text("its name"),
        "engine": text("what computed it"),
        "points": whole("of all axes together"),
        "computed": whole("in this run"),
        "found": whole("there from runs before"),
        "without_plan": whole("points that nothing serves"),
        "metrics": by_name(
            record({"least": EXTREME, "median": number("of all points", least=None), "largest": EXTREME}), "by metric"
        ),
        "chosen": several(
            record({"planner": text("its name"), "algorithm": text("its name"), "share": number("of the points")}),
            "what was taken, the most first",
        ),
        "traffic_bytes": or_null(
            record(
                {"least": whole("at a point"), "largest": whole("at a point")},
                "bytes that all GPUs together send to others in an All-to-All, null for other collectives",
            )
        ),
        "files": several(text("a path"), "that were written"),
    },
    optional={
        "faster": record(
            {
                "above": number("a ratio above which a point counts as faster"),
                "share": or_null(number("of points that are faster than the best baseline")),
                "geometric_mean": or_null(number("of their ratios")),
            },
            "compared with the baselines, if there are some",
        )
    },
)
BENCHMARK = record(
    {
        "benchmark": text("its name"),
        "points": whole("compared"),
        "mean_ratio": number("geometric mean of the papers' best time over the best time"),
        "largest_ratio": number("of all points"),
        "share_better": number("of points with a better plan"),
        "median_gap": number("middle of the times over their bounds"),
        "share_close": number("of points within 1.10 of their bound"),
        "mean_gain": or_null(number("geometric mean of the best time without changes of circuits over the best time")),
        "largest_gain": or_null(number("of all points")),
        "share_paying": number("of points at which changing circuits is faster"),
        "csv": text("path of the points"),
    }
)
EXPORT = record(
    {
        "format": text("its name"),
        "files": several(record({"path": text("where it is"), "size_bytes": whole("how long")}), "that were written"),
        "side_file": text("path of the file of circuits"),
        "cannot_say": text("what the format has no place for"),
        "notes": several(text("a sentence"), "on this plan"),
    }
)
SENT = record(
    {
        "state": or_null(text("path of what the switches held before")),
        "sent": several(
            record(
                {
                    "configuration": or_null(whole("from 1; null where circuits were brought back", least=1)),
                    "switch": text("its name"),
                    "acknowledged": yes_or_no("whether it holds what was asked"),
                    "made": whole("circuits"),
                    "unmade": whole("circuits"),
                    "ports_changed": whole("on either side"),
                    "time_s": number("until it was acknowledged"),
                    "missing": several(PORT_PAIR, "circuits that are not there"),
                    "should_be_gone": several(PORT_PAIR, "circuits that are still there"),
                    "held": or_null(several(PORT_PAIR, "all circuits, where it did not acknowledge")),
                    "failure": or_null(text("what went wrong")),
                }
            ),
            "by configuration and switch",
        ),
    }
)
NAMES = by_name(
    several(by_name(text("what it says"), "`name`, `summary` and what its kind has"), "in the registry's order"),
    "what can be named, by kind",
)
ALGORITHMS = record(
    {
        "algorithms": several(
            record(
                {
                    "algorithm": text("its name"),
                    "collective": text("that it serves"),
                    "accepted": yes_or_no("whether it serves so many GPUs"),
                    "reason": text("why not, or empty"),
                    "steps": or_null(whole("of its schedule")),
                    "sent_share": or_null(number("bytes that the busiest rank sends over m")),
                }
            ),
            "by algorithm and collective",
        )
    }
)

DOCUMENTS: dict[str, Form] = {
    "sweep": SWEEP,
    "benchmark": BENCHMARK,
    "export": EXPORT,
    "sent": SENT,
    "names": NAMES,
    "algorithms": ALGORITHMS,
}
