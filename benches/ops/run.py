"""Measures every op of Tenon on the CPU beside NumPy, PyTorch and onnxruntime, on one thread.

    ratio CASE PEER VALUE      time of the peer / time of Tenon (above 1: Tenon is faster), the
                               smallest first
    geometric_mean VALUE       of all ratios
    geometric_mean_best VALUE  of the ratios to the fastest peer of each case
    cases COUNT                cases that at least one peer has
    below_0.7 COUNT            cases below 0.7 of their fastest peer
    slow OP COUNT CASES        those of one op, with the ratio to the fastest peer
    accepted CASE REASON       a case below 0.7 that accepted.py lists
    unexpected CASE RATIO      a case below 0.7 that accepted.py does not list; the bench fails
    no_peer OP                 no peer has the op, so the bench only compares it with its limit
    no_case OP REASON          the bench has no case of the op
    skipped PEER REASON        the peer is not installed
    differs CASE PEER HOW      the results do not agree; the bench fails
    fails CASE tenon ERROR     Tenon rejects the case; the bench fails
    fails OP PEER ERROR        the peer rejects all cases of the op; the bench fails

A case is OP/DTYPE/LAYOUT/SIZE. Its size is `cache` (256 Ki elements) or `memory` (16 Mi, and fewer
for ops that do more work for each element). Inputs of the layout `strided` are transposed, or step
over every second element if they have one axis. onnxruntime has no such inputs.

Tenon and its peers alternate in one process. Each time is a median of processor times. A case below
0.7 of its fastest peer is measured once more, for longer. The limit of a case is the time
in which the machine can move the case's bytes, or do its multiplications and additions, whichever
is longer. Both rates are measured in the same run. `--html` shows the distance of each time from
its limit.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # The libraries read these when they are loaded.

import numpy as np

import accepted
import compare
import elementwise
import networks
import page
import peers
import shapes
import tenon as tn
from arrays import Inputs, flat

# Ops without a case, and the reason. Each other op of the registry has an entry in a table.
NO_CASE = {
}
SIZES = {"cache": 1 << 18, "memory": 1 << 24}
ONNXRUNTIME = "build/onnxruntime"  # A virtual environment, whose packages are searched last.
SLOWEST = 0.7  # Cases whose ratio to the fastest peer is smaller are slow.
AGAIN = 4  # Slow cases are measured once more, and this many times as long.


def table():
    """Returns the ops by name. Fails if an op of the registry is missing, or is not in it."""
    ops = {}
    for op in elementwise.OPS + shapes.OPS + networks.OPS:
        if op.name in ops:
            sys.exit(f"the tables list {op.name} twice")
        ops[op.name] = op
    if len(accepted.ACCEPTED) > accepted.LIMIT:
        sys.exit(f"accepted.py lists more than {accepted.LIMIT} cases")
    names = {case.name for case in all_cases(ops, "", SIZES)}
    for name in accepted.ACCEPTED.keys() - names:
        sys.exit(f"accepted.py lists {name}, but there is no such case")
    registry = set(tn.ops.__all__)
    for name in sorted(registry - ops.keys() - NO_CASE.keys()):
        sys.exit(f"no table of benches/ops lists the op {name}, and NO_CASE gives no reason")
    for name in sorted((ops.keys() | NO_CASE.keys()) - registry):
        sys.exit(f"benches/ops lists {name}, but the registry has no such op")
    return ops


class Case:
    """One op with one dtype, layout and size."""

    def __init__(self, op, dtype, layout, size):
        self.op, self.dtype, self.size = op, dtype, size
        self.name = f"{op.name}/{dtype}/{layout}/{size}"
        self.elements = min(SIZES[size], op.most)
        self.strided = layout == "strided"

    def prepare_tenon(self, inputs):
        op = self.op
        attrs = (op.attrs(self.elements) if callable(op.attrs) else op.attrs) or {}
        if attrs.get("dtype") == "dtype":
            attrs["dtype"] = self.dtype
        values = inputs.tenon(tn)
        if op.call:
            return lambda: op.call(tn, values)
        function = getattr(tn.ops, op.name)
        if op.variadic:
            return lambda: function(values, **attrs)
        return lambda: function(*values, **attrs)


def all_cases(ops, pattern, sizes):
    for op in ops.values():
        for dtype in op.dtypes:
            for layout in ("contiguous", "strided") if op.strided else ("contiguous",):
                for size in sizes:
                    case = Case(op, dtype, layout, size)
                    small = op.view or op.most <= SIZES["cache"]
                    if re.search(pattern, case.name) and not (small and size != "cache"):
                        yield case


def repeated(function, repetitions):
    """Returns the nanoseconds of processor time per call. Other processes hardly affect it. The
    result of a call is released before the next."""
    begin = time.process_time_ns()
    for _ in range(repetitions):
        function()
    return max(1, time.process_time_ns() - begin) / repetitions


def measure(sides, seconds):
    """Calls the functions in turn. Returns the median nanoseconds of each."""
    counts = [max(1, min(1000, int(2e5 / repeated(side, 1)))) for side in sides]
    times = [[] for _ in sides]
    end = time.perf_counter() + seconds
    while len(times[0]) < 3 or (time.perf_counter() < end and len(times[0]) < 31):
        for side, count, found in zip(sides, counts, times):
            found.append(repeated(side, count))
    return [statistics.median(found) for found in times]


class Machine:
    """The rates of this machine, which bound the speed of every library."""

    def __init__(self):
        self.bandwidth = {size: self.copied(count) for size, count in SIZES.items()}
        self.peak = {"f32": self.multiplied(np.float32), "f64": self.multiplied(np.float64)}

    @staticmethod
    def copied(elements):
        """Returns bytes read and written per nanosecond."""
        source, target = np.ones(elements, np.float32), np.zeros(elements, np.float32)
        return 2 * source.nbytes / min(repeated(lambda: np.copyto(target, source), 5) for _ in range(7))

    @staticmethod
    def multiplied(dtype):
        """Returns multiplications and additions per nanosecond in the faster of two libraries."""
        a = np.ones((768, 768), dtype)
        b = tn.tensor(a)
        return 2 * 768**3 / min(min(repeated(lambda: a @ a, 3), repeated(lambda: tn.matmul(b, b), 3)) for _ in range(5))

    def limit(self, case, moved):
        if case.op.view:
            return 0.0
        flops = case.op.flops(case.elements) if case.op.flops else 0
        peak = self.peak["f64" if case.dtype == "f64" else "f32"]
        return max(moved / self.bandwidth[case.size], flops / peak)


def moved_bytes(inputs, results):
    """Returns the bytes that a call reads and writes at least once."""
    return sum(array.nbytes for array in inputs.arrays) + sum(
        math.prod(result.shape) * int(result.dtype.itemsize) for result in results)


class Bench:
    """Runs cases and collects the figures."""

    def __init__(self, libraries, seconds):
        self.libraries, self.seconds = libraries, seconds
        self.machine = Machine()
        self.records, self.faults, self.lacks, self.unexpected = [], 0, {}, 0

    def run(self, case):
        inputs = Inputs(case.op.inputs(case.elements), case.dtype, case.strided)
        ours = case.prepare_tenon(inputs)
        try:
            results = flat(ours())
        except tn.TenonError as error:
            self.faults += 1
            print("fails", case.name, "tenon", error, flush=True)
            return
        limit = self.machine.limit(case, moved_bytes(inputs, results))
        sides = {"tenon": ours}
        theirs = inputs.changed(case.op.to_peer) if case.op.to_peer else inputs
        for library in self.libraries:
            try:
                side = library.prepare(case.op, case.elements, case.dtype, theirs)
                found = flat(side())
            except peers.Absent:
                continue
            except Exception as error:
                # A peer may lack a dtype. One that fails for every dtype is a fault of the table.
                self.lacks.setdefault((case.op.name, library.name), str(error).strip().splitlines()[-1][:200])
                continue
            if found[0] is None:
                continue
            how = compare.difference(case.op, case.dtype, inputs, results, found)
            if how:
                self.faults += 1
                print("differs", case.name, library.name, how, flush=True)
            else:
                sides[library.name] = side
        found = results = None  # Releases the memory, which the libraries reuse.
        record = Record(case, dict(zip(sides, measure(list(sides.values()), self.seconds))), limit)
        if record.is_slow():
            record = Record(case, dict(zip(sides, measure(list(sides.values()), AGAIN * self.seconds))), limit)
        self.records.append(record)


class Record:
    """The measured times of a case in nanoseconds."""

    def __init__(self, case, times, limit):
        self.case, self.limit, self.peers = case.name, limit, dict(times)
        self.tenon = self.peers.pop("tenon")

    def ratios(self):
        return {peer: time / self.tenon for peer, time in self.peers.items()}

    def best(self):
        """Returns the ratio to the fastest peer."""
        return min(self.ratios().values(), default=math.inf)

    def is_slow(self):
        return self.best() < SLOWEST

    def distance(self):
        """Returns the time as a multiple of the limit, or None if there is no limit."""
        return self.tenon / self.limit if self.limit else None

    def values(self):
        return {"tenon_ns": self.tenon, "peers_ns": self.peers, "limit_ns": self.limit,
                "distance": self.distance()}


def print_summary(records):
    """Prints the ratios and what follows from them. Returns the number of unexpected slow cases."""
    lines = sorted((ratio, record, peer) for record in records for peer, ratio in record.ratios().items())
    for ratio, record, peer in lines:
        print(f"ratio {record.case} {peer} {ratio:.3g}   # {record.peers[peer] / 1e3:.4g} us by "
              f"{record.tenon / 1e3:.4g} us")
    if not lines:
        return 0
    compared = [record for record in records if record.peers]
    print(f"geometric_mean {statistics.geometric_mean(line[0] for line in lines):.3g}")
    print(f"geometric_mean_best {statistics.geometric_mean(record.best() for record in compared):.3g}")
    print(f"cases {len(compared)}")
    return print_slow_cases(sorted((record for record in compared if record.is_slow()), key=Record.best))


def print_slow_cases(slow):
    """Prints the slow cases, those of the op with most of them first. Returns the number of unexpected ones."""
    print(f"below_{SLOWEST} {len(slow)}")
    by_op = {}
    for record in slow:
        op, _, rest = record.case.partition("/")
        by_op.setdefault(op, []).append(f"{rest} {record.best():.2f}")
    for op, found in sorted(by_op.items(), key=lambda item: -len(item[1])):
        print(f"slow {op} {len(found)} {', '.join(found)}")
    for record in slow:
        if record.case in accepted.ACCEPTED:
            print(f"accepted {record.case} {accepted.ACCEPTED[record.case]}")
    unexpected = [record for record in slow if record.case not in accepted.ACCEPTED]
    for record in unexpected:
        print(f"unexpected {record.case} {record.best():.3g}")
    return len(unexpected)


def summary(bench, ops, report):
    """Prints the figures. Returns them for the JSON file."""
    measured = {}
    for record in bench.records:
        measured.setdefault(record.case.split("/")[0], set()).update(record.peers)
    bench.unexpected = print_summary(bench.records)
    alone = sorted(name for name, found in measured.items() if not found)
    for name in alone:
        report(f"no_peer {name}")
    for name, reason in NO_CASE.items():
        report(f"no_case {name} {reason}")
    for (name, library), error in sorted(bench.lacks.items()):
        if library not in measured.get(name, ()):
            bench.faults += 1
            report(f"fails {name} {library} {error}")
    return {"versions": {library.name: library.version for library in bench.libraries} | {"tenon": tn.__version__},
            "bandwidth_gb_per_s": bench.machine.bandwidth, "peak_gflop_per_s": bench.machine.peak,
            "cases": {record.case: record.values() for record in bench.records},
            "no_peer": alone, "no_case": NO_CASE}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN", help="runs the cases that match this regular expression")
    parser.add_argument("--sizes", default="cache,memory", help="cache, memory or both (default)")
    parser.add_argument("--seconds", type=float, default=900.0,
                        help="time to measure, in all; three rounds of each case run in any case (default: 900)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes the figures there")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="writes a page with the figures there")
    parser.add_argument("--list", action="store_true", help="prints the names of the cases, and measures nothing")
    options = parser.parse_args()
    sizes = options.sizes.split(",")
    if not set(sizes) <= SIZES.keys():
        parser.error(f"--sizes: {options.sizes} is not a list of {' and '.join(SIZES)}")

    def report(line):
        print(line, flush=True)

    ops = table()
    cases = list(all_cases(ops, options.only, sizes))
    if not cases:
        parser.error(f"--only: no case matches {options.only}")
    if options.list:
        print("\n".join(case.name for case in cases))
        return
    with tn.Scope(tn.Context(threads=1)), np.errstate(all="ignore"):
        bench = Bench(peers.available(pathlib.Path(ONNXRUNTIME).glob("lib/*/site-packages"), report),
                      options.seconds / len(cases))
        for at, case in enumerate(cases):
            if sys.stderr.isatty():
                print(f"\r{at + 1}/{len(cases)} {case.name:60}", end="", file=sys.stderr)
            bench.run(case)
        figures = summary(bench, ops, report)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    if options.html:
        options.html.write_text(page.page(figures))
    if bench.faults or bench.unexpected:
        sys.exit(f"{bench.faults} comparisons failed, and {bench.unexpected} cases are slow")


if __name__ == "__main__":
    main()
