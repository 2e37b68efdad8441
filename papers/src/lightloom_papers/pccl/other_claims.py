"""Claims of PCCL that need hardware, a profile, or others' tools."""

from lightloom_papers.claims import Claim

OTHER_CLAIMS = (
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
