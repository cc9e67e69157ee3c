"""Checks that the headers of the C ABI are annotated and documented completely.

An unannotated pointer to a single object is borrowed and not NULL. An error that a callback returns
is owned by its caller. In all other cases, parameters, fields and results need annotations:
  - Arrays and text need TENON_COUNT, which names a parameter, a field or a number. They also need
    an owner, unless the function fills in the caller's array.
  - A struct without struct_size may be an element of an array, so it needs TENON_COUNT, which is 1
    for a single struct.
  - An object that is returned, as a result or through an `out_` parameter, needs TENON_OWNED or
    TENON_BORROWED.
  - A `void*` needs TENON_BORROWED or TENON_OWNED, unless it is the payload of a callback.
  - A scope needs TENON_THREADS, unless it is const.

The comment of an exported function describes every parameter, `@since`, the threads that may call
it, and the possible errors if it returns an error. A callback or its struct needs a comment. The
first comment of a header may have paragraphs "Threads:" and "Errors:", which hold for all of its
functions. If such a paragraph names TENON_FAILED_PRECONDITION, functions that take a scope need not
repeat it.
"""

import re

import gen_api

SCALARS = {"char", "unsigned char", "size_t", "double", "float", "bool"}
ERROR = "tenon_error *"
WHOSE = ("owned", "borrowed")
THREADS = ("any", "one_at_a_time")


class Types:
    """Classifies the names of types: handles, structs, callbacks and so on."""

    def __init__(self, api):
        self.scalars = SCALARS | {entry["name"] for entry in api["types"]
                                  if "parameters" not in entry}
        self.listed = {struct["name"] for struct in api["structs"]
                       if not struct["fields"] or struct["fields"][0]["name"] != "struct_size"}

    def is_scalar(self, base):
        return base in self.scalars or bool(re.fullmatch(r"u?int\d+_t", base))

    def may_be_list(self, base):
        return self.is_scalar(base) or base in self.listed


def has(item, *words):
    return any(note.split(":")[0] in words for note in item.get("notes", []))


def base_of(kind):
    return " ".join(re.sub(r"\*|\bconst\b|\bstruct\b", " ", kind).split())


def faults_of_pointer(item, types):
    """Returns the annotations that a parameter or field lacks. The name of an output begins with
    "out_"."""
    kind, out = item["type"], item["name"].startswith("out_")
    stars, base = kind.count("*"), base_of(kind)
    faults = []
    if stars == 2 and out and not types.is_scalar(base):
        if not has(item, *WHOSE):
            faults.append("TENON_OWNED or TENON_BORROWED is missing")
    elif stars >= 2 and not has(item, "count"):
        faults.append("TENON_COUNT is missing")
    elif stars == 1 and out and base == "tenon_string" and not has(item, *WHOSE):
        faults.append("TENON_OWNED or TENON_BORROWED is missing")
    elif stars == 1 and not out and types.may_be_list(base) and not has(item, "count"):
        faults.append("TENON_COUNT is missing")
    if base == "void" and item["name"] != "payload" and not has(item, *WHOSE):
        faults.append("TENON_BORROWED or TENON_OWNED is missing")
    elif has(item, "count") and "count:1" not in item["notes"] and not (out and stars == 1):
        if not has(item, *WHOSE) and not faults:
            faults.append("TENON_BORROWED or TENON_OWNED is missing at a list")
    if base == "tenon_scope" and "const" not in kind and stars == 1 and not has(item, "threads"):
        faults.append("TENON_THREADS is missing")
    return faults


def faults_of_item(item, names, types):
    """Returns the faults of one parameter or field. `names`: the names of its siblings, to which
    TENON_COUNT may refer."""
    if not item["name"]:
        return ["a parameter without a name"]
    faults = []
    if "parameters" in item:
        faults += faults_of_callback(item, types)
    elif "*" in item["type"]:
        faults += faults_of_pointer(item, types)
    for note in item.get("notes", []):
        word, _, what = note.partition(":")
        if word == "count" and re.fullmatch(r"[a-z]\w*", what) and what not in names:
            faults.append(f"counts {what}, which is not beside it")
        if word == "threads" and what not in THREADS:
            faults.append(f"TENON_THREADS({what}) is not any or one_at_a_time")
    return [f"{item['name']}: {fault}" for fault in faults]


def faults_of_callback(callback, types):
    """Returns the faults of a function pointer: of its parameters and of its result."""
    names = {parameter["name"] for parameter in callback["parameters"]}
    faults = [fault for parameter in callback["parameters"]
              for fault in faults_of_item(parameter, names, types)]
    if callback["returns"]["type"] != ERROR:
        faults += faults_of_returned(callback["returns"])
    return faults


def faults_of_returned(returns):
    if "*" in returns["type"] and not has(returns, *WHOSE):
        return ["returns a pointer: TENON_OWNED or TENON_BORROWED is missing"]
    return []


def faults_of_struct(struct, types):
    names = {field["name"] for field in struct["fields"]}
    faults = [fault for field in struct["fields"] for fault in faults_of_item(field, names, types)]
    for field in struct["fields"]:
        if "parameters" in field and not field.get("doc") and not struct.get("doc"):
            faults.append(f"{field['name']}: has no comment")
    return faults


def faults_of_manual(function, head, codes):
    """Returns what is missing in a function's comment, unless the first comment of its header
    states it."""
    doc = function.get("doc", "")
    if not doc:
        return ["has no comment"]
    faults = []
    if "@since" not in doc:
        faults.append("@since is missing")
    for name in sorted(parameter["name"] for parameter in function["parameters"]):
        if not re.search(rf"@param\s+(\w+\s*,\s*)*{name}\b", doc):
            faults.append(f"@param {name} is missing")
    if not (has_threads(function) or re.search(r"\bthreads?\b", doc) or "Threads:" in head):
        faults.append("who may call it from where is missing")
    for code in re.findall(r"\bTENON_[A-Z_]*[A-Z]\b", doc.partition("@return")[2]):
        if code not in codes:
            faults.append(f"there is no {code}")
    if function["returns"]["type"] == ERROR and not function["name"].startswith("tenon_error_"):
        faults += faults_of_errors(function, doc, head)
    return faults


def has_threads(function):
    return any(has(parameter, "threads") for parameter in function["parameters"])


def faults_of_errors(function, doc, head):
    listed = doc.partition("@return")[2].partition("@since")[0]
    common = head.partition("Errors:")[2]
    faults = []
    if not re.search(r"\bTENON_[A-Z]|\btenon_\w+\(\)", listed) and not common:
        faults.append("the errors that it gives are missing")
    takes_scope = any(parameter["type"] == "tenon_scope *" for parameter in function["parameters"])
    if takes_scope and "TENON_FAILED_PRECONDITION" not in listed + common:
        faults.append("TENON_FAILED_PRECONDITION, of a scope in use elsewhere, is missing")
    return faults


def faults_of_function(function, head, types, codes):
    names = {parameter["name"] for parameter in function["parameters"]}
    faults = [fault for parameter in function["parameters"]
              for fault in faults_of_item(parameter, names, types)]
    return (faults + faults_of_returned(function["returns"])
            + faults_of_manual(function, head, codes))


def head_of(path):
    """Returns the first comment of a header."""
    return path.read_text().partition("*/")[0]


def faults_in(api, include=gen_api.INCLUDE):
    """Returns all faults of the declarations in `api`."""
    types = Types(api)
    codes = known_words(api, include)
    heads = {}
    faults = []

    def note(entry, found):
        faults.extend(f"capi/include/{entry['header']}: {entry['name']}: {fault}"
                      for fault in found)

    for function in api["functions"]:
        header = function["header"]
        if header not in heads:
            heads[header] = head_of(include / header)
        note(function, faults_of_function(function, heads[header], types, codes))
    for struct in api["structs"]:
        note(struct, faults_of_struct(struct, types))
    for entry in api["types"]:
        if "parameters" in entry:
            note(entry, faults_of_callback(entry, types))
    return faults


def known_words(api, include):
    """Returns the names of the headers' constants: enumerators and macros."""
    words = {constant["name"] for enum in api["enums"] for constant in enum["constants"]}
    for path in (include / "tenon").glob("*.h"):
        words.update(re.findall(r"#define (TENON_\w+)", path.read_text()))
    return words


def run():
    api = gen_api.read_api()
    counts = f"{len(api['functions'])} functions, {len(api['structs'])} structs"
    return counts, faults_in(api)
