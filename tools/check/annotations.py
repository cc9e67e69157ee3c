"""The headers of the C ABI say all that a binding must know, so that none has to guess.

A single object passed by pointer is borrowed and there, an error returned is said to be owned; what
else a pointer means is written at it:
  - text, lists and tables: TENON_COUNT, as long as a parameter, a field or a constant says
  - an object that comes back, returned or through an `out_` parameter: TENON_OWNED or TENON_BORROWED
  - a `void*`: TENON_BORROWED or TENON_OWNED, unless it is the payload of a callback
and each exported function has a comment with every parameter and its `@since`.
"""

import re

import gen_api

SCALARS = r"(u?int\d+_t|size_t|double|float|bool|char|unsigned char|tenon_dtype|tenon_code|tenon_features)"


def has(item, *words):
    return any(note.split(":")[0] in words for note in item.get("notes", []))


def faults_of_parameter(parameter, names):
    kind = parameter["type"]
    name = parameter["name"]
    if not name:
        return ["a parameter without a name"]
    if "*" not in kind or "(*" in kind:
        return []
    faults = []
    out = name.startswith("out_")
    base = re.sub(r"[\s*]|\bconst\b|\bstruct\b", "", kind)
    if kind.count("*") == 2 and out and not re.fullmatch(SCALARS, base):
        if not has(parameter, "owned", "borrowed"):
            faults.append(f"{name}: TENON_OWNED or TENON_BORROWED is missing")
    elif kind.count("*") >= 2 and not has(parameter, "count"):
        faults.append(f"{name}: TENON_COUNT is missing")
    elif kind.count("*") == 1 and base == "void" and not has(parameter, "owned", "borrowed"):
        faults.append(f"{name}: TENON_BORROWED or TENON_OWNED is missing")
    elif re.fullmatch(SCALARS, base) and not out and not has(parameter, "count"):
        faults.append(f"{name}: TENON_COUNT is missing")
    for note in parameter.get("notes", []):
        word, _, what = note.partition(":")
        if word == "count" and re.fullmatch(r"[a-z]\w*", what) and what not in names:
            faults.append(f"{name}: counts {what}, which is no parameter")
        if word == "threads" and what not in ("any", "one_at_a_time"):
            faults.append(f"{name}: TENON_THREADS({what}) is not any or one_at_a_time")
    return faults


def faults_of(function):
    parameters = function["parameters"]
    names = {parameter["name"] for parameter in parameters}
    faults = [fault for parameter in parameters
              for fault in faults_of_parameter(parameter, names)]
    returns = function["returns"]
    if "*" in returns["type"] and not has(returns, "owned", "borrowed"):
        faults.append("returns a pointer: TENON_OWNED or TENON_BORROWED is missing")
    doc = function.get("doc", "")
    if not doc:
        return faults + ["has no comment"]
    if "@since" not in doc:
        faults.append("@since is missing")
    for name in sorted(names):
        if not re.search(rf"@param\s+(\w+\s*,\s*)*{name}\b", doc):
            faults.append(f"@param {name} is missing")
    return faults


def run():
    api = gen_api.read_api()
    faults = []
    for function in api["functions"]:
        for fault in faults_of(function):
            faults.append(f"capi/include/{function['header']}: {function['name']}: {fault}")
    return f"{len(api['functions'])} functions", faults
