"""The command `python -m tenon`: devices, ops, and programs in files.

It has those commands of the tool `tenon` that need only the files of the wheel.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

import numpy

import tenon as tn

_PROGRAM = "a folder that a program was saved in, or an ONNX file"


class CommandError(Exception):
    """The command failed. The message is shown to the user."""


# ---- devices and ops

def devices(options):
    found = tn.list_devices()
    if options.json:
        print(json.dumps([{**device, "uuid": device["uuid"].hex()} for device in found], indent=2))
        return
    rows = [(device["name"], device["kind"], _size(device["memory_bytes"]), device["description"])
            for device in found]
    _print_table(rows)
    if options.verbose:
        print()
        _print_table([(plugin["name"] or "-", plugin["state"], plugin["path"], plugin["reason"])
                      for plugin in tn.list_plugins()])


def _size(count):
    return f"{count / 2**30:.1f} GiB" if count else "-"


def _print_table(rows):
    widths = [max(len(str(row[at])) for row in rows) for at in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        cells = [str(cell).ljust(width) for cell, width in zip(row, widths)]
        print("  ".join([*cells, str(row[-1])]).rstrip())


def ops(options):
    names = sorted(tn.ops.__all__)
    if options.name is None:
        for name in names:
            print(f"{name:30}{_summary(name)}")
        return
    if options.name not in names:
        raise CommandError(f"there is no op '{options.name}'{_similar(options.name, names)}; "
                           "`python -m tenon ops` lists them")
    print(getattr(tn.ops, options.name).__doc__.strip())


def _summary(name):
    return (getattr(tn.ops, name).__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def _similar(name, names):
    import difflib

    found = difflib.get_close_matches(name, names, 3)
    return f" (similar: {', '.join(found)})" if found else ""


# ---- programs

def _open(options):
    if not os.path.exists(options.program):
        raise CommandError(f"{options.program}: there is no such file or folder")
    return tn.load(options.program)


def _function(program, options):
    names = program.names
    if options.function is None:
        if len(names) == 1:
            return program[names[0]]
        raise CommandError(f"the program has {len(names)} functions: choose one of "
                           f"{', '.join(names)} with --function")
    if options.function not in names:
        raise CommandError(f"the program has no function '{options.function}'; its functions are "
                           f"{', '.join(names)}")
    return program[options.function]


def _pairs(texts, option):
    result = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise CommandError(f"--{option} {text}: must have the form NAME=VALUE")
        if name in result:
            raise CommandError(f"--{option} {text}: '{name}' is given twice")
        result[name] = value
    return result


def _static(text):
    """Parses a static argument: true, false, an int, a float or a string."""
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def _array(name, path):
    try:
        array = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise CommandError(f"input '{name}': {path} cannot be read as an .npy file: {error}") from None
    if not isinstance(array, numpy.ndarray):
        raise CommandError(f"input '{name}': {path} holds several arrays: save one with numpy.save()")
    return tn.tensor(array)


def _signature(function, statics, given):
    """Returns the signature for these static arguments and inputs. If there is none, returns the
    nearest one, for error messages."""
    signatures = [found for found in function.signatures if found["statics"] == statics]
    signatures = signatures or function.signatures
    for signature in signatures:
        if {spec.name for spec in signature["inputs"]} == set(given):
            return signature
    return signatures[0]


def _arguments(function, options):
    """Returns the inputs in the order of the signature, the static arguments, and the signature."""
    given = _pairs(options.input, "input")
    statics = {name: _static(text) for name, text in _pairs(options.static, "static").items()}
    signature = _signature(function, statics, given)
    names = [spec.name for spec in signature["inputs"]]
    for name in given:
        if name not in names:
            raise CommandError(f"{function.name} has no input '{name}'; its inputs are "
                               f"{_specs(signature)}")
    missing = [name for name in names if name not in given]
    if missing:
        raise CommandError(f"{function.name} needs --input {missing[0]}=FILE.npy; its inputs are "
                           f"{_specs(signature)}")
    return [_array(name, given[name]) for name in names], statics, signature


def _specs(signature):
    return ", ".join(_spec(spec) for spec in signature["inputs"]) or "none"


def _spec(spec):
    sizes = [name or ("?" if size is None else str(size))
             for size, name in zip(spec.shape, spec.size_names)]
    return f"{spec.name}: {spec.dtype}[{','.join(sizes)}]"


def _outputs(result):
    return list(result) if isinstance(result, tuple) else [result]


def run(options):
    function = _function(_open(options), options)
    inputs, statics, signature = _arguments(function, options)
    results = _outputs(function(*inputs, **statics))
    names = [spec.name or f"output_{at}" for at, spec in enumerate(signature["outputs"])]
    if options.output is not None:
        os.makedirs(options.output, exist_ok=True)
    for name, value in zip(names, results):
        array = value.numpy()
        print(f"{name}: {value.dtype}[{','.join(map(str, value.shape))}]{_range(array)}")
        if options.values:
            print(value)
        if options.output is not None:
            numpy.save(os.path.join(options.output, name + ".npy"), array)


def _range(array):
    if array.size == 0:
        return ""
    numbers = array.astype(numpy.float64)
    return f"  min {numbers.min():.6g}  mean {numbers.mean():.6g}  max {numbers.max():.6g}"


def inspect(options):
    program = _open(options)
    if options.json:
        print(json.dumps(program.describe(), indent=2))
        return
    chosen = [_function(program, options)] if options.function else program.functions.values()
    for function in chosen:
        for signature in function.signatures:
            statics = "".join(f", {name}={value!r}" for name, value in signature["statics"].items())
            outputs = ", ".join(_spec(spec) for spec in signature["outputs"])
            print(f"{function.name}({_specs(signature)}{statics}) -> {outputs}")
            if options.graph:
                trace = function.trace(*signature["inputs"], **signature["statics"])
                print(trace.text)
    variables = program.variables
    if variables:
        print(f"{len(variables)} variables, {sum(v.size for v in variables)} elements:")
        _print_table([("  " + v.name, f"{v.dtype}[{','.join(map(str, v.shape))}]") for v in variables])


def profile(options):
    function = _function(_open(options), options)
    inputs, statics, _ = _arguments(function, options)
    for _ in range(3):
        function(*inputs, **statics)
    tn.synchronize()
    with tn.profile() as profiler:
        for _ in range(options.repeat):
            function(*inputs, **statics)
        tn.synchronize()
    print(json.dumps(profiler.rows, indent=2) if options.json else profiler.table())
    if options.trace is not None:
        profiler.write_trace(options.trace)


# ---- the command line

def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m tenon", description="Inspects Tenon on this machine, and runs programs.",
        epilog="Exit status: 0 on success, 1 if a command fails, 2 if the command line is invalid.")
    parser.add_argument("--version", action="version", version=tn.__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(function, help, program=False, call=False):
        added = commands.add_parser(function.__name__, help=help, description=help)
        added.set_defaults(command=function)
        if program:
            added.add_argument("program", metavar="PROGRAM", help=_PROGRAM)
            added.add_argument("-f", "--function", metavar="NAME",
                               help="name of the function; may be omitted if the program has only "
                               "one")
            added.add_argument("-d", "--device", metavar="NAME", default="cpu",
                               help="name of the device that runs it, as listed by `devices` "
                               "(default: cpu)")
        if call:
            added.add_argument("-i", "--input", metavar="NAME=FILE.npy", action="append", default=[],
                               help="file of an input, written by numpy.save(); repeat the option "
                                   "for each input")
            added.add_argument("--static", metavar="NAME=VALUE", action="append", default=[],
                               help="a static argument: true, false, a number or a string")
        return added

    added = command(devices, "List the devices.")
    added.add_argument("-v", "--verbose", action="store_true", help="also list the plugins")
    added.add_argument("--json", action="store_true", help="print all properties as JSON")
    added = command(ops, "List the ops, or print the manual of one.")
    added.add_argument("name", metavar="NAME", nargs="?", help="the op, such as softmax")
    added = command(run, "Call a function of a program with arrays from files.", True, True)
    added.add_argument("-o", "--output", metavar="FOLDER",
                       help="write each output to NAME.npy in this folder")
    added.add_argument("--values", action="store_true", help="also print the elements")
    added = command(inspect, "Print the functions, signatures and variables of a program.", True)
    added.add_argument("--graph", action="store_true", help="also print the graphs")
    added.add_argument("--json", action="store_true", help="print everything as JSON")
    added = command(profile, "Call a function many times and print where the time goes.", True, True)
    added.add_argument("-n", "--repeat", metavar="N", type=int, default=10,
                       help="number of measured calls (default: 10)")
    added.add_argument("--trace", metavar="FILE.json",
                       help="write the trace to a file for https://ui.perfetto.dev")
    added.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser


def main(arguments=None):
    """Runs a command line, and returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        with tn.device(getattr(options, "device", "cpu")):
            options.command(options)
    except (CommandError, tn.TenonError, OSError) as error:
        print(f"tenon: {error}", file=sys.stderr)
        return 1
    return 0
