"""Checks that tools/layers.toml permits every #include of our files."""

import fnmatch
import pathlib
import re
import tomllib

import repository

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
ROOTS = [".", "capi/include", "bindings/cpp/include", "bindings/cpp", "models/include"]
C_STANDARD = {"assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646",
              "limits", "locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic",
              "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "tgmath",
              "threads", "time", "uchar", "wchar", "wctype"}


def matches(path, pattern):
    """Returns whether `path` is inside the folder `pattern`, in which * stands for one folder name.
    """
    depth = len(pathlib.PurePath(pattern).parts)
    return fnmatch.fnmatchcase("/".join(path.parts[:depth]), pattern)


def layer_of(path, layers):
    """Returns the name of the layer with the most specific path that contains `path`, or None if
    there is no such layer."""
    fitting = [name for name, layer in layers.items() if matches(path, layer["path"])]

    def specific(name):
        pattern = layers[name]["path"]
        return len(pathlib.PurePath(pattern).parts), "*" not in pattern

    return max(fitting, key=specific, default=None)


def folder_of(path, pattern):
    """Returns the folder that matches `pattern` and contains `path`: plugins/cpu for plugins/*."""
    return path.parts[:len(pathlib.PurePath(pattern).parts)]


def resolve(include, includer):
    """Returns our file that an #include refers to, or None for a file of another project."""
    for root in [includer.parent, *map(pathlib.Path, ROOTS)]:
        if (repository.ROOT / root / include).is_file():
            target = (repository.ROOT / root / include).resolve()
            return target.relative_to(repository.ROOT)
    return None


def is_test(path):
    return path.stem.endswith("_test") or "testing" in path.parts or "tests" in path.parts


def is_standard(include):
    name = pathlib.PurePath(include)
    if "/" in include:
        return False
    return name.suffix == "" or (name.suffix == ".h" and name.stem in C_STANDARD)


def allows_outside(layer, include):
    allowed = layer.get("may_use")
    return allowed is None or is_standard(include) or any(
        include == name or include.startswith(name + "/") for name in allowed)


def allows(layer, target, layers):
    """Returns whether `may_include` of `layer` permits the file `target`."""
    for entry in layer["may_include"]:
        name, _, header = entry.partition(":")
        folder = layers[name]["path"] if name in layers else name
        if matches(target, folder) and (not header or target == pathlib.Path(folder) / header):
            return True
    return False


def rank(path, layer):
    """Returns the position of `path` in the `order` of its layer, or None if the layer has no
    order."""
    inner = path.parts[len(pathlib.PurePath(layer["path"]).parts)]
    for place, group in enumerate(layer.get("order", [])):
        if inner in group.split():
            return place
    return None


def reason_against(path, include, layers):
    """Returns the reason why `path` may not include `include`, or None if it may."""
    name = layer_of(path, layers)
    if name is None:
        return "no layer holds this file"
    layer = layers[name]
    target = resolve(include, path)
    if target is None:
        if is_test(path) or allows_outside(layer, include):
            return None
        return f"{name} may not use it"
    if target.parts[:2] == ("core", "testing"):
        return None if is_test(path) else "only tests may include core/testing"
    if folder_of(target, layer["path"]) == folder_of(path, layer["path"]):
        below, above = rank(target, layer), rank(path, layer)
        if is_test(path) or below is None or above is None or below <= above:
            return None
        return f"{name} is ordered {' < '.join(layer['order'])}"
    return None if allows(layer, target, layers) else f"{name} may not include it"


def run():
    with open(repository.ROOT / "tools" / "layers.toml", "rb") as file:
        layers = tomllib.load(file)
    faults = []
    edges = 0
    for path in repository.files(repository.C_FAMILY):
        with open(repository.ROOT / path, errors="replace") as file:
            for number, line in enumerate(file, 1):
                found = INCLUDE.match(line)
                if found:
                    edges += 1
                    reason = reason_against(path, found.group(1), layers)
                    if reason:
                        faults.append(f"{path}:{number}: {line.strip()}: {reason}")
    return f"{edges} includes", faults
