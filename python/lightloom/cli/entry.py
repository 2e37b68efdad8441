"""Runs a verb, and turns what goes wrong into one line and an exit status."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from lightloom.cli.registry import VERBS
from lightloom.errors import InputError, refuse, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_DONE, EXIT_WRONG_INPUT, EXIT_INTERRUPTED = 0, 2, 130


class Verbs(click.Group):
    """The verbs of the registry; a verb's module is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names, in the registry's order."""
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The verb's command, imported."""
        for verb in VERBS:
            if verb.name == cmd_name:
                command = import_module(verb.module).command
                assert isinstance(command, click.Command)  # noqa: S101
                return command
        raise unknown_name("verb", cmd_name, [verb.name for verb in VERBS])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The verbs and their summaries, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb.name, verb.summary) for verb in VERBS])


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from lightloom import __version__

        click.echo(f"lightloom {__version__}")
        ctx.exit()


@click.group(cls=Verbs, invoke_without_command=True, context_settings={"max_content_width": 120})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def lightloom(ctx: click.Context) -> None:
    """Plan collective communication on GPUs joined by photonic circuit switches.

    \b
    Example:
      lightloom plan --collective all-reduce --size 64MiB --gpus 64

    Every verb has --help with its options and an example. Exit status: 0 done, 1 failed, 2 the input is wrong.
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. `arguments` are those after the program's name.

    Raises `SystemExit(1)`, as click does, when whoever read the output went away.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # bars and names must not fail on an ASCII terminal
    try:
        status = lightloom.main(args=arguments, prog_name="lightloom", standalone_mode=False)
    except InputError as error:
        return _wrong_input(str(error))
    except click.ClickException as error:
        return _wrong_input(str(_as_input_error(error)))
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    return status if isinstance(status, int) else EXIT_DONE


def _wrong_input(message: str) -> int:
    print("error:", message, file=sys.stderr)  # noqa: T201
    return EXIT_WRONG_INPUT


def _as_input_error(error: click.ClickException) -> InputError:
    """Click's own errors in the form of ours: the field first, then what is wrong."""
    message = error.message.rstrip(".")
    parameter: click.Parameter | None = getattr(error, "param", None)
    if parameter is not None:
        missing = isinstance(error, click.MissingParameter)
        return refuse(_field(parameter.opts[0]), "it is missing" if missing else message)
    if isinstance(error, click.NoSuchOption):
        hint = f", did you mean {error.possibilities[0]}?" if error.possibilities else ""
        return refuse(error.option_name, f"there is no such option{hint}")
    if isinstance(error, click.BadOptionUsage):
        return refuse(_field(error.option_name), message)
    return refuse("arguments", message)


def _field(option: str) -> str:
    return option.lstrip("-").replace("-", "_")
