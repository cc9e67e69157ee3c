"""Runs saved programs in onnxruntime, and compares the results with those of Tenon.

    compare.py FOLDER

For each program NAME, FOLDER contains the program's folder and NAME.safetensors with inputs and
results, as tenon_saved_programs writes them. Floating-point results may differ by 1e-5 of the
largest magnitude in a tensor. Other results must be equal.
"""

import json
import pathlib
import struct
import sys

import numpy
import onnxruntime

DTYPES = {"BOOL": "?", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "U8": "u1",
          "U16": "<u2", "U32": "<u4", "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
TOLERANCE = 1e-5


def tensors_of(path):
    """Reads a safetensors file and returns {name: array}."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        found[name] = numpy.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return found


def difference(got, want):
    """Returns the largest difference relative to the largest magnitude; infinite if the types
    differ."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return float("inf")
    if not numpy.issubdtype(want.dtype, numpy.floating):
        return 0.0 if numpy.array_equal(got, want) else float("inf")
    if want.size == 0:
        return 0.0
    if not numpy.array_equal(numpy.isfinite(got), numpy.isfinite(want)):
        return float("inf")
    scale = max(1e-30, float(numpy.max(numpy.abs(want))))
    return float(numpy.max(numpy.abs(got.astype("f8") - want.astype("f8")))) / scale


def check(folder, name):
    """Runs all calls of a program and returns the largest difference."""
    try:
        import onnx
        onnx.checker.check_model(str(folder / name / f"{name}.onnx"), full_check=True)
    except ImportError:
        pass
    (function,) = json.loads((folder / name / "tenon.json").read_text())["functions"][name]["signatures"]
    calls = tensors_of(folder / f"{name}.safetensors")
    weights = tensors_of(folder / name / "weights.safetensors")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / name / function["file"]), options,
                                           providers=["CPUExecutionProvider"])
    states = {state["input"]: weights[state["variable"]] for state in function["states"]}
    worst = 0.0
    call = 0
    while any(key.startswith(f"call.{call}.") for key in calls):
        feed = dict(states)
        for i, value in enumerate(function["inputs"]):
            feed[value] = calls[f"call.{call}.in.{i}"]
        names = function["outputs"] + [state["output"] for state in function["states"]]
        results = dict(zip(names, session.run(names, feed)))
        for i, value in enumerate(function["outputs"]):
            worst = max(worst, difference(results[value], calls[f"call.{call}.out.{i}"]))
        for state in function["states"]:
            states[state["input"]] = results[state["output"]]
        call += 1
    if call == 0:
        raise SystemExit(f"{name}: no call is stored")
    for state in function["states"]:
        worst = max(worst, difference(states[state["input"]], calls["state." + state["variable"]]))
    return call, worst


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sorted(path.stem for path in folder.glob("*.safetensors"))
    if not names:
        raise SystemExit(f"{folder}: there is no program")
    failed = 0
    for name in names:
        calls, worst = check(folder, name)
        verdict = "ok" if worst <= TOLERANCE else "DIFFERS"
        failed += verdict != "ok"
        print(f"{name:20} {calls} calls, largest difference {worst:.2e}  {verdict}")
    print(f"onnxruntime {onnxruntime.__version__}: {len(names) - failed} of {len(names)} programs agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
