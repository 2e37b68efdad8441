"""Options of a run on processes: the arguments of `lightloom.run` other than the plan and the data."""

from __future__ import annotations

from lightloom.inputs.options.option import Group, Kind, Option

VERB = ("run",)

RUNNING = (
    Option(
        name="transport",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="Transport that carries packets: shared memory, with a switch process that delays them; the kernel's "
        "network, whose filters are the circuits (needs root; no hop delay); MPI, at its own "
        "speed; or TCP among --hosts, likewise.",
        verbs=VERB,
        default="shared-memory",
        choices=("shared-memory", "kernel", "mpi", "tcp"),
    ),
    Option(
        name="runs",
        kind=Kind.WHOLE,
        group=Group.RUN,
        meaning="Number of measured runs.",
        verbs=VERB,
        default=5,
        most=100_000,
    ),
    Option(
        name="warm_ups",
        kind=Kind.WHOLE,
        group=Group.RUN,
        meaning="Number of runs, or of iterations, before the measured ones.",
        verbs=VERB,
        default=1,
        least=0,
        most=100_000,
    ),
    Option(
        name="iterations",
        kind=Kind.WHOLE,
        group=Group.RUN,
        meaning="Number of training iterations that are measured, one after the other, after --warm-ups others.",
        verbs=VERB,
        default=2,
        most=1000,
    ),
    Option(
        name="scale",
        kind=Kind.WHOLE,
        group=Group.RUN,
        meaning="Send one byte for every N of the iteration's plan, at 1/N of the rates; 1 sends all.",
        verbs=VERB,
        otherwise="the least power of two with which all data fit into 256 MiB",
        most=(1 << 32) - 1,
    ),
    Option(
        name="dilation",
        kind=Kind.NUMBER,
        group=Group.RUN,
        meaning="Slow-down of the run: rates are divided by D and delays multiplied; measured times are divided by D "
        "again.",
        verbs=VERB,
        otherwise="chosen from the machine and the plan",
        metavar="D",
    ),
    Option(
        name="dtype",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="Type of the elements.",
        verbs=VERB,
        default="float32",
        choices=("float32", "float64", "int32", "bfloat16"),
    ),
    Option(
        name="reduction",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="How receivers reduce two elements to one.",
        verbs=VERB,
        default="sum",
        choices=("sum", "max"),
    ),
    Option(
        name="switch",
        kind=Kind.TEXT,
        group=Group.RUN,
        meaning="Address of an optical switch that sets every configuration too, and acknowledges it before traffic "
        "goes on, such as scpi://192.0.2.7.",
        verbs=VERB,
        metavar="ADDRESS",
    ),
    Option(
        name="hosts",
        kind=Kind.TEXT,
        group=Group.RUN,
        meaning="With --transport tcp: the hosts, as many ranks on each, or HOST:RANKS of each; or a .toml file with "
        "the addresses of every rank's ports.",
        verbs=VERB,
        metavar="LIST|FILE",
    ),
    Option(
        name="launch",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="With --hosts: how the agents are started; none where they run already and know LIGHTLOOM_SECRET.",
        verbs=VERB,
        default="ssh",
        choices=("ssh", "mpiexec", "slurm", "none"),
    ),
    Option(
        name="agent_port",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="With --hosts: the TCP port at which agents listen.",
        verbs=VERB,
        default=7411,
        most=65_535,
    ),
    Option(
        name="tls",
        kind=Kind.FOLDER,
        group=Group.EXPERT,
        meaning="With --hosts: encrypt messages between the command and agents, by cert.pem, key.pem and ca.pem of the "
        "folder, which every host has at the same path. Connections of circuits stay as they are.",
        verbs=VERB,
        otherwise="not encrypted",
    ),
    Option(
        name="packet_size",
        kind=Kind.SIZE,
        group=Group.EXPERT,
        meaning="Bytes of a packet, without its header, which takes no time.",
        verbs=VERB,
        otherwise="chosen from the machine and the plan",
        python="bytes",
    ),
    Option(
        name="real_time",
        kind=Kind.YES_OR_NO,
        group=Group.EXPERT,
        meaning="Ask for real-time priority and locked memory, which are used where they are allowed.",
        verbs=VERB,
        default=True,
    ),
    Option(
        name="seed",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Seed of the test data.",
        verbs=VERB,
        default=0,
        least=0,
    ),
)

# Measurements that need no plan.
INSTEAD = (
    Option(
        name="calibrate",
        kind=Kind.FILE,
        group=Group.RUN,
        meaning="Instead measure sends between two ranks over the plan's fabric, and write the .csv file that the verb "
        "calibrate reads.",
        verbs=VERB,
    ),
    Option(
        name="barriers",
        kind=Kind.FLAG,
        group=Group.RUN,
        meaning="Instead measure the cost of barriers among 2, 4, 8, ... ranks; takes no PLAN.",
        verbs=VERB,
        default=False,
    ),
    Option(
        name="most_ranks",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="With --barriers: largest number of ranks.",
        verbs=VERB,
        otherwise="16, or eight per core where that is more",
        least=2,
        most=256,
    ),
    Option(
        name="rounds",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="With --barriers: number of measured rounds.",
        verbs=VERB,
        otherwise="5000",
        most=1_000_000,
    ),
)
