"""The C++ binding is written by hand, so each function of the C ABI is called by one of its headers, or
is listed with a reason in bindings/cpp/not_wrapped.toml."""

import json
import re
import tomllib

import repository

HEADERS = "bindings/cpp/include/tenon"
LIST = "bindings/cpp/not_wrapped.toml"


def called_in(texts):
    """The names of C that occur in `texts`, outside of comments."""
    return {name for text in texts
            for name in re.findall(r"\btenon_\w+", re.sub(r"//.*", "", text))}


def faults_in(functions, called, reasons):
    """What is neither called nor excused, and what is excused for nothing."""
    faults = [f"{name}: no header of {HEADERS} calls it, and {LIST} does not say why"
              for name in functions if name not in called and name not in reasons]
    for name, reason in reasons.items():
        if name not in functions:
            faults.append(f"{LIST}: there is no {name}")
        elif name in called:
            faults.append(f"{LIST}: {name} is called")
        elif not reason.strip():
            faults.append(f"{LIST}: {name} has no reason")
    return faults


def run():
    api = json.loads((repository.ROOT / "capi/abi/api.json").read_text())
    functions = [function["name"] for function in api["functions"]]
    paths = sorted((repository.ROOT / HEADERS).glob("*.hpp"))
    reasons = tomllib.loads((repository.ROOT / LIST).read_text())
    called = called_in(path.read_text() for path in paths)
    details = f"{len(functions)} functions of C, {len(reasons)} of them not wrapped"
    return details, faults_in(functions, called, reasons)
