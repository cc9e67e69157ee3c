"""Checks that code for WebAssembly avoids features that Emscripten's libc++ 14 lacks."""

import re

import repository

FOLDERS = [("core",), ("capi", "src"), ("plugins", "ref"), ("plugins", "sdk"),
           ("plugins", "simd"), ("plugins", "wasm")]
LACKING = re.compile(r"std::(bit_cast|ranges|views|format|jthread|stop_token|source_location|execution"
                     r"|make_(unique|shared)_for_overwrite)\b"
                     r"|#include <(format|ranges|source_location|stop_token|coroutine|execution)>"
                     r"|\bco_(await|return|yield)\b")


def faults_in(lines):
    """Yields (line number, feature) for each use of a missing feature. Comments are ignored."""
    for number, line in enumerate(lines, 1):
        if found := LACKING.search(line.split("//")[0]):
            yield number, found.group()


def run():
    paths = [path for path in repository.files(repository.C_FAMILY)
             if any(path.parts[:len(folder)] == folder for folder in FOLDERS)
             and not path.stem.endswith("_test")]
    faults = []
    for path in paths:
        lines = (repository.ROOT / path).read_text().splitlines()
        faults += [f"{path}:{number}: libc++ 14 has no {name}" for number, name in faults_in(lines)]
    return f"{len(paths)} files", faults
