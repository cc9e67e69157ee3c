"""Parses the declarations of function pointers in the headers: results, parameters, names and
annotations.

clang's syntax tree contains only the types of their parameters. The names and annotations are
parsed from the source text of the declaration. That is a member or a typedef, `type
(*name)(parameters);`, or an entry of plugin_slots.def, `TENON_SLOT(type, name, (parameters))`.
Parameters that are function pointers are not supported.
"""

import re
import sys

NOTE = re.compile(r"TENON_(OWNED|BORROWED|NULLABLE|(?:COUNT|THREADS)\(\s*([^)]*?)\s*\))")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OF_RETURNED = ("owned", "borrowed")


def note_of(match):
    """Converts a match of NOTE: TENON_OWNED becomes "owned", and TENON_COUNT(n) becomes "count:n".
    """
    word = match.group(1).split("(")[0].lower()
    return f"{word}:{match.group(2)}" if match.group(2) else word


def notes_in(text):
    """Returns the annotations in `text`, and the text without them."""
    return [note_of(match) for match in NOTE.finditer(text)], " ".join(NOTE.sub(" ", text).split())


def parted(text):
    """Splits `text` at its commas, except those in parentheses."""
    pieces = [""]
    depth = 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += char
    return [piece.strip() for piece in pieces]


def bracketed(text, start):
    """Returns the text in the parentheses that open at `start`, and the offset of its end."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at], at + 1
    sys.exit(f"no end of the parentheses in: {text[start:start + 80]}")


def comment_before(text, offset):
    """Returns the text of the comment that ends directly before the declaration at `offset`."""
    found = re.search(r"/\*((?:(?!\*/).)*)\*/\s*\Z", text[:offset], re.DOTALL)
    if not found or found.group(1).lstrip().startswith("----"):
        return ""
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip()
                     for line in found.group(1).split("\n")).strip()


def with_notes(entry, notes):
    return {**entry, "notes": notes} if notes else entry


def read(kind, notes, text, offset):
    """Parses the declaration at `offset` of `text`, a function pointer of type `kind`. Returns the
    annotations of the pointer, and {"returns", "parameters"}, with "doc" if a slot has a comment.

    `notes` are the annotations that clang found: those of the result, or those of the pointer."""
    if text.startswith("TENON_SLOT(", offset):
        arguments, _ = bracketed(text, text.index("(", offset))
        returned, _, tail = parted(COMMENT.sub(" ", arguments))
        own = notes_in(returned)[0]
        of_pointer = notes_in(tail[bracketed(tail, 0)[1]:])[0]
        inside, _ = bracketed(tail, 0)
        doc = comment_before(text, offset)
    else:
        declaration = COMMENT.sub(" ", text[offset:text.index(";", offset)])
        own = [note for note in notes if note in OF_RETURNED]
        of_pointer = [note for note in notes if note not in OF_RETURNED]
        inside, _ = bracketed(declaration, declaration.index("(", declaration.index("(*")+ 1))
        doc = ""
    returned_type, types = re.fullmatch(r"(.*?)\(\*\)\((.*)\)", kind).groups()
    types = [] if types in ("", "void") else parted(types)
    pieces = parted(inside) if types else []
    if len(types) != len(pieces):
        sys.exit(f"the parameters ({inside}) do not fit the type {kind}")
    parameters = []
    for parameter_type, piece in zip(types, pieces):
        found, plain = notes_in(piece)
        name = re.search(r"[\w]+$", plain).group()
        parameters.append(with_notes({"name": name, "type": parameter_type}, found))
    result = {"returns": with_notes({"type": returned_type.strip()}, own),
              "parameters": parameters}
    if doc:
        result["doc"] = doc
    return of_pointer, result
