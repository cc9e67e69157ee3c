"""Measures the overhead of each binding over a call of the C ABI, and prints the medians.

    overhead LANGUAGE NANOSECONDS             of an eager add of one element, over the call in C
    overhead_recorded LANGUAGE NANOSECONDS    of an add that a tape records
    overhead_call LANGUAGE NANOSECONDS        of a call of a traced function
    ratio LANGUAGE_step c VALUE               of a training step; above 1: faster than C

C++ is measured with Google Benchmark, Rust with criterion and Java with JMH. Each measures a batch of its
own and a batch in C in turn, in one process, and prints the medians as lines that begin with `pair`. A
figure here is the median of several rounds through the languages.

Java has three figures for an add: in a scope; `java_cleaner`, without a scope, where the program closes each
tensor; and `java_abandoned`, where the cleaner frees them after a garbage collection. The last one
leaves out the collections themselves.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"eager_add": "overhead", "recorded_add": "overhead_recorded",
         "function_call": "overhead_call"}


def run(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"bench: {shlex.join(map(str, command))} failed:\n{done.stdout[-6000:]}")
    return done.stdout


def run_cpp(build, seconds):
    return run([build / "bin/bench_bindings", f"--benchmark_min_time={seconds}"])


def run_rust(build, seconds):
    environment = {**os.environ, "TENON_DIR": str(build), "LD_LIBRARY_PATH": str(build),
                   "CARGO_TARGET_DIR": str(build / "bindings/rust_bench")}
    return run(["cargo", "bench", "--locked", "--", "--warm-up-time", seconds / 2,
                "--measurement-time", seconds, "--sample-size", 40, "--noplot"],
               cwd=ROOT / "bindings/rust/bench", env=environment)


def java_home():
    for line in (ROOT / "build/java/env").read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "JAVA_HOME":
            return pathlib.Path(shlex.split(value)[0])
    sys.exit("bench: build/java/env names no JAVA_HOME")


def build_java():
    """Maven goes online only if something is missing; it needs a JDK, for JMH's code generator."""
    if not (java_home() / "bin/javac").exists():
        sys.exit("bench: the bench of Java needs a JDK of 22 or later; leave java out of --languages")
    script = ["sh", ROOT / "tools/dev/mvn.sh"]
    build = ["-q", "-Pbench", "-pl", "bench", "-am", "package", "-Dmaven.test.skip=true"]
    offline = subprocess.run([*script, *build], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, check=False)
    if offline.returncode:
        run([*script, "--online", *build])


def run_java(build, seconds):
    built = ROOT / "build/java/tenon-bench"
    return run([java_home() / "bin/java", "--enable-native-access=ALL-UNNAMED",
                f"-Ddev.tenon.library={build / 'libtenon.so'}",
                f"-Dtenon.calls={build / 'libbench_calls.so'}", "-cp",
                f"{built / 'classes'}:{built / 'libraries'}/*", "org.openjdk.jmh.Main", "-f", 1, "-wi",
                5, "-w", f"{int(seconds * 500)}ms", "-i", 5, "-r", f"{int(seconds * 200)}ms"])


def pairs_of(output):
    """Yields (work, language, nanoseconds in C, in the language, their difference, the ratio)."""
    for line in output.splitlines():
        words = line.split()
        if words and words[0] == "pair":
            yield words[1], words[2], *map(float, words[3:7])


def main():
    parser = argparse.ArgumentParser(prog="./dev bench bindings", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each language is measured")
    parser.add_argument("--seconds", type=float, default=2, help="how long each work is measured")
    parser.add_argument("--languages", default="cpp,rust,java")
    parser.add_argument("--preset", default="release", help="the build that is measured")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
    build = ROOT / "build" / options.preset
    languages = options.languages.split(",")
    if "java" in languages:
        build_java()
    runs = {"cpp": run_cpp, "rust": run_rust, "java": run_java}
    times, figures = {}, {}
    for _ in range(options.rounds):
        for each in languages:
            for work, language, in_c, time, difference, ratio in pairs_of(
                    runs[each](build, options.seconds)):
                times.setdefault(f"{work} {language}", []).append((in_c, time))
                name, value = ((f"{KINDS[work]} {language}", difference) if work in KINDS else
                               (f"ratio {language}_step c", ratio))
                figures.setdefault(name, []).append(value)
    for name, values in sorted(times.items()):
        in_c, time = (statistics.median(column) for column in zip(*values))
        print(f"time {name} {time:.1f} ns, in C {in_c:.1f} ns")
    for name, values in sorted(figures.items()):
        print(f"{name} {statistics.median(values):.2f}")
    if options.json:
        medians = {name: statistics.median(values) for name, values in figures.items()}
        pathlib.Path(options.json).write_text(json.dumps(medians, indent=2) + "\n")


if __name__ == "__main__":
    main()
