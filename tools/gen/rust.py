"""Names, comments and literals of generated Rust."""

import textwrap

WIDTH = 96
KEYWORDS = {"as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
            "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
            "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super",
            "trait", "true", "try", "type", "unsafe", "use", "where", "while", "yield"}


def name(word):
    """An identifier; a keyword gets an underscore at its end, as `where_`."""
    return f"{word}_" if word in KEYWORDS else word


def pascal(word):
    return "".join(part.capitalize() for part in word.split("_"))


def comment(text, margin=""):
    """`text`, which is Markdown, as a doc comment. Code blocks are not wrapped."""
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
    """Plain text as Markdown: characters that rustdoc would read as a link, a tag or a list are escaped."""
    for char in "\\[]<>*_`":
        text = text.replace(char, "\\" + char)
    for sign in "-+":  # At the beginning of a wrapped line, these would be the items of a list.
        text = text.replace(f" {sign} ", f" \\{sign} ")
    return text
