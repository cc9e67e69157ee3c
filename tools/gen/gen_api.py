"""Generates capi/abi/api.json: the declarations of the C ABI, for the generators of bindings.

clang parses the headers and prints its syntax tree, which has every declaration, and the location
of each comment and annotation. Their text is read from the headers at these locations. For
callbacks, the tree only has the types of the parameters; callbacks.py parses their names and
annotations.
"""

import json
import pathlib
import re
import subprocess
import sys

import callbacks

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "capi" / "include"


def headers():
    """Returns the handwritten headers. Headers that are generated from the registry export no
    symbol."""
    paths = sorted((INCLUDE / "tenon").glob("*.h"))
    return [path for path in paths if not path.stem.endswith("_gen")]


def syntax_tree(names, include):
    source = "".join(f"#include <tenon/{name}>\n" for name in names)
    command = ["clang-14", "-x", "c", "-std=c99", "-fsyntax-only", "-DTENON_ANNOTATE",
               f"-I{include}", f"-I{INCLUDE}", "-Xclang", "-ast-dump=json",
               "-fparse-all-comments", "-"]
    done = subprocess.run(command, input=source, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


class Reader:
    """Visits the nodes of clang's tree in order. The order matters, because a location omits its
    file if it equals that of the previous location."""

    def __init__(self, include):
        self.folder = include / "tenon"
        self.file = ""
        self.texts = {}
        self.api = {"functions": [], "structs": [], "enums": [], "handles": [], "types": []}
        self.opaque = []

    def place(self, location):
        """Processes one location of the tree, and returns the (file, offset) where it is expanded.
        """
        if "expansionLoc" in location:
            self.place(location["spellingLoc"])
            return self.place(location["expansionLoc"])
        self.file = location.get("file", self.file)
        return self.file, location.get("offset")

    def follow(self, node):
        """Processes the locations of a node itself: its name, its begin and its end."""
        here = self.place(node.get("loc", {}))
        span = node.get("range", {})
        begin = self.place(span.get("begin", {}))
        end = self.place(span.get("end", {}))
        return here, begin, end

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = pathlib.Path(file).read_bytes()
        return self.texts[file]

    def visit(self, node):
        """Returns the data of a declaration, including the annotations and the comment of its
        children."""
        here, begin, end = self.follow(node)
        found = {"node": node, "file": here[0], "notes": [], "doc": "", "children": [],
                 "begin": begin}
        if node.get("kind") == "AnnotateAttr":
            rest = self.text(begin[0])[begin[1]:begin[1] + 120].decode()
            match = callbacks.NOTE.match(rest)
            found["note"] = callbacks.note_of(match) if match else None
        if node.get("kind") == "FullComment":
            found["comment"] = clean(self.text(begin[0])[begin[1]:end[1] + 1].decode())
        for inner in node.get("inner", []):
            child = self.visit(inner)
            if child.get("note"):
                found["notes"].append(child["note"])
            elif "comment" in child:
                found["doc"] = child["comment"]
            elif inner.get("kind"):
                found["children"].append(child)
        return found

    def read(self, tree):
        for node in tree["inner"]:
            found = self.visit(node)
            if pathlib.Path(found["file"]).parent == self.folder:
                self.declare(found)
        defined = {struct["name"] for struct in self.api["structs"]}
        self.api["handles"] = [name for name in self.opaque if name not in defined]
        return self.api

    def declare(self, found):
        node = found["node"]
        base = {"name": node.get("name", ""), "header": "tenon/" + pathlib.Path(found["file"]).name}
        doc = {"doc": found["doc"]} if found["doc"] else {}
        children = found["children"]
        if node["kind"] == "FunctionDecl" and node.get("storageClass") != "static":
            parameters = [self.item(c) for c in children if c["node"]["kind"] == "ParmVarDecl"]
            result = {"type": node["type"]["qualType"].split("(")[0].strip()}
            if found["notes"]:
                result["notes"] = found["notes"]
            self.api["functions"].append(
                {**base, "returns": result, "parameters": parameters, **doc})
        elif node["kind"] == "RecordDecl" and node.get("completeDefinition"):
            fields = [self.item(c) for c in children if c["node"]["kind"] == "FieldDecl"]
            self.api["structs"].append({**base, "fields": fields, **doc})
        elif node["kind"] == "RecordDecl" and base["name"] not in self.opaque:
            self.opaque.append(base["name"])
        elif node["kind"] == "EnumDecl":
            self.api["enums"].append({**base, "constants": constants(children), **doc})
        elif node["kind"] == "TypedefDecl" and "struct " not in node["type"]["qualType"]:
            notes, signature = self.callback(found)
            entry = callbacks.with_notes({**base, "type": node["type"]["qualType"]}, notes)
            self.api["types"].append({**entry, **signature, **doc})

    def item(self, found):
        """Returns a parameter or field. Fails for an unnamed struct, whose type would contain a
        local path."""
        node = found["node"]
        if "unnamed" in node["type"]["qualType"]:
            sys.exit(f"{found['file']}: the type of {node.get('name')!r} needs a name")
        notes, signature = self.callback(found)
        named = {"name": node.get("name", ""), "type": node["type"]["qualType"]}
        result = {**callbacks.with_notes(named, notes), **signature}
        if found["doc"] and node["kind"] == "FieldDecl":
            result.setdefault("doc", found["doc"])
        return result

    def callback(self, found):
        """Returns the annotations of a declaration and, for a function pointer, its result and
        parameters."""
        kind = found["node"]["type"]["qualType"]
        if "(*)" not in kind:
            return found["notes"], {}
        file, offset = found["begin"]
        return callbacks.read(kind, found["notes"], self.text(file).decode(), offset)


def constants(children):
    result = []
    following = 0
    for child in children:
        if child["node"]["kind"] != "EnumConstantDecl":
            continue
        value = constant_value(child["node"])
        following = (following if value is None else value)
        entry = {"name": child["node"]["name"], "value": following}
        if child["doc"]:
            entry["doc"] = child["doc"]
        result.append(entry)
        following += 1
    return result


def constant_value(node):
    """Returns the value of an enumerator, or None if the header does not assign one."""
    for inner in node.get("inner", []):
        if inner.get("kind") == "ConstantExpr":
            return int(inner["value"])
    return None


def clean(comment):
    """Returns the text of a comment, without its delimiters and without clang-format directives."""
    comment = re.sub(r"(/\*)?\s*clang-format (on|off)\s*(\*/\s*/\*|\*/|$)", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.split("\n")]
    lines = [line for line in lines if not line.lstrip().startswith("----")]
    text = "\n".join(lines).strip()
    return text.removesuffix("*/").removesuffix("*").strip()


def read_api(names=None, include=INCLUDE):
    """Returns the declarations in the headers `names`, which are below `include`/tenon; by default
    all of ours."""
    names = names or [path.name for path in headers()]
    return Reader(pathlib.Path(include)).read(syntax_tree(names, include))


def to_json(title, data):
    """Formats JSON. Its first line names the generator."""
    body = json.dumps(data, indent=1, ensure_ascii=False)
    return f'{{"title": "{title} Generated by ./dev gen.",\n{body[2:]}\n'


def generate(api):
    return {"capi/abi/api.json": to_json("The C ABI, for generators of bindings.", api)}
