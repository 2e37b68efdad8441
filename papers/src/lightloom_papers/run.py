"""Makes figures: the data as CSV, the picture and the page of each. A run that was interrupted goes on."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_text, usable_path, write_bytes
from lightloom.views.charts import save
from lightloom_papers.claims import Claim, Numbers, Verdict
from lightloom_papers.pages import figure_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightloom_papers.figure import Figure, Outcome, Setting

MAX_UNFINISHED_BYTES = 16 * MIB
# The claims as packets judge them, which takes minutes: `reproduce all --engine packet` writes it, and it is kept here.
PACKET_CLAIMS = "packet_claims.json"


class Made(NamedTuple):
    """A figure that was made: its claims, and the names of its files in the folder."""

    name: str
    claims: tuple[Claim, ...]
    data: str
    picture: str
    page: str


def reproduce(figure: Figure, folder: Path, setting: Setting, suffix: str = ".png") -> Made:
    """Make a figure and write NAME.csv, NAME.png (or what `suffix` says) and NAME.md to the folder, which is made.

    With packets the files are NAME-packet.csv and so on, with runs NAME-run.csv. Raises `InputError` that names
    `output` or `engine`.
    """
    from matplotlib.figure import Figure as Picture

    if setting.engine not in figure.engines:
        accepted = " or ".join(figure.engines)
        raise refuse("engine", f"`{setting.engine}` cannot make {figure.name}; it takes {accepted}")
    make_folder(folder)
    outcome = figure.make(setting)
    files = _files(figure.name, setting.engine, suffix)
    picture = Picture(layout="constrained")
    outcome.draw(picture)
    save(picture, folder / files.picture)
    write_bytes("output", folder / files.data, table_as_csv(outcome).encode())
    page = figure_page(figure, outcome, setting.engine, files.picture, files.data)
    write_bytes("output", folder / files.page, page.encode())
    return files._replace(claims=outcome.claims)


def reproduce_all(
    figures: Sequence[Figure],
    folder: Path,
    engine: str,
    setting_of: Callable[[Figure], Setting],
    suffix: str = ".png",
    advance: Callable[[Made], None] = lambda _made: None,
) -> list[Made]:
    """Make all of these; figures that an interrupted run of the same version finished are taken from it.

    advance: told each figure that is made. Errors as for `reproduce`.
    """
    make_folder(folder)
    path = folder / f".unfinished-{engine}{suffix}"
    known = _unfinished(path)
    made = []
    for figure in figures:
        files = _files(figure.name, engine, suffix)
        if figure.name in known and all((folder / name).is_file() for name in files[2:]):
            made.append(files._replace(claims=known[figure.name]))
        else:
            made.append(reproduce(figure, folder, setting_of(figure), suffix))
            known[figure.name] = made[-1].claims
            _keep(path, known)
        advance(made[-1])
    path.unlink(missing_ok=True)
    return made


def packet_claims() -> dict[str, tuple[Claim, ...]]:
    """The claims of every figure as packets judged them when the file was made, by the figure's name."""
    kept = json.loads((Path(__file__).parent / PACKET_CLAIMS).read_text(encoding="utf-8"))
    return {name: tuple(map(_claim_of, claims)) for name, claims in kept.items()}


def claims_as_json(made: Sequence[Made]) -> bytes:
    """The claims of figures, as `packet_claims` reads them."""
    claims = {one.name: [asdict(claim) for claim in one.claims] for one in made}
    return (json.dumps(claims, indent=1, ensure_ascii=False) + "\n").encode()


def _files(name: str, engine: str, suffix: str) -> Made:
    stem = name if engine == "model" else f"{name}-{engine}"
    return Made(name, (), f"{stem}.csv", f"{stem}{suffix}", f"{stem}.md")


def _keep(path: Path, known: dict[str, tuple[Claim, ...]]) -> None:
    from lightloom import __version__

    claims = {name: [asdict(claim) for claim in claims] for name, claims in known.items()}
    write_bytes("output", path, json.dumps({"version": __version__, "claims": claims}).encode())


def _unfinished(path: Path) -> dict[str, tuple[Claim, ...]]:
    """The claims that an interrupted run finished; empty if there was no such run, or one of another version."""
    from lightloom import __version__

    try:
        kept = json.loads(read_text("output", path, MAX_UNFINISHED_BYTES))
        if kept["version"] != __version__:
            return {}
        return {str(name): tuple(map(_claim_of, claims)) for name, claims in kept["claims"].items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}


def _claim_of(kept: dict[str, Any]) -> Claim:
    numbers = Numbers(**kept["numbers"]) if kept["numbers"] else None
    return Claim(**{**kept, "verdict": Verdict(kept["verdict"]), "numbers": numbers})


def make_folder(folder: Path) -> None:
    """Make the folder and those above it. Raises `InputError` that names `output`."""
    usable_path("output", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refuse("output", f"cannot make the folder `{folder}`: {error.strerror}") from error


def table_as_csv(outcome: Outcome) -> str:
    """The table, a line for each row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(outcome.table)
    writer.writerows(zip(*outcome.table.values(), strict=True))
    return text.getvalue()
