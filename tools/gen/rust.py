"""Helpers that format names, comments and literals of generated Rust code."""

import textwrap

WIDTH = 96
KEYWORDS = {"as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
            "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
            "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super",
            "trait", "true", "try", "type", "unsafe", "use", "where", "while", "yield"}


def name(word):
    """Returns an identifier. If the word is a Rust keyword, appends an underscore, as in `where_`.
    """
    return f"{word}_" if word in KEYWORDS else word


def pascal(word):
    return "".join(part.capitalize() for part in word.split("_"))


def comment(text, margin=""):
    """Formats Markdown as a doc comment. Code blocks are not wrapped."""
    lines, code = [], False
    for line in text.split("\n"):
        fence = line.startswith("```")
        code = code != fence
        wrapped = [line] if code or fence else textwrap.wrap(
            line, WIDTH - len(margin) - 4, break_long_words=False, break_on_hyphens=False,
            subsequent_indent="  " if line.startswith("- ") else "")
        lines += wrapped or [""]
    return "".join(f"{margin}/// {line}".rstrip() + "\n" for line in lines)


def escape(text):
    """Escapes plain text for Markdown, so that rustdoc shows no links, tags or lists."""
    for char in "\\[]<>*_`":
        text = text.replace(char, "\\" + char)
    for sign in "-+":  # At the start of a wrapped line, these begin a list.
        text = text.replace(f" {sign} ", f" \\{sign} ")
    return text
