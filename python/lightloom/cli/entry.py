"""Runs a verb, and turns errors into one line and an exit status."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from lightloom.base import plugins
from lightloom.base.errors import FailedError, InputError, OutputError, printable, refuse, unknown_name
from lightloom.base.files import FULL
from lightloom.base.temporary_files import end_unfinished
from lightloom.cli.outputs import give_up_standard_output
from lightloom.cli.registry import VERBS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

EXIT_DONE, EXIT_FAILED, EXIT_WRONG_INPUT = 0, 1, 2
# Signals that ask a program to end; unfinished files are removed first, as after an interrupt from the keyboard.
ENDING = ("SIGTERM", "SIGHUP")
# The key under which click keeps the entry point of the verb that runs, if another distribution brings it.
BROUGHT = "lightloom.brought"
PASSING = (KeyboardInterrupt, SystemExit)
EXTRA_ARGUMENT = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)


class Verbs(click.Group):
    """The verbs of the registry and of other distributions; a verb's module is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names, in the registry's order, then those of other distributions."""
        own = [verb.name for verb in VERBS]
        return [*own, *(name for name in plugins.brought(plugins.VERBS) if name not in own)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, imported. Raises `InputError` for an unknown one, unless a shell asks for completions."""
        for verb in VERBS:
            if verb.name == cmd_name:
                command = import_module(verb.module).command
                assert isinstance(command, click.Command)  # noqa: S101
                return command
        entry = plugins.brought(plugins.VERBS).get(cmd_name)
        if entry is None and ctx.resilient_parsing:
            return None
        if entry is None:
            raise plugins.elsewhere("verb", cmd_name) or unknown_name("verb", cmd_name, self.list_commands(ctx))
        command = plugins.load(entry)
        if not isinstance(command, click.Command):
            raise plugins.broken(entry, f"`{entry.value}` is not a click command")
        ctx.meta[BROUGHT] = entry
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; an error that a verb of another distribution does not handle becomes a `PluginError`."""
        try:
            return super().invoke(ctx)
        except (
            InputError,
            OutputError,
            FailedError,
            click.ClickException,
            click.Abort,
            click.exceptions.Exit,
            *PASSING,
        ):
            raise
        except BaseException as error:
            if BROUGHT not in ctx.meta or _is_of_stream(error):
                raise
            raise plugins.raised(ctx.meta[BROUGHT], error, "failed") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs and their summaries; only those of other distributions are imported for it."""
        summaries = {verb.name: verb.summary for verb in VERBS}
        for name in self.list_commands(ctx):
            if name not in summaries:
                summaries[printable(name)] = self._summary(ctx, name)
        with formatter.section("Verbs"):
            formatter.write_dl(list(summaries.items()))

    def _summary(self, ctx: click.Context, name: str) -> str:
        try:
            command = self.get_command(ctx, name)
            return "" if command is None else printable(command.get_short_help_str(limit=120))
        except plugins.PluginError as error:
            return f"({error})"
        except Exception as error:  # the command is another distribution's
            return f"({plugins.raised(ctx.meta[BROUGHT], error)})"


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

    0: done; 2: the input is wrong, as one line on standard error says; 1: anything else, such as an interrupt, a check
    that failed, or an output that is full, with a line of its own, or closed by its reader.
    """
    try:
        return _status(arguments)
    except KeyboardInterrupt:  # one that came before the verb began, or after it ended
        return EXIT_FAILED


def program() -> NoReturn:
    """The command line as a process: `main`, then its end.

    Threads that an interrupt left at work are not waited for. They may be in compiled code, which crashes where Python
    takes itself apart meanwhile: the process then ends without that.
    """
    status = EXIT_FAILED
    # Pictures go to files, also where there are windows that could show them.
    os.environ.pop("MPLBACKEND", None)
    # Faults of its folders are reported below, in one line.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    # A second interrupt may come while the first one is dealt with.
    with suppress(KeyboardInterrupt):
        status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if any(thread.daemon for thread in threading.enumerate()):
        end_unfinished()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def _status(arguments: Sequence[str] | None) -> int:
    is_closed = _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # bars and names must not fail on an ASCII terminal
    # Matplotlib puts another one in its place.
    cache = os.environ.get("MPLCONFIGDIR")
    try:
        with _ending_as_interrupt():
            status = _run(arguments)
            sys.stdout.flush()
        _warn_of_cache(cache)
    except OSError as error:
        status = _without_folder() if _lacks_folder(error) else _output_failed(error)
    except KeyboardInterrupt:
        status = EXIT_FAILED
    except BaseException as error:  # a panic of the core is no Exception
        status = _failed(_in_words(error))
    return _failed("standard output is closed") if is_closed and status == EXIT_DONE else status


def _run(arguments: Sequence[str] | None) -> int:
    try:
        status: object = lightloom.main(args=arguments, prog_name="lightloom", standalone_mode=False)
    except InputError as error:
        return _wrong_input(str(error))
    except click.exceptions.NoArgsIsHelpError as error:  # a verb with verbs of its own, and no verb is named
        click.echo(error.format_message())
        status = EXIT_DONE
    except click.ClickException as error:
        return _wrong_input(str(_as_input_error(error)))
    except FailedError as error:
        return _failed(*error.lines)
    except (KeyboardInterrupt, click.Abort):
        return EXIT_FAILED
    except SystemExit as error:  # click ends so when the reader of standard output went away
        status = _failed(error.code) if isinstance(error.code, str) else error.code
    return _status_of(status)


def _status_of(returned: object) -> int:
    """The exit status for a verb's result; verbs of other distributions have the same three."""
    if not isinstance(returned, int) or isinstance(returned, bool):
        return EXIT_DONE
    return returned if returned in {EXIT_DONE, EXIT_WRONG_INPUT} else EXIT_FAILED


def _open_missing_streams() -> bool:
    """Whether standard output is closed. The next file opened must not get its number, or that of standard error."""
    is_closed = sys.stdout is None
    if is_closed or sys.stderr is None:
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)
        sys.stdout = sys.stdout or _nowhere()
        sys.stderr = sys.stderr or _nowhere()
    return is_closed


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


@contextmanager
def _ending_as_interrupt() -> Iterator[None]:
    """While the command runs, being told to end is an interrupt, so that unfinished files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _output_failed(error: OSError) -> int:
    """One line that says which output is full; no line if its reader went away."""
    if not isinstance(error, OutputError):
        give_up_standard_output()
    if error.errno == errno.EPIPE:
        return EXIT_FAILED
    if isinstance(error, OutputError):
        return _failed(str(error))
    return _failed(f"standard output: {error.strerror or error}" if _is_of_stream(error) else _in_words(error))


def _lacks_folder(error: OSError) -> bool:
    """Whether it failed because the folder that it was started in does not exist any more."""
    if error.errno != errno.ENOENT or error.filename is not None:
        return False
    try:
        Path.cwd()
    except OSError:
        return True
    return False


def _without_folder() -> int:
    return _wrong_input("working folder: it does not exist any more; change to one that exists, or give absolute paths")


def _warn_of_cache(folder: str | None) -> None:
    """A warning where pictures were drawn and the folder in MPLCONFIGDIR cannot be used."""
    if folder and "matplotlib" in sys.modules and not os.access(folder, os.W_OK | os.X_OK):
        said = f"warning: MPLCONFIGDIR: `{folder}` cannot be written to; the next picture takes as long as this one"
        print(printable(said), file=sys.stderr)  # noqa: T201


def _is_of_stream(error: BaseException) -> bool:
    """Whether standard output is what could not be written: a file would be named."""
    return isinstance(error, OSError) and error.filename is None and error.errno in {*FULL, errno.EBADF, errno.EAGAIN}


def _in_words(error: BaseException) -> str:
    """An unforeseen error in words: its kind, its message, and where it was raised."""
    place = ""
    if not isinstance(error, (OSError, MemoryError)) and (frames := traceback.extract_tb(error.__traceback__)):
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}; please report it)"
    return (f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) + place


def _failed(*lines: str) -> int:
    for line in lines:
        print("error:", printable(line), file=sys.stderr)  # noqa: T201
    return EXIT_FAILED


def _wrong_input(message: str) -> int:
    print("error:", message, file=sys.stderr)  # noqa: T201
    return EXIT_WRONG_INPUT


def _as_input_error(error: click.ClickException) -> InputError:
    """Click's own errors in the form of ours: the field first, then the fault."""
    message = error.message.rstrip(".")
    parameter: click.Parameter | None = getattr(error, "param", None)
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if parameter is not None:
        missing = isinstance(error, click.MissingParameter)
        return refuse(_field(parameter.opts[0]), _missing(parameter, ctx) if missing else message)
    if isinstance(error, click.NoSuchOption):
        hint = f", did you mean {error.possibilities[0]}?" if error.possibilities else ""
        if error.option_name == "--gpus" and ctx is not None and any(one.name == "ranks" for one in ctx.command.params):
            hint = "; the number of a workload's ranks is --ranks"
        return refuse(error.option_name, f"there is no such option{hint}")
    if isinstance(error, click.BadOptionUsage):
        from lightloom.cli.options import LETTERS

        name = next((name for name, letters in LETTERS.items() if error.option_name in letters), error.option_name)
        return refuse(_field(name), message)
    extra = EXTRA_ARGUMENT.fullmatch(message)
    if extra is not None and ctx is not None:
        usage = " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])
        return refuse("arguments", f"unexpected argument `{extra[1]}`; the usage is `{usage}`")
    return refuse("arguments", message)


def _missing(parameter: click.Parameter, ctx: click.Context | None) -> str:
    """The missing options, and the first example of the verb's help."""
    if ctx is None:
        return "missing"
    lines = (line.strip() for line in (ctx.command.help or "").splitlines())
    example = next((f", such as: {line}" for line in lines if line.startswith(f"{ctx.command_path} ")), "")
    return f"missing; give {parameter.make_metavar(ctx)}{example}"


def _field(option: str) -> str:
    return option.lstrip("-").replace("-", "_")
