"""Quantiles of Student's t distribution, which intervals of few measurements need."""

from __future__ import annotations

import math
from statistics import NormalDist

# From here on the normal distribution is as good: quantiles differ by less than 1e-5 of themselves.
MANY = 100_000


def student_t_quantile(probability: float, freedom: int) -> float:
    """The value that a variable of `freedom` degrees of freedom stays below with `probability`, 0.5 to 1.

    By bisection of the distribution function, which is a finite sum for whole degrees of freedom (Abramowitz and
    Stegun, 26.7.3 and 26.7.4). O(freedom).
    """
    if freedom > MANY:
        return NormalDist().inv_cdf(probability)
    # In the angle atan(t / sqrt(freedom)) the function is smooth and its range bounded, however heavy the tail.
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 2 * probability - 1 else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """Probability of |t| <= sqrt(freedom) tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2:
        term = total = cosine if freedom > 1 else 0.0
        for k in range(3, freedom - 1, 2):
            term *= cosine * cosine * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + sine * total)
    term = total = 1.0
    for k in range(2, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return sine * total
