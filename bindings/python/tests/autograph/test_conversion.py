"""A converted function keeps the attributes of the user's function, and its source is found
everywhere."""

import contextlib
import functools
import gc
import importlib
import inspect
import io
import linecache
import time
import weakref

import pytest
import tenon as tn
from helpers import from_source, tensor, value_of
from tenon.autograph import registry

convert = tn.autograph.convert
convert_module = importlib.import_module("tenon.autograph.convert")
RATE = 2.0


def scaled(x: float, factor=RATE, *more, offset: float = 1.0, **others) -> float:
    """Scales x."""
    if x > 0:
        return x * factor + offset
    return offset


def test_signature_defaults_and_names_are_kept():
    converted = convert(scaled)
    assert inspect.signature(converted) == inspect.signature(scaled)
    assert converted.__wrapped__ is scaled
    assert (converted.__name__, converted.__doc__) == ("scaled", "Scales x.")
    assert converted(3.0) == 7.0
    assert converted(3.0, 1.0, offset=0.0) == 3.0


def test_repeated_conversion_returns_the_same_object():
    assert convert(scaled) is convert(scaled)
    assert convert(convert(scaled)) is convert(scaled)


def test_closure_and_globals_stay_live():
    global RATE
    count = 1.0

    def f(x):
        if x > 0:
            return x * count * RATE
        return x

    converted = convert(f)
    assert converted(3.0) == 6.0
    count = 2.0
    RATE = 10.0
    assert converted(3.0) == 60.0
    RATE = 2.0


def test_closures_of_one_function_share_code():
    def make(k):
        def f(x):
            return x + k if x > 0 else k

        return f

    one, two = convert(make(1.0)), convert(make(2.0))
    assert one.__code__ is two.__code__
    assert (one(1.0), two(1.0)) == (2.0, 3.0)


def test_converted_function_does_not_outlive_the_function():
    def f(x):
        return x if x > 0 else -x

    convert(f)
    reference = weakref.ref(f)
    del f
    gc.collect()
    assert reference() is None


def test_records_of_freed_functions_are_removed():
    def converted_codes():
        for k in range(20):
            text = f"def f(x):\n    if x > {k}:\n        x = x - 1.0\n    return x\n"
            convert(from_source(text, "f"))(1.0)
        gc.collect()
        return len(registry._converted), len(convert_module._templates)

    assert converted_codes() == converted_codes()


def test_changed_defaults_are_used():
    def f(x, y=1.0):
        return x + y if x > 0 else x

    assert convert(f)(1.0) == 2.0
    f.__defaults__ = (5.0,)
    assert convert(f)(1.0) == 6.0


def test_lambdas_on_one_line_are_distinguished():
    pair = (lambda x: x if x > 0 else -x), (lambda x: x if x > 0 else x * 2.0)
    assert [convert(f)(-3.0) for f in pair] == [3.0, -6.0]
    assert value_of(tn.function(pair[1])(tensor(-3.0))) == -6.0


class Private:
    __factor = 3.0

    def __init__(self):
        self.__hidden = 1.0

    def get(self, x):
        if x > 0:
            self.__hidden = self.__hidden * x * self.__factor
        return self.__hidden

    @staticmethod
    def fixed(x):
        return x if x > 0 else -x

    @classmethod
    def of_class(cls, x):
        return x * cls.__factor if x > 0 else -x


def test_static_and_class_methods_with_private_names_are_converted():
    assert convert(Private().get)(2.0) == 6.0
    assert convert(Private.fixed)(-2.0) == 2.0
    assert convert(Private.of_class)(2.0) == 6.0
    owner = Private()
    assert value_of(tn.function(lambda x: Private().get(x))(tensor(2.0))) == 6.0
    assert convert(owner.get).__self__ is owner


def test_function_inside_a_decorator_is_converted():
    def doubled(function):
        @functools.wraps(function)
        def wrapper(x):
            return function(x) * 2.0

        return wrapper

    @doubled
    def f(x):
        return x if x > 0 else -x

    assert value_of(tn.function(f)(tensor(-3.0))) == 6.0


def test_code_without_tensors_behaves_as_if_not_converted():
    def f(values, log):
        out = []
        for index, value in enumerate(values):
            if value is None:
                continue
            try:
                if value < 0:
                    raise ValueError(value)
                out.append(10 // value)
            except ZeroDivisionError as error:
                log.append(type(error).__name__)
            except ValueError as error:
                log.append(error.args)
                break
            else:
                log.append(index)
            finally:
                log.append("end")
        else:
            out.append("all")
        return out if out and out[-1] == "all" or not log else (out, len(log))

    for values in ([1, 2], [1, 0, None, 5], [3, -1, 2], []):
        logs = [], []
        assert f(values, logs[0]) == convert(f)(values, logs[1])
        assert logs[0] == logs[1]


def test_unbound_variable_raises_pythons_error():
    def f(x):
        if x > 0:
            y = x
        return y

    with pytest.raises(NameError):
        convert(f)(-1.0)


def test_user_exceptions_propagate_unchanged():
    def f(x):
        for i in range(3):
            if i == 2:
                raise KeyError("two")
        return x

    with pytest.raises(KeyError, match="two"):
        convert(f)(1.0)


def test_generators_are_called_without_conversion():
    def numbers():
        for i in range(3):
            yield float(i)

    def f(x):
        for value in numbers():
            x = x + value
        return x

    assert value_of(tn.function(f)(tensor(1.0))) == 4.0


def test_print_runs_while_tracing():
    def f(x):
        print("tracing")
        return x if x > 0 else -x

    traced = tn.function(f)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        traced(tensor(1.0))
        traced(tensor(2.0))
    assert out.getvalue() == "tracing\n"


def test_notebook_cells_and_interactive_sessions_have_source():
    name = "/tmp/ipykernel_1/cell.py"
    source = "def f(x):\n    return x if x > 0 else -x\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    assert value_of(tn.function(scope["f"])(tensor(-3.0))) == 3.0
    name = "<python-input-0>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), scope)
    assert value_of(tn.function(scope["f"])(tensor(-4.0))) == 4.0


def test_to_code_returns_readable_source():
    function = from_source(
        "def f(x, n):\n"
        "    for i in range(n):\n"
        "        if x > 3.0:\n"
        "            break\n"
        "        x = x + 1.0\n"
        "    return x\n",
        "f",
    )
    expected = """\
def f(x, n):
    if False:
        break_1_ = i = None
    break_1_ = False

    def body_2(item_2):
        nonlocal break_1_, i, x
        i = item_2

        def then_3():
            nonlocal break_1_
            break_1_ = True

        def else_3():
            nonlocal x
            x = x + 1.0
        ag__.if_stmt(x > 3.0, then_3, else_3, ('break_1_', 'x'), at='3:9')
    ag__.for_stmt(ag__.iterated(range)(n), body_2, ('break_1_', 'x'), (), \
stop=lambda: ag__.any_jump(break_1_), at='2:5')
    return x
"""
    for item in (function, convert(function), tn.function(function)):
        text = tn.autograph.to_code(item)
        assert text.replace("lambda :", "lambda:") == expected  # Python 3.10 adds a space.


def test_conversion_of_200_lines_takes_less_than_50_ms():
    block = (  # 40 branches and loops in 200 lines.
        "    y = x * {k}.0 + 1.0\n"
        "    if y > {k}.0:\n"
        "        x = x - 1.0\n"
        "    else:\n"
        "        x = x + 1.0\n"
        "    z = min(y, x)\n"
        "    while x > 100.0:\n"
        "        x = x * 0.5\n"
        "        z = z + x\n"
        "    x = x + z\n"
    )
    lines = "".join(block.format(k=k) for k in range(20))
    best = 1.0
    for attempt in range(12):
        text = f"def f(x):\n{lines}    return x + {attempt}.0\n"
        function = from_source(text, "f")
        gc.disable()
        start = time.process_time()
        convert(function)
        best = min(best, time.process_time() - start)
        gc.enable()
    assert len(text.splitlines()) >= 200
    assert best < 0.05
