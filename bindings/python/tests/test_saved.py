"""Converted functions with branches and loops are saved. The tool `tenon`, C and onnxruntime
compute the same results as Python."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

import tenon as tn


def collatz(n):
    """Returns the number of steps of the Collatz sequence from n to 1."""
    steps = tn.tensor(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_above(x, limit):
    """Adds the elements before the first element above `limit`. Skips negative elements."""
    total = tn.tensor(0.0)
    for value in x:
        if value > limit:
            break
        if value < 0:
            continue
        total += value
    return total


def sign(x):
    """Returns -1, 0 or 1. Each branch has a return statement."""
    if x > 0:
        return tn.tensor(1.0)
    if x < 0:
        return tn.tensor(-1.0)
    return tn.tensor(0.0)


NUMBERS = numpy.array([1, -2, 3, 9, 4], numpy.float32)
CALLS = [
    ("collatz", {"n": numpy.int32(27)}, 111),
    ("first_above", {"x": NUMBERS, "limit": numpy.float32(5)}, 4),
    ("sign", {"x": numpy.float32(-3)}, -1),
    ("sign", {"x": numpy.float32(0)}, 0),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Returns a program with the three functions, traced for unknown lengths."""
    folder = tmp_path_factory.mktemp("saved") / "program"
    scalar = tn.TensorSpec([])
    tn.save(folder, {
        "collatz": tn.function(collatz).trace(tn.TensorSpec([], "int32", "n")),
        "first_above": tn.function(first_above).trace(tn.TensorSpec(["length"], name="x"), scalar),
        "sign": tn.function(sign).trace(scalar)})
    return folder


@pytest.mark.parametrize("name, inputs, expected", CALLS)
def test_saved_functions_run_in_python(program, name, inputs, expected):
    assert tn.load(program)[name](*inputs.values()).item() == expected


def test_strict_refuses_wrong_declared_shapes(tmp_path):
    # Computes y = -x for x: f32[2], but declares y: f32[7].
    path = tmp_path / "wrong.onnx"
    path.write_bytes(bytes.fromhex(
        "080a420210143a320a0b0a017812017922034e65671201675a0f0a0178120a0a08080112040a020802620f0a0179"
        "120a0a08080112040a020807"))
    x = numpy.array([1, -2], numpy.float32)
    assert tn.load(path).g(x).numpy().tolist() == [-1, 2]
    strict = tn.load(path, strict=True)
    with pytest.raises(tn.errors.DataLossError, match=r"declared to be f32\[7\], but is f32\[2\]"):
        strict.g(x)


@pytest.mark.parametrize("name, inputs, expected", CALLS)
def test_saved_functions_run_from_both_commands(program, tmp_path, name, inputs, expected):
    arguments = ["run", str(program), "--function", name, "--output", str(tmp_path)]
    for key, value in inputs.items():
        numpy.save(tmp_path / f"in_{key}.npy", value)
        arguments += ["--input", f"{key}={tmp_path}/in_{key}.npy"]
    tool = os.environ.get("TENON_TOOL")
    commands = [[sys.executable, "-m", "tenon"], *([[tool]] if tool else [])]
    for command in commands:
        done = subprocess.run(command + arguments, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        written = [path for path in tmp_path.glob("*.npy") if not path.name.startswith("in_")]
        assert [numpy.load(path).item() for path in written] == [expected]
        written[0].unlink()
    if not tool:
        pytest.skip("TENON_TOOL does not name the tool `tenon`")


def test_saved_function_runs_from_c(program, tmp_path):
    library, headers = os.environ.get("TENON_LIBRARY"), os.environ.get("TENON_HEADERS")
    compiler = shutil.which("cc")
    if not library or not headers or not compiler:
        pytest.skip("TENON_LIBRARY or TENON_HEADERS is not set, or there is no C compiler")
    binary = tmp_path / "saved_collatz"
    source = pathlib.Path(__file__).with_name("saved_collatz.c")
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{headers}", source, library,
                    f"-Wl,-rpath,{pathlib.Path(library).parent}", "-o", binary], check=True)
    done = subprocess.run([binary, program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "111\n"), done.stderr


RUN_ONNX = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
given = {name: value for name, value in numpy.load(sys.argv[2]).items()}
print(*(value.item() for value in session.run(None, given)))
"""


@pytest.mark.parametrize("name, inputs, expected", CALLS)
def test_saved_functions_run_in_onnxruntime(program, tmp_path, name, inputs, expected):
    """Programs use the ONNX ops Loop and If, so another runtime computes the same results."""
    python = os.environ.get("TENON_ONNXRUNTIME_PYTHON")
    if not python:
        pytest.skip("TENON_ONNXRUNTIME_PYTHON names no interpreter that has onnxruntime")
    numpy.savez(tmp_path / "inputs.npz", **inputs)
    models = [path for path in program.glob("*.onnx") if path.name.startswith(name)]
    assert len(models) == 1
    done = subprocess.run([python, "-c", RUN_ONNX, models[0], tmp_path / "inputs.npz"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == expected
