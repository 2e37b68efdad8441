"""How configurations are sent to switches, and options of a simulated switch."""

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
        meaning="Which configuration is sent, numbered from 1.",
        verbs=VERB,
        otherwise="1",
        metavar="K",
    ),
    Option(
        name="follow",
        kind=Kind.FLAG,
        group=Group.SWITCHES,
        meaning="Send all configurations, each when every switch has acknowledged the one before.",
        verbs=VERB,
        default=False,
    ),
    Option(
        name="interval",
        kind=Kind.TIME,
        group=Group.SWITCHES,
        meaning="With --follow, how long each configuration is held at least.",
        verbs=VERB,
        otherwise="0s",
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
        meaning="A new file for the switches' former circuits.",
        verbs=VERB,
        otherwise="out/switches/before-N.json",
    ),
    Option(
        name="restore",
        kind=Kind.FILE,
        group=Group.SWITCHES,
        meaning="Restore the switches' former circuits, from such a file.",
        verbs=VERB,
    ),
)

SIMULATED_SWITCH = (
    Option(
        name="simulated_switch",
        kind=Kind.NAME,
        group=Group.SWITCHES,
        meaning="Start a simulated switch to try things on, until Ctrl-C, with the interface of one of `lightloom list "
        "drivers`; its address is printed.",
        verbs=VERB,
        names="drivers",
    ),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.SWITCHES,
        meaning="Ingress ports of the simulated switch; it has as many egress ports.",
        verbs=VERB,
        otherwise="64",
        most=4096,
    ),
    Option(
        name="listen",
        kind=Kind.TEXT,
        group=Group.SWITCHES,
        meaning="Where the simulated switch listens; port 0 is a free one.",
        verbs=VERB,
        otherwise="127.0.0.1 and the interface's own port",
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
