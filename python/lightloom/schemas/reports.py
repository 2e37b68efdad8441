"""JSON that `sweep`, `compare --benchmark`, `export`, `circuits --send` and `list` print."""

from __future__ import annotations

from lightloom.schemas.forms import PORT_PAIR, Form, by_name, number, or_null, record, several, text, whole, yes_or_no

# Extreme points have a key for every axis, whose values are numbers or names.
EXTREME: Form = {
    "type": "object",
    "description": "extreme value under the metric's name, and the point that has it, one key for each axis",
}
SWEEP = record(
    {
        "sweep": text("name of the sweep"),
        "engine": text("name of the engine that computed the points"),
        "points": whole("number of points, over all axes"),
        "computed": whole("number of points computed in this run"),
        "found": whole("number of points kept from earlier runs"),
        "without_plan": whole("number of points that no plan serves"),
        "metrics": by_name(
            record({"least": EXTREME, "median": number("median over all points", least=None), "largest": EXTREME}),
            "metrics by name",
        ),
        "chosen": several(
            record(
                {
                    "planner": text("name of the planner"),
                    "algorithm": text("name of the algorithm"),
                    "share": number("share of the points"),
                }
            ),
            "planners and algorithms that were fastest, the most frequent first",
        ),
        "traffic_bytes": or_null(
            record(
                {"least": whole("least bytes at a point"), "largest": whole("most bytes at a point")},
                "bytes that all GPUs together send to others in an All-to-All, null for other collectives",
            )
        ),
        "files": several(text("a path"), "paths of the files that were written"),
    },
    optional={
        "faster": record(
            {
                "above": number("ratio above which a point counts as faster"),
                "share": or_null(number("share of the points that are faster than the best baseline")),
                "geometric_mean": or_null(number("geometric mean of these points' ratios")),
            },
            "comparison with the baselines, where there are some",
        )
    },
)
BENCHMARK = record(
    {
        "benchmark": text("name of the benchmark"),
        "points": whole("number of points that were compared"),
        "mean_ratio": number("geometric mean of the papers' best time over the best time"),
        "largest_ratio": number("largest ratio over all points"),
        "share_better": number("share of the points with a better plan than the papers' best"),
        "median_gap": number("median of the times over their lower bounds"),
        "share_close": number("share of the points at most 1.10 times their lower bound"),
        "mean_gain": or_null(number("geometric mean of the best time without changes of circuits over the best time")),
        "largest_gain": or_null(number("largest such ratio over all points; null where there is none")),
        "share_paying": number("share of the points at which changing circuits is faster"),
        "csv": text("path of the table of points"),
    }
)
EXPORT = record(
    {
        "format": text("name of the format"),
        "files": several(
            record({"path": text("path of the file"), "size_bytes": whole("length of the file")}),
            "files that were written",
        ),
        "side_file": text("path of the file of circuits"),
        "cannot_say": text("parts of the plan that the format has no place for"),
        "notes": several(text("a sentence"), "notes on this plan"),
    }
)
SENT = record(
    {
        "state": or_null(text("path of the file of circuits that the switches held before")),
        "sent": several(
            record(
                {
                    "configuration": or_null(
                        whole("number of the configuration, from 1; null where circuits were restored", least=1)
                    ),
                    "switch": text("name of the switch"),
                    "acknowledged": yes_or_no("whether the switch holds the circuits that were asked for"),
                    "made": whole("number of circuits that were made"),
                    "unmade": whole("number of circuits that were taken down"),
                    "ports_changed": whole("number of ports whose circuit changed, on both sides"),
                    "time_s": number("time until the switch acknowledged"),
                    "missing": several(PORT_PAIR, "circuits that were asked for and are not there"),
                    "should_be_gone": several(PORT_PAIR, "circuits that should be gone and are still there"),
                    "held": or_null(
                        several(PORT_PAIR, "all circuits of the switch, where it did not acknowledge; else null")
                    ),
                    "failure": or_null(text("reason of a failure, null where there was none")),
                }
            ),
            "changes that were sent, by configuration and switch",
        ),
    }
)
NAMES = by_name(
    several(
        by_name(text("value of a field"), "entry: its `name`, `summary` and the fields of its kind"),
        "entries, in the registry's order",
    ),
    "names that options accept, by kind",
)
ALGORITHMS = record(
    {
        "algorithms": several(
            record(
                {
                    "algorithm": text("name of the algorithm"),
                    "collective": text("collective that the algorithm serves"),
                    "accepted": yes_or_no("whether it serves this number of GPUs"),
                    "reason": text("reason why it does not, else empty"),
                    "steps": or_null(whole("number of steps of its schedule; null where it has none")),
                    "sent_share": or_null(
                        number("bytes that the busiest rank sends, over the buffer m; null where there is no schedule")
                    ),
                }
            ),
            "algorithms, one entry for each collective that they serve",
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
