"""Writes every generated file, or with --check names those that are not what would be written.

Two sources: the registry of ops, which dump_ops writes out, and the headers of the C ABI. The files
made from the registry come first, since the headers include some of them.
"""

import json
import os
import pathlib
import subprocess
import sys

import gen_api
import gen_cpp
import gen_docs
import gen_layouts
import gen_ops_h
import registry

ROOT = gen_api.ROOT
# Folders in which every file is generated, so that one that is no longer written is deleted.
OWNED = ["docs/ops", "capi/abi/layouts"]


def read_ops():
    """Builds the program that knows all ops, and runs it."""
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
    return ops


def stale(files):
    """The paths in `files` whose content on disk differs, and files that nobody writes."""
    found = []
    for path, text in files.items():
        file = ROOT / path
        if not file.exists() or file.read_text() != text:
            found.append(path)
    return found


def leftovers(files):
    return [str(path.relative_to(ROOT)) for folder in OWNED
            for path in sorted((ROOT / folder).glob("*"))
            if str(path.relative_to(ROOT)) not in files]


def write(files):
    for path in stale(files):
        file = ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files[path])
        print(f"wrote {path}")


def main():
    check = sys.argv[1:] == ["--check"]
    ops = read_ops()
    files = {}
    for generator in (gen_ops_h, gen_cpp, gen_docs):
        files.update(generator.generate(ops))
    if not check:
        write(files)  # The headers below include some of these.

    api = gen_api.read_api()
    more = {**gen_api.generate(api), **gen_layouts.generate(api, gen_ops_h.attr_structs(ops))}
    if not check:
        write(more)
    files.update(more)

    if check:
        wrong = [f"{path}: not fresh" for path in stale(files)]
        wrong += [f"{path}: nothing writes it any more" for path in leftovers(files)]
        print("\n".join(wrong))
        sys.exit(1 if wrong else 0)
    for path in leftovers(files):
        pathlib.Path(ROOT / path).unlink()
        print(f"deleted {path}")


if __name__ == "__main__":
    main()
