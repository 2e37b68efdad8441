"""Student's t distribution, for the intervals of fitted values."""

from __future__ import annotations

import math

import numpy as np


def two_sided_quantile(freedom: int, confidence: float) -> float:
    """The t that a variable of Student's distribution stays within, in absolute value, with this probability.

    freedom: degrees of freedom, at least 1; confidence: above 0 and below 1. The distribution's sums for whole degrees
    of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4), halved in on to the last bit; O(freedom) a halving.
    """
    odd = freedom % 2
    # Coefficients of cos(angle)², cos(angle)⁴ ...: 1/2, 1·3/(2·4) ... for even degrees of freedom; 2/3, 2·4/(3·5) ...
    # for odd ones.
    orders = np.arange(1, (freedom - 1 - odd) // 2 + 1)
    factors = np.cumprod((2 * orders - 1 + odd) / (2 * orders + odd))
    low, high = 0.0, math.pi / 2
    while low < (angle := (low + high) / 2) < high:
        cosine, sine = math.cos(angle), math.sin(angle)
        series = 1 + float(np.sum(factors * cosine ** (2 * orders)))
        if not odd:
            within = sine * series
        elif freedom == 1:
            within = 2 / math.pi * angle
        else:
            within = 2 / math.pi * (angle + sine * cosine * series)
        if within < confidence:
            low = angle
        else:
            high = angle
    return math.sqrt(freedom) * math.tan(high)
