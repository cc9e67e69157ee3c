"""Functions of the standard library that are pure Python behave the same after conversion."""

import _pydecimal
import argparse
import ast
import base64
import calendar
import configparser
import copy
import difflib
import fractions
import heapq
import html.parser
import io
import json.decoder
import json.scanner
import pprint
import shlex
import statistics
import textwrap
import tokenize

import pytest
import tenon as tn
from tenon.autograph import calls, registry


def ratio():
    lines = "a\nb\nc\nd".split(), "a\nc\nx\nd".split()
    matcher = difflib.SequenceMatcher(None, "abcdefghijk", "abxcdefgzijk")
    return matcher.ratio(), list(difflib.unified_diff(*lines))


def filled_text():
    text = "The quick brown fox jumps over the lazy dog " * 5
    return textwrap.fill(text, 33, initial_indent="* "), textwrap.dedent("  a\n    b\n  c")


def exact_fractions():
    third = fractions.Fraction(1, 3)
    return third + fractions.Fraction("5/6"), round(third * 7), hash(third), str(third**3)


def statistics_of_numbers():
    return statistics.median([5, 3, 1, 4]), statistics.stdev([1.5, 2.5, 4.0]), statistics.mode([1, 1, 2])


def shell_words():
    return shlex.split("a 'b c' \"d e\" f\\ g # x", comments=True)


def parsed_arguments():
    parser = argparse.ArgumentParser(prog="p")
    parser.add_argument("--x", type=int, default=3)
    parser.add_argument("y", nargs="*")
    parser.add_argument("-v", action="count")
    return parser.parse_args(["--x", "5", "a", "b", "-vv"]), parser.format_help()


def printed_structure():
    value = {"a": [1, 2, {"b": (3, 4)}] * 4, "z": "x" * 90}
    return pprint.pformat(copy.deepcopy(value), width=40)


def parsed_configuration():
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nx=1\ny=%(x)s2\n[b]\nz = q\n")
    return {name: dict(parser[name]) for name in parser.sections()}


def month():
    return calendar.TextCalendar().formatmonth(2024, 2)


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, attributes))

    def handle_data(self, data):
        self.found.append(data)


def parsed_page():
    parser = Tags()
    parser.feed("<a href='x'>hi &amp; <b>you</b><!-- c --></a>")
    parser.close()
    return parser.found


def tokens():
    lines = io.StringIO("def f(x):\n    return x + 1  # c\n")
    return [token[:2] for token in tokenize.generate_tokens(lines.readline)]


def unparsed_source():
    text = "def f(a, *b, c=1, **d):\n  with x as y: pass\n  return {**a, 'k': [i for i in b]} if a else -c"
    return ast.unparse(ast.parse(text))


def decimals():
    decimal = _pydecimal.Decimal
    return str(decimal("1.10") * 3), str(decimal(2).sqrt()), str(decimal("1e30") / decimal(7))


def scanned_json():
    scan = json.scanner.py_make_scanner(json.decoder.JSONDecoder())
    return json.decoder.py_scanstring('"a\\u00e9b\\n" x', 1), scan('{"a": [1, 2.5, true]}', 0)


def heaps():
    return list(heapq.merge([1, 4], [2, 3])), heapq.nlargest(2, [3, 9, 4], key=lambda v: -v)


def encoded():
    return base64.b32encode(b"hello"), base64.b85decode(base64.b85encode(b"hello world"))


PROGRAMS = [
    ratio, filled_text, exact_fractions, statistics_of_numbers, shell_words, parsed_arguments,
    printed_structure, parsed_configuration, month, parsed_page, tokens, unparsed_source, decimals,
    scanned_json, heaps, encoded,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda item: item.__name__)
def test_converted_standard_library_code_returns_the_same_result(program, monkeypatch):
    monkeypatch.setattr(calls, "_in_standard_library", lambda code: False)
    expected = str(program())
    assert str(tn.autograph.convert(program)()) == expected
    files = {code.co_filename for code in registry._converted.values()}
    assert any(name.startswith(calls._STANDARD_LIBRARY) for name in files)
