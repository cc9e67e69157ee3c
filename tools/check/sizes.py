"""Checks that every handwritten file has fewer than 500 lines."""

import repository

LIMIT = 500
TEXT = repository.C_FAMILY | {".cmake", ".cu", ".in", ".java", ".js", ".md", ".mjs", ".py", ".rs",
                              ".sh", ".toml", ".ts", ".txt"}


def run():
    faults = []
    paths = [path for path in repository.files(TEXT) if not repository.is_generated(path)]
    for path in paths:
        with open(repository.ROOT / path, errors="replace") as file:
            lines = sum(1 for _ in file)
        if lines >= LIMIT:
            faults.append(f"{path}: {lines} lines, the limit is {LIMIT - 1}")
    return f"{len(paths)} files under {LIMIT} lines", faults
