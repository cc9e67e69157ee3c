"""`import tenon` does not load modules that only some programs need."""

import os
import subprocess
import sys

import pytest

COST = """
import time, {first}
begin = time.process_time()
import tenon
print(1000 * (time.process_time() - begin))
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_loads_only_what_every_program_needs():
    code = ("import sys, numpy; before = set(sys.modules); import tenon; "
            "print(*sorted(set(sys.modules) - before))")
    loaded = run(code).split()
    for name in ("tenon.autograph", "tenon.tf", "tenon.array_api", "tenon._command", "html", "json",
                 "argparse", "ml_dtypes", "importlib.metadata"):
        assert name not in loaded


@pytest.mark.skipif(os.environ.get("TENON_TIMES") is None, reason="TENON_TIMES is not set")
def test_import_takes_at_most_60_milliseconds_beyond_numpy():
    assert min(float(run(COST.format(first="numpy"))) for _ in range(5)) < 60
