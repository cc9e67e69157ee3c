"""Checks that no struct of the C ABI has changed incompatibly since a release.

Compares capi/abi/layouts with capi/abi/releases/VERSION. A struct that begins with struct_size may
grow at its end; this includes the table of a plugin's functions. All other structs are frozen.
Before the first release there is nothing to compare with. (The check `fresh` and a C test verify
that capi/abi/layouts matches the headers.)
"""

import json

import repository

ABI = repository.ROOT / "capi" / "abi"


def moved(name, old, new):
    """Returns the changes from layout `old` to `new` of a struct that break a program compiled with
    `old`."""
    if new is None:
        return [f"{name}: is gone"]
    faults = []
    for field, place in old["fields"].items():
        if new["fields"].get(field) != place:
            faults.append(f"{name}.{field}: was at [offset, size] {place}, "
                          f"is at {new['fields'].get(field)}")
    grows = next(iter(old["fields"]), "") == "struct_size"
    if new["align"] != old["align"] or (new["size"] != old["size"] and not grows):
        faults.append(f"{name}: was {old['size']} bytes aligned to {old['align']}, "
                      f"is {new['size']} aligned to {new['align']}")
    if new["size"] < old["size"]:
        faults.append(f"{name}: has shrunk")
    return faults


def read(path):
    return {name: layout for name, layout in json.loads(path.read_text()).items()
            if name != "title"}


def run():
    current = {path.name: read(path) for path in sorted((ABI / "layouts").glob("*.json"))}
    if not current:
        return "no layouts", ["capi/abi/layouts is empty; run ./dev gen"]
    faults = []
    releases = sorted((ABI / "releases").glob("*/*.json"))
    for path in releases:
        for name, old in read(path).items():
            new = current.get(path.name, {}).get(name)
            faults += [f"{path.parent.name} {path.stem}: {fault}" for fault in moved(name, old, new)]
    count = sum(len(layouts) for layouts in current.values())
    return f"{count} layouts against {len(releases)} files of releases", faults
