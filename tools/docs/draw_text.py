"""Selects random samples of prose and names, for a reader who judges whether they meet
docs/words.md.

    python3 tools/docs/draw_text.py SEED [--group NAME] [--skip FOLDER]...

Prints 60 comments, 30 paragraphs of documentation, 40 names of tests, 40 error messages, 30
functions, and 50 occurrences of words that docs/words.md permits only in some senses. The same seed
and the same files give the same samples. Generated files are excluded.
"""

import argparse
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "check"))
import repository  # noqa: E402

SLASHES = repository.C_FAMILY | {".cu", ".cuh", ".java", ".js", ".mjs", ".rs", ".ts"}
HASHES = {".cmake", ".py", ".sh", ".toml"}
ERRORS = (r"(?:\b(?:require|refuse|fail|check|invalid|raise|expect|report)\w*|\b\w*[eE]rror|\b\w*failure|"
          r"\bbail|\bthrow new \w+|\braise \w+|\bErr)\s*\(")
# The words without a star in docs/words.md.
BY_SENSE = (r"\b(kept|saved for|given|wanted|gives|reads|slices?|written down|writes down|alike|\w+Like\w*|"
            r"places?|behind|heads?|in parts|looks|asked|sees|tells?|told|says|lent|offered|another|spare|"
            r"pieces? of work|drop(?:s|ped)?|shares?|cells?|claims?)\b")


# Comments for tools: include guards, switches of clang-format, and the ends of quoted sections.
FOR_TOOLS = r"\s*(?:TENON_\w+_H_|clang-format \w+|NOLINT\w*.*|\[\w+\])\s*"


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def comments(path, text):
    """Yields (line number, text) for consecutive comment lines, comments after code, block comments
    and docstrings."""
    for number, item in all_comments(path, text):
        if not re.fullmatch(FOR_TOOLS, item.strip("/*# \n")):
            yield number, item


def all_comments(path, text):
    if path.suffix in SLASHES:
        for found in re.finditer(r"(?:^[ \t]*//[^\n]*\n)+", text, re.M):
            yield line_of(text, found.start()), re.sub(r"(?m)^[ \t]*//[/!]?[ \t]?", "", found[0])
        for found in re.finditer(r"^[^\n/\"]*[;{,)][ \t]+//[ \t]*([^\n]+)\n", text, re.M):
            yield line_of(text, found.start()), found[0]
        for found in re.finditer(r"/\*(.*?)\*/", text, re.S):
            yield line_of(text, found.start()), re.sub(r"(?m)^[ \t]*\*[ \t]?", "", found[1].strip("*!< \n"))
    elif path.suffix in HASHES:
        for found in re.finditer(r"(?:^[ \t]*#(?!!)[^\n]*\n)+", text, re.M):
            yield line_of(text, found.start()), re.sub(r"(?m)^[ \t]*#[ \t]?", "", found[0])
        if path.suffix == ".py":
            # Strings that are no docstrings are matched too, because otherwise their closing quotes
            # would be taken for the start of a docstring.
            for found in re.finditer(r'(^[ \t]*)?"""(.*?)"""', text, re.S | re.M):
                if found[1] is not None:
                    yield line_of(text, found.start()), found[2]


def paragraphs(path, text):
    if path.suffix != ".md" or path.parts[:2] == ("docs", "ops") or path.name in ("words.md", "CHANGELOG.md"):
        return
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S | re.M)
    for found in re.finditer(r"(?:^[^\n#<].*\n?)+", text, re.M):
        yield line_of(text, found.start()), found[0]


def tests(path, text):
    patterns = [(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", {".cc", ".cu"}), (r"^\s*RUN\((\w+)\)", {".c"}),
                (r"^\s*def (test_\w+)", {".py"}), (r"#\[test\]\s+(?:pub )?fn (\w+)", {".rs"}),
                (r"@Test\s+(?:public )?void (\w+)", {".java"})]
    for pattern, suffixes in patterns:
        if path.suffix in suffixes:
            for found in re.finditer(pattern, text, re.M):
                yield line_of(text, found.start()), ".".join(found.groups())


def messages(path, text):
    """Yields (line number, string literals) for each statement that reports an error."""
    if path.suffix not in SLASHES | {".py"} or "test" in path.name or "tests" in path.parts:
        return
    statement = r"[^;{}\"]*(?:\"(?:[^\"\\\n]|\\.)*\"[^;{}\"]*)+[;{]" if path.suffix != ".py" else r"^.*raise [^\n]*(?:\n .*?)?\)$"
    for found in re.finditer(statement, text, re.M):
        call = re.search(ERRORS, found[0])
        if not call:
            continue
        literals = re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"", found[0][call.start():])
        # Skips statements whose literals consist of placeholders.
        words = re.sub(r"\{[^}]*\}", " ", " ".join(literals))
        if len(re.findall(r"[A-Za-z]{2,}", words)) > 2:
            yield line_of(text, found.start() + call.start()), " | ".join(literals)


def functions(path, text):
    """Yields (line number, declaration) for functions of classes and namespaces, with the comment
    above."""
    if path.suffix in {".h", ".hpp", ".cc"} and "_test" not in path.name and "tests" not in path.parts:
        indent = "" if path.suffix == ".cc" else "[ ]{0,2}"
        pattern = (r"((?:^[ \t]*//[^\n]*\n)+|^/\*(?:(?!\*/)[\s\S])*\*/\n)?((?:^[ \t]*template <[^\n]*>\n)*)^" + indent +
                   r"(?!(?:return|else|throw|delete|new|using|case|const \w+ \w+\(\w*\))\b)"
                   r"(?![*/])(?:[\w:<>,&*]+[ ]+)+[&*]?((?:\w+::)?[a-z]\w+\([^;{}]*\)[^;{}()]*[;{])")
        for found in re.finditer(pattern, text, re.M):
            yield line_of(text, found.end()), found[0]


def prose(path, text):
    """Yields the line numbers of comments and of paragraphs of documentation."""
    for extract in (comments, paragraphs):
        for number, item in extract(path, text):
            yield from range(number, number + item.rstrip("\n").count("\n") + 1)


def by_sense(path, text):
    """Yields the ambiguous words in comments and documentation. Identifiers in code are skipped."""
    if path.name in ("words.md", "glossary.md"):
        return
    lines = text.split("\n")
    for number in sorted(set(prose(path, text))):
        line = lines[number - 1]
        # A comment after code begins at the slashes.
        if path.suffix in SLASHES and "//" in line:
            line = line[line.index("//"):]
        for found in re.finditer(BY_SENSE, re.sub(r"`[^`]*`|\w+\(\)", " ", line)):
            yield number, f"[{found[0]}] " + "\n".join(lines[max(0, number - 2):number + 1])


GROUPS = {"comments": (comments, 60), "paragraphs": (paragraphs, 30), "tests": (tests, 40),
          "messages": (messages, 40), "functions": (functions, 30), "by_sense": (by_sense, 50)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--group", choices=GROUPS, help="draws from this group only")
    parser.add_argument("--skip", action="append", default=[], metavar="FOLDER", help="leaves out a folder")
    options = parser.parse_args()
    suffixes = SLASHES | HASHES | {".md"}
    paths = [path for path in repository.files(suffixes)
             if not repository.is_generated(path)
             and not any(path.is_relative_to(folder) for folder in options.skip)]
    texts = [(path, (repository.ROOT / path).read_text(errors="replace")) for path in paths]
    for group, (extract, count) in GROUPS.items():
        if options.group not in (None, group):
            continue
        found = [(path, line, item) for path, text in texts for line, item in extract(path, text)]
        drawn = random.Random(f"{options.seed} {group}").sample(found, min(count, len(found)))
        print(f"== {group}: {len(drawn)} of {len(found)}")
        for number, (path, line, item) in enumerate(drawn, 1):
            print(f"{number}. {path}:{line}\n{item.rstrip()}\n")


if __name__ == "__main__":
    main()
