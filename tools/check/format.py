"""Checks that our C and C++ code is formatted by clang-format 14."""

import repository

BATCH = 16


def faults_in(paths):
    status, output = repository.command("clang-format-14", "--dry-run", "-Werror",
                                        "--ferror-limit=3", *paths)
    lines = [line for line in output.splitlines() if ": error: " in line]
    return lines or (output.splitlines() if status else [])


def run():
    paths = [path for path in repository.files(repository.C_FAMILY - {".def", ".inc"})
             if not repository.is_generated(path)]
    batches = [paths[i:i + BATCH] for i in range(0, len(paths), BATCH)]
    faults = [fault for found in repository.in_parallel(faults_in, batches) for fault in found]
    return f"{len(paths)} files", faults
