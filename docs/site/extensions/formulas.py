"""Formulas as MathML, which browsers draw themselves: no script, no font, nothing from another host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Never

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
CELL_IN_CELL = re.compile(r"<mtd>(?:(?!</mtd>).)*<mtd>", re.DOTALL)


def _inline(writer: HTML5Translator, node: nodes.math) -> Never:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> Never:
    writer.body.append(_mathml(node, as_block=True))
    raise nodes.SkipNode


def _mathml(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    try:
        made = str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        LOGGER.warning("%s", error, location=node)
        return ""
    # A bracket that is opened in one cell and closed in another puts the next cells into the first.
    if CELL_IN_CELL.search(made):
        LOGGER.warning(r"\bigl and \bigr in different cells", location=node)
    return made


def _nothing(_writer: HTML5Translator, _node: nodes.Node) -> None:
    """Never reached: the visitor of a formula writes all of it."""


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, _nothing), (_block, _nothing))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
