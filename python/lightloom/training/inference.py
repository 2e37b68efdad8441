"""Inference that was planned: what requests wait for, and how many tokens there are, under every policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ByPolicy", "Inference"]

# Values by policy; None where a policy cannot serve the workload.
ByPolicy = dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Inference:
    """The work of an iteration of inference for requests, which repeats for ever; immutable, seconds.

    prompts: that an iteration reads, over all ranks. requests: that get a token in each of its `steps` decode steps.
    total_s: time of an iteration by policy. first_token_s: by policy, when the prompts have their first tokens after
    the iteration began to read them; empty where it reads none. caches_s: when their KV caches are where they are
    decoded; empty where none are sent.
    """

    prompts: int
    requests: int
    steps: int
    total_s: ByPolicy
    first_token_s: ByPolicy
    caches_s: ByPolicy

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Inference | None:
        """The inference of a document of schema `lightloom.training/1`; None where it is of a training job."""
        counts = told["workload"].get("inference")
        if counts is None:
            return None
        return cls(
            **{name: counts[name] for name in ("prompts", "requests", "steps")},
            total_s=dict(told["policies"]),
            first_token_s=dict(told.get("first_token_s", {})),
            caches_s=dict(told.get("caches_s", {})),
        )

    @property
    def token_s(self) -> ByPolicy:
        """By policy, the time from one token of a request to its next; empty where nothing is decoded."""
        if not self.steps:
            return {}
        return {name: None if time_s is None else time_s / self.steps for name, time_s in self.total_s.items()}

    @property
    def tokens_per_s(self) -> ByPolicy:
        """By policy, tokens that all ranks together generate in a second, first tokens of prompts among them."""
        return self._rates(self.prompts + self.requests * self.steps)

    @property
    def prompts_per_s(self) -> ByPolicy:
        """By policy, prompts that are read in a second; empty where none are."""
        return self._rates(self.prompts) if self.prompts else {}

    @property
    def answer_tokens(self) -> float | None:
        """Tokens of an answer after its first for which as many requests end as begin; None without both pools."""
        return self.requests * self.steps / self.prompts if self.prompts and self.steps else None

    def _rates(self, count: int) -> ByPolicy:
        return {name: count / time_s if time_s else None for name, time_s in self.total_s.items()}
