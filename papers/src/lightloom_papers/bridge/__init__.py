"""BRIDGE's figures."""

from lightloom_papers.bridge import (
    all_to_all_full_range,
    all_to_all_hop_delays,
    all_to_all_ranks,
    all_to_all_sizes,
    cost_shares,
    cumulative_cost,
    rates,
    reduce_scatter_full_range,
    reduce_scatter_hop_delays,
    reduce_scatter_ranks,
    reduce_scatter_sizes,
    subtori,
    table_1,
    table_2,
)
from lightloom_papers.figure import Paper
from lightloom_papers.sentences import Sentences

BRIDGE = Paper(
    "bridge",
    "BRIDGE",
    (
        table_1.FIGURE,
        table_2.FIGURE,
        cumulative_cost.FIGURE,
        cost_shares.FIGURE,
        all_to_all_sizes.FIGURE,
        all_to_all_hop_delays.FIGURE,
        all_to_all_ranks.FIGURE,
        all_to_all_full_range.FIGURE,
        reduce_scatter_sizes.FIGURE,
        reduce_scatter_hop_delays.FIGURE,
        reduce_scatter_ranks.FIGURE,
        reduce_scatter_full_range.FIGURE,
        rates.FIGURE,
        subtori.FIGURE,
    ),
    Sentences.read("bridge"),
)
