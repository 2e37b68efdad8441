"""JSON that `run` prints of plans, iterations, sends and barriers, and `calibrate` of measured times."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, one_of, or_null, record, several, text, version, whole, yes_or_no

VERDICT = one_of(
    "verdict on whether the machine was quiet enough for the times to mean anything", "conclusive", "inconclusive"
)
LATENESS = record(
    {
        "sleeps": whole("number of sleeps that were measured"),
        "median_s": number("lateness that half of the sleeps did not exceed"),
        "most_of_99_s": number("lateness that 99 of 100 sleeps did not exceed"),
        "most_s": number("largest lateness"),
    }
)
SPREAD = {
    "min": number("least time, seconds"),
    "median": number("median time, seconds"),
    "max": number("longest time, seconds"),
}
JITTER = record(
    {
        "tolerated_s": number("lateness of the machine above which the measurement is inconclusive"),
        "found_s": number("lateness of the machine that was found"),
        "probe": {**LATENESS, "description": "lateness of the ranks' sleeps before the runs"},
        "switch": {**LATENESS, "description": "lateness of the switch while the runs were measured"},
        "ranks": {**LATENESS, "description": "lateness of the ranks while the runs were measured"},
        "packet_rate": or_null(
            number("packets that the machine moved in a second, over all hops; null where that is not counted")
        ),
        "most_packet_rate": or_null(number("most packets in a second that the machine keeps up with")),
        "real_time": yes_or_no("whether all processes had real-time priority"),
        "locked": yes_or_no("whether shared memory was locked"),
    },
    "lateness of the machine",
)
RUN = record(
    {
        "schema": version("lightloom.run/1"),
        "collective": text("name of the collective"),
        "algorithm": text("name of the algorithm"),
        "planner": text("name of the planner"),
        "gpus": whole("number of ranks", least=1),
        "size_bytes": whole("bytes m of one rank's whole buffer", least=1),
        "transport": text("name of the transport that carried the bytes"),
        "dilation": number(
            "dilation: rates were divided and delays multiplied by it, and all times here are divided by it"
        ),
        "dtype": text("type of the data's elements"),
        "reduction": text("reduction of the data"),
        "packet_bytes": whole("payload of a packet"),
        "switch": or_null(text("address of an outside switch, null where there is none")),
        "hosts": several(
            record(
                {
                    "name": text("name of the host"),
                    "ranks": whole("number of its ranks", least=1),
                    "clock_uncertainty_s": number("largest error of its moments"),
                }
            ),
            "hosts of transport tcp, none of others",
        ),
        "predicted_s": number("time by the plan"),
        "measured_s": record(SPREAD, "times of the runs"),
        "ratio": number("median of the measured times over the predicted one"),
        "algbw": number("algorithm bandwidth in B/s as NCCL's tests count it: m over the time"),
        "busbw": number("bus bandwidth in B/s: algbw times the collective's bus factor"),
        "wrong": whole("number of elements that differ from NumPy's result on the same data"),
        "verdict": VERDICT,
        "runs_s": several(number("time of a run"), "times of the runs, in order"),
        "jitter": JITTER,
        "steps": several(
            record(
                {
                    "index": whole("place of the step, from 0"),
                    "topology_name": text("name of the step's topology"),
                    "topology_index": whole("place of the step's topology in the plan"),
                    "reconfigured": yes_or_no("whether circuits change before the step"),
                    "predicted_s": number("time by the plan"),
                    "measured_s": number("median time of the runs"),
                    "ratio": number("measured over predicted time"),
                    "barrier_s": number("time until it was known that all ranks had ended the step before"),
                    "dark_s": number("time from the request for circuits to its acknowledgement"),
                    "switch_s": or_null(
                        number(
                            "time until the outside switch said that it had made the change; null where there is none"
                        )
                    ),
                    "release_s": number("time from the acknowledgement until the last rank was released"),
                    "transfer_s": number("time from then until the end of the step, the startup included"),
                    "predicted_barrier_s": number("the plan's barrier"),
                    "predicted_dark_s": number("the plan's reconfiguration, without the part behind the computation"),
                    "predicted_transfer_s": number("the plan's startup, propagation and transmission"),
                    "waiting_s": number("mean time for which ranks waited until the last rank had arrived"),
                    "forwarded_bytes": number("bytes that ranks forwarded for others"),
                }
            ),
            "steps, in order",
        ),
    }
)
ITERATION_RUN = record(
    {
        "schema": version("lightloom.iteration-run/1"),
        "workload": or_null(text("name of the workload")),
        "ranks": whole("number of ranks", least=1),
        "policy": text("name of the policy, which decides when circuits change"),
        "transport": text("name of the transport that carried the bytes"),
        "dilation": number(
            "dilation: rates were divided and delays multiplied by it, and all times here are divided by it"
        ),
        "scale": whole("bytes of the plan for each byte that was sent", least=1),
        "dtype": text("type of the data's elements"),
        "reduction": text("reduction of the data"),
        "packet_bytes": whole("payload of a packet"),
        "warm_ups": whole("number of iterations before those that were measured"),
        "planned_s": number("time of an iteration by the plan"),
        "measured_s": record(SPREAD, "times of the iterations"),
        "ratio": number("median of the measured times over the planned one"),
        "iterations_s": several(number("time of an iteration"), "times of the iterations, in order"),
        "moved_bytes": whole("bytes that crossed circuits in an iteration, all hops counted"),
        "wrong": whole("number of elements that differ from NumPy's result on the same data"),
        "verdict": VERDICT,
        "jitter": JITTER,
        "kinds": several(
            record(
                {
                    "name": text("name of the kind: `compute`, `sends`, or the collective"),
                    "label": text("axis or groups of a collective, else empty"),
                    "count": whole("number of events in an iteration", least=1),
                    "planned_s": number("sum of the events' times by the plan"),
                    "measured_s": number("sum of the events' measured times"),
                    "wrong": whole("number of elements that differ from NumPy's result on the same data"),
                    "ratio": number("measured over planned time"),
                }
            ),
            "kinds of events, in the order of first use",
        ),
        "changes": several(
            record(
                {
                    "configuration": whole(
                        "number of the configuration that the change makes, as `circuits` counts", least=1
                    ),
                    "planned_time_s": number("time at which the change has to begin, since the iteration began"),
                    "measured_time_s": number(
                        "time at which the change was requested; below 0 during the end of the iteration before",
                        least=None,
                    ),
                    "planned_dark_s": number("reconfiguration delay"),
                    "dark_s": number("time from the request for circuits to its acknowledgement"),
                }
            ),
            "changes of circuits, in the order of their planned times",
        ),
        "events": several(
            record(
                {
                    "node": text("id of the workload's node"),
                    "kind": one_of("kind of the node", "compute", "collective", "send"),
                    "label": text("axis or groups of a collective, `sends` or `compute`"),
                    "planned_start_s": number("start by the plan, since the iteration began"),
                    "measured_start_s": number(
                        "measured start, since the iteration began, once its circuits were there"
                    ),
                    "planned_s": number("duration by the plan"),
                    "measured_s": number("median duration over the iterations"),
                    "ratio": number("measured over planned time"),
                    "circuit_bytes": whole("bytes that crossed circuits, all hops counted"),
                    "planned_circuit_bytes": whole("bytes that had to cross circuits by the plan"),
                    "wrong": whole("number of elements that differ from NumPy's result on the same data"),
                }
            ),
            "events, in the order of the workload's nodes",
        ),
    }
)
TIMELINE_RUN = record(
    {
        "schema": version("lightloom.timeline-run/1"),
        "collective": text("name of the collective"),
        "planner": text("way in which the timeline was made"),
        "gpus": whole("number of ranks", least=1),
        "transport": text("name of the transport that carried the bytes"),
        "dilation": number(
            "dilation: rates were divided and delays multiplied by it, and all times here are divided by it"
        ),
        "dtype": text("type of the data's elements"),
        "reduction": text("reduction of the data"),
        "packet_bytes": whole("payload of a packet"),
        "planned_s": number("time of the timeline"),
        "measured_s": record(SPREAD, "times of the runs"),
        "ratio": number("median of the measured times over the planned one"),
        "runs_s": several(number("time of a run"), "times of the runs, in order"),
        "wrong": whole("number of elements that differ from NumPy's result on the same data"),
        "verdict": VERDICT,
        "jitter": JITTER,
        "configurations": several(
            record(
                {
                    "switch": whole("number of the switch, from 0"),
                    "configuration": whole("place of the configuration among those of the switch, from 0"),
                    "planned_ready_s": number("time at which its circuits are there by the timeline"),
                    "measured_ready_s": number("median time at which they were there"),
                    "planned_end_s": number("time at which they are given up by the timeline"),
                    "measured_end_s": number("median time at which the last byte over them was through"),
                    "circuit_bytes": whole("bytes that crossed them in a run"),
                    "planned_circuit_bytes": whole("bytes that were to cross them"),
                }
            ),
            "configurations, switch after switch",
        ),
        "transmissions": several(
            record(
                {
                    "planned_start_s": number("time at which the first byte leaves by the timeline"),
                    "measured_start_s": number("median time at which the source began to send"),
                    "planned_end_s": number("time at which the last byte is there by the timeline"),
                    "measured_end_s": number("median time at which the destination had kept its data"),
                    "size_bytes": whole("bytes that were sent, whole elements"),
                    "circuit_bytes": several(whole("bytes"), "bytes that crossed each circuit of the path in a run"),
                    "path": several(
                        several(whole("number"), "a circuit: switch, transmitting and receiving GPU"), "circuits"
                    ),
                }
            ),
            "transmissions, in the timeline's order",
        ),
    }
)
SENDS = record(
    {
        "schema": version("lightloom.sends/1"),
        "transport": text("name of the transport that carried the bytes"),
        "verdict": VERDICT,
        "rows": several(
            record(
                {
                    "size_bytes": whole("bytes of the message", least=1),
                    "time_s": number("median of the measured times"),
                    "predicted_s": number("time by the plan"),
                    "dilation": number("dilation that times are divided by"),
                    "lateness_s": number("lateness of the machine that was found"),
                    "verdict": VERDICT,
                }
            ),
            "measurements, one for each size",
        ),
    }
)
BARRIERS = record(
    {
        "schema": version("lightloom.barriers/1"),
        "cores": whole("number of cores that the processes could use", least=1),
        "barriers": several(
            record(
                {
                    "name": text("name of the barrier"),
                    "summary": text("description of the barrier"),
                    "source": text("publication or program that it comes from"),
                }
            ),
            "barriers that were measured",
        ),
        "rows": several(
            record(
                {
                    "barrier": text("name of the barrier"),
                    "ranks": whole("number of ranks that meet", least=1),
                    "rounds": whole("number of rounds that were measured", least=1),
                    "median_s": number("median time of a round"),
                    "mean_s": number("mean time of a round"),
                    "most_of_99_s": number("time that 99 of 100 rounds did not exceed"),
                }
            ),
            "measurements, one for each barrier and number of ranks",
        ),
    }
)


def _estimate(meaning: str, **more: Form) -> Form:
    ends = {
        "low": or_null(number("lower end of the confidence interval; null where it is unbounded", least=None)),
        "high": or_null(number("upper end of the confidence interval; null where it is unbounded", least=None)),
    }
    return record({"value": number("estimated value"), **ends, **more}, meaning)


RESIDUAL = {
    "row": whole("number of the row, from 1", least=1),
    "line": whole("line of the file"),
    "size_bytes": number("bytes of one rank's whole buffer"),
    "time_s": number("measured time"),
    "steps": number("number of steps of the collective"),
    "hops": number("number of hops over all steps"),
    "wire_bytes": number("bytes on the busiest link, over all steps"),
    "fitted_s": number("time by the fit"),
    "residual": number("relative error: measured over fitted time, less 1", least=None),
}
CALIBRATION = record(
    {
        "schema": version("lightloom.calibration/1"),
        "errors": text("kind of error that the fit minimises"),
        "confidence": number("confidence of the intervals, from 0 to 1"),
        "startup_s": _estimate("startup latency of a step"),
        "bandwidth_bps": _estimate("rate of a circuit, bit/s"),
        "hop_delay_s": _estimate("delay of a hop", fitted=yes_or_no("whether it was fitted, not stated")),
        "r_squared": or_null(number("share of the variance that the fit explains", least=None)),
        "rms_residual": number("root mean square of the residuals"),
        "worst": record(RESIDUAL, "row farthest from the fit"),
        "rows": several(record(RESIDUAL), "rows of the file"),
        "ignored_columns": several(text("name of a column"), "columns of the file that were ignored"),
        "notes": several(text("a sentence"), "notes that a reader of the numbers must know"),
    }
)

DOCUMENTS: dict[str, Form] = {
    "run": RUN,
    "iteration-run": ITERATION_RUN,
    "timeline-run": TIMELINE_RUN,
    "sends": SENDS,
    "barriers": BARRIERS,
    "calibration": CALIBRATION,
}
