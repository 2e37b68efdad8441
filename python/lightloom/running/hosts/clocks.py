"""Clocks of hosts, compared with the command's.

A question that leaves at a and whose answer comes at b, with the other clock's c, says that this clock is ahead by
c - (a + b)/2, to within (b - a)/2 (Cristian 1989; the offset and half the delay of NTP, RFC 5905 §8). Of several the
one with the shortest way counts. Comparing before and after the runs gives the drift in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Trip = tuple[float, float, float]

__all__ = ["HostClock", "compared"]


class HostClock(NamedTuple):
    """A host's clock against the command's, seconds.

    at_s: by the host's clock, when it was compared; ahead_s: by how much it was ahead then. uncertainty_s: no moment is
    wrong by more, as long as it drifts evenly.
    """

    at_s: tuple[float, float]
    ahead_s: tuple[float, float]
    uncertainty_s: float

    def here(self, moments_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Moments of the host by the command's clock."""
        (begin, end), (first, last) = self.at_s, self.ahead_s
        drift = (last - first) / (end - begin) if end > begin else 0.0
        found: NDArray[np.float64] = moments_s - first - drift * (moments_s - begin)
        return found


def compared(before: Sequence[Trip], after: Sequence[Trip]) -> HostClock:
    """The clock of a host, from questions before and after the runs: when each left and came back, and its clock."""
    first, last = (min(trips, key=lambda trip: trip[1] - trip[0]) for trips in (before, after))
    ahead = tuple(clock - (left + came) / 2 for left, came, clock in (first, last))
    uncertainty_s = max(came - left for left, came, _ in (first, last)) / 2
    return HostClock((first[2], last[2]), (ahead[0], ahead[1]), uncertainty_s)
