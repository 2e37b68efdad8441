"""Claims of BRIDGE that no figure shows or that need what Lightloom has not."""

from lightloom_papers.claims import Claim

OTHER_CLAIMS = (
    Claim.not_judged(
        "The same conclusions with 200 and 400 Gbit/s and with MTUs from 1500 B to 9000 B",
        "§4.1",
        paper="consistent",
        why="it needs those simulations' DCQCN and headers; in the model a slower link is a larger buffer, and there "
        "are no packets",
    ),
    Claim.not_judged(
        "Reconfiguration times and ports of switches: 7 µs and 32, 10 µs and 128, 15 ms and 320, 25 ms and 576",
        "table 2",
        paper="7 µs to 25 ms",
        why="these are data sheets'; the presets sip, rotornet, mems-3d and piezo hold them",
    ),
    Claim.not_judged(
        "Growing tori of several dimensions out of subrings pays only in small networks",
        "§5",
        paper="small networks",
        why="named as an extension, without a schedule",
    ),
)
