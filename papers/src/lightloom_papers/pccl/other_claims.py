"""Claims of PCCL that need others' tools."""

from lightloom_papers.claims import Claim

OTHER_CLAIMS = (
    Claim.not_judged(
        "Synthesis by SCCL exceeds 24 hours on two servers", "§7", paper="> 24 h", why="it needs SCCL; cited from TACCL"
    ),
)
