"""`qassay completion`: a script that completes verbs, options, their values and names of runs in the shell.

The script is written once, from the signatures of the commands, and starts no Python when a key is pressed.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from qassay.cli.inputs import JsonOption

Shell = Literal["bash", "zsh", "fish"]

BASH = """# Completion of qassay for bash; zsh reads it through bashcompinit.
_qassay() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" verb="${{COMP_WORDS[1]}}"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{verbs} --help --version" -- "$word"))
        return
    fi
    case "$verb $before" in
{values}
    esac
    case "$word" in
        -*)
            case "$verb" in
{options}
            esac
            return
            ;;
    esac
    # Runs of an evaluation, where two are named after the folder.
    if [ "$verb" = compare ] && [ "$COMP_CWORD" -gt 2 ] && [ -d "${{COMP_WORDS[2]}}/runs" ]; then
        local file
        for file in "${{COMP_WORDS[2]}}"/runs/"$word"*; do
            file="${{file##*/}}"
            [ -e "${{COMP_WORDS[2]}}/runs/$file" ] && COMPREPLY+=("${{file%%.*}}")
        done
        return
    fi
    COMPREPLY=($(compgen -f -- "$word"))
}}
complete -o filenames -F _qassay qassay
"""
ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def command(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")], as_json: JsonOption = False
) -> None:
    """Completion for the shell: verbs, options, their values, and runs.

    Prints a script; your shell reads it when it starts. With --json: the
    options of every command and the values they take.

    Examples

      qassay completion bash > ~/.local/share/bash-completion/completions/qassay
      qassay completion zsh >> ~/.zshrc
      qassay completion fish > ~/.config/fish/completions/qassay.fish
      qassay completion bash --json
    """
    from qassay.cli import VERBS
    from qassay.cli.output import print_json

    commands = {verb: options(verb) for verb in VERBS}
    if as_json:
        print_json({"commands": commands})
        return
    print({"bash": bash, "zsh": lambda commands: ZSH + bash(commands), "fish": fish}[shell](commands), end="")


def options(verb: str) -> dict[str, list[str]]:
    """The options of a command, with the values that each may have; none where any value is possible."""
    from qassay.cli import load

    options_found: dict[str, list[str]] = {"--help": []}
    for parameter in inspect.signature(load(verb), eval_str=True).parameters.values():
        if get_origin(parameter.annotation) is not Annotated:
            continue
        kind, *about = get_args(parameter.annotation)
        for option in about:
            if isinstance(option, typer.models.OptionInfo) and not option.hidden:
                # In an annotation the first name is in the place of a default.
                spellings = [name for name in (option.default, *(option.param_decls or ())) if isinstance(name, str)]
                names = [name for spelling in spellings for name in spelling.split("/") if name.startswith("--")]
                options_found |= {name: _values(kind) for name in names}
    return options_found


def _values(kind: Any) -> list[str]:
    """The values of a choice, also where it may be absent."""
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    return next((values for part in get_args(kind) if (values := _values(part))), [])


def bash(commands: dict[str, dict[str, list[str]]]) -> str:
    """The script for bash."""
    values = [
        f'        "{verb} {option}") COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word")); return ;;'
        for verb, verb_options in commands.items()
        for option, choices in verb_options.items()
        if choices
    ]
    by_verb = [
        f'                {verb}) COMPREPLY=($(compgen -W "{" ".join(verb_options)}" -- "$word")) ;;'
        for verb, verb_options in commands.items()
    ]
    return BASH.format(verbs=" ".join(commands), values="\n".join(values), options="\n".join(by_verb))


def fish(commands: dict[str, dict[str, list[str]]]) -> str:
    """The script for fish."""
    from qassay.cli import VERBS

    lines = ["# Completion of qassay for fish."]
    for verb, verb_options in commands.items():
        summary = VERBS[verb].replace("'", "\\'")
        lines.append(f"complete -c qassay -n __fish_use_subcommand -f -a {verb} -d '{summary}'")
        for option, choices in verb_options.items():
            values = f" -x -a '{' '.join(choices)}'" if choices else ""
            lines.append(f"complete -c qassay -n '__fish_seen_subcommand_from {verb}' -l {option[2:]}{values}")
    runs = "for file in (commandline -opc)[3]/runs/*; string replace -r '\\..*$' '' (path basename $file); end"
    lines.append(f'complete -c qassay -n "__fish_seen_subcommand_from compare" -a "({runs})"')
    return "\n".join(lines) + "\n"
