"""Reads the test cases of an op as arrays, from conformance/cases/NAME.json, which ./dev gen
writes."""

import json
import pathlib
from dataclasses import dataclass

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "conformance" / "cases"

FLOATS = {"f16": np.float16, "bf16": None, "f32": np.float32, "f64": np.float64}
WHOLE = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}


def rounded(values, dtype):
    """Rounds float64 values to the dtype, and returns them as float64."""
    values = np.asarray(values, np.float64)
    if dtype != "bf16":
        with np.errstate(over="ignore"):
            return values.astype(FLOATS[dtype]).astype(np.float64)
    bits = np.atleast_1d(values.astype(np.float32)).view(np.uint32).astype(np.uint64)
    ties_to_even = bits + 0x7FFF + ((bits >> 16) & 1)
    kept = np.where(np.isnan(values), bits, ties_to_even) & 0xFFFF0000
    return kept.astype(np.uint32).view(np.float32).astype(np.float64).reshape(values.shape)


@dataclass
class Tensor:
    """A tensor as written in a case. Its numbers are not yet rounded to a dtype."""

    dtype: str
    shape: tuple
    numbers: np.ndarray

    def held(self):
        """Returns the tensor as a formula receives it: floats are rounded to the dtype and
        converted to float64, other numbers keep their dtype."""
        if self.dtype in FLOATS:
            return rounded(self.numbers, self.dtype)
        return self.numbers.astype(WHOLE[self.dtype])


@dataclass
class Case:
    """A test case, with its literal outputs if it has any."""

    name: str
    attrs: dict
    inputs: list  # List of Tensor; None for an absent input.
    expect: list  # List of Tensor; empty if the case has no literals.


def tensor_of(entry, scalar_dtype):
    if entry is None:
        return None
    if "scalar" in entry:
        dtype = scalar_dtype if scalar_dtype in FLOATS else entry["dtype"]
        return Tensor(dtype, (), np.float64(entry["scalar"]))
    shape = tuple(entry["shape"])
    if "uniform" in entry:
        low, high = entry["uniform"]
        numbers = np.random.default_rng(0).uniform(low, high, shape)
    else:
        numbers = np.array([float(v) for v in entry["values"]]).reshape(shape)
    return Tensor(entry["dtype"], shape, numbers)


def case_of(entry):
    tensors = [t for t in entry["inputs"] if t is not None and "scalar" not in t]
    partner = tensors[0]["dtype"] if tensors else ""
    attrs = {name: float(value) if value in ("nan", "inf", "-inf") else value
             for name, value in entry.get("attrs", {}).items()}
    return Case(entry["name"], attrs, [tensor_of(t, partner) for t in entry["inputs"]],
                [tensor_of(t, "") for t in entry.get("expect", [])])


@dataclass
class Op:
    """An op as the registry describes it, and its test cases, except those that expect an error."""

    name: str
    composite: bool
    elementwise: bool
    numeric: str
    attrs: list  # List of {"name", "type", "default"}; an enumeration also has "values".
    cases: list
    drawn: set  # Names of cases with random inputs, which cannot have literals.


def read_op(name):
    facts = json.loads((CASES / f"{name}.json").read_text())
    succeeding = [entry for entry in facts["cases"] if "error" not in entry]
    drawn = {entry["name"] for entry in succeeding
             if any(t is not None and "uniform" in t for t in entry["inputs"])}
    return Op(facts["name"], facts["composite"], facts["elementwise"], facts["numeric"],
              facts["attrs"], [case_of(entry) for entry in succeeding], drawn)


def names():
    return sorted(path.stem for path in CASES.glob("*.json"))
