"""The command `python -m tenon`."""

import json
import subprocess
import sys

import numpy
import pytest

import tenon as tn
from tenon._command import main


@pytest.fixture
def program(tmp_path):
    """Returns a program with two functions, and a file with an input."""
    w = tn.Variable([1.0, 2.0], name="w")
    score = tn.function(lambda x: tn.sum(x * w, axes=[1]))
    both = tn.function(lambda x, y: (x + y, x - y))
    pair = tn.TensorSpec([2])
    path = tmp_path / "scorer"
    tn.save(path, {"score": score.trace(tn.TensorSpec(["rows", 2], name="x")),
                   "both": both.trace(pair, pair)})
    numpy.save(tmp_path / "x.npy", numpy.ones((3, 2), numpy.float32))
    numpy.save(tmp_path / "y.npy", numpy.ones(2, numpy.float32))
    return path


def test_run_prints_and_writes_outputs(program, tmp_path, capsys):
    x = f"x={tmp_path}/x.npy"
    assert main(["run", str(program), "-f", "score", "-i", x, "-o", str(tmp_path / "out"),
                 "--values"]) == 0
    first, values = capsys.readouterr().out.splitlines()
    assert first.endswith("float32[3]  min 3  mean 3  max 3") and values == "[3. 3. 3.]"
    written = list((tmp_path / "out").iterdir())
    assert [numpy.load(path).tolist() for path in written] == [[3, 3, 3]]
    assert written[0].name == first.split(":")[0] + ".npy"


def test_run_takes_several_inputs(program, tmp_path, capsys):
    y = f"{tmp_path}/y.npy"
    assert main(["run", str(program), "-f", "both", "-i", f"x={y}", "-i", f"y={y}"]) == 0
    assert [line.split("  ")[1] for line in capsys.readouterr().out.splitlines()] == ["min 2", "min 0"]


@pytest.mark.parametrize("arguments, message", [
    (["run", "nothing"], "nothing: there is no such file or folder"),
    (["run", "PROGRAM"], "the program has 2 functions: choose one of both, score with --function"),
    (["run", "PROGRAM", "-f", "skore"], "the program has no function 'skore'; its functions are both, score"),
    (["run", "PROGRAM", "-f", "score"],
     "score needs --input x=FILE.npy; its inputs are x: float32[rows,2]"),
    (["run", "PROGRAM", "-f", "score", "-i", "z=FOLDER/x.npy"],
     "score has no input 'z'; its inputs are x: float32[rows,2]"),
    (["run", "PROGRAM", "-f", "score", "-i", "x"], "--input x: must have the form NAME=VALUE"),
    (["run", "PROGRAM", "-f", "score", "-i", "x=a", "-i", "x=b"], "--input x=b: 'x' is given twice"),
    (["run", "PROGRAM", "-f", "score", "-i", "x=FOLDER/none.npy"], "cannot be read as an .npy file"),
    (["run", "PROGRAM", "-f", "score", "-d", "moon:0", "-i", "x=FOLDER/x.npy"], "moon"),
    (["ops", "sofmax"], "there is no op 'sofmax' (similar: softmax"),
])
def test_error_messages_say_what_to_do(program, tmp_path, capsys, arguments, message):
    arguments = [text.replace("PROGRAM", str(program)).replace("FOLDER", str(tmp_path))
                 for text in arguments]
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("tenon: ") and message in captured.err and not captured.out


def test_inspect_prints_signatures_graphs_and_variables(program, capsys):
    assert main(["inspect", str(program), "-f", "score", "--graph"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("score(x: float32[rows,2]) -> ")
    assert "mul(" in out and "1 variables, 2 elements:\n  w  float32[2]\n" in out
    assert main(["inspect", str(program), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == tn.load(program).describe()


def test_profile_counts_the_calls(program, tmp_path, capsys):
    trace = tmp_path / "trace.json"
    x = f"x={tmp_path}/x.npy"
    assert main(["profile", str(program), "-f", "score", "-i", x, "-n", "4", "--json",
                 "--trace", str(trace)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert any(row["count"] == 4 for row in rows)
    assert json.loads(trace.read_text())


def test_devices_and_ops_are_listed(capsys):
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.startswith("cpu:0 ")
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "cpu:0"
    assert main(["devices", "-v"]) == 0
    assert "libtenon_cpu" in capsys.readouterr().out
    assert main(["ops", "softmax"]) == 0
    assert "C2: " in capsys.readouterr().out
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(tn.ops.__all__) and lines[0].startswith("abs ")


def test_help_is_shown_and_wrong_command_lines_fail():
    def command(*arguments):
        return subprocess.run([sys.executable, "-m", "tenon", *arguments], capture_output=True, text=True)

    shown = command("--help")
    assert shown.returncode == 0 and shown.stdout.startswith("usage: python -m tenon")
    for name in ("devices", "ops", "run", "inspect", "profile"):
        assert name in shown.stdout
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0
    for wrong in ([], ["fly"], ["run"]):
        with pytest.raises(SystemExit) as end:
            main(wrong)
        assert end.value.code == 2
    assert command("run", "nowhere").returncode == 1
