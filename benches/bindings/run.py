"""Measures the overhead of each binding over a call of the C ABI, and prints the medians.

    overhead LANGUAGE NANOSECONDS             an eager add of one element, minus the same in C
    overhead_recorded LANGUAGE NANOSECONDS    an add that a tape records, minus the same in C
    overhead_call LANGUAGE NANOSECONDS        a call of a traced function, minus the same in C
    ratio LANGUAGE_step c VALUE               a training step: time in C / time in LANGUAGE

C++ is measured with Google Benchmark, Rust with criterion and Java with JMH. The bench of each
language alternates between batches in that language and in C, in one process. It prints the medians
as lines that begin with `pair`. All benches run for several rounds, and this script prints the
medians of the rounds.

Java has three figures for an add. `java`: tensors belong to a scope that frees them.
`java_cleaner`: there is no scope, and the program closes each tensor. `java_abandoned`: the program
closes nothing, and the cleaner frees the tensors after a garbage collection, whose time is not
included.
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
    """Runs Maven offline, or online if that fails. Requires a JDK, for JMH's annotation
    processor."""
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
    """Yields (work, language, nanoseconds in C, nanoseconds in the language, difference, ratio) for
    each line that begins with `pair`."""
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
