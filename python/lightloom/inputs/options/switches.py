"""Options of sending configurations to switches, and of a simulated switch."""

from __future__ import annotations

from lightloom.inputs.options.option import Group, Kind, Option

VERB = ("circuits",)

SENDING = (
    Option(
        name="send",
        kind=Kind.TEXT,
        group=Group.SWITCHES,
        meaning="Send a configuration to a switch: DRIVER://HOST, such as scpi://192.0.2.7 (`lightloom list drivers`); "
        "where there are several switches, NAME=ADDRESS once for each.",
        verbs=VERB,
        metavar="ADDRESS",
        repeated=True,
    ),
    Option(
        name="configuration",
        kind=Kind.WHOLE,
        group=Group.SWITCHES,
        meaning="Number of the configuration that is sent, from 1.",
        verbs=VERB,
        otherwise="1",
        metavar="K",
    ),
    Option(
        name="follow",
        kind=Kind.FLAG,
        group=Group.SWITCHES,
        meaning="Send all configurations in order, each when every switch has acknowledged the one before.",
        verbs=VERB,
        default=False,
    ),
    Option(
        name="interval",
        kind=Kind.TIME,
        group=Group.SWITCHES,
        meaning="With --follow: the least time for which each configuration is held.",
        verbs=VERB,
        otherwise="0s",
    ),
    Option(
        name="gate",
        kind=Kind.FILE,
        group=Group.SWITCHES,
        meaning="Send each configuration when all ranks of a job are done with the steps before, and hold its steps "
        "back until then: a new file in shared memory, such as /dev/shm/gate, that ranks open by liblightloom_gate.",
        verbs=VERB,
    ),
    Option(
        name="ranks",
        kind=Kind.WHOLE,
        group=Group.SWITCHES,
        meaning="With --gate: ranks that open it.",
        verbs=VERB,
        otherwise="the ranks of the plan; for a file of circuits it must be said",
        most=1 << 16,
    ),
    Option(
        name="runs",
        kind=Kind.WHOLE,
        group=Group.SWITCHES,
        meaning="With --gate: how often the plan is run before the gate is closed.",
        verbs=VERB,
        otherwise="until all ranks have closed it",
        most=1 << 31,
    ),
    Option(
        name="replace",
        kind=Kind.FLAG,
        group=Group.SWITCHES,
        meaning="Also disconnect circuits on ports that the plan does not use.",
        verbs=VERB,
        default=False,
    ),
    Option(
        name="undo_on_failure",
        kind=Kind.FLAG,
        group=Group.SWITCHES,
        meaning="Where a switch does not acknowledge a configuration, restore the former circuits of all switches.",
        verbs=VERB,
        default=False,
    ),
    Option(
        name="state",
        kind=Kind.FILE,
        group=Group.SWITCHES,
        meaning="New file to which the switches' former circuits are written before a change.",
        verbs=VERB,
        otherwise="out/switches/before-N.json",
    ),
    Option(
        name="restore",
        kind=Kind.FILE,
        group=Group.SWITCHES,
        meaning="Set the switches back to their former circuits, from a file that --send wrote (see --state).",
        verbs=VERB,
    ),
)

SIMULATED_SWITCH = (
    Option(
        name="simulated_switch",
        kind=Kind.NAME,
        group=Group.SWITCHES,
        meaning="Start a simulated switch for trials, which runs until Ctrl-C, with the interface of one of "
        "`lightloom list drivers`; its address is printed.",
        verbs=VERB,
        names="drivers",
    ),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.SWITCHES,
        meaning="Number of ingress ports of the simulated switch; it has as many egress ports.",
        verbs=VERB,
        otherwise="64",
        most=4096,
    ),
    Option(
        name="listen",
        kind=Kind.TEXT,
        group=Group.SWITCHES,
        meaning="Address at which the simulated switch listens; port 0 takes a free one.",
        verbs=VERB,
        otherwise="127.0.0.1 and the usual port of the interface",
        metavar="HOST:PORT",
    ),
    Option(
        name="faults",
        kind=Kind.TEXT,
        group=Group.SWITCHES,
        meaning="Faults of the simulated switch, such as slow=50ms,refuse=3,drop-after=2.",
        verbs=VERB,
        metavar="LIST",
    ),
)
