"""Makes calls that are asked for by name on standard input, and says when an interrupt was heard.

`python -m tests.interrupts.caller`. A line of standard output for each: JSON with `began_s`, then `ended_s` and `how`,
times by `time.monotonic`, which all processes share.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import TYPE_CHECKING

import lightloom as ll
from tests.interrupts.calls import calls

if TYPE_CHECKING:
    from tests.interrupts.calls import Call

SMALL = ("all-reduce", "1MiB")


def main() -> None:
    """One call after the other, each followed by a small one that must be as ever."""
    known, fabric = calls(), ll.Fabric(gpus=8)
    expected = ll.plan(*SMALL, fabric=fabric).to_json()
    _say({"names": list(known)})
    for line in iter(sys.stdin.readline, ""):
        how = _made(known[line.strip()])
        ended_s = time.monotonic()
        if ll.plan(*SMALL, fabric=fabric).to_json() != expected:
            how = "the next plan is another"
        _say({"ended_s": ended_s, "how": how})


def _made(call: Call) -> str:
    """How the call ended. Interrupts are only for the call: one that comes late is for nobody."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _say({"began_s": time.monotonic()})
        call()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return "interrupted"
    except ll.InputError as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return f"refused: {error}"
    return "done"


def _say(told: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
