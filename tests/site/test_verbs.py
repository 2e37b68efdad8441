"""The page of verbs is what their help says."""

from __future__ import annotations

import re

from click import Context
from docs.generators.verbs_page import PAGE, command_of, page

from lightloom.cli.registry import VERBS


def test_the_page_is_up_to_date() -> None:
    assert page() == PAGE.read_text(), "run: python -m docs.generators.verbs_page"


def test_every_verb_has_a_section_with_its_whole_help() -> None:
    """Word by word: nothing of a help text is lost on the way."""
    sections = dict(zip(*[iter(re.split(r"^## (\S+)$", PAGE.read_text(), flags=re.MULTILINE)[1:])] * 2, strict=True))
    assert list(sections) == [verb.name for verb in VERBS]
    for verb in VERBS:
        command = command_of(verb.module, verb.name)
        said = re.sub(r"```(sh|text)?|`", "", sections[verb.name]).split()
        usage = " ".join(["lightloom", verb.name, *command.collect_usage_pieces(Context(command))])
        assert said == [*usage.split(), *(command.help or "").replace("\b", "").replace("`", "").split()]
