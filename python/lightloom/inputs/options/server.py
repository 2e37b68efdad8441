"""Options of the page's server: where it listens, and the limits of requests."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, Group, Kind, Option

VERB = ("serve",)

SERVING = (
    Option(
        name="host",
        kind=Kind.TEXT,
        group=Group.SERVER,
        meaning="Address or host name of this machine to listen at; other machines can reach the page unless it is "
        "127.0.0.1.",
        verbs=VERB,
        default="127.0.0.1",
        metavar="ADDRESS",
    ),
    Option(
        name="port",
        kind=Kind.WHOLE,
        group=Group.SERVER,
        meaning="Port to listen at; 0 takes a free one.",
        verbs=VERB,
        default=8080,
        least=0,
        most=65535,
    ),
    Option(
        name="name",
        kind=Kind.TEXT,
        group=Group.SERVER,
        meaning="Further host name under which browsers may reach the server; may be given several times.",
        verbs=VERB,
        metavar="NAME",
        repeated=True,
    ),
    Option(
        name="token",
        kind=Kind.TEXT,
        group=Group.SERVER,
        meaning="Token that every request must show, as `Authorization: Bearer T`; for browsers it is in the address "
        "that is printed. Set LIGHTLOOM_TOKEN instead, so that the list of processes does not show the token.",
        verbs=VERB,
        otherwise="no token is needed",
        metavar="T",
    ),
    Option(
        name="open",
        kind=Kind.FLAG,
        group=Group.SERVER,
        meaning="Open the page in a browser.",
        verbs=VERB,
        default=False,
    ),
    Option(
        name="export",
        kind=Kind.FOLDER,
        group=Group.SERVER,
        meaning="Write the page into this folder in place of serving it, with answers prepared for its examples: a "
        "demo that any web server can host.",
        verbs=VERB,
        otherwise="the page is served",
    ),
    Option(
        name="workers",
        kind=Kind.WHOLE,
        group=Group.SERVER,
        meaning="Number of processes that work, each on one request at a time.",
        verbs=VERB,
        otherwise="as many as there are cores, 8 at most",
        most=1024,
    ),
    Option(
        name="queue",
        kind=Kind.WHOLE,
        group=Group.SERVER,
        meaning="Number of requests that may wait for a process; further ones get status 429 (try again later).",
        verbs=VERB,
        default=64,
        most=100_000,
    ),
    Option(
        name="most_gpus",
        kind=Kind.WHOLE,
        group=Group.SERVER,
        meaning="Largest number of GPUs in a request.",
        verbs=VERB,
        default=4096,
        least=LEAST["gpus"],
        most=MOST["gpus"],
    ),
    Option(
        name="most_points",
        kind=Kind.WHOLE,
        group=Group.SERVER,
        meaning="Largest number of points in a map.",
        verbs=VERB,
        default=10_000,
        most=1_000_000,
    ),
    Option(
        name="most_time",
        kind=Kind.TIME,
        group=Group.SERVER,
        meaning="Time limit for the work of a request; longer work is ended.",
        verbs=VERB,
        default="60s",
    ),
    Option(
        name="most_memory",
        kind=Kind.SIZE,
        group=Group.SERVER,
        meaning="Memory limit of a process; work that needs more is ended.",
        verbs=VERB,
        default="4GiB",
    ),
    Option(
        name="cache",
        kind=Kind.SIZE,
        group=Group.SERVER,
        meaning="Size of the cache of answers.",
        verbs=VERB,
        default="64MiB",
    ),
)
