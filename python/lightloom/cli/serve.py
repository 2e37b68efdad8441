"""The verb `serve`."""

from __future__ import annotations

import os
import re
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from lightloom._core import show_size
from lightloom.base.errors import FailedError, refuse
from lightloom.base.extras import EXTRAS, missing
from lightloom.base.files import check_folder, write_folder
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import give_up_standard_output
from lightloom.cli.progress import Status, with_progress
from lightloom.inputs.options import SERVING
from lightloom.inputs.quantities import bytes_of, seconds_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits

MOST_WORKERS = 8
# As browsers write names, those in other letters too (xn--…).
HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?\.?", re.ASCII)
# Characters that need no escape in addresses and headers; shorter tokens are soon guessed.
TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,200}", re.ASCII)
VARIABLE = "LIGHTLOOM_TOKEN"
# Below these no process can start.
LEAST_MEMORY_BYTES = 1 << 29
LEAST_TIME_S = 0.1


@verb("serve")
def command(open: bool, name: tuple[str, ...], export: str | None, **options: Any) -> None:  # noqa: A002
    """Show the page to explore in a browser: plans, comparisons, when reconfiguring pays, training, figures.

    Its address is printed; Ctrl-C ends it. Work is done in processes of their own, each request within limits of GPUs,
    points, time and memory; no file of the machine is read or named by a request. /openapi.json describes the same for
    programs.

    With --export, the page is written as files that any web server hosts, such as python -m http.server: it answers the
    examples of its views, and computes nothing else.

    \b
    Examples:
      lightloom serve
      lightloom serve --port 9000 --workers 4 --most-time 20s
      lightloom serve --host 0.0.0.0 --name planner.example.org --token uZ4-81qK_r0v
      lightloom serve --export demo
    """  # noqa: D301
    if export is not None:
        _export(export, {**given_of(options), **({"open": True} if open else {}), **({"name": name} if name else {})})
        return
    given = {**_defaults(), **given_of(options)}
    limits = _limits(given)
    for one in name:
        if not HOST_NAME.fullmatch(one):
            raise refuse(
                "name", f"`{one}` is not accepted; it takes a host name without a port, such as planner.example.org"
            )
    try:
        from lightloom.page import server as serving
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "lightloom":
            raise
        # The packages that these need in turn come with them.
        package = error.name if error.name in EXTRAS else "starlette"
        raise missing("serve", "the page's server", package) from error
    token = _token(given["token"] if "token" in given else os.environ.get(VARIABLE) or None)
    listening = serving.bound_socket(given["host"], given["port"])
    shows = "" if token is None else f"?token={token}"
    address, of_others = serving.address_of(listening) + shows, serving.address_of_others(listening)

    def ready() -> None:
        others = "" if of_others is None else f"; other machines: {of_others}{shows}"
        _print_address(f"{address} – Ctrl-C ends it{others}")
        if of_others is not None and token is None:
            click.echo(
                f"warning: anyone who reaches {of_others} can use this server, which has no accounts or encryption; "
                "--token T lets in only those who show T",
                err=True,
            )
        if open:
            click.launch(address)

    serving.serve(listening, limits, [given["host"], *name], ready, token=token)


def _export(folder: str, others: dict[str, Any]) -> None:
    """Write the demo. Raises `InputError` for other options, which concern a server, and a folder that has files."""
    if others:
        flag = next(iter(others)).replace("_", "-")
        raise refuse("export", f"it writes files and serves nothing; leave out --{flag}")
    check_folder("export", folder)
    try:
        import highspy  # noqa: F401 - one of the examples is solved by it

        from lightloom.page.demo import demo_files
    except ModuleNotFoundError as error:
        raise missing("serve", "the page's demo", "highspy") from error
    status = Status()
    files = with_progress("the demo", lambda: demo_files(status.say), status)
    write_folder("export", folder, files)
    size = show_size(sum(map(len, files.values())))
    click.echo(f"{folder}: {len(files)} files, {size}; for a look: python -m http.server --directory {quote(folder)}")


def _token(text: str | None) -> str | None:
    """The token. Raises `InputError` for an invalid one, without repeating it."""
    if text is not None and not TOKEN.fullmatch(text):
        raise refuse("token", "it takes 8 to 200 letters, digits, and - . _ ~, such as `openssl rand -hex 16` prints")
    return text


def _print_address(line: str) -> None:
    """Print where the page is. Raises `FailedError` where nobody could read it."""
    try:
        click.echo(line)
    except OSError as error:
        give_up_standard_output()
        raise FailedError(f"standard output: the page's address cannot be printed: {error.strerror}") from error


def _defaults() -> dict[str, Any]:
    return {option.name: option.default for option in SERVING if option.default is not None}


def _limits(given: dict[str, Any]) -> Limits:
    """The limits that the options say. Raises `InputError`."""
    from lightloom.page.limits import Limits

    seconds, memory_bytes = seconds_of("most_time", given["most_time"]), bytes_of("most_memory", given["most_memory"])
    if seconds < LEAST_TIME_S:
        raise refuse("most_time", f"`{given['most_time']}` is not accepted; it takes at least {LEAST_TIME_S:g} s")
    if memory_bytes < LEAST_MEMORY_BYTES:
        raise refuse("most_memory", f"`{given['most_memory']}` is not accepted; it takes at least 512 MiB")
    return Limits(
        gpus=given["most_gpus"],
        points=given["most_points"],
        seconds=seconds,
        memory_bytes=memory_bytes,
        workers=given.get("workers", min(os.cpu_count() or 1, MOST_WORKERS)),
        queued=given["queue"],
        cache_bytes=bytes_of("cache", given["cache"]),
    )
