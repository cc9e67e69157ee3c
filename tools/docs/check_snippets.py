"""Every code block of the documents is an excerpt of a file that a test builds or runs.

A block with a language stands below a comment that names its file:

    <!-- docs/snippets/errors.c -->

and its lines are lines of that file, one after another, whatever both are indented by. A block of
`sh` may instead hold commands of ./dev alone: each is one that `./dev COMMAND --help` describes, and
so is each command of ./dev between single backquotes. A block that cannot be checked states why:

    <!-- unchecked: a picture -->

Links to files lead to files. Prints what is at fault, and fails if there is anything.
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
    """Yields (line number, language, the line before it, lines) for each fenced block."""
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
    """The lines without their common indentation."""
    return textwrap.dedent("\n".join(lines)).split("\n")


def is_excerpt(lines, of):
    size, lines = len(lines), plain(lines)
    return any(plain(of[at:at + size]) == lines for at in range(len(of) - size + 1))


def fault_of(language, before, lines):
    """The fault of a block, or None."""
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
    """Yields (line number, line) for the lines outside code blocks."""
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        inside ^= bool(FENCE.match(line))
        if not inside:
            yield number, line


def faults_of_prose(path):
    """Yields (line number, fault) for links that lead nowhere and commands that ./dev lacks."""
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
