"""Claims of PCCL that need hardware or a training simulator."""

from lightloom_papers.claims import Claim

TRAINING = (
    "training needs FlexFlow's task graph with times of its nodes measured on a GPU; neither is published, and "
    "Lightloom plans collectives, not training steps"
)
OTHER_CLAIMS = (
    Claim.not_judged("Training throughput 1.3× higher", "abstract, §6, fig. 12", paper="1.3×", why=TRAINING),
    Claim.not_judged(
        "Training on grids up to 1.2× faster than with any algorithm", "§6, fig. 12", paper="1.2×", why=TRAINING
    ),
    Claim.not_judged(
        "Training matches the algorithm that suits each topology; fewer reconfigurations at 500 µs",
        "§6, fig. 12-16",
        paper="matches",
        why=TRAINING,
    ),
    Claim.not_judged(
        "AllReduces of BERT's training have buffers of 1 MB to 64 MB",
        "§6, fig. 10b",
        paper="1 MB to 64 MB",
        why="it needs a profile of the task graph",
    ),
    Claim.not_judged(
        "Two and four transfers over one link halve and quarter the bandwidth of each",
        "§3.1, fig. 6",
        paper="2×, 4×",
        why="measured on an H100 DGX; the cost model assumes it",
    ),
    Claim.not_judged(
        "Synthesis by SCCL exceeds 24 hours on two servers", "§7", paper="> 24 h", why="it needs SCCL; cited from TACCL"
    ),
)
