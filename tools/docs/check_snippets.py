"""Every code block of the documents is an excerpt of a file that a test builds or runs.

A block with a language stands below a comment that names its file:

    <!-- docs/snippets/errors.c -->

and its lines are lines of that file, one after another, whatever both are indented by. A block of
`sh` may instead hold commands of ./dev alone, which is itself what CI runs. A block without a
language is a picture, and is not checked. Links to files lead to files. Prints what is at fault, and
fails if there is anything.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = re.compile(r"<!-- (\S+) -->")
FENCE = re.compile(r"\s*```(\S*)\s*$")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def documents():
    yield ROOT / "README.md"
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if (ROOT / "docs" / "ops") not in path.parents:
            yield path


def blocks(path):
    """Yields (line number, language, named file or None, lines) for each fenced block."""
    lines = path.read_text().splitlines()
    i = 0
    while i < len(lines):
        opened = FENCE.match(lines[i])
        if not opened:
            i += 1
            continue
        end = next(k for k in range(i + 1, len(lines)) if lines[k].strip() == "```")
        before = next((line for line in reversed(lines[:i]) if line.strip()), "")
        source = SOURCE.fullmatch(before.strip())
        yield i + 1, opened.group(1), source and source.group(1), lines[i + 1:end]
        i = end + 1


def plain(lines):
    """The lines without what all of them are indented by."""
    return textwrap.dedent("\n".join(lines)).split("\n")


def is_excerpt(lines, of):
    size, lines = len(lines), plain(lines)
    return any(plain(of[at:at + size]) == lines for at in range(len(of) - size + 1))


def unknown_command(line):
    words = line.split("#")[0].split()
    if not words:
        return False
    known = words[0] == "./dev" and len(words) > 1
    return not (known and (ROOT / "tools" / "dev" / f"{words[1]}.sh").is_file())


def fault_of(language, source, lines):
    """What is wrong with a block, or None."""
    if not language:
        return None
    if source:
        if not (ROOT / source).is_file():
            return f"there is no {source}"
        of = (ROOT / source).read_text().splitlines()
        return None if is_excerpt(lines, of) else f"these lines are not in {source}"
    if language != "sh":
        return "no comment names the file that it is from"
    wrong = [line for line in lines if unknown_command(line)]
    return f"{wrong[0]!r} is no command of ./dev" if wrong else None


def broken_links(path):
    """Yields the links of a document, outside of its code, that lead nowhere."""
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        inside ^= bool(FENCE.match(line))
        for target in [] if inside else LINK.findall(line):
            if not (path.parent / target).exists():
                yield number, target


def main():
    checked = 0
    faults = []
    for path in documents():
        for number, target in broken_links(path):
            faults.append(f"{path.relative_to(ROOT)}:{number}: there is no {target}")
        for number, language, source, lines in blocks(path):
            checked += bool(language)
            reason = fault_of(language, source, lines)
            if reason:
                faults.append(f"{path.relative_to(ROOT)}:{number}: {reason}")
    for fault in faults:
        print(fault)
    print(f"{checked} code blocks, {len(faults)} at fault")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
