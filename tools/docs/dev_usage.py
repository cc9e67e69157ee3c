"""Checks that a shell line is a command of ./dev that `./dev COMMAND --help` describes.

Lines of the help that begin with ./dev are patterns, such as `./dev new plugin NAME [--out
FOLDER]`. Words in lower case are literal, and words separated by | are alternatives. Words in
capitals are placeholders. NAME, FILE, FOLDER and N stand for any value. For other placeholders,
such as PRESET or the options of another program, the value must occur in the help text.
"""

import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FREE = {"NAME", "FILE", "FOLDER", "N"}
# Commands whose arguments are names of files or folders of the repository.
NAMED_FILES = {"bench": ["benches/{}.cc", "benches/{}"], "check": ["tools/check/{}.py"]}


@functools.cache
def help_of(command):
    """Returns the help text of a command, or None if there is no such command."""
    if not (ROOT / "tools" / "dev" / f"{command}.sh").is_file():
        return None
    told = subprocess.run([ROOT / "dev", command, "--help"], capture_output=True, text=True)
    return told.stdout if told.returncode == 0 else None


def is_mentioned(word, text):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def patterns(command, text):
    """Returns for each usage line the list of words after ./dev COMMAND."""
    start = f"./dev {command}"
    lines = [line.strip() for line in text.splitlines()]
    # Two spaces separate an example from its description.
    return [line[len(start):].split("  ")[0].split()
            for line in lines if line == start or line.startswith(start + " ")]


def plain(word):
    return word.strip("[].")


def value_of_option(option, pattern):
    """Returns the placeholder of an option's value in a pattern; None if the option has no value."""
    for at, word in enumerate(pattern):
        if plain(word) == option and not word.endswith("]") and at + 1 < len(pattern):
            return plain(pattern[at + 1])
    return None


def stands_for(placeholder, word, command, text):
    """Returns whether a word is a valid value for the placeholder of a pattern."""
    choices = placeholder.split("|")
    if word in choices:
        return True
    for choice in choices:
        if not choice.isupper():
            continue
        if choice in FREE:
            paths = NAMED_FILES.get(command)
            if paths is None or any((ROOT / path.format(word)).exists() for path in paths):
                return True
        elif is_mentioned(word, text):
            return True
    return False


def positionals(pattern):
    """Returns [(word, whether it may be repeated)] for the positional arguments of a pattern."""
    words, skip = [], False
    for word in pattern:
        if skip:
            skip = False
        elif plain(word).startswith("-"):
            skip = not word.endswith("]")
        else:
            words.append((plain(word), "..." in word))
    return words


def fault_of_arguments(command, words, pattern, text):
    """Returns the reason why the words do not match the pattern, or None if they do."""
    expected = positionals(pattern)
    at = 0
    words = list(words)
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            if not is_mentioned(option, text):
                return f"./dev {command} --help does not name {option}"
            placeholder = value_of_option(option, pattern)
            if placeholder is None:
                # The value of an option that the pattern lacks is not checked: another line of the
                # help may describe the option.
                if words and not equals and not words[0].startswith("-"):
                    words.pop(0)
                continue
            if not equals:
                if not words:
                    return f"{option} lacks its {placeholder}"
                value = words.pop(0)
            if not stands_for(placeholder, value, "", text):
                return f"{option} takes {placeholder}, and not {value}"
            continue
        placeholder, repeats = expected[at] if at < len(expected) else ("ARGUMENTS", False)
        if placeholder == "ARGUMENTS":
            if not is_mentioned(word, text):
                return f"./dev {command} --help has no place for {word}"
        elif not stands_for(placeholder, word, command, text):
            return f"./dev {command} --help does not name {word}"
        elif not repeats:
            at += 1
    return None


def fault_of_command(line):
    """Returns the fault of a shell line, or None if it is a valid ./dev command or a comment."""
    words = line.split("#")[0].split()
    if not words:
        return None
    if words[0] != "./dev":
        return f"{line.strip()!r} is no command of ./dev"
    if len(words) == 1 or words[1:] == ["--help"]:
        return None
    command, arguments = words[1], words[2:]
    text = help_of(command)
    if text is None:
        return f"there is no command ./dev {command}"
    if arguments == ["--help"]:
        return None
    # One matching pattern is enough; a command whose arguments the help only describes in prose has
    # no pattern.
    shown = patterns(command, text) or [[]]
    faults = [fault_of_arguments(command, arguments, pattern, text) for pattern in shown]
    return None if None in faults else faults[0]
