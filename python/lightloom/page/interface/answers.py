"""The answer of each task: a document of the verbs, one of the page's own, or a file."""

from __future__ import annotations

from typing import NamedTuple

from lightloom.page.tasks import TASKS
from lightloom.schemas import schema
from lightloom.schemas.forms import (
    Form,
    by_name,
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

__all__ = ["ANSWERS", "ERROR", "Answer"]


class Answer(NamedTuple):
    """An answer: the name of its form; the form, if it is not in `lightloom.schemas`; and types of files."""

    name: str = ""
    form: Form | None = None
    files: tuple[str, ...] = ()


ERROR = record(
    {
        "error": text("line that says what is wrong, and what is accepted"),
        "field": text("name of the argument that is wrong"),
    },
    "an error",
    optional={
        "retry_after_s": whole("seconds after which to ask again", least=1),
        "status": whole("status that the answer would have, in a stream", least=400),
        "rows": several(
            {"type": "object", "description": "a row, as a stream sends it"},
            "rows that were found before the time of a request was over",
        ),
    },
)
VALUE = either("a value", text("text"), number("number", least=None), yes_or_no("yes or no"))
OPTION = record(
    {
        "name": text("name of the option in requests"),
        "flag": text("option on the command line"),
        "help": text("meaning of the option"),
        "kind": one_of(
            "kind of the option's values",
            *("text", "choice", "count", "number", "bytes", "seconds", "rate", "delay", "window", "dims"),
            *("topology", "topologies", "matrix", "flag"),
        ),
        "unit": text("unit of a plain number; empty where there is none"),
        "default": or_null(VALUE),
        "otherwise": text("default in words, where it is not a single value"),
        "choices": or_null(several(text("a choice"), "values that are accepted; null where they cannot be listed")),
        "names": or_null(text("registry that has the names which are accepted")),
        "required": yes_or_no("whether the option must be given, unless another one replaces it"),
        "group": text("group of a form in which the option is shown"),
        "example": or_null(text("a value that goes with the examples of others")),
    },
    optional={
        "least": whole("least value, of options that take a whole number"),
        "most": whole("largest value, of options that take a whole number"),
        "expert": yes_or_no("whether few need it"),
    },
)
OPTIONS = record(
    {
        "version": text("version of Lightloom"),
        "verbs": by_name(record({"options": several(OPTION, "options in the order of forms")}), "options by verb"),
        "registries": by_name(
            several(
                by_name(text("value of a field"), "entry: its name, summary and the fields of its kind"),
                "entries of the kind",
            ),
            "names that options accept, by kind",
        ),
        "presets": several(
            record(
                {
                    "name": text("name of the preset"),
                    "summary": text("summary of what the preset shows"),
                    "verb": text("task that the preset is for"),
                    "options": by_name(VALUE, "arguments of the request"),
                },
                optional={"axes": by_name(VALUE, "axes of a map, as in the map's address")},
            ),
            "problems worth starting from",
        ),
        "ranges": by_name(
            record(
                {
                    "from": text("least value"),
                    "to": text("largest value"),
                    "points": whole("number of values", least=2),
                }
            ),
            "ranges of options that a map can vary",
        ),
        "fabrics": by_name(
            by_name(text("value, as a person enters it"), "options whose values are not their defaults"),
            "fabrics that have a name",
        ),
        "model_ranks": by_name(whole("number of ranks", least=1), "ranks that models have by themselves"),
        "limits": record(
            {
                "gpus": whole("most GPUs of a request", least=2),
                "points": whole("most points of a map", least=1),
                "seconds": number("longest time of a request's work, seconds"),
                "bytes": whole("most bytes of a request's content", least=1),
            },
            "limits of a request",
        ),
    }
)
AXIS = record(
    {
        "option": text("name of the option that varies"),
        "kind": text("kind of the values, by which they are shown: size, rate, time, count, number or name"),
        "per_pair": yes_or_no("whether sizes are those of blocks between pairs"),
        "values": several(VALUE, "values in order; sizes in bytes, times in seconds, rates in bit/s"),
    },
    "an axis",
)
CELL = record(
    {
        "x_index": whole("place of x in its axis"),
        "y_index": whole("place of y in its axis"),
        "x": VALUE,
        "y": VALUE,
        "total_s": or_null(number("completion time; null where no plan serves the point")),
        "against_s": or_null(number("completion time of the baseline")),
        "speedup": or_null(number("the baseline's time over ours")),
        "reconfigurations": or_null(whole("changes of topology")),
        "planner": or_null(text("the planner that was taken")),
        "algorithm": or_null(text("the algorithm that was taken")),
        "topologies": or_null(text("topologies in the order of the steps; null where they were not noted")),
        "against_algorithm": or_null(text("the algorithm of the baseline")),
        "against_topologies": or_null(text("topologies of the baseline")),
        "lower_bound_s": or_null(number("lower bound of the time of every plan")),
        "gap": or_null(number("time over the lower bound")),
    },
    optional={"reason": text("reason why no plan serves the point")},
)
MAP = record(
    {
        "schema": version("lightloom.map/1"),
        "x": AXIS,
        "y": AXIS,
        "against": or_null(text("the baseline; null where there is none")),
        "cells": several(CELL, "points, row by row of y"),
    }
)
LOADS = record(
    {
        "schema": version("lightloom.loads/1"),
        "step": whole("the step's index"),
        "topology": whole("id of the step's topology"),
        "paths": or_null(
            several(
                record(
                    {
                        "source": whole("first GPU"),
                        "destination": whole("last GPU"),
                        "bytes": number("bytes that go along the path"),
                        "gpus": several(whole("a GPU"), "GPUs on the path, in order"),
                    }
                ),
                "paths of the step; null where there are too many to list",
            )
        ),
        "links": several(
            record(
                {
                    "source": whole("a GPU"),
                    "target": whole("a GPU"),
                    "circuits": whole("number of parallel circuits", least=1),
                    "bytes": number("bytes that all of these circuits carry together"),
                    "flows": or_null(several(whole("place in paths"), "paths that cross the link")),
                }
            ),
            "pairs of GPUs with circuits",
        ),
        "max_bytes": number("bytes on the busiest circuit"),
    }
)
_JOINED = several(row("a connection", *2 * [whole("port", least=1)]), "ingress and egress port of each")
PORTS = record(
    {
        "schema": version("lightloom.ports/1"),
        "numbering": text("rule by which GPUs are at ports"),
        "switches": several(
            record(
                {
                    "name": text("the switch"),
                    "ports": whole("ingress ports, and as many egress ports"),
                    "ends": several(text("GPU and its own port, or island"), "owner of each port, from port 1 on"),
                    "ranks": several(or_null(whole("a rank")), "rank of the GPU at each port; null of none that works"),
                    "failed_ingress": several(whole("port", least=1), "ports whose transmitter is broken"),
                    "failed_egress": several(whole("port", least=1), "ports whose receiver is broken"),
                }
            ),
            "switches",
        ),
        "configurations": several(
            record(
                {
                    "steps": several(whole("a step's index"), "steps during which it is held"),
                    "switches": several(
                        record({"connections": _JOINED, "connect": _JOINED, "disconnect": _JOINED}),
                        "connections by switch: all, and those made and unmade since the configuration before",
                    ),
                }
            ),
            "configurations in the order of time",
        ),
    }
)
JOURNEY = record(
    {
        "schema": version("lightloom.journey/1"),
        "chunk": whole("the chunk's number"),
        "chunks": whole("chunks that there are"),
        "source": or_null(whole("GPU that has it first; null where each GPU has a part of a sum")),
        "destination": or_null(whole("GPU that must have it in the end; null where every GPU must")),
        "bytes": number("size of the chunk"),
        "steps": several(
            several(
                record(
                    {
                        "source": whole("a GPU"),
                        "destination": whole("a GPU"),
                        "operation": one_of("operation of the receiver", "copy", "reduce"),
                    }
                ),
                "transfers that carry it",
            ),
            "transfers by step",
        ),
    }
)
EXPLANATIONS = record(
    {
        "schema": version("lightloom.explanations/1"),
        "topologies": several(
            text("sentence that describes the circuits"), "descriptions of the topologies, in the plan's order"
        ),
        "names": several(text("name of a topology"), "names of these topologies"),
    }
)
CODE = record(
    {
        "command": text("command lines"),
        "python": text("a program"),
        "files": by_name(text("content of the file"), "files that both read, by name, to be saved next to them"),
    }
)
CLAIM = record(
    {
        "text": text("statement of the paper"),
        "where": text("figure and section of the paper"),
        "paper": text("number or fact of the paper; `not stated` where it has no number"),
        "ours": text("number or fact that Lightloom finds"),
        "rule": text("rule by which the claim is judged"),
        "verdict": one_of("judgement of the claim", "holds", "does not hold", "not judged"),
        "why": text("reason where the claim does not hold, or a remark"),
        "deviation": text("deviation of our number from the paper's; empty where there is none"),
        "numbers": or_null(
            record(
                {
                    "paper_least": number("least of the range that the paper states", least=None),
                    "paper_most": number(
                        "most of the range; the same as the least where the paper states one number", least=None
                    ),
                    "ours": number("number that Lightloom finds", least=None),
                    "unit": text("unit of all three; empty for counts"),
                },
                "numbers of the paper and of Lightloom; null where one of the two is not a number",
            )
        ),
    }
)
FIGURE = record(
    {
        "schema": version("lightloom.figure/1"),
        "figure": text("name of the figure"),
        "title": text("title of the figure"),
        "source": text("place of the figure in the paper"),
        "notes": text("notes on how the figure was made, and on differences from the paper"),
        "claims": several(CLAIM, "claims of the paper, judged"),
        "csv": text("data of the figure as CSV"),
        "svg": text("picture of the figure as SVG"),
    }
)
FIGURES = record(
    {
        "papers": several(
            record(
                {
                    "name": text("name of the paper"),
                    "title": text("title of the paper"),
                    "figures": several(
                        record(
                            {
                                "name": text("name of the figure"),
                                "title": text("title of the figure"),
                                "source": text("place of the figure in the paper"),
                                "engines": several(text("an engine"), "engines that make the figure"),
                            }
                        ),
                        "figures that can be reproduced",
                    ),
                    "other_claims": several(CLAIM, "claims that no figure covers"),
                }
            ),
            "papers with their figures and claims",
        )
    }
)
BREAK_EVEN = record(
    {
        "delays_s": several(number("reconfiguration delay, seconds"), "reconfiguration delays, rising"),
        "policies_s": by_name(
            several(
                or_null(number("time of the iteration, seconds")),
                "times, one for each delay; null where the policy does not serve the iteration",
            ),
            "iteration times by policy",
        ),
        "lower_bounds_s": several(number("lower bound of the time of every plan"), "lower bounds, one for each delay"),
        "as_long_from_s": by_name(
            or_null(number("delay, seconds")),
            "least delay, by policy, from which on it takes as long as the policy carry; null where it never does",
        ),
    },
    "times by reconfiguration delay; there where break_even is asked for",
)
TIMELINE = several(
    record(
        {
            "name": text("name of the row: ranks that compute, an axis or group that communicates, or ports"),
            "lanes": whole("most boxes at the same time", least=1),
            "boxes": several(
                record(
                    {
                        "first_s": number("start of the box"),
                        "last_s": number("end of the box"),
                        "role": text(
                            "role: an axis or group; =compute; =dark, a change that is waited for; =hidden, another"
                        ),
                        "words": text("text written on the box; may be empty"),
                        "event": whole("place of the box's event in events"),
                        "lane": whole("number of the box's lane, from 0"),
                    }
                ),
                "boxes in the order of drawing",
            ),
        }
    ),
    "rows of the timeline's picture; there where timeline is asked for",
)


def _iteration() -> Form:
    """A training iteration, with its times against the delay and its course."""
    made = {key: value for key, value in schema("training").items() if key not in {"$schema", "$defs", "title"}}
    return {**made, "properties": {**made["properties"], "break_even": BREAK_EVEN, "timeline": TIMELINE}}


# Of tasks whose answers are no documents of verbs.
_OWN: dict[str, Answer] = {
    "options": Answer("options", OPTIONS),
    "loads": Answer("loads", LOADS),
    "ports": Answer("ports", PORTS),
    "journey": Answer("journey", JOURNEY),
    "explain": Answer("explanations", EXPLANATIONS),
    "train": Answer("iteration", _iteration()),
    "map": Answer("map", MAP),
    "export": Answer(files=("application/zip",)),
    "picture": Answer(files=("image/svg+xml", "image/png", "application/pdf")),
    "table": Answer(files=("text/csv",)),
    "as-code": Answer("code", CODE),
    "figures": Answer("figures", FIGURES),
    "reproduce": Answer("figure", FIGURE),
}
ANSWERS: dict[str, Answer] = {task.name: _OWN.get(task.name, Answer(task.document)) for task in TASKS}
