"""Runs the test suite of the array API standard on tenon.array_api.

    python run.py CHECKOUT [--max-examples N] [ARGUMENTS OF PYTEST]

CHECKOUT is a clone of github.com/data-apis/array-api-tests with its submodule. Its
requirements.txt must be installed. The suite runs in a copy, in which two lines that need a
complex dtype are changed. Tests of complex numbers and of the extension fft are skipped.
expected_failures.txt lists the other tests that may fail, with reasons.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).with_name("expected_failures.txt").resolve()
# Lines of the suite that do not tolerate missing complex dtypes, and their replacements.
CHANGES = {
    "array_api_tests/dtype_helpers.py": (
        "for dt in complex_dtypes], key=lambda x: x[1]\n",
        "for dt in complex_dtypes], key=lambda x: x[1], default=(None, 0)\n"),
    "array_api_tests/test_signatures.py": (
        "dh.dtype_to_name[dh.widest_complex_dtype]", "'complex128'"),
}


def prepared(checkout, folder):
    """Copies the suite, and replaces the lines that need a complex dtype."""
    copy = pathlib.Path(folder) / "suite"
    shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git"))
    if not (copy / "array-api/src").exists():
        sys.exit(f"{checkout}: the submodule array-api is missing")
    for name, (before, after) in CHANGES.items():
        text = (copy / name).read_text()
        if before not in text:
            sys.exit(f"{name}: {before.strip()!r} was not found; this version of the suite is unknown")
        (copy / name).write_text(text.replace(before, after))
    return copy


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--max-examples", type=int, default=20)
    parser.add_argument("-k", dest="keywords", default="not imag and not fft")
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ARRAY_API_TESTS_MODULE": "tenon.array_api",
                       "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128"}
        environment["PYTHONPATH"] = os.pathsep.join(
            os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path)
        return subprocess.call(
            [sys.executable, "-m", "pytest", "-q", "array_api_tests", "--disable-deadline",
             "--disable-extension", "fft", "--max-examples", str(options.max_examples),
             "--xfails-file", str(EXPECTED), "-k", options.keywords, "--tb=short",
             "--disable-warnings", "-p", "no:cacheprovider", *rest],
            cwd=prepared(options.checkout, folder), env=environment)


if __name__ == "__main__":
    sys.exit(main())
