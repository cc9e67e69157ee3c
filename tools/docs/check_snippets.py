"""Checks the code blocks, the links and the ./dev commands of the documentation.

Each code block with a language must be an excerpt of a file that a test builds or runs. The comment
in the line above names the file:

    <!-- docs/snippets/errors.c -->

The lines of the block must be consecutive lines of that file, regardless of their common
indentation. A `sh` block without such a comment may only contain commands of ./dev. `./dev COMMAND
--help` must describe each of them, and each ./dev command in backquotes. If a block cannot be
checked, its comment states the reason:

    <!-- unchecked: a picture -->

Links to files must have existing targets. Prints all faults, and fails if there are any.
"""

import pathlib
import re
import sys
import textwrap

import dev_usage

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = re.compile(r"<!-- (\S+) -->")
UNCHECKED = re.compile(r"<!-- unchecked: \S.* -->")
FENCE = re.compile(r"\s*```(\S*)\s*$")
INLINE = re.compile(r"`(\./dev\b[^`]*)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def documents():
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if (ROOT / "docs" / "ops") not in path.parents:
            yield path


def blocks(path):
    """Yields (line number, language, preceding line, lines of the block) for each fenced code
    block."""
    lines = path.read_text().splitlines()
    i = 0
    while i < len(lines):
        opened = FENCE.match(lines[i])
        if not opened:
            i += 1
            continue
        end = next(k for k in range(i + 1, len(lines)) if lines[k].strip() == "```")
        before = next((line for line in reversed(lines[:i]) if line.strip()), "")
        yield i + 1, opened.group(1), before.strip(), lines[i + 1:end]
        i = end + 1


def plain(lines):
    """Returns the lines without their common indentation."""
    return textwrap.dedent("\n".join(lines)).split("\n")


def is_excerpt(lines, of):
    size, lines = len(lines), plain(lines)
    return any(plain(of[at:at + size]) == lines for at in range(len(of) - size + 1))


def fault_of(language, before, lines):
    """Returns the fault of a code block, or None."""
    source = SOURCE.fullmatch(before)
    if source:
        path = ROOT / source.group(1)
        if not path.is_file():
            return f"there is no {source.group(1)}"
        of = path.read_text().splitlines()
        return None if is_excerpt(lines, of) else f"these lines are not in {source.group(1)}"
    if UNCHECKED.fullmatch(before):
        return None
    if language != "sh":
        return "no comment names the file that it is from, or why it is unchecked"
    faults = [dev_usage.fault_of_command(line) for line in lines]
    return next(filter(None, faults), None)


def outside_of_blocks(path):
    """Yields (line number, line) for each line outside code blocks."""
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        inside ^= bool(FENCE.match(line))
        if not inside:
            yield number, line


def faults_of_prose(path):
    """Yields (line number, fault) for links without a target and for unknown ./dev commands."""
    for number, line in outside_of_blocks(path):
        for target in LINK.findall(line):
            if not (path.parent / target).exists():
                yield number, f"there is no {target}"
        for command in INLINE.findall(line):
            fault = dev_usage.fault_of_command(command)
            if fault:
                yield number, fault


def faults_of_document(path):
    """Returns (number of blocks, number of unchecked blocks with a reason, faults)."""
    counts = [0, 0]
    faults = list(faults_of_prose(path))
    for number, language, before, lines in blocks(path):
        counts[bool(UNCHECKED.fullmatch(before))] += 1
        fault = fault_of(language, before, lines)
        if fault:
            faults.append((number, fault))
    return *counts, faults


def main():
    checked = unchecked = n_faults = 0
    for path in documents():
        n_checked, n_unchecked, faults = faults_of_document(path)
        checked += n_checked
        unchecked += n_unchecked
        n_faults += len(faults)
        for number, fault in sorted(faults):
            print(f"{path.relative_to(ROOT)}:{number}: {fault}")
    print(f"{checked} code blocks, {unchecked} unchecked, {n_faults} at fault")
    sys.exit(1 if n_faults else 0)


if __name__ == "__main__":
    main()
