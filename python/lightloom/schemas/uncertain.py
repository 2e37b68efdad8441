"""JSON of plans on fabrics whose times are uncertain."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, one_of, or_null, record, several, text, version, whole


def _estimate(meaning: str) -> Form:
    return record(
        {
            "seconds": number("the estimate, in seconds"),
            "low_s": or_null(number("lower end of its 95 % confidence interval; null where samples are too few")),
            "high_s": or_null(number("upper end of its 95 % confidence interval; null where samples are too few")),
        },
        meaning,
    )


DRAWN: dict[str, Form] = {
    "uncertain": text("uncertain quantities with their distributions"),
    "samples": whole("number of runs that were drawn", least=1),
    "seed": whole("seed of everything random"),
}
OF_PLAN: dict[str, Form] = {
    "collective": text("name of the collective"),
    "algorithm": text("name of the algorithm"),
    "planner": text("name of the planner"),
    "gpus": whole("number of ranks", least=1),
    "size_bytes": whole("bytes m of one rank's whole buffer", least=1),
    "reconfigurations": whole("number of changes of topology"),
    "nominal_s": number("completion time where nothing is uncertain"),
    "deviation_s": number("standard deviation of the completion times"),
    "mean": _estimate("mean completion time"),
    "p50": _estimate("median completion time"),
    "p95": _estimate("completion time that 95 % of the runs keep"),
    "p99": _estimate("completion time that 99 % of the runs keep"),
    "mean_terms": record(
        {
            "startup_s": number("startup latencies"),
            "propagation_s": number("hop delays"),
            "transmission_s": number("transmission"),
            "reconfiguration_s": number("changes of topology"),
            "barrier_s": number("barriers"),
        },
        "terms of the completion time, each in the mean over all runs",
    ),
}
SAMPLES = record(
    {
        "schema": version("lightloom.samples/1"),
        "level": one_of("source of the nominal times of steps", "model", "packet", "flow"),
        **DRAWN,
        **OF_PLAN,
    }
)
SAMPLED_PLANS = record(
    {
        "schema": version("lightloom.sampled-plans/1"),
        "objective": one_of("time that plans are ordered by", "nominal", "mean", "p50", "p95", "p99"),
        **DRAWN,
        "plans": several(
            record(
                {
                    **OF_PLAN,
                    "regret_s": number("time less that of the fastest of the plans in the same run, in the mean"),
                }
            ),
            "plans, the best by the objective first",
        ),
    }
)

DOCUMENTS: dict[str, Form] = {"samples": SAMPLES, "sampled-plans": SAMPLED_PLANS}
