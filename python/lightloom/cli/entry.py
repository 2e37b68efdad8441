"""Runs a verb, and turns what goes wrong into one line and an exit status."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from lightloom.cli.registry import VERBS
from lightloom.errors import InputError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_DONE, EXIT_FAILED, EXIT_WRONG_INPUT, EXIT_INTERRUPTED = 0, 1, 2, 130


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
    """Run the command line; returns the exit status. `arguments` are those after the program's name."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # bars and names must not fail on an ASCII terminal
    try:
        status = lightloom.main(args=arguments, prog_name="lightloom", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _wrong_input(str(error))
    except click.ClickException as error:
        return _wrong_input(_one_line(error))
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output went away; the interpreter's own flush at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return status if isinstance(status, int) else EXIT_DONE


def _wrong_input(message: str) -> int:
    print("error:", " ".join(message.split()), file=sys.stderr)  # noqa: T201
    return EXIT_WRONG_INPUT


def _one_line(error: click.ClickException) -> str:
    """The field first, then what is wrong: click's own errors in the words of ours."""
    message = error.message.rstrip(".")
    parameter: Any = getattr(error, "param", None)
    if parameter is not None:
        field = parameter.opts[0].lstrip("-").replace("-", "_")
        return f"{field}: {'it is missing' if isinstance(error, click.MissingParameter) else message}"
    if isinstance(error, click.NoSuchOption):
        hint = f", did you mean {error.possibilities[0]}?" if error.possibilities else ""
        return f"{error.option_name}: there is no such option{hint}"
    if isinstance(error, click.BadOptionUsage):
        return f"{error.option_name.lstrip('-').replace('-', '_')}: {message}"
    return f"arguments: {message}"
