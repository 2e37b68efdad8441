"""Groups of ranks under which topologies may be held invariant, which makes larger programs tractable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.exact.demands import Arc

FIELD = "invariant_under"


class RankGroup(NamedTuple):
    """A group that acts freely on the ranks; every element as the images of ranks 0, 1, ..."""

    name: str
    elements: tuple[tuple[int, ...], ...]

    @property
    def representatives(self) -> list[int]:
        """The least rank of every orbit."""
        return sorted({min(element[rank] for element in self.elements) for rank in range(len(self.elements[0]))})

    def orbit(self, pair: tuple[int, int]) -> list[tuple[int, int]]:
        """All images of a pair of ranks, the least first."""
        return sorted((element[pair[0]], element[pair[1]]) for element in self.elements)

    def keeps(self, arcs: Iterable[Arc]) -> bool:
        """Whether weighted pairs are the same after every element."""
        weights = {(src, dst): weight for src, dst, weight in arcs}
        return all(weights.get(image) == weights[pair] for pair in weights for image in self.orbit(pair))


def rank_group(spec: str | int | None, gpus: int) -> RankGroup:
    """The group of a specification: nothing, a period `4` of translations, or `xor:4`, XOR with its multiples.

    Raises `InputError` that names `invariant_under`.
    """
    if spec is None:
        return RankGroup("", (tuple(range(gpus)),))
    kind, _, number = shown(spec).rpartition(":")
    period = int(number) if number.isascii() and number.isdecimal() else 0
    power_of_two = gpus & (gpus - 1) == 0
    fits = 1 <= period < gpus and gpus % period == 0
    if kind == "" and fits:
        moved = (tuple((rank + by) % gpus for rank in range(gpus)) for by in range(0, gpus, period))
        return RankGroup(f"translations by {period}", tuple(moved))
    if kind == "xor" and fits and power_of_two:
        moved = (tuple(rank ^ by for rank in range(gpus)) for by in range(0, gpus, period))
        return RankGroup(f"XOR with multiples of {period}", tuple(moved))
    xor = ", or xor:N for XOR with multiples of N" if power_of_two else ""
    raise refuse(
        FIELD,
        f"`{shown(spec)}` is not accepted; it takes N for translations by N{xor}, where N is a proper divisor of "
        f"{gpus}",
    )


def groups_of(gpus: int) -> list[RankGroup]:
    """All groups that can be named, the trivial one not among them."""
    periods = [period for period in range(1, gpus) if gpus % period == 0]
    kinds = ("", "xor:") if gpus & (gpus - 1) == 0 else ("",)
    return [rank_group(f"{kind}{period}", gpus) for kind in kinds for period in periods]


def keeping_group(gpus: int, patterns: Sequence[Iterable[Arc]]) -> RankGroup:
    """The largest group that is known under which none of the patterns changes; else the trivial one."""
    known = [*groups_of(gpus), *_turned(gpus)]
    kept = [group for group in known if all(group.keeps(arcs) for arcs in patterns)]
    return max(kept, key=lambda group: len(group.elements), default=rank_group(None, gpus))


def _turned(gpus: int) -> list[RankGroup]:
    """Even translations, and rank → by - rank for odd `by`: they keep Swing. None for an odd number of ranks."""
    if gpus % 2:
        return []
    images = [tuple((by - rank if by % 2 else rank + by) % gpus for rank in range(gpus)) for by in range(gpus)]
    return [RankGroup("even translations and odd reflections", tuple(images))]
