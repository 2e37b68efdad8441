"""Planners and workloads by the names that the paper gives them."""

from __future__ import annotations

from lightloom_papers.all_to_all.price_lines import OURS, RANDOM, UNIFORM, ZIPF

PLANNERS = {
    OURS: "ours",
    "fast": "FAST",
    "direct-connect-kautz": "DirectConnect (Kautz)",
    "direct-connect-circulant": "DirectConnect (circulant)",
    "topo-opt": "TopoOpt",
    "mixnet": "MixNet",
}
MATRICES = {UNIFORM: "uniform", RANDOM: "random", ZIPF: "Zipf"}
