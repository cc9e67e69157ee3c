"""What the generators share: how the registry's words are written in C, and small readings of it."""

import pathlib
import re

OPS = pathlib.Path(__file__).resolve().parent.parent.parent / "core" / "ops"
STRUCT = re.compile(r"struct \w+ \{\n((?:(?!\n\};).)*?)\n\s*TENON_ATTRS\(([^)]*)\)", re.DOTALL)
FIELD = re.compile(r"(\w+)(?: = [^;]*|\{[^;]*\})?;\s*// (.*)")

DTYPES = {"none": "TENON_DTYPE_NONE", "bool": "TENON_BOOL", "i8": "TENON_INT8",
          "i16": "TENON_INT16", "i32": "TENON_INT32", "i64": "TENON_INT64", "u8": "TENON_UINT8",
          "u16": "TENON_UINT16", "u32": "TENON_UINT32", "u64": "TENON_UINT64",
          "f16": "TENON_FLOAT16", "bf16": "TENON_BFLOAT16", "f32": "TENON_FLOAT32",
          "f64": "TENON_FLOAT64"}


def c_dtype(name):
    return DTYPES[name]


def c_enumerator(enum, value):
    return f"TENON_{enum}_{value}".upper()


def sentence(text):
    """A phrase of the registry as a sentence of its own."""
    text = text.strip()
    if not text:
        return text
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def input_doc(entry):
    """What an input is, and whether it may be left out."""
    note = {"optional": " May be NULL.", "variadic": " One or more."}.get(entry["kind"], "")
    return sentence(entry["doc"]) + note


def attr_doc(attr):
    """What an attribute means, with its default."""
    return f"{sentence(attr.get('doc', ''))} Default: {default_text(attr)}.".strip()


def default_text(attr):
    value = attr["default"]
    if attr["type"] == "bool":
        return "true" if value else "false"
    if attr["type"] == "ints":
        return "[" + ", ".join(map(str, value)) + "]"
    if attr["type"] == "float":
        return f"{value:g}"
    if attr["type"] == "string":
        return f'"{value}"'
    return str(value)


def hanging(line):
    """How far what is wrapped of a line is indented: under a parameter's text, beyond a formula's."""
    if line.startswith("@param "):
        return len("@param ") + len(line.split()[1]) + 1
    indent = len(line) - len(line.lstrip())
    return indent + 4 if indent else 0


def document_attrs(ops):
    """Gives each attribute that the registry does not explain the comment at its field.

    An op is matched with a struct of attributes by its file, or by its list of names.
    """
    by_file, by_names = {}, {}
    for path in [OPS / "formulas.h", *sorted(OPS.glob("*.h")), *sorted(OPS.glob("*.cc"))]:
        for body, listed in STRUCT.findall(path.read_text()):
            names = tuple(name.strip() for name in listed.split(",") if name.strip())
            docs = dict(FIELD.findall(re.sub(r"\n\s*// ", " ", body)))
            by_names.setdefault(names, docs)
            by_file[path.stem, names] = docs
    for op in ops["ops"]:
        names = tuple(attr["name"] for attr in op["attrs"])
        docs = by_file.get((op["name"], names)) or by_names.get(names, {})
        for attr in op["attrs"]:
            if not attr.get("doc"):
                attr["doc"] = docs.get(attr["name"], "")
