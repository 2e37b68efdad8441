"""Descriptions in schemas: each names its subject first, and numbers have units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lightloom.page.interface.answers import ANSWERS, ERROR
from lightloom.schemas import documents, schema
from lightloom.schemas.forms import number, or_null, record, text, whole

FORMS: dict[str, Any] = {one.name: schema(one.name) for one in documents()}
FORMS |= {f"answer {name}": one.form for name, one in ANSWERS.items() if one.form is not None} | {"error": ERROR}
# Words that say something of a subject that is not named: "of a round", "that it serves", "what it takes", "its name".
WITHOUT_SUBJECT = re.compile(
    r"(of|that|those|what|which|when|where|how|why|by|in|on|at|from|to|with|until|as|its|their|it)\b", re.IGNORECASE
)


def _described(form: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(form, dict):
        if isinstance(form.get("description"), str):
            yield place, form["description"]
        for key, below in form.items():
            yield from _described(below, f"{place}/{key}")
    elif isinstance(form, list):
        for index, below in enumerate(form):
            yield from _described(below, f"{place}/{index}")


@pytest.mark.parametrize("name", FORMS)
def test_descriptions_name_their_subject_first(name: str) -> None:
    assert [(place, words) for place, words in _described(FORMS[name], name) if WITHOUT_SUBJECT.match(words)] == []


def test_a_description_without_a_subject_is_found() -> None:
    found = [words for _, words in _described(record({"rounds": whole("of a run"), "share": number("share")}), "")]
    assert [bool(WITHOUT_SUBJECT.match(words)) for words in found] == [True, False]


def test_numbers_end_with_the_unit_of_their_key() -> None:
    made = record(
        {
            "start_s": number("start of the step"),
            "loss_db_per_cm": or_null(number("loss of a waveguide")),
            "size_bytes": whole("bytes of the message"),
            "sent_bytes": whole("payload"),
            "bandwidth_bps": number("rate of a circuit"),
            "ranks": whole("number of ranks"),
            "times_s": text("times in words"),
        }
    )
    assert {key: form["description"] for key, form in made["properties"].items()} == {
        "start_s": "start of the step [seconds]",
        "loss_db_per_cm": "loss of a waveguide [dB/cm]",
        "size_bytes": "bytes of the message",
        "sent_bytes": "payload [bytes]",
        "bandwidth_bps": "rate of a circuit [bit/s]",
        "ranks": "number of ranks",
        "times_s": "times in words",
    }
