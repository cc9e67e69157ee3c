"""Runs the checks that the arguments name, or all of them, and prints one line for each.

A check is a module in this folder. Its function `run` returns (details, faults): a short text about
what was checked, and a list with the location of each fault. To add a check, add its file, and its
name below.
"""

import importlib
import pathlib
import sys
import time
import traceback

CHECKS = [
    "sizes",
    "layers",
    "portable",
    "words",
    "format",
    "headers",
    "annotations",
    "wrappers",
    "fresh",
    "layouts",
    "mutants",
    "symbols",
    "check_test",
]


def run(name):
    """Runs one check and returns whether it passed."""
    start = time.monotonic()
    try:
        details, faults = importlib.import_module(name).run()
    except Exception:  # A check that breaks must not hide the others.
        details, faults = "the check itself failed", traceback.format_exc().splitlines()
    seconds = time.monotonic() - start
    print(f"{'FAIL' if faults else 'ok'} {name} ({details}, {seconds:.1f} s)", flush=True)
    for fault in faults:
        print(f"    {fault}", flush=True)
    return not faults


def main():
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "gen"))
    names = sys.argv[1:] or CHECKS
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        sys.exit(f"check: unknown check {unknown[0]!r}; there are: {' '.join(CHECKS)}")
    passed = [run(name) for name in names]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
