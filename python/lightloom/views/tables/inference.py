"""Inference in the output of the verb `train`: words for its title, and a table of waits and rates by policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_time
from lightloom.views.policy_titles import title_of
from lightloom.views.tables.page import table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from lightloom.training.inference import Inference

__all__ = ["inference_words", "requests_parts"]


def inference_words(inference: Inference) -> str:
    """Prompts and decode steps of an iteration, in words."""
    words = []
    if inference.prompts:
        words.append(f"prefill of {counted(inference.prompts, 'prompt')}")
    if inference.steps:
        steps = "a decode step" if inference.steps == 1 else counted(inference.steps, "decode step")
        words.append(f"{steps} of {counted(inference.requests, 'request')}")
    return " and ".join(words)


def requests_parts(inference: Inference) -> list[RenderableType]:
    """By policy, the waits of requests and the tokens there are; and the answers that both pools keep up with."""
    if inference.answer_tokens is None:
        return [_by_policy(inference)]
    words = f"as many requests end as begin if answers have {inference.answer_tokens:,.4g} tokens after the first"
    return [_by_policy(inference), Text(words)]


def _by_policy(inference: Inference) -> Table:
    columns = {
        "time to first token": (inference.first_token_s, show_time),
        "caches sent": (inference.caches_s, show_time),
        "time per token": (inference.token_s, show_time),
        "tokens/s": (inference.tokens_per_s, _rate),
        "prompts/s": (inference.prompts_per_s, _rate),
    }
    shown = {name: column for name, column in columns.items() if column[0]}
    made = table("requests, by policy", *shown, right=tuple(shown))
    for policy in inference.total_s:
        cells = [(values.get(policy), show) for values, show in shown.values()]
        made.add_row(title_of(policy), *("-" if value is None else show(value) for value, show in cells))
    return made


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 100 else f"{per_s:.3g}"
