"""Checks that each binding wraps every function of the C ABI, in handwritten code or in code
generated from the registry, or lists it with a reason in the binding's not_wrapped.toml."""

import json
import re
import tomllib

import repository

# The files of each binding that users call. Raw declarations of C functions do not count as
# wrappers.
BINDINGS = {
    "bindings/cpp": "include/tenon/*.hpp",
    "bindings/js": "src/*.js",
    "bindings/java": "tenon/src/main/java/dev/tenon/*.java",
    "bindings/python": "src/*.*",
    "bindings/rust": "tenon-runtime/src/*.rs",
}


def called_in(texts):
    """Returns the names of C functions in `texts`, outside comments."""
    return {name for text in texts for name in re.findall(r"\btenon_\w+", without_comments(text))}


def without_comments(text):
    return re.sub(r"//.*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def faults_in(functions, called, reasons, binding="bindings/cpp"):
    """Returns a fault for each function that is neither called nor exempted, and for each
    unnecessary exemption."""
    listed = f"{binding}/not_wrapped.toml"
    faults = [f"{name}: nothing in {binding} calls it, and {listed} does not say why"
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
    faults, details = [], []
    for binding, pattern in BINDINGS.items():
        folder = repository.ROOT / binding
        reasons = tomllib.loads((folder / "not_wrapped.toml").read_text())
        called = called_in(path.read_text() for path in sorted(folder.glob(pattern)))
        faults += faults_in(functions, called, reasons, binding)
        details.append(f"{len(reasons)} not in {binding}")
    return f"{len(functions)} functions of C, {', '.join(details)}", faults
