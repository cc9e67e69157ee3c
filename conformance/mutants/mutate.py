#!/usr/bin/env python3
"""Writes mutated copies of sources, and the list of the mutations, as C++ that the kit embeds.

    mutate.py --named FOLDER --out FOLDER          writes the copies and mutant_list.cc
    mutate.py --named FOLDER --out FOLDER --list   prints what it would write

Named mutants come from tables (named/*.toml), generated mutants from patterns. One copy of a source
contains all of its mutants; point.h describes how one of them becomes active. The script relies on
the layout by clang-format: an operator with a space on both sides is binary, and a `<` without
spaces opens template arguments.

A named mutant is a typical mistake of a plugin's author. The text `from` must occur exactly once in
`file`. The text between « and », or all of `from`, is replaced by `to` if `how` is "statement" (the
default) or "expression"; if `how` is "before" or "after", `to` is inserted there. The kit runs the
claims of `ops`, or a few simple claims if `ops` is missing, at level "smoke" unless `checks` lists
the checks to run. Mutants of `core` have faults in derivatives and functions, and are built into a
separate libtenon.
"""

import argparse
import json
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files that get generated mutants.
GENERATED = ["plugins/ref/*.cc", "plugins/ref/*.h", "plugins/sdk/view.h"]
# The mutations of each operator: the Kind in point.h, and a description.
OPERATORS = {
    "<": [("kLessEqual", "<=")],
    "<=": [("kLess", "<")],
    ">": [("kGreaterEqual", ">=")],
    ">=": [("kGreater", ">")],
    "==": [("kNotEqual", "!=")],
    "!=": [("kEqual", "==")],
    "+": [("kSubtract", "-"), ("kFirst", "without the term after +")],
    "-": [("kAdd", "+"), ("kSwap", "swapped -"), ("kFirst", "without the term after -")],
    "*": [("kFirst", "without the factor after *"), ("kAdd", "+")],
    "/": [("kMultiply", "*"), ("kFirst", "without the divisor")],
    "%": [("kFirst", "without %")],
    "+=": [("kSubtract", "-="), ("kSecond", "=")],
    "-=": [("kAdd", "+=")],
    "*=": [("kAdd", "+=")],
}
SHORT = ("kShort", "< one less")
NARROW = ("kNarrow", "accumulated in 11 bits")


def blank(text, start, end):
    return text[:start] + re.sub(r"[^\n]", "\x01", text[start:end]) + text[end:]


def closing(text, at):
    """Returns the index of the bracket that closes the bracket at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError("a bracket is never closed")


def masked(text):
    """Masks the characters of `text` that must not be mutated. Indices stay the same."""
    for pattern in (
        r"//[^\n]*",
        r'"(?:\\.|[^"\\\n])*"',
        r"^#(?:[^\n]*\\\n)*[^\n]*",
        r"\btemplate <[^\n]*",
        r"\b(?:static_assert|using|case|operator|requires)\b[^\n]*",
        r"\[TENON_MAX_RANK[^\]]*\]",
    ):
        for m in reversed(list(re.finditer(pattern, text, re.M))):
            text = blank(text, m.start(), m.end())
    for m in reversed(list(re.finditer(r"if constexpr \(", text))):
        text = blank(text, m.start(), closing(text, m.end() - 1) + 1)
    for m in reversed(list(re.finditer(r"\bconstexpr\b[^;{]*[;{]", text))):
        # Masks only the initial value of a variable: the body of a constexpr function may be
        # mutated.
        end = m.end() if text[m.end() - 1] == "{" and ")" in m.group() else text.find(";", m.start())
        text = blank(text, m.start(), end)
    while m := re.search(r"\w<[^<>;{}]*>", text):
        text = blank(text, m.start() + 1, m.end())
    return text


class Copy:
    """A copy of one source file with its mutations."""

    def __init__(self, path, mutants):
        self.path = path
        self.text = (ROOT / path).read_text()
        self.mutants = mutants
        self.edits = []  # (index, order, text, number of characters to replace)

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def add(self, at, original, changed, **more):
        number = len(self.mutants) + 1
        self.mutants.append(
            {
                "number": number,
                "file": self.path,
                "line": self.line(at),
                "original": " ".join(original.split()),
                "changed": " ".join(changed.split()),
                **more,
            }
        )
        return number

    def insert(self, at, text, order=(1, 0), replaced=0):
        self.edits.append((at, order, text, replaced))

    def wrap(self, start, end, before, after, outermost=0):
        """Inserts text before and after a range. Texts at the same index are ordered so that ranges
        nest: first those that end a range, from inner to outer ranges, then those that start a
        range, from outer to inner ranges."""
        size = end - start
        self.insert(start, before, (2, -size, -outermost))
        self.insert(end, after, (0, size, outermost))

    def context(self, at):
        start = self.text.rfind("\n", 0, at) + 1
        return self.text[start : self.text.find("\n", at)]

    def generate(self):
        text = masked(self.text)
        for m in re.finditer(r"(?<=[^\s,(=?:&|])\s(<=|>=|==|!=|\+=|-=|\*=|[<>+\-*/%])\s+", text):
            self.operator(text, m)
        for m in re.finditer(r"\.strides\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\](?! =)", text):
            id = self.add(m.start(), m.group(), "1", context=self.context(m.start()))
            self.insert(m.end(), f"->*TM_POINT({id}, tenon_mutants::kOne)")
        for m in re.finditer(r"for \(\w+ \w+ = 0(?=;)", text):
            id = self.add(m.start(), "from 0", "from 1", context=self.context(m.start()))
            self.insert(m.end(), f"->*TM_POINT({id}, tenon_mutants::kPlusOne)")
        for m in re.finditer(r"\bif \(", text):
            start, end = m.end(), closing(text, m.end() - 1)
            if ";" not in text[start:end] and "\x01" not in text[start:end]:
                condition = self.text[start:end]
                id = self.add(start, condition, f"!({condition})", context=self.context(start))
                self.wrap(start, end, f"TM_NOT({id}, ", ")", outermost=1)
        for m in re.finditer(r"(?:(?<![=<>!])= |return |\()(?=(\w+) \? )", text):
            end = m.end() + len(m.group(1))
            id = self.add(m.end(), m.group(1), f"!{m.group(1)}", context=self.context(m.start()))
            self.wrap(m.end(), end, f"TM_NOT({id}, ", ")")
        for m in re.finditer(r"(?:\bif \(|\breturn |[^=<>!]= )", text):
            self.logic(text, m.end())

    def operator(self, text, m):
        op = m.group(1)
        kinds = list(OPERATORS[op])
        head = text[text.rfind("\n", 0, m.start()) + 1 : m.start()]
        if op == "<" and re.search(r"\bfor \([^;]*;[^;]*$", head):
            kinds.append(SHORT)
        accumulator = re.search(r"\b(sum|total|result)$", head)
        if op == "+=" and accumulator:
            before = text[max(0, m.start() - 800) : m.start()]
            declared = re.findall(rf"(\S+) {accumulator.group()} = ", before)
            if declared and declared[-1] not in ("int64_t", "uint64_t"):
                kinds.append(NARROW)
        # In `a < b ? ...`, `<=` mostly gives the same result, even if a == b. Mutates to the
        # opposite comparison instead.
        opposite = {"<": ("kGreater", ">"), ">": ("kLess", "<")}.get(op)
        if opposite and re.match(r"[^;{}]* \? ", text[m.end() :]):
            kinds = [opposite]
        ids = [
            self.add(m.start(1), op, reads, context=self.context(m.start(1))) for _, reads in kinds
        ]
        names = ", ".join("tenon_mutants::" + kind for kind, _ in kinds)
        self.insert(m.end(1), f" TM_POINT({ids[0]}, {names}) {op}")

    def logic(self, text, start):
        """Mutates the first top-level || of a condition or, if it has none, the first &&."""
        found = {}
        depth, end = 0, start
        while end < len(text):
            c = text[end]
            if c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and (c in ";,\x01" or text.startswith(" ? ", end)):
                break
            elif depth == 0 and text[end : end + 2] in ("&&", "||") and text[end - 1] == " ":
                found.setdefault(text[end : end + 2], end)
            end += 1
        if not found or text[end] == "\x01":
            return
        op = "||" if "||" in found else "&&"
        at = found[op]
        id = self.add(at, op, "&&" if op == "||" else "||", context=self.context(at))
        name = "TM_OR" if op == "||" else "TM_AND"
        self.wrap(start, end, f"{name}({id}, (", "))")
        self.insert(at, "), (", replaced=2)

    def name(self, mutant):
        """Adds a named mutant. `from` must occur once; the text between « and » is replaced."""
        row = dict(mutant)
        anchor, to = row.pop("from"), row.pop("to")
        inner = re.search("«(.*)»", anchor, re.S)
        plain = anchor.replace("«", "").replace("»", "")
        if self.text.count(plain) != 1:
            raise SystemExit(
                f"named: {row['name']}: its text stands {self.text.count(plain)} times in "
                f"{self.path}, not once:\n{plain}"
            )
        start = self.text.index(plain) + (inner.start() if inner else 0)
        original = inner.group(1) if inner else plain
        how = row.pop("how", "statement")
        row.pop("file")
        id = self.add(start, original, to, **row)
        end = start + len(original)
        if how == "expression":
            self.wrap(start, end, f"(TM_ON({id}) ? ({to}) : (", "))", outermost=2 + id)
        elif how == "statement":
            self.wrap(start, end, f"if (TM_ON({id})) {{ {to} }} else {{", "}", outermost=2 + id)
        elif how == "before":
            self.insert(start, f"if (TM_ON({id})) {{ {to} }} ", (1, 0))
        elif how == "after":
            self.insert(end, f" if (TM_ON({id})) {{ {to} }}", (1, 0))
        else:
            raise SystemExit(f"named: {row['name']}: `how` must be expression, statement, before or after, not {how}")

    def write(self, out):
        text = self.text
        for at, _, insertion, replaced in sorted(self.edits, key=lambda e: e[:2], reverse=True):
            text = text[:at] + insertion + text[at + replaced :]
        target = out / self.path
        target.parent.mkdir(parents=True, exist_ok=True)
        first = text.index("#include")
        text = text[:first] + '#include "conformance/mutants/point.h"\n' + text[first:]
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def explain(mutants, path):
    """Sets the key of generated mutants, independent of line numbers, and why they may survive."""
    reasons = {}
    if path:
        rows = tomllib.loads(path.read_text())["survivor"]
        reasons = {key: row["why"] for row in rows for key in row["keys"]}
    seen = {}
    for mutant in mutants:
        if "name" in mutant:
            continue
        context = " ".join(mutant.pop("context").split())
        base = f"{mutant['file']}: {context}: {mutant['original']} -> {mutant['changed']}"
        seen[base] = seen.get(base, 0) + 1
        mutant["key"] = base if seen[base] == 1 else f"{base}, {seen[base]}"
        mutant["why"] = reasons.pop(mutant["key"], "")
    if reasons:
        raise SystemExit("survivors.toml has keys that match no mutant:\n" + "\n".join(reasons))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--named", type=pathlib.Path, required=True)
    parser.add_argument("--survivors", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()

    tables = sorted(options.named.glob("*.toml"))
    rows = [row for table in tables for row in tomllib.loads(table.read_text())["mutant"]]
    generated = sorted(
        str(path.relative_to(ROOT))
        for pattern in GENERATED
        for path in ROOT.glob(pattern)
        if not path.stem.endswith(("_test", "_testing"))
    )
    paths = sorted({row["file"] for row in rows} | set(generated))
    if options.list:
        print("\n".join(paths))
        return

    mutants = []
    copies = {path: Copy(path, mutants) for path in paths}
    for row in rows:
        copies[row["file"]].name(row)
    for path in generated:
        copies[path].generate()
    for copy in copies.values():
        copy.write(options.out)
    explain(mutants, options.survivors)
    lines = ["namespace tenon_kit {", "extern const char* const kMutants[];", ""]
    lines += ["const char* const kMutants[] = {"]
    lines += [f'    R"json({json.dumps(m)})json",' for m in mutants]
    lines += ["    nullptr};", "}  // namespace tenon_kit", ""]
    (options.out / "mutant_list.cc").write_text("\n".join(lines))


main()
