"""Times for which GPUs compute in an iteration of PCCL §6: the assumed one, and those that published rates give.

The paper takes its times from FlexFlow on one A100 of 80 GB and publishes none of them. Publications of others state
how fast A100s train layers of the same kind: the operations of the paper's transformer over such a rate are a time.
Their batches are larger, which is faster; rates of NVIDIA's include the update of weights, which is slower.
"""

from __future__ import annotations

from typing import NamedTuple

# Weight matrices of hidden × hidden elements in a layer: BERT's, and those of FlexFlow's transformer (attention and
# two dense layers; `examples/cpp/Transformer/transformer.cc`), which the sizes of the gradients agree with.
BERT_MATRICES, FLEXFLOW_MATRICES = 12, 6
# A backward pass takes twice the operations of a forward one.
PASSES = 3


class Layers(NamedTuple):
    """A transformer's layers; `sequence` in tokens, `matrices` as above."""

    layers: int
    hidden: int
    sequence: int
    matrices: int

    @property
    def training_flops(self) -> float:
        """FLOPs of a forward and a backward pass over one sequence, without embeddings, heads and norms.

        A weight takes two for each token, and so does an element of a head's queries, keys, weights and values.
        """
        in_weights = 2 * self.matrices * self.sequence * self.hidden**2
        in_attention = 4 * self.sequence**2 * self.hidden
        return float(PASSES * self.layers * (in_weights + in_attention))


# §6, with FlexFlow's layers; and BERT-large as it is trained first (Devlin et al. 2018, §3).
OURS = Layers(layers=12, hidden=2048, sequence=64, matrices=FLEXFLOW_MATRICES)
BERT_LARGE = Layers(layers=24, hidden=1024, sequence=128, matrices=BERT_MATRICES)


class Published(NamedTuple):
    """A published rate of training on one A100.

    name: of columns; what: was measured; number, unit: as published, `sequences/s` of BERT-large or `TFLOP/s`; source:
    publication and table; url: where it is.
    """

    name: str
    what: str
    year: int
    number: float
    unit: str
    source: str
    url: str

    @property
    def flops_per_s(self) -> float:
        """FLOPs a second in layers of transformers."""
        if self.unit == "TFLOP/s":
            return self.number * 1e12
        return self.number * BERT_LARGE.training_flops

    def iteration_s(self, samples: int) -> float:
        """The time of computation of an iteration with so many samples a GPU (s)."""
        return samples * OURS.training_flops / self.flops_per_s


NVIDIA = "https://github.com/NVIDIA/DeepLearningExamples"
# By the time that they give, longest first.
PUBLISHED = (
    Published(
        "tf32_2020",
        "BERT-large, A100 40 GB, TF32",
        2020,
        234,
        "sequences/s",
        "NVIDIA DeepLearningExamples, BERT for PyTorch, README of July 2020, pre-training on DGX A100, 1 GPU",
        f"{NVIDIA}/commits/master/PyTorch/LanguageModeling/BERT/README.md",
    ),
    Published(
        "tf32_2023",
        "BERT-large, A100 80 GB, TF32",
        2023,
        307,
        "sequences/s",
        "NVIDIA DeepLearningExamples, BERT for PaddlePaddle, README of January 2023, pre-training on DGX A100, 1 GPU",
        f"{NVIDIA}/blob/master/PaddlePaddle/LanguageModeling/BERT/README.md",
    ),
    Published(
        "mixed_2020",
        "BERT-large, A100 40 GB, mixed precision",
        2020,
        415,
        "sequences/s",
        "NVIDIA DeepLearningExamples, BERT for PyTorch, README of July 2020, pre-training on DGX A100, 1 GPU",
        f"{NVIDIA}/commits/master/PyTorch/LanguageModeling/BERT/README.md",
    ),
    Published(
        "fp16_2022",
        "a layer of BERT-large, A100 80 GB, FP16",
        2022,
        136,
        "TFLOP/s",
        "M. Li, Transformers benchmarks, README, BERT layer forward and backward",
        "https://github.com/mli/transformers-benchmarks/blob/main/README.md",
    ),
    Published(
        "mixed_2023",
        "BERT-large, A100 80 GB, mixed precision",
        2023,
        694,
        "sequences/s",
        "NVIDIA DeepLearningExamples, BERT for PaddlePaddle, README of January 2023, pre-training on DGX A100, 1 GPU",
        f"{NVIDIA}/blob/master/PaddlePaddle/LanguageModeling/BERT/README.md",
    ),
)
