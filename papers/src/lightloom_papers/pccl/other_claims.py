"""Claims of PCCL that need hardware, a training simulator, or circuits through interferometers and fibres."""

from lightloom_papers.claims import Claim

TRAINING = (
    "training needs FlexFlow's task graph with times of its nodes measured on a GPU; neither is published, and "
    "Lightloom plans collectives, not training steps"
)
ROUTING = "routes through a mesh of interferometers and along fibres (algorithms 3 and 4) are no part of Lightloom"

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
        "Circuits routed on a 256x256 grid of 65 000 interferometers in under 2.5 s",
        "§4.2, fig. 19",
        paper="< 2.5 s",
        why=ROUTING,
    ),
    Claim.not_judged(
        "64 servers: 7 fibres an edge for 100 random circuits, 31 for 512, in under 10 s",
        "§4.2, appendix B.1",
        paper="7, 31, < 10 s",
        why=ROUTING,
    ),
    Claim.not_judged(
        "Synthesis by SCCL exceeds 24 hours on two servers", "§7", paper="> 24 h", why="it needs SCCL; cited from TACCL"
    ),
)
