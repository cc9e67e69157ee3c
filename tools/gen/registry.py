"""Helpers of the generators: C names for entries of the registry, and simple queries."""

import pathlib
import re
import sys

OPS = pathlib.Path(__file__).resolve().parent.parent.parent / "core" / "ops"
STRUCT = re.compile(r"struct \w+ \{\n((?:(?!\n\};).)*?)\n\s*TENON_ATTRS\(([^)]*)\)", re.DOTALL)
FIELD = re.compile(r"(\w+)(?: = [^;]*|\{[^;]*\})?;\s*// (.*)")
RULE = re.compile(r"//\s+(C\d+)\s+(.*)")
SEE = re.compile(r";? see (\w+\.h)\.$")

PROMOTION = {
    "all": "The inputs are promoted to their common dtype.",
    "all_but_first": "The inputs but the first are promoted to their common dtype.",
    "to_output": "The inputs take the dtype of the output.",
}

COMMON = ("all", "all_but_first")

FLOATING = ["f16", "bf16", "f32", "f64"]
INTEGER = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
# Names for sets of dtypes.
CLASSES = [("any", ["bool", *INTEGER, *FLOATING]), ("numeric", [*INTEGER, *FLOATING]),
           ("integer", INTEGER), ("floating", FLOATING), ("bool", ["bool"])]

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
    """Makes a sentence of a phrase from the registry: capitalises it and adds a full stop."""
    text = text.strip()
    if not text:
        return text
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def dtypes_text(dtypes):
    """Describes a set of dtypes in few words, such as "i32 or i64" or "integer or bool"."""
    words = []
    left = set(dtypes)
    for word, members in CLASSES:
        if left.issuperset(members):
            words.append(word)
            left.difference_update(members)
    words += [dtype for dtype in dtypes if dtype in left]
    return ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + words[-1]


def input_doc(entry):
    """Returns the description of an input, whether it is optional, and its dtypes."""
    note = {"optional": " May be NULL.", "variadic": " One or more."}.get(entry["kind"], "")
    if entry.get("dtypes"):
        note += f" Dtype: {dtypes_text(entry['dtypes'])}."
    return sentence(entry["doc"]) + note


def output_doc(entry, op):
    """Returns the description of an output. Includes its dtype if the inputs alone determine it."""
    dtype = entry.get("dtype")
    if not dtype:
        return sentence(entry["doc"])
    if any(dtype == i["name"] for i in op["inputs"]):
        dtype = "the common one" if op["promotes"] in COMMON else f"that of {dtype}"
    return f"{sentence(entry['doc'])} Dtype: {dtype}."


def derivative(op, yes="Yes,", no="None"):
    """Returns a sentence that states whether an op can be differentiated, and how or why not. It
    begins with `yes` or `no`."""
    if op["no_gradient"]:
        return f"{no}: {op['no_gradient']}."
    return f"{yes} to any order." if op["derivative"] else f"{yes} through its decomposition."


def attr_doc(attr):
    """Returns the description and the default of an attribute."""
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
    """Returns the indentation of wrapped lines: aligned with a parameter's description or a
    formula."""
    if line.startswith("@param "):
        return len("@param ") + len(line.split()[1]) + 1
    indent = len(line) - len(line.lstrip())
    return indent + 4 if indent else 0


def files(pattern):
    """Returns the files below core/ops that match the pattern, sorted by file name."""
    return sorted(OPS.rglob(pattern), key=lambda path: path.name)


def file_named(name):
    return next(iter(files(name)))


def document_attrs(ops):
    """Adds a description to each attribute that lacks one, from the comment of its field in C++.

    The struct of the attributes is found by the op's file, or by the struct's list of op names.

    """
    by_file, by_names = {}, {}
    for path in [file_named("formulas.h"), *files("*.h"), *files("*.cc")]:
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


def families():
    """Returns {op: title of its family}. The comments in ops.def contain the titles."""
    result = {}
    title = ""
    for line in (OPS / "ops.def").read_text().splitlines():
        found = re.match(r"TENON_OP\(\d+, (\w+)\)", line)
        if found:
            result[found.group(1)] = title
        elif line.startswith("// "):
            title = line[3:].split(":")[0].rstrip(".")
            title = title[0].upper() + title[1:]
    return result


def source_of(name):
    """Returns the file in core/ops that defines an op: the op's own file, or that of its family."""
    return next(path for path in [*files(f"{name}.cc"), *files("*.cc")]
                if f"OpDef {name}_def()" in path.read_text())


def rule_blocks(text):
    """Returns the lists of numbered constraints in a file's comments: [(ops, [[label, text]])].

    `ops` is empty if a list holds for all ops of the file. In a file for several ops, a list names
    its ops: "Constraints of concat.", "and of max and min:", or in an earlier line "---- concat".

    """
    own = set(re.findall(r"^OpDef (\w+)_def\(\)", text, re.MULTILINE))
    blocks, section = [], set()
    for line in text.splitlines():
        heading = re.match(r"// ---- (\w+)$", line)
        if heading:
            section = {heading.group(1)} & own
        begun = re.match(r"// (?:Constraints\b|and of )(.*)", line)
        rule = RULE.match(line)
        if begun:
            blocks.append((set(re.findall(r"\w+", begun.group(0))) & own or section, []))
        elif rule and blocks:
            blocks[-1][1].append([rule.group(1), rule.group(2)])
        elif blocks and blocks[-1][1] and re.match(r"//\s{3,}\S", line):
            last = blocks[-1][1][-1]
            if not last[1].endswith("."):
                last[1] += " " + line[2:].strip()
    return blocks


def rules_of(name, path):
    """Returns {label: text}: the numbered constraints of an op. Replaces references such as "see
    reduction.h" by the constraints in that file."""
    rules = [rule for ops, block in rule_blocks(path.read_text()) if not ops or name in ops
             for rule in block]
    for rule in rules:
        found = SEE.search(rule[1])
        if found:
            there = dict(rule for _, block in rule_blocks(file_named(found.group(1)).read_text())
                         for rule in block)
            rule[1] = there[rule[0]]
    return [{"label": label, "text": text}
            for label, text in sorted(rules, key=lambda rule: int(rule[0][1:]))]


def document_rules(ops):
    """Adds to each op its rules and the name of the file that defines it."""
    for op in ops["ops"]:
        path = source_of(op["name"])
        op["source"] = f"core/ops/{path.relative_to(OPS)}"
        op["rules"] = rules_of(op["name"], path)
        labels = {rule["label"] for rule in op["rules"]}
        broken = [re.match(r"C\d+", case.get("error", "")) for case in op["kit"]["cases"]]
        missing = {found.group() for found in broken if found} - labels
        if missing:
            sys.exit(f"{op['source']}: cases of {op['name']} break {' '.join(sorted(missing))}, "
                     "which its comments do not have as a rule")
