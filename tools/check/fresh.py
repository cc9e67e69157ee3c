"""Checks that every generated file equals the output of ./dev gen."""

import sys

import repository


def run():
    status, output = repository.command(sys.executable, "tools/gen/gen.py", "--check")
    lines = output.splitlines()
    return "./dev gen would change nothing" if status == 0 else "run ./dev gen", (
        (lines or ["tools/gen/gen.py failed"]) if status else [])
