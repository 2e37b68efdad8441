"""The verb `completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from lightloom.base.errors import unknown_name
from lightloom.cli.options import verb

SHELLS = ("bash", "zsh", "fish")
# Set by the shell's script to ask for completions.
VARIABLE = "_LIGHTLOOM_COMPLETE"


@verb("completion")
@click.argument("shell", metavar="|".join(SHELLS), type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that makes a shell complete verbs, options, names of the registries and files.

    \b
    bash, in ~/.bashrc:                     eval "$(lightloom completion bash)"
    zsh, in ~/.zshrc after compinit:        eval "$(lightloom completion zsh)"
    fish, once:                             lightloom completion fish > ~/.config/fish/completions/lightloom.fish

    \b
    Examples:
      lightloom completion bash
      lightloom completion fish
    """  # noqa: D301
    made = get_completion_class(shell)
    if made is None:
        raise unknown_name("shell", shell, SHELLS)
    click.echo(made(click.get_current_context().find_root().command, {}, "lightloom", VARIABLE).source())
