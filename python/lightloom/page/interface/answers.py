"""The answer of each task: a document of the verbs, one of the page's own, or a file."""

from __future__ import annotations

from typing import NamedTuple

from lightloom.schemas import schema
from lightloom.schemas.forms import (
    Form,
    by_name,
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

__all__ = ["ANSWERS", "ERROR", "Answer"]


class Answer(NamedTuple):
    """An answer: the name of its form; the form, if it is not in `lightloom.schemas`; and types of files."""

    name: str = ""
    form: Form | None = None
    files: tuple[str, ...] = ()


ERROR = record(
    {"error": text("one line that says what is wrong, and what is accepted"), "field": text("what it is about")},
    "an error",
    optional={"retry_after_s": whole("seconds after which to ask again", least=1)},
)
VALUE = either("a value", text("as text"), number("as a number", least=None), yes_or_no("yes or no"))
OPTION = record(
    {
        "name": text("as requests write it"),
        "flag": text("as the command line writes it"),
        "help": text("what it means"),
        "kind": one_of(
            "what it takes",
            *("text", "choice", "count", "number", "bytes", "seconds", "rate", "delay", "window", "dims"),
            *("topology", "topologies", "matrix", "flag"),
        ),
        "unit": text("of a plain number; empty where there is none"),
        "default": or_null(VALUE),
        "otherwise": text("in words, what is taken where that is no value of its own"),
        "choices": or_null(several(text("a choice"), "what it may be, where that is known")),
        "names": or_null(text("the registry that its names are of")),
        "required": yes_or_no("whether there is no plan without it, unless another option says it"),
        "group": text("where a form shows it"),
        "example": or_null(text("a value that goes with the examples of others")),
    },
    optional={
        "least": whole("of a count"),
        "most": whole("of a count"),
        "expert": yes_or_no("whether few need it"),
    },
)
OPTIONS = record(
    {
        "version": text("of Lightloom"),
        "verbs": by_name(record({"options": several(OPTION, "in the order of forms")}), "options by verb"),
        "registries": by_name(
            several(by_name(text("in words"), "an entry: name, summary and what else its kind has"), "its entries"),
            "all that has a name, by kind",
        ),
        "presets": several(
            record(
                {
                    "name": text("its name"),
                    "summary": text("what to look at"),
                    "verb": text("the task that it is for"),
                    "options": by_name(VALUE, "what to ask"),
                },
                optional={"axes": by_name(VALUE, "what a map's address says of its axes")},
            ),
            "problems worth starting from",
        ),
        "fabrics": by_name(
            by_name(text("as a person enters it"), "options of which it says something else than their defaults"),
            "fabrics that have a name",
        ),
        "limits": record(
            {
                "gpus": whole("of a request", least=2),
                "points": whole("of a map", least=1),
                "seconds": number("of a request's work"),
                "bytes": whole("of a request", least=1),
            },
            "what a request may ask for",
        ),
    }
)
AXIS = record(
    {
        "option": text("what varies"),
        "kind": text("how its values are shown: size, rate, time, count, number or name"),
        "per_pair": yes_or_no("whether sizes are those of blocks between pairs"),
        "values": several(VALUE, "in order, sizes in bytes, times in seconds, rates in bit/s"),
    },
    "an axis",
)
CELL = record(
    {
        "x_index": whole("place of x in its axis"),
        "y_index": whole("place of y in its axis"),
        "x": VALUE,
        "y": VALUE,
        "total_s": or_null(number("completion time; null where nothing serves the point")),
        "against_s": or_null(number("what the baseline takes")),
        "speedup": or_null(number("the baseline's time over ours")),
        "reconfigurations": or_null(whole("changes of topology")),
        "planner": or_null(text("the planner that was taken")),
        "algorithm": or_null(text("the algorithm that was taken")),
        "lower_bound_s": or_null(number("no plan takes less")),
        "gap": or_null(number("time over the lower bound")),
    },
    optional={"reason": text("why nothing serves the point")},
)
MAP = record(
    {
        "schema": version("lightloom.map/1"),
        "x": AXIS,
        "y": AXIS,
        "against": or_null(text("the baseline; null where there is none")),
        "cells": several(CELL, "row by row of y"),
    }
)
LOADS = record(
    {
        "schema": version("lightloom.loads/1"),
        "step": whole("the step's index"),
        "topology": whole("its topology's id"),
        "paths": or_null(
            several(
                record(
                    {
                        "source": whole("first GPU"),
                        "destination": whole("last GPU"),
                        "bytes": number("that go along it"),
                        "gpus": several(whole("a GPU"), "on the path, in order"),
                    }
                ),
                "all paths of the step; null where there are too many to list",
            )
        ),
        "links": several(
            record(
                {
                    "source": whole("a GPU"),
                    "target": whole("a GPU"),
                    "circuits": whole("in parallel", least=1),
                    "bytes": number("that all of these carry together"),
                    "flows": or_null(several(whole("place in paths"), "which paths cross it")),
                }
            ),
            "pairs of GPUs with circuits",
        ),
        "max_bytes": number("on the busiest circuit"),
    }
)
EXPLANATIONS = record(
    {
        "schema": version("lightloom.explanations/1"),
        "topologies": several(text("what its circuits are"), "a sentence for each topology, in the plan's order"),
    }
)
CODE = record(
    {
        "command": text("command lines, one each"),
        "python": text("a program"),
        "files": by_name(text("its content"), "files that both read, by name, to be saved next to them"),
    }
)
CLAIM = record(
    {
        "text": text("what the paper says"),
        "where": text("its figure and section"),
        "paper": text("the paper's number or fact; `not stated` where it has no number"),
        "ours": text("ours"),
        "rule": text("when the claim holds"),
        "verdict": one_of("whether it does", "holds", "does not hold", "not judged"),
        "why": text("the reason where it does not, or a remark"),
        "deviation": text("how far ours is from the paper's number; empty where there is none"),
        "numbers": or_null(
            record(
                {
                    "paper_least": number("least of the range that the paper states", least=None),
                    "paper_most": number("most of it; the same where the paper states one number", least=None),
                    "ours": number("ours", least=None),
                    "unit": text("of all three; empty for counts"),
                },
                "what paper and ours show, where both are numbers",
            )
        ),
    }
)
FIGURE = record(
    {
        "schema": version("lightloom.figure/1"),
        "figure": text("its name"),
        "title": text("what it shows"),
        "source": text("where it is in the paper"),
        "notes": text("how it was made, and where that departs from the paper"),
        "claims": several(CLAIM, "of the paper, judged"),
        "csv": text("its data"),
        "svg": text("its picture"),
    }
)
FIGURES = record(
    {
        "papers": several(
            record(
                {
                    "name": text("of the paper"),
                    "title": text("of the paper"),
                    "figures": several(
                        record(
                            {
                                "name": text("its name"),
                                "title": text("what it shows"),
                                "source": text("where it is in the paper"),
                                "engines": several(text("an engine"), "that make it"),
                            }
                        ),
                        "that can be made again",
                    ),
                    "other_claims": several(CLAIM, "that no figure covers"),
                }
            ),
            "by paper",
        )
    }
)
BREAK_EVEN = record(
    {
        "delays_s": several(number("a reconfiguration delay"), "rising"),
        "policies_s": by_name(
            several(or_null(number("of the iteration")), "at each delay; null where the policy does not serve it"),
            "iteration times by policy",
        ),
        "lower_bounds_s": several(number("no plan takes less"), "at each delay"),
        "as_long_from_s": by_name(
            or_null(number("the delay")), "by policy, from which delay on it takes as long as carry; null where never"
        ),
    },
    "where break_even is asked for: times against the delay",
)
TIMELINE = several(
    record(
        {
            "name": text("what computes or carries: ranks, an axis or group, or ports"),
            "lanes": whole("boxes at the same time, at most", least=1),
            "boxes": several(
                record(
                    {
                        "first_s": number("when it begins"),
                        "last_s": number("when it ends"),
                        "role": text(
                            "an axis or group; =compute; =dark, a change that is waited for; =hidden, another"
                        ),
                        "words": text("what is written on it; may be empty"),
                        "event": whole("place of its event in events"),
                        "lane": whole("from 0"),
                    }
                ),
                "in the order of drawing",
            ),
        }
    ),
    "where timeline is asked for: the rows of its picture",
)


def _iteration() -> Form:
    """A training iteration, with its times against the delay and its course."""
    made = {key: value for key, value in schema("training").items() if key not in {"$schema", "$defs", "title"}}
    return {**made, "properties": {**made["properties"], "break_even": BREAK_EVEN, "timeline": TIMELINE}}


ANSWERS: dict[str, Answer] = {
    "options": Answer("options", OPTIONS),
    "plan": Answer("plan"),
    "compare": Answer("comparison"),
    "bound": Answer("bounds"),
    "verify": Answer("checks"),
    "simulate": Answer("simulation"),
    "circuits": Answer("circuits"),
    "loads": Answer("loads", LOADS),
    "explain": Answer("explanations", EXPLANATIONS),
    "train": Answer("iteration", _iteration()),
    "advise": Answer("advice"),
    "map": Answer("map", MAP),
    "export": Answer(files=("application/zip",)),
    "picture": Answer(files=("image/svg+xml", "image/png", "application/pdf")),
    "table": Answer(files=("text/csv",)),
    "as-code": Answer("code", CODE),
    "figures": Answer("figures", FIGURES),
    "reproduce": Answer("figure", FIGURE),
}
