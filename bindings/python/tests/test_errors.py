"""Errors of the C ABI become Python exceptions."""

import json
import pathlib
import pickle

import pytest

import tenon as tn


def test_an_error_has_op_and_rule():
    with pytest.raises(tn.InvalidArgumentError) as caught:
        tn.softmax([1.0], axis=5)
    error = caught.value
    assert str(error) == "softmax: C2: axis 5 is outside [-1, 1) for x: f32[1]"
    assert (error.op, error.rule, error.code, error.code_name) == ("softmax", "C2", 1,
                                                                   "INVALID_ARGUMENT")
    assert isinstance(error, (tn.TenonError, ValueError))


@pytest.mark.parametrize("call, classes", [
    (lambda: tn.gather([1.0], [3]), (tn.OutOfRangeError, IndexError)),
    (lambda: tn.tensor(1).copy_to("nowhere"), (tn.NotFoundError, LookupError)),
    (lambda: tn.load("/nonexistent"), (tn.NotFoundError,)),
    (lambda: tn.matmul([1.0], [1.0, 2.0]), (tn.InvalidArgumentError, ValueError)),
    (lambda: tn.assert_that(tn.tensor(False), "no"), (tn.FailedPreconditionError, RuntimeError)),
    (lambda: tn.SafetensorsFile(b"abc"), (tn.DataLossError,)),
])
def test_each_error_code_has_an_exception_class(call, classes):
    with pytest.raises(tn.TenonError) as caught:
        call()
    for cls in classes:
        assert isinstance(caught.value, cls)


def test_exception_classes_have_the_error_codes_of_c():
    api = json.loads((pathlib.Path(__file__).parents[3] / "capi/abi/api.json").read_text())
    constants = next(enum["constants"] for enum in api["enums"]
                     if enum["constants"][0]["name"] == "TENON_OK")
    codes = {each["value"]: each["name"].removeprefix("TENON_") for each in constants[1:]}
    assert {cls.code: cls.code_name for cls in tn.TenonError.__subclasses__()} == codes


@pytest.mark.parametrize("call, text", [
    (lambda: tn.softmax(), "softmax(): missing argument 'x'"),
    (lambda: tn.softmax([1.0], axes=1), "softmax(): got an unexpected keyword argument 'axes'"),
    (lambda: tn.softmax([1.0], 0, axis=1), "softmax(): got multiple values for 'axis'"),
    (lambda: tn.softmax([1.0], 0, 1), "softmax(): takes at most 2 arguments"),
    (lambda: tn.pad([1.0], [1, 1], mode="none"),
     "pad(): mode must be one of 'constant', 'reflect', 'edge', 'wrap'"),
    (lambda: tn.add(None, 1), "None cannot be converted to a tensor"),
])
def test_wrong_arguments_are_type_errors(call, text):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == text


def test_the_traceback_ends_at_the_users_line():
    try:
        tn.softmax([1.0], axis=5)
    except tn.TenonError as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        assert trace.tb_frame.f_code.co_filename == __file__


def test_errors_of_graphs_report_the_users_line():
    @tn.function(autograph=False)
    def pick(x, i):
        return tn.gather(x, i)

    with pytest.raises(tn.OutOfRangeError) as caught:
        pick(tn.tensor([1.0]), tn.tensor([3]))
    line = pick.python_function.__code__.co_firstlineno + 2
    assert caught.value.location == f"{__file__}:{line}"
    assert f"{__file__}:{line}" in str(caught.value)


def test_exceptions_of_callbacks_propagate_unchanged():
    class Mine(Exception):
        pass

    def fail(*_):
        raise Mine("text")

    for call in (lambda: tn.function(fail, autograph=False)(1.0),
                 lambda: tn.function(fail)(tn.tensor(1.0)),
                 lambda: tn.py_function(fail, [1.0], 1.0),
                 lambda: tn.cond(tn.tensor(True), fail, fail),
                 lambda: tn.while_loop(fail, fail, (1,)),
                 lambda: tn.scan(fail, 0.0, tn.tensor([1.0]))):
        with pytest.raises(Mine, match="text"):
            call()


def test_exceptions_of_host_calls_in_graphs_propagate():
    def fail(x):
        raise KeyError("inside")

    traced = tn.function(lambda x: tn.py_function(fail, [x], x))
    for _ in range(2):
        with pytest.raises(KeyError, match="inside"):
            traced(tn.tensor(1.0))


def test_errors_can_be_pickled():
    try:
        tn.softmax([1.0], axis=5)
    except tn.TenonError as error:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.op == "softmax" and str(again) == str(error)
