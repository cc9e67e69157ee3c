"""Checks that no file contains a phrase with a star in docs/words.md. Such phrases are never right.
"""

import re

import repository

SUFFIXES = repository.C_FAMILY | {".cu", ".cuh", ".cmake", ".java", ".md", ".py", ".rs", ".sh", ".toml", ".txt"}
NEVER = {
    r"\bways? (back|forward|there)\b": "backward pass, forward pass",
    r"\b(told|tells?|telling) (them )?apart\b": "distinguished by, distinguishes",
    r"\bsegments? with forms\b": "cached variants of a segment",
    r"\bcomes again\b": "is repeated, is cached",
    r"\bbehind heads?\b": "epilogue fusion",
    r"\bgo(es)? by four\b": "is vectorised",
    r"\bgo(es)? (over|on) rows\b": "iterates over rows, is row-invariant",
    r"\b(births?|born)\b": "data-dependent size",
    r"\bsizes? that data says?\b": "data-dependent sizes",
    r"\b(used|uses|use|using) up\b": "consumed, exhausted",
    r"\bnobody looks\b": "dead, in place",
    r"\bchains side by side\b": "independent chains in parallel",
    r"\bboards? of (its|their) own\b": "discrete GPUs",
    r"\btold as one\b": "coalesced",
    r"\bk(Most|Least)([A-Z]\w*)?\b": "kMax, kMin",
    r"\b(inside|outside) of\b": "inside, outside",
    r"\brenewed\b": "alias",
}
# docs/words.md lists the phrases; the test and this file contain them, too.
EXEMPT = {"docs/words.md", "tools/check/check_test.py", "tools/check/words.py"}
# A phrase may be split by a line break in a comment.
GAP = r"(?: |\s*\n\s*(?://[/!]?|\*|#)?\s*)"
PATTERNS = [(re.compile(pattern.replace(" ", GAP), re.IGNORECASE), instead)
            for pattern, instead in NEVER.items()]


def faults_in(text):
    """Yields (line number, wording to use instead) for each phrase found."""
    for pattern, instead in PATTERNS:
        for found in pattern.finditer(text):
            phrase = " ".join(found[0].split())
            yield text.count("\n", 0, found.start()) + 1, f"'{phrase}': write {instead}"


def run():
    paths = [path for path in repository.files(SUFFIXES) if path.as_posix() not in EXEMPT]
    faults = []
    for path in paths:
        text = (repository.ROOT / path).read_text(errors="replace")
        faults += [f"{path}:{number}: {fault}" for number, fault in faults_in(text)]
    return f"{len(paths)} files", faults
