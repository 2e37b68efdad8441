"""What is kept of answers: no more than this many bytes, the most recently used of them."""

from __future__ import annotations

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from lightloom.page.cache import LARGEST_PART, Cache
from lightloom.page.outcome import Outcome

MOST = 8000
USES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans(), st.integers(0, 2500)), max_size=60)


@given(USES)
def test_it_keeps_the_most_recently_used_of_what_fits(uses: list[tuple[str, bool, int]]) -> None:
    cache = Cache(MOST)
    kept: OrderedDict[str, Outcome] = OrderedDict()
    for key, is_asked, size in uses:
        if is_asked:
            found = cache.get(key)
            assert found is kept.get(key)
            if key in kept:
                kept.move_to_end(key)
            continue
        outcome = Outcome(200, bytes(size))
        cache.put(key, outcome)
        if outcome.size_bytes <= MOST // LARGEST_PART:
            kept.pop(key, None)
            kept[key] = outcome
            while sum(one.size_bytes for one in kept.values()) > MOST:
                kept.popitem(last=False)
        assert cache.bytes == sum(one.size_bytes for one in kept.values()) <= MOST
        assert len(cache) == len(kept)
