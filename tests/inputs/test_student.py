"""Student's t, against SciPy's and against closed forms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as reference

from lightloom.calibration.student import two_sided_quantile


@given(st.integers(1, 3000), st.floats(1e-6, 1 - 1e-9))
def test_as_much_lies_within_as_is_said(freedom: int, confidence: float) -> None:
    within = two_sided_quantile(freedom, confidence)
    # One tail, as the difference of two would lose digits.
    assert reference.sf(within, freedom) == pytest.approx((1 - confidence) / 2, rel=1e-9, abs=1e-12)


@given(st.floats(1e-300, 1 - 1e-9))
def test_one_and_two_degrees_of_freedom_are_known(confidence: float) -> None:
    assert two_sided_quantile(1, confidence) == pytest.approx(math.tan(math.pi / 2 * confidence), rel=1e-6)
    expected = confidence * math.sqrt(2 / (1 - confidence**2))
    assert two_sided_quantile(2, confidence) == pytest.approx(expected, rel=1e-6)


def test_ends() -> None:
    assert two_sided_quantile(5, 5e-324) >= 0
    assert math.isfinite(two_sided_quantile(1, math.nextafter(1, 0)))
