#!/usr/bin/env python3
"""Compares the expected outputs of ops' test cases with formulas in NumPy and SciPy, and prints new
ones.

    python3 tools/expectations [OP ...]            checks the literals of all ops or of the given ones
    python3 tools/expectations --write OP [CASE]   prints the `expect` line of each case in C++
    python3 tools/expectations --write OP --case '{"attrs": {"axis": 0}, "inputs": [...]}'

README.md in this folder explains the output. Exits with 1 if a literal differs from its formula or
is missing.
"""

import argparse
import importlib
import json
import pathlib
import sys

import case_files
from attribute_coverage import gaps
from formula_table import FORMULAS
from literals import compute, dtypes_of, expect_line, faults

for path in sorted(pathlib.Path(__file__).parent.glob("*_formulas.py")):
    importlib.import_module(path.stem)


def judge(op):
    """Compares an op's literals with its formula. Returns the number of compared cases, and a line
    for each fault."""
    lines = []
    judged = [case for case in op.cases if case.expect]
    for case in judged:
        try:
            found = faults(op, case, compute(op, case))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            found = [f"the formula fails: {error!r}"]
        lines += [f"{op.name}: {case.name}: {fault}" for fault in found]
    return len(judged), lines


def report(names):
    """Prints differences, missing formulas and attributes without literals. Returns whether there
    are any."""
    disagreeing, without_formula, missing = [], [], []
    n_ops = n_cases = 0
    for op in map(case_files.read_op, names):
        if op.name in FORMULAS:
            n, lines = judge(op)
            n_ops += 1
            n_cases += n
            disagreeing += lines
        elif op.composite:
            without_formula.append(op.name)
        if op.composite:
            missing += gaps(op, op.name in FORMULAS)
    for title, lines in (("disagrees", disagreeing), ("no formula", without_formula),
                         ("no literal", missing)):
        for line in lines:
            print(f"{title}: {line}")
    print(f"{n_cases} cases of {n_ops} ops judged; {len(disagreeing)} numbers disagree, "
          f"{len(without_formula)} composites have no formula, {len(missing)} attributes no literal")
    return not (disagreeing or without_formula or missing)


def write(name, wanted, given):
    """Prints the `expect` line of all cases of an op, of one case, or of a case in JSON."""
    op = case_files.read_op(name)
    cases = [case for case in op.cases if case.name not in op.drawn]
    if given:
        entry = {"name": "given", **json.loads(given)}
        defaults = {attr["name"]: attr["default"] for attr in op.attrs}
        entry["attrs"] = {**defaults, **entry.get("attrs", {})}
        cases = [case_files.case_of(entry)]
    for case in cases:
        if not wanted or case.name in wanted:
            results = compute(op, case)
            print(expect_line(case, results, dtypes_of(case, results)))


def main():
    parser = argparse.ArgumentParser(prog="expectations", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="OP", help="ops to judge; with --write, cases")
    parser.add_argument("--write", metavar="OP", help="print the expect lines of this op")
    parser.add_argument("--case", metavar="JSON", help="with --write: a case that is not there yet")
    options = parser.parse_args()
    if options.write:
        write(options.write, options.names, options.case)
        return 0
    return 0 if report(options.names or case_files.names()) else 1


if __name__ == "__main__":
    sys.exit(main())
