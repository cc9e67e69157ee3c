"""Checks that each header of the C ABI compiles alone and when included twice, as C99 and as C++,
with gcc and clang."""

import repository

COMPILERS = [
    ("gcc", "c", "c99"),
    ("clang-14", "c", "c99"),
    ("g++", "c++", "c++17"),
    ("g++", "c++", "c++20"),
    ("clang++-14", "c++", "c++17"),
    ("clang++-14", "c++", "c++20"),
]
FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-Icapi/include"]


def faults_in(case):
    header, (compiler, language, standard) = case
    source = f"#include <{header}>\n" * 2
    status, output = repository.command(compiler, *FLAGS, f"-std={standard}", "-x", language, "-",
                                        input=source)
    if status == 0:
        return []
    errors = [line for line in output.splitlines() if "error:" in line]
    return [f"{compiler} -std={standard}: {line}" for line in errors or output.splitlines()]


def run():
    include = repository.ROOT / "capi" / "include"
    headers = [path.relative_to(include) for path in sorted(include.rglob("*.h"))]
    cases = [(header, compiler) for header in headers for compiler in COMPILERS]
    faults = [fault for found in repository.in_parallel(faults_in, cases) for fault in found]
    return f"{len(headers)} headers by {len(COMPILERS)} compilers", faults
