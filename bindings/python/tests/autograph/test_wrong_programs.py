"""Wrong programs raise the exact expected errors, and tracebacks show only the user's lines."""

import pathlib
import re
import traceback

import pytest
import tenon as tn
from helpers import from_source, tensor
from wrong_programs import PROGRAMS

EXPECTED = pathlib.Path(__file__).with_name("wrong_programs.expected")


class Box:
    pass


def expected_errors():
    found = {}
    for part in EXPECTED.read_text().split("### ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = text.strip("\n")
    return found


def error_of(source):
    """Returns the error text of a program, whose file is named program.py."""
    function = from_source(source, "f", Box=Box)
    filename = function.__code__.co_filename
    try:
        tn.function(function)(tensor(2.0), tensor(3))
    except tn.autograph.AutoGraphError as error:
        return str(error).replace(filename, "program.py"), error
    raise AssertionError("the program has no error")


@pytest.mark.parametrize("name", PROGRAMS)
def test_wrong_program_raises_the_expected_error(name):
    text, error = error_of(PROGRAMS[name])
    expected = expected_errors()[name]
    if not error.column:  # In Python 3.10, unconverted expressions have no columns.
        expected = re.sub(r", column \d+|\n *\^", "", expected)
    assert text == expected
    assert error.rule in tn.autograph.RULES
    assert error.lineno > 0


def test_every_rule_is_violated_by_a_wrong_program():
    rules = {error_of(source)[1].rule for source in PROGRAMS.values()}
    assert rules | {"no-source"} == set(tn.autograph.RULES)


def frames_of(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        start = next(i for i, item in enumerate(frames) if item.filename.startswith("/generated/"))
        return [(item.name, item.line) for item in frames[start:]]
    raise AssertionError("no error")


def test_traceback_shows_the_users_lines_only():
    function = from_source(
        "def inner(x):\n"
        "    for i in tn.range(3):\n"
        "        if x > 0:\n"
        "            x = x + no_such_name\n"
        "    return x\n"
        "def f(x):\n"
        "    return inner(x) + 1.0\n",
        "f",
    )
    frames = frames_of(tn.function(function), tensor(1.0))
    assert frames == [
        ("f", "return inner(x) + 1.0"),
        ("inner", "for i in tn.range(3):"),
        ("inner", "if x > 0:"),
        ("inner", "x = x + no_such_name"),
    ]


def test_function_without_source_is_an_error_at_a_tensor_condition():
    scope = {}
    exec(compile("def f(x):\n    return x if x > 0 else -x\n", "<nowhere>", "exec"), scope)
    assert tn.autograph.convert(scope["f"])(2.0) == 2.0
    with pytest.raises(tn.autograph.AutoGraphError) as caught:
        tn.function(scope["f"])(tensor(1.0))
    assert str(caught.value).splitlines()[0] == (
        "A symbolic tensor is used as a Python bool: `f` was not converted, because its "
        "source was not found: <nowhere> cannot be read"
    )
    assert caught.value.rule == "no-source"
