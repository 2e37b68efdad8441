"""Writes an All-to-All matrix like a mixture-of-experts layer's: unequal, seeded, bytes `[src][dst]` as CSV.

Every GPU holds one expert and routes the same number of tokens; how popular an expert is follows Zipf's law.
"""

import argparse
from pathlib import Path

import numpy as np


def moe_matrix(
    gpus: int = 16,
    tokens: int = 4096,
    experts_per_token: int = 2,
    token_bytes: int = 4096,
    zipf: float = 0.4,
    seed: int = 0,
) -> np.ndarray:
    """Bytes from the GPU of a token (row) to the GPU of its expert (column), shape (gpus, gpus)."""
    random = np.random.default_rng(seed)
    popularity = random.permutation(1.0 / np.arange(1, gpus + 1) ** zipf)
    routed = random.multinomial(tokens * experts_per_token, popularity / popularity.sum(), size=gpus)
    return routed * token_bytes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--gpus", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    matrix = moe_matrix(gpus=arguments.gpus, seed=arguments.seed)
    np.savetxt(arguments.output, matrix, fmt="%d", delimiter=",")
    heaviest = matrix.sum(axis=0).max() / matrix.sum(axis=0).mean()
    print(f"{arguments.output}: {arguments.gpus} GPUs, the most popular expert gets {heaviest:.2f} times the average")
