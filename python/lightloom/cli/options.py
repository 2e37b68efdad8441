"""The options of the command line, made from the table: their values, and how `--help` shows them."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lightloom.base.errors import InputError, refuse, shown, unknown_name
from lightloom.base.whole_numbers import whole_of_text
from lightloom.cli.names import completions
from lightloom.cli.outputs import UNNAMED, own_name
from lightloom.inputs.options import (
    ARGUMENTS,
    FABRIC,
    FABRIC_KEYS,
    LISTED,
    OUTPUT,
    SETTINGS,
    VERIFIED,
    Group,
    Kind,
    Option,
    by_name,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    Function = TypeVar("Function", bound=Callable[..., Any])

# Parameters that are not called what their option is: Python has a function of that name.
PARAMETERS = {"format": "output_format", "all": "all_rows"}
# Options that are used often have a letter, the same in every verb.
LETTERS = {"output": ("-o",)}


class Value(click.ParamType[Any]):
    """The value of an option of the table: checked as far as nothing else has to be known for it."""

    def __init__(self, option: Option) -> None:
        self.name = option.kind.words
        self._option = option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """A number or the text; for a picture without a file a name of its own. Raises `InputError` with the option."""
        option = self._option
        if not isinstance(value, str):
            return value
        if value == UNNAMED and ctx is not None:
            return own_name(option.name, ctx)
        if option.kind is Kind.WHOLE:
            return whole_of_text(option.name, value, option.least, option.most)
        if option.kind is Kind.NUMBER:
            try:
                return float(value)
            except ValueError as error:
                raise refuse(option.name, f"`{shown(value)}` is not accepted; it takes a number") from error
        if option.kind is Kind.CHOICE and value not in option.choices:
            raise unknown_name(option.name, value, option.choices)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The completions that the shell offers for the incomplete value."""
        return completions(self._option, incomplete)


class TableOption(click.Option):
    """An option of the command line that is made from its row."""

    def __init__(self, option: Option) -> None:
        self.group = option.group
        shown = f"  [default: {option.shown_default}]" if option.shown_default else ""
        is_flag = option.kind in {Kind.FLAG, Kind.YES_OR_NO}
        names = [option.flag, *LETTERS.get(option.name, ()), PARAMETERS.get(option.name, option.name), *option.former]
        if option.kind is Kind.YES_OR_NO:
            names[0] += f"/--no-{names[0].removeprefix('--')}"
        # Elsewhere the default is only shown: a value that was not given must not override that of a file.
        has_default = option.kind is Kind.FLAG or option in {*LISTED, *VERIFIED, *OUTPUT}
        unnamed: dict[str, Any] = {"flag_value": UNNAMED} if option.kind is Kind.PICTURE else {}
        super().__init__(
            names,
            type=None if is_flag else Value(option),
            metavar=option.shown_value or None,
            is_flag=is_flag,
            multiple=option.repeated,
            default=option.default if has_default else None,
            help=option.meaning + shown,
            **unnamed,
        )


class VerbCommand(click.Command):
    """A verb, whose help shows options in their groups, those that a newcomer needs first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, in one section for each group."""
        sections: dict[str, list[tuple[str, str]]] = {group.value: [] for group in Group}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                group = parameter.group.value if isinstance(parameter, TableOption) else "Other"
                sections.setdefault(group, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_FORMAT = by_name(OUTPUT)["format"]
# For verbs that other distributions bring.
FORMAT_OPTION = click.option(
    _FORMAT.flag,
    PARAMETERS[_FORMAT.name],
    type=Value(_FORMAT),
    metavar=_FORMAT.shown_value,
    default=_FORMAT.default,
    show_default=True,
    help=_FORMAT.meaning,
)


def verb(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function the command of a verb, with the options that the table has for it."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        command = click.command(name, cls=VerbCommand)(function)
        command.params += [TableOption(option) for option in options_of(name)]
        return command

    return decorate


def given_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def problem_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The options as arguments of `lightloom.plan`: the fabric's own joined into a `Fabric`.

    Raises `InputError` that names all that is missing, with an example.
    """
    from lightloom.cli.units import say_tokens
    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.requests import missing_inputs

    given = given_of(options)
    settings = {name: value for name, value in given.items() if name not in {"fabric", *FABRIC_KEYS}}
    overrides = {name: given[name] for name in FABRIC_KEYS if name in given}
    fabric = Fabric.load(given.get("fabric", "default"), **overrides)
    missing = missing_inputs(settings.get("collective"), settings.get("size"), fabric, settings)
    if missing:
        raise _refusal_of_missing(missing, given)
    say_tokens("matrix", settings.get("matrix"), settings.get("size"))
    return {**settings, "fabric": fabric}


def _refusal_of_missing(missing: tuple[str, ...], given: dict[str, Any]) -> InputError:
    """The flags of the missing options, and the command with an example of each."""
    rows = by_name((*ARGUMENTS, *FABRIC, *SETTINGS))
    wanted = [f"{rows[name].flag} {rows[name].shown_value}" for name in missing]
    instead = " (or --dims, or a --fabric that says gpus)" if "gpus" in missing else ""
    texts = {name: str(value) for name, value in given.items() if not isinstance(value, bool)}
    example = " ".join(
        f"{option.flag} {quote(texts.get(name, option.example or ''))}"
        for name, option in rows.items()
        if name in missing or name in texts
    )
    listed = " and ".join(part for part in (", ".join(wanted[:-1]), wanted[-1]) if part)
    command = click.get_current_context().command_path
    fields = ", ".join(missing)
    return InputError(missing[0], f"{fields}: missing; give {listed}{instead}, such as: {command} {example}")
