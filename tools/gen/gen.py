"""Writes all generated files. With --check, only lists the files that are out of date.

There are three sources: the registry of ops, which the program dump_ops prints; the headers of the
C ABI; and the example programs that docs/languages.md shows. Files from the registry are written
first, because the headers include some of them.
"""

import json
import os
import pathlib
import subprocess
import sys

import gen_api
import gen_cases
import gen_cpp
import gen_docs
import gen_expansions
import gen_java_ops
import gen_java_raw
import gen_js
import gen_languages
import gen_layouts
import gen_ops_h
import gen_python_ops
import gen_rust_ops
import gen_rust_sys
import registry

ROOT = gen_api.ROOT
# Folders in which every file is generated. A file that is no longer generated is deleted.
OWNED = ["docs/ops", "conformance/cases", "capi/abi/layouts"]


def read_ops():
    """Builds dump_ops, runs it, and returns the registry."""
    build = ["cmake", "--build", "build/dev", "--target", "dump_ops",
             "--parallel", str(os.cpu_count())]
    for command in (["cmake", "--preset", "dev"], build):
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(done.stdout[-6000:])
    dumped = subprocess.run([ROOT / "build/dev/bin/dump_ops"], stdout=subprocess.PIPE, check=True)
    ops = json.loads(dumped.stdout)
    registry.document_attrs(ops)
    registry.document_rules(ops)
    return ops


def stale(files):
    """Returns the paths of files that are missing or differ from the generated content."""
    return [path for path, text in files.items()
            if not (ROOT / path).exists() or (ROOT / path).read_text() != text]


def leftovers(files):
    """Returns the files in fully generated folders that are no longer generated."""
    paths = [str(path.relative_to(ROOT)) for folder in OWNED
             for path in sorted((ROOT / folder).glob("*"))]
    return [path for path in paths if path not in files]


def write(files):
    for path in stale(files):
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path])
        print(f"wrote {path}")


def from_registry(ops):
    generators = (gen_ops_h, gen_cpp, gen_docs, gen_cases, gen_expansions, gen_java_ops,
                  gen_python_ops, gen_rust_ops)
    return {path: text for generator in generators
            for path, text in generator.generate(ops).items()}


def from_headers(ops):
    api = gen_api.read_api()
    return {**gen_api.generate(api), **gen_layouts.generate(api), **gen_java_raw.generate(api),
            **gen_rust_sys.generate(api), **gen_js.generate(api, ops), **gen_languages.generate()}


def check(ops):
    """Returns the files that ./dev gen would change. If a header is out of date, files that depend
    on headers are not compared."""
    files = from_registry(ops)
    wrong = [f"{path}: not fresh" for path in stale(files)]
    if wrong:
        return wrong
    files.update(from_headers(ops))
    return [f"{path}: not fresh" for path in stale(files)] + [
        f"{path}: nothing writes it any more" for path in leftovers(files)]


def main():
    ops = read_ops()
    if sys.argv[1:] == ["--check"]:
        wrong = check(ops)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        sys.exit(1 if wrong else 0)
    files = from_registry(ops)
    write(files)
    more = from_headers(ops)
    write(more)
    for path in leftovers({**files, **more}):
        (ROOT / path).unlink()
        print(f"deleted {path}")


if __name__ == "__main__":
    main()
