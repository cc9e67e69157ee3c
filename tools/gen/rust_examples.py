"""Generates the examples of Rust functions from the test cases of ops. Each runs as a doctest."""

import rust

SUFFIX = {"bool": "bool", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8", "u16": "u16",
          "u32": "u32", "u64": "u64", "f32": "f32", "f64": "f64"}
DTYPES = {"none": "None", "bool": "Bool", "bf16": "BF16"}
MAX_ELEMENTS = 24


def usable(op, case):
    """Returns whether a case can be an example: it succeeds, and its inputs are short."""
    if "error" in case:
        return False
    for given in case["inputs"]:
        if given is None or "scalar" in given:
            continue
        if given["dtype"] not in SUFFIX:
            return False
        if "values" in given and len(given["values"]) > 4 * MAX_ELEMENTS:
            return False
    return True


def is_default(op, case, attr):
    return case.get("attrs", {}).get(attr["name"], attr["default"]) == attr["default"]


def given_of(op, case, entry):
    at = op["inputs"].index(entry)
    return case["inputs"][at] if at < len(case["inputs"]) else None


def defaults_only(op, case):
    return all(is_default(op, case, attr) for attr in op["attrs"]) and not any(
        given_of(op, case, entry) for entry in op["inputs"] if entry["kind"] == "optional")


def has_default_case(op):
    """Returns whether a case that can be an example leaves all attributes at their defaults."""
    return any(usable(op, case) and defaults_only(op, case) for case in op["kit"]["cases"])


def rank(case):
    """Returns a sort key: cases with few elements, and cases named "example", come first."""
    elements = sum(len(i.get("values", [0] * 100)) for i in case["inputs"] if i and "shape" in i)
    return elements + (0 if case["name"] == "example" else 2)


def pick(op, fits=lambda case: True):
    found = [case for case in op["kit"]["cases"] if usable(op, case) and fits(case)]
    return min(found, key=rank) if found else None


# ---- literals

def number(dtype, value):
    if dtype == "bool":
        return "true" if value else "false"
    if dtype in ("f32", "f64"):
        if isinstance(value, str):
            named = {"inf": "INFINITY", "-inf": "NEG_INFINITY", "nan": "NAN"}[value]
            return f"{dtype}::{named}"
        text = repr(float(value))
        return text[:-1] if text.endswith(".0") else text
    return str(int(value))


def nested(shape, values):
    if len(shape) == 1:
        return "[" + ", ".join(values) + "]"
    step = len(values) // shape[0]
    return "[" + ", ".join(nested(shape[1:], values[i * step:(i + 1) * step])
                           for i in range(shape[0])) + "]"


def tensor(given):
    """Returns the Rust expression for a tensor or number of a case."""
    if "scalar" in given:
        value = number("f64" if given["dtype"].startswith("f") or given["dtype"] == "bf16" else
                       given["dtype"], given["scalar"])
        return value + ("0" if value.endswith(".") else "")
    dtype, shape = given["dtype"], given["shape"]
    sizes = ", ".join(map(str, shape))
    if "values" not in given:
        return f"Tensor::full({'0.5' if dtype.startswith('f') else '1'}{SUFFIX[dtype]}, &[{sizes}])?"
    values = [number(dtype, value) for value in given["values"]]
    if not shape or 0 in shape:
        typed = f"[{', '.join(values)}]" if values else "[]"
        return f"Tensor::from_slice::<{dtype}>(&{typed}, &[{sizes}])?"
    inner = nested(shape, values)[1:-1]
    plain = dtype in ("f32", "i32", "bool") and all("::" not in v for v in values)
    return f"tensor![{inner}]?" if plain else f"tensor![{dtype}; {inner}]?"


def attribute(attr, value):
    if "enum" in attr:
        return f"tenon::ops::{rust.pascal(attr['enum'])}::{rust.pascal(value)}"
    if attr["type"] == "ints":
        return "&[" + ", ".join(map(str, value)) + "]"
    if attr["type"] == "dtype":
        return f"DType::{DTYPES.get(value, value.upper())}"
    if attr["type"] == "bool":
        return "true" if value else "false"
    if attr["type"] == "string":
        return f'"{value}"'
    return repr(float(value)) if attr["type"] == "float" else str(value)


# ---- examples

def wrap(lines, dtype=False):
    head = ["# #[allow(unused_imports)]", "# use tenon::{ops, tensor, DType, Tensor};"]
    return "\n".join(head + lines + ["# tenon::Result::Ok(())"])


def write(shape, case, method, builder, extras):
    op = shape.op
    lines, arguments = [], []
    for entry, given in zip(op["inputs"], case["inputs"]):
        if entry["kind"] == "variadic":
            break
        if given is None:
            continue
        name = rust.name(entry["name"])
        lines.append(f"let {name} = {tensor(given)};")
        if entry["kind"] == "required":
            arguments.append(name if "scalar" in given else f"&{name}")
    if shape.variadic:
        listed = ", ".join(tensor(given) for given in case["inputs"])
        lines.append(f"let inputs = [{listed}];")
        arguments.append("&inputs")
    if shape.many:
        arguments.append(str(len(case["expect"])))
    tail = ".run()" if builder else ""
    if not builder and len(shape.extras) == 1:
        arguments += extras
    called = rust.name(op["name"]) if not builder else f"{op['name']}_with"
    if builder:
        called_setters = "".join(extras)
    else:
        called_setters = ""
    if method:
        first = rust.name(op["inputs"][0]["name"])
        if "scalar" in case["inputs"][0]:
            lines[0] = f"let {first} = Tensor::from({tensor(case['inputs'][0])});"
        call_text = f"{first}.{called}({', '.join(arguments[1:])})"
    else:
        call_text = f"ops::{called}({', '.join(arguments)})"
    lines.append(f"let result = {call_text}{called_setters}{tail}?;")
    return wrap(lines + checks(shape, case))


def checks(shape, case):
    if not case.get("expect"):
        return []
    if shape.many:
        return [f"assert_eq!(result.len(), {len(case['expect'])});"]
    fields = ["result"] if len(shape.op["outputs"]) == 1 else [
        f"result.{rust.name(o['name'])}" for o in shape.op["outputs"]]
    rows = []
    for field, expect in zip(fields, case["expect"]):
        sizes = ", ".join(map(str, expect["shape"]))
        exact = shape.op["numeric"] == "exact" and expect["dtype"] in SUFFIX and "values" in expect
        values = expect.get("values", [])
        if exact and 0 < len(values) <= MAX_ELEMENTS and not any(isinstance(v, str) for v in values):
            listed = ", ".join(number(expect["dtype"], v) for v in values)
            rows.append(f"assert_eq!({field}.to_vec::<{SUFFIX[expect['dtype']]}>()?, [{listed}]);")
        else:
            typed = "" if expect["shape"] else " as [i64; 0]"
            rows.append(f"assert_eq!({field}.shape()?, [{sizes}]{typed});")
    return rows


def setter_text(op, case, extra):
    name = rust.name(extra["name"])
    if "kind" in extra:
        given = given_of(op, case, extra)
        return f".{name}({'' if 'scalar' in given else '&'}{name})"
    value = case.get("attrs", {}).get(extra["name"], extra["default"])
    return f".{name}({attribute(extra, value)})"


def used(shape, case):
    """Returns the attributes and optional inputs that a case sets."""
    op = shape.op
    return [e for e in shape.optional if given_of(op, case, e)] + [
        a for a in op["attrs"] if not is_default(op, case, a)]


def call(shape, method, builder):
    """Returns a call of the op: as a function or as a method, with or without its builder."""
    op = shape.op
    if builder:
        case = pick(op, lambda c: used(shape, c)) or pick(op)
        return write(shape, case, method, True,
                     [setter_text(op, case, extra) for extra in used(shape, case)])
    if shape.builder:
        return write(shape, pick(op, lambda c: defaults_only(op, c)), method, False, [])
    case = pick(op)
    if not shape.extras:
        return write(shape, case, method, False, [])
    extra = shape.extras[0]
    if "kind" in extra:
        given = given_of(op, case, extra)
        value = "None" if given is None else f"&{rust.name(extra['name'])}"
    else:
        value = attribute(extra, case.get("attrs", {}).get(extra["name"], extra["default"]))
    return write(shape, case, method, False, [value])


def setter(shape, extra):
    """Returns the builder call that sets one attribute or optional input."""
    op = shape.op
    case = pick(op, lambda c: extra in used(shape, c)) or pick(
        op, lambda c: "kind" not in extra) or pick(op)
    extras = used(shape, case)
    if extra not in extras:
        if "kind" in extra:
            return write(shape, case, False, True, [f".{rust.name(extra['name'])}(None)"])
        extras = extras + [extra]
    return write(shape, case, False, True, [setter_text(op, case, e) for e in extras])
