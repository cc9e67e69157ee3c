"""Checks the symbols and the sizes of the libraries of the release build.

libtenon exports only tenon_*, and depends only on the C and C++ runtimes. A plugin exports only its
query function, and imports no symbol of Tenon. The plugin cpu does not depend on OpenBLAS; a
separate library does. libtenon and the plugins for the CPU register no destructors. libtenon and
cpu do not exceed a maximum size.
"""

import os
import tempfile

import repository

BUILD = repository.ROOT / "build" / "release"
RUNTIMES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2",
            "ld-linux-aarch64.so.1"}
ENTRY = "tenon_plugin_query_v1"
# Functions that register destructors of static and of thread_local objects. A program's own
# destructors may still call Tenon after such destructors have run (core/base/immortal.h).
AT_EXIT = {"__cxa_atexit", "__cxa_thread_atexit", "__cxa_thread_atexit_impl"}
LASTING = {"libtenon.so", "libtenon_ref.so", "libtenon_cpu.so"}
STRIPPED_LIMIT = 4_000_000
CPU_STRIPPED_LIMIT = 8_000_000
OPENBLAS_EXPORTS = {"blas_memory_alloc", "blas_memory_free", "tenon_blas_buffers"}


def build():
    """Builds only libtenon and the plugins."""
    steps = [["cmake", "--preset", "release"],
             ["cmake", "--build", "build/release", "--target", "tenon", "tenon_plugins",
              "--parallel", str(os.cpu_count())]]
    for step in steps:
        status, output = repository.command(*step)
        if status:
            return output.splitlines()[-20:]
    return []


def symbols(path, which):
    """Returns the global names in a library's dynamic symbol table. `which` is --defined-only or
    --undefined-only."""
    _, output = repository.command("nm", "--dynamic", "--extern-only", "--format=just-symbols",
                                   which, path)
    return [line.split("@")[0] for line in output.split()]


def needed(path):
    _, output = repository.command("readelf", "--dynamic", "--wide", path)
    return [line.split("[")[1].rstrip("]") for line in output.splitlines() if "(NEEDED)" in line]


def stripped_size(path):
    with tempfile.NamedTemporaryFile() as file:
        repository.command("strip", "-o", file.name, path)
        return os.path.getsize(file.name)


def run():
    faults = build()
    if faults:
        return "the build failed", faults
    library = BUILD / "libtenon.so"
    exported = symbols(library, "--defined-only")
    faults += [f"libtenon exports {name}" for name in exported if not name.startswith("tenon_")]
    faults += [f"libtenon needs {name}" for name in needed(library) if name not in RUNTIMES]
    size = stripped_size(library)
    if size >= STRIPPED_LIMIT:
        faults.append(f"libtenon has {size} bytes stripped, the limit is {STRIPPED_LIMIT}")
    plugins = sorted((BUILD / "plugins").glob("libtenon_*.so"))
    for plugin in plugins:
        found = symbols(plugin, "--defined-only")
        if found != [ENTRY]:
            faults.append(f"{plugin.name} exports {' '.join(found) or 'nothing'}, not {ENTRY}")
        faults += [f"{plugin.name} imports {name}" for name in symbols(plugin, "--undefined-only")
                   if name.startswith("tenon_")]
    for path in [library, *plugins]:
        if path.name not in LASTING:
            continue
        faults += [f"{path.name} calls {name}: make the object an Immortal, or trivially destructible"
                   for name in symbols(path, "--undefined-only") if name in AT_EXIT]
    cpu = BUILD / "plugins" / "libtenon_cpu.so"
    if stripped_size(cpu) > CPU_STRIPPED_LIMIT:
        faults.append(f"{cpu.name} has {stripped_size(cpu)} bytes stripped, "
                      f"the limit is {CPU_STRIPPED_LIMIT}")
    if any("openblas" in name for name in needed(cpu)):
        faults.append(f"{cpu.name} needs OpenBLAS, which it must load")
    openblas = BUILD / "plugins" / "tenon_cpu_openblas.so"
    if set(symbols(openblas, "--defined-only")) != OPENBLAS_EXPORTS:
        faults.append(f"{openblas.name} exports {' '.join(symbols(openblas, '--defined-only'))}")
    if "libopenblas.so.0" not in needed(openblas):
        faults.append(f"{openblas.name} does not need libopenblas.so.0")
    details = f"libtenon exports {len(exported)}, {size / 1e6:.2f} MB; {len(plugins)} plugins"
    return details, faults
