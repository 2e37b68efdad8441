"""Random command lines, with the files that they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from lightloom.formats import written_formats
from lightloom.inputs.options import Kind, options_of
from tests.fuzz_command_line import inputs, values
from tests.fuzz_command_line.values import Values, garbage, name_of, text_of

# Values by kind, for options without values of their own below.
KINDS = {
    Kind.WHOLE: values.SMALL_COUNT,
    Kind.SIZE: values.SIZE,
    Kind.TIME: values.TIME,
    Kind.RATE: values.RATE,
    Kind.DELAY: values.DELAY,
    Kind.BARRIER: values.BARRIER,
    Kind.WINDOW: values.WINDOW,
    Kind.DIMS: values.DIMS,
}
FileMaker = Callable[[Random, Path, float], None]

# By verb, how often it is drawn.
WEIGHTS = {
    "plan": 32,
    "compare": 7,
    "bound": 12,
    "verify": 10,
    "simulate": 13,
    "run": 3,
    "train": 3,
    "circuits": 6,
    "export": 6,
    "sweep": 3,
    "calibrate": 8,
    "list": 6,
    "reproduce": 3,
    "other": 3,
}


class CommandLine:
    """One command line in the making. `wild` is how likely each value is to be wrong."""

    def __init__(self, rng: Random, folder: Path) -> None:
        self.rng = rng
        self.folder = folder
        self.wild = rng.choice((0.0, 0.0, 0.03, 0.1, 0.3))
        self.verb = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        self.arguments: list[str] = [] if self.verb == "other" else [self.verb]
        self.outputs: list[str] = []
        getattr(self, f"_{self.verb}")()
        self._rows()
        if rng.random() < 0.04:
            self.arguments.append("--help")
        if rng.random() < self.wild / 2:
            self._disturb()

    def _rows(self) -> None:
        """Now and then any option that the table has for the verb, by its kind."""
        for row in options_of(self.verb):
            if row.kind in KINDS:
                self._text(row.flag, KINDS[row.kind], 0.005)
            elif row.choices:
                self._name(row.flag, row.choices, 0.005)

    def _disturb(self) -> None:
        """An argument doubled, left out, put in, or in another place."""
        rng = self.rng
        at = rng.randrange(len(self.arguments) + 1)
        match rng.randrange(4):
            case 0:
                self.arguments.insert(at, garbage(rng))
            case 1:
                self.arguments[at:at] = rng.choices(self.arguments or [""], k=2)
            case 2:
                del self.arguments[at : at + 1]
            case _:
                rng.shuffle(self.arguments)

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _put(self, option: str, value: str) -> None:
        self.arguments += [f"{option}={value}"] if self._chance(0.1) else [option, value]

    def _text(self, option: str, known: Values, probability: float = 1.0) -> None:
        if self._chance(probability):
            self._put(option, text_of(self.rng, known, self.wild))

    def _name(self, option: str, names: tuple[str, ...], probability: float = 1.0) -> None:
        if self._chance(probability):
            self._put(option, name_of(self.rng, names, self.wild))

    def _flag(self, option: str, probability: float) -> None:
        if self._chance(probability):
            self.arguments.append(option)

    def _format(self) -> None:
        # Tables take longer to draw than most plans to find.
        self._name("--format", ("json", "json", "json", "table"), 0.88)

    def _file(self, make: FileMaker, *suffixes: str) -> str:
        """A file of that kind; sometimes of another, or something that is no file."""
        rng = self.rng
        if self._chance(self.wild / 4):
            return rng.choice(
                (garbage(rng), "nowhere.json", ".", inputs.place_of_output(rng, self.folder, "x" + suffixes[0]))
            )
        if self._chance(self.wild / 4):
            makers = (
                inputs.plan_file,
                inputs.fabric_file,
                inputs.topology_file,
                inputs.matrix_file,
                inputs.schedule_file,
            )
            make = rng.choice((*makers, inputs.measurements_file, inputs.sweep_file))
        name = f"in{len(list(self.folder.iterdir()))}{rng.choice(suffixes)}"
        make(rng, self.folder / name, self.wild)
        return name

    def _output(self, option: str, suffixes: tuple[str, ...], probability: float) -> None:
        if not self._chance(probability):
            return
        rng = self.rng
        suffix = garbage(rng).replace("/", "") if self._chance(self.wild / 2) else rng.choice(suffixes)
        name = inputs.place_of_output(rng, self.folder, "to" + suffix) if self._chance(0.25) else "to" + suffix
        self.outputs.append(name)
        self._put(option, name)

    def _topologies(self, option: str, probability: float, *, families: bool = False) -> None:
        if not self._chance(probability):
            return
        names = values.TOPOLOGIES + (values.FAMILIES if families else ())
        items = []
        for _ in range(self.rng.choice((1, 1, 2, 3)) if option != "--initial" else 1):
            if self._chance(0.1):
                items.append(self._file(inputs.topology_file, ".edgelist", ".csv", ".txt", ".graphml"))
            elif self._chance(self.wild):
                items.append(self.rng.choice((*values.TOPOLOGY_EDGES, garbage(self.rng))))
            else:
                items.append(self.rng.choice(names))
        self._put(option, self.rng.choice((",", ";")).join(items))

    def _problem(self) -> None:
        rng = self.rng
        pairs, collective = self._chance(0.12), rng.choice(values.COLLECTIVES)
        if pairs:
            collective = "all-to-all"
            self._put("--collective", collective)
            if self._chance(0.6):
                self._put("--matrix", self._file(inputs.matrix_file, ".csv", ".npy", ".txt"))
            else:
                self._text("--matrix", values.WORKLOADS)
        else:
            self._name("--collective", (collective,), 0.98)
        sizes = values.SIZE_OF_PAIRS if collective == "all-to-all" else values.SIZE
        self._text("--size", sizes, 0.98 if not pairs else 0.4)
        if not pairs or self._chance(0.3):
            self._text("--gpus", values.GPUS, 0.95)
        self._text("--dims", values.DIMS, 0.04)
        self._text("--ports", values.PORTS, 0.5)
        for option, known in (("--bandwidth", values.RATE), ("--startup", values.TIME), ("--hop-delay", values.TIME)):
            self._text(option, known, 0.25)
        self._text("--reconfiguration-delay", values.DELAY, 0.4)
        self._flag("--background-reconfiguration", 0.1)
        self._flag("--no-background-reconfiguration", 0.03)
        self._text("--window", values.WINDOW, 0.1)
        self._topologies("--initial", 0.2)
        self._text("--optics", values.OPTICS, 0.08)
        if self._chance(0.12):
            preset = rng.choice(("default", "mems-3d", "bridge", "harvest"))
            self._put("--fabric", preset if self._chance(0.4) else self._file(inputs.fabric_file, ".toml"))
        if not pairs:
            self._name("--algorithm", values.ALGORITHMS_OF[collective] if self._chance(0.9) else values.ALGORITHMS, 0.5)
        self._text("--radix", values.RADIX, 0.1)
        planners = values.PLANNERS if collective == "all-to-all" or self._chance(0.15) else values.ANY_PLANNER
        self._name("--planner", planners, 0.75)
        self._topologies("--candidates", 0.1, families=True)
        self._topologies("--topology", 0.1, families=True)
        self._name("--routing", values.ROUTINGS, 0.2)
        self._name("--convention", values.CONVENTIONS, 0.15)
        self._name("--overlap", values.OVERLAPS, 0.15)
        if self._chance(0.06):
            self._put("--schedule", self._file(inputs.schedule_file, ".xml"))
        self._text("--chunk-size", values.SIZE, 0.04)
        self._text("--optical-ports", values.PORTS, 0.04)
        self._text("--seed", values.SEED, 0.08)
        self._format()

    def _plan(self) -> None:
        self._problem()
        if self._chance(0.01):
            self.arguments += ["--planner", "exact", "--gpus", self.rng.choice(("3", "4", "5")), "--budget", "50ms"]
        self._text("--budget", values.BUDGET, 0.04)
        self._text("--invariant-under", values.INVARIANT, 0.02)
        if self._chance(0.02):
            self._put("--sequence", self._file(inputs.sequence_file, ".json"))
        self._output("--output", (".json", "", ".txt"), 0.3)
        self._output("--plot", (".png", ".svg", ".pdf"), 0.003)

    def _compare(self) -> None:
        if self._chance(0.05):
            self.arguments += ["--benchmark", garbage(self.rng)]
            self._output("--output", ("", ".d"), 0.5)
            return
        self._problem()

    def _bound(self) -> None:
        self._problem()

    def _verify(self) -> None:
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            make = inputs.schedule_file if self._chance(0.2) else inputs.plan_file
            self.arguments.append(self._file(make, ".json", ".xml", ""))
        self._name("--topology", values.TOPOLOGIES, 0.1)
        self._format()

    def _simulate(self) -> None:
        self.arguments.append(self._file(inputs.plan_file, ".json"))
        bytes_of = Values(("64B", "1500B", "4096B", "9000B", "1MiB", "0B"), values.SIZE.edges)
        self._name("--level", ("packet", "flow"), 0.4)
        self._text("--packet-size", bytes_of, 0.3)
        self._text("--header-size", bytes_of, 0.2)
        self._name("--injection", ("burst", "paced"), 0.3)
        self._name("--forwarding", ("store-and-forward", "cut-through"), 0.3)
        self._name("--sync", ("barrier", "dataflow"), 0.4)
        self._text("--barrier", values.TIME, 0.2)
        self._name("--reconfiguration", ("global", "ports"), 0.3)
        self._text("--buffer", bytes_of, 0.15)
        self._text("--congestion-control", values.CONGESTION_CONTROL, 0.15)
        self._name("--symmetry", ("quotient", "full"), 0.2)
        self._text("--seed", values.SEED, 0.1)
        self._flag("--links", 0.2)
        self._flag("--explain", 0.2)
        self._output("--trace", (".json", ".json.gz"), 0.15)
        self._output("--plot", (".png", ".svg", ".pdf"), 0.003)
        self._format()

    def _run(self) -> None:
        self.arguments.append(self._file(inputs.plan_file, ".json"))
        # As fast as processes can, once: large plans take long all the same.
        self._text("--dilation", values.DILATION, 0.9)
        self._text("--runs", Values(("1", "2"), values.SMALL_COUNT.edges), 0.9)
        self._text("--warm-ups", Values(("0", "1"), values.SMALL_COUNT.edges), 0.9)
        self._name("--dtype", ("float32", "float64", "int32", "bfloat16"), 0.4)
        self._name("--reduction", ("sum", "max"), 0.3)
        self._text("--packet-size", values.SIZE, 0.1)
        self._flag("--no-real-time", 0.5)
        self._flag("--all-steps", 0.2)
        self._output("--output", (".json",), 0.2)
        self._output("--plot", (".png", ".svg"), 0.01)
        self._output("--trace", (".json", ".json.gz"), 0.1)
        self._name("--format", ("table", "json", "csv"), 0.5)

    def _train(self) -> None:
        self.arguments.append(self._file(inputs.workload_file, ".json"))
        self._text("--ports", values.PORTS, 0.5)
        for option, known in (("--bandwidth", values.RATE), ("--startup", values.TIME), ("--hop-delay", values.TIME)):
            self._text(option, known, 0.2)
        self._text("--reconfiguration-delay", values.TIME, 0.4)
        self._name("--policy", ("carry", "alone", "pccl", "one-shot", "static"), 0.4)
        self._output("--output", (".json",), 0.2)
        self._output("--trace", (".json", ".json.gz"), 0.1)
        self._output("--plot", (".png", ".svg"), 0.01)
        self._name("--format", ("table", "json", "csv"), 0.6)

    def _circuits(self) -> None:
        self.arguments.append(self._file(inputs.plan_file, ".json"))
        self._text("--optics", values.OPTICS, 0.7)
        self._flag("--all-connections", 0.3)
        self._output("--output", (".json",), 0.3)
        self._output("--plot", (".png", ".svg"), 0.01)
        self._name("--format", ("table", "json", "csv"), 0.6)
        if self._chance(self.wild / 4):
            # None is an address: nothing is sent anywhere.
            self._put("--send", self.rng.choice(values.NO_ADDRESSES))
        self._flag("--follow", self.wild / 4)

    def _export(self) -> None:
        self.arguments.append(self._file(inputs.plan_file, ".json"))
        self._name("--to", tuple(written_formats()), 0.95)
        self._output("--output", ("", ".xml", ".json", ".d"), 0.95)
        self._name("--format", ("table", "json"), 0.3)

    def _sweep(self) -> None:
        self.arguments.append(self._file(inputs.sweep_file, ".toml"))
        self._name("--engine", ("model", "flow", "packet"), 0.3)
        self._output("--output", ("", ".d"), 0.4)
        self._text("--workers", values.SMALL_COUNT, 0.3)
        self._flag("--restart", 0.2)
        self._name("--plot", ("png", "svg", "pdf"), 0.1)
        self._format()

    def _calibrate(self) -> None:
        self.arguments.append(self._file(inputs.measurements_file, ".csv"))
        self._name("--errors", ("relative", "robust", "absolute"), 0.4)
        self._text("--confidence", values.CONFIDENCE, 0.3)
        self._text("--hop-delay", values.TIME, 0.3)
        self._name("--collective", values.COLLECTIVES, 0.1)
        self._name("--algorithm", values.ALGORITHMS, 0.1)
        self._text("--gpus", values.GPUS, 0.1)
        self._text("--dims", values.DIMS, 0.05)
        self._text("--ports", values.PORTS, 0.05)
        self._topologies("--topology", 0.05)
        self._name("--routing", ("single-path", "equal-split"), 0.1)
        self._output("--output", (".toml", ".json"), 0.2)
        self._output("--plot", (".png", ".svg"), 0.005)
        self._format()

    def _list(self) -> None:
        kinds = ("algorithms", "topologies", "candidates", "planners", "collectives", "fabrics", "routings")
        others = ("technologies", "workloads", "benchmarks", "figures")
        if self._chance(0.85):
            self.arguments.append(name_of(self.rng, (*kinds, *others), self.wild))
        if self._chance(0.8 if "algorithms" in self.arguments or len(self.arguments) == 1 else 0.05):
            self._text("--gpus", values.GPUS, 0.8)
            self._name("--collective", values.COLLECTIVES, 0.4)
            self._text("--dims", values.DIMS, 0.1)
            self._text("--radix", values.RADIX, 0.2)
        self._text("--ports", values.PORTS, 0.2)
        self._format()

    def _reproduce(self) -> None:
        self.arguments.append(self.rng.choice(("list", "--help", "bridge-table-9", garbage(self.rng))))
        self._name("--engine", ("model", "packet"), 0.2)
        self._name("--picture", ("png", "svg"), 0.2)
        self._text("--workers", values.SMALL_COUNT, 0.2)
        self._format()

    def _other(self) -> None:
        """No verb, the options of the group, and verbs that there are not."""
        rng = self.rng
        self.arguments += rng.choice(
            (
                [],
                ["--help"],
                ["--version"],
                ["--verson"],
                ["pln"],
                ["run"],
                [""],
                [garbage(rng)],
                ["--", "plan"],
                ["-h"],
            )
        )
