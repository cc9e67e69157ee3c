"""Checks that every named mutant can be applied: the text that it replaces occurs exactly once in
its file.

The full tier builds and runs the mutants (conformance/mutants).
"""

import subprocess
import sys
import tempfile

import repository

FOLDER = repository.ROOT / "conformance" / "mutants"


def run():
    named = sum(path.read_text().count("[[mutant]]") for path in (FOLDER / "named").glob("*.toml"))
    with tempfile.TemporaryDirectory() as copies:
        done = subprocess.run(
            [sys.executable, FOLDER / "mutate.py", "--named", FOLDER / "named", "--survivors",
             FOLDER / "survivors.toml", "--out", copies], capture_output=True, text=True)
    faults = (done.stderr or "mutate.py failed").splitlines() if done.returncode else []
    return f"{named} named mutants", faults
