"""The verbs of this distribution. Adding one is a file with a click command of the same name, and a line here."""

from typing import NamedTuple


class Verb(NamedTuple):
    """A verb's name, which is also its command's, its module, and what it does."""

    name: str
    module: str
    summary: str


VERBS = (
    Verb("plan", "lightloom.cli.plan", "Plan a collective: algorithm, topology of every step, when to reconfigure."),
    Verb("compare", "lightloom.cli.compare", "Plan the same problem by every planner and baseline, side by side."),
    Verb("bound", "lightloom.cli.bound", "Lower bounds on the time that a collective takes, term by term."),
    Verb(
        "verify", "lightloom.cli.verify", "Check plans and schedules: execute them, recompute ports, paths and costs."
    ),
    Verb(
        "simulate",
        "lightloom.cli.simulate",
        "Simulate a plan packet by packet, and say why it takes as long as it does.",
    ),
    Verb(
        "train",
        "lightloom.cli.train",
        "Plan an iteration of training or inference: all its collectives together, while ranks compute.",
    ),
    Verb(
        "advise",
        "lightloom.cli.advise",
        "Advise on a switch: which one a mix of collectives, models and traces needs.",
    ),
    Verb(
        "jobs",
        "lightloom.cli.jobs",
        "Place jobs that arrive on one fabric: who gets which GPUs and when, by ways to share it.",
    ),
    Verb(
        "robust",
        "lightloom.cli.robust",
        "Plan an unequal All-to-All once for many iterations, and compare that with planning it anew.",
    ),
    Verb(
        "adapt",
        "lightloom.cli.adapt",
        "Choose a plan at every call by measured reconfiguration delays, and measure the regret.",
    ),
    Verb(
        "fallbacks",
        "lightloom.cli.fallbacks",
        "Look up the plan for a fault in a file of plans for every single fault.",
    ),
    Verb("run", "lightloom.cli.run", "Run a plan on processes and real data, and compare measured and planned times."),
    Verb("export", "lightloom.cli.export", "Write a plan in the format of another tool, such as MSCCL."),
    Verb(
        "circuits",
        "lightloom.cli.circuits",
        "Put a plan's circuits on the ports of switches: what to connect, and when.",
    ),
    Verb("calibrate", "lightloom.cli.calibrate", "Fit startup, bandwidth and hop delay of a fabric to measured times."),
    Verb(
        "sweep",
        "lightloom.cli.sweep",
        "Evaluate many combinations of options: a table, heat maps and lines; resumes.",
    ),
    Verb("serve", "lightloom.cli.serve", "Show the page to explore in a browser; its address is printed."),
    Verb("list", "lightloom.cli.list", "List algorithms, topologies, planners, fabrics and all other names."),
    Verb("completion", "lightloom.cli.completion", "Print the script that makes bash, zsh or fish complete commands."),
)
