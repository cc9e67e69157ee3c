"""Bindings whose wrappers are written by hand call each function of the C ABI, or list it with a reason in
a file not_wrapped.toml."""

import json
import re
import tomllib

import repository

# Each: the folder of the binding, and the files that wrap. Generated declarations wrap nothing.
BINDINGS = [("bindings/cpp", "include/tenon/*.hpp", r"//.*"),
            ("bindings/rust", "tenon-runtime/src/*.rs", r"//.*")]


def called_in(texts, comment=r"//.*"):
    """The names of C that occur in `texts`, outside of comments."""
    return {name for text in texts
            for name in re.findall(r"\btenon_\w+", re.sub(comment, "", text))}


def faults_in(functions, called, reasons, where="bindings/cpp"):
    """What is neither called nor excused, and what is excused for nothing."""
    listed = f"{where}/not_wrapped.toml"
    faults = [f"{name}: nothing in {where} calls it, and {listed} does not say why"
              for name in functions if name not in called and name not in reasons]
    for name, reason in reasons.items():
        if name not in functions:
            faults.append(f"{listed}: there is no {name}")
        elif name in called:
            faults.append(f"{listed}: {name} is called")
        elif not reason.strip():
            faults.append(f"{listed}: {name} has no reason")
    return faults


def run():
    api = json.loads((repository.ROOT / "capi/abi/api.json").read_text())
    functions = [function["name"] for function in api["functions"]]
    details, faults = [f"{len(functions)} functions of C"], []
    for where, pattern, comment in BINDINGS:
        folder = repository.ROOT / where
        reasons = tomllib.loads((folder / "not_wrapped.toml").read_text())
        called = called_in((path.read_text() for path in sorted(folder.glob(pattern))), comment)
        details.append(f"{len(reasons)} of them not wrapped in {where}")
        faults += faults_in(functions, called, reasons, where)
    return ", ".join(details), faults
