"""Runs the tests, the conformance kit and the benches of each GPU plugin on this machine's GPU.

Writes one report per plugin. `./dev gpu` builds the programs and calls this script. gpu_report.py
parses their output. To add a plugin, add an entry to PLUGINS.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shlex
import signal
import subprocess
import sys
import time

import gpu_report

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEV = pathlib.Path("build/dev/bin")
RELEASE = pathlib.Path("build/release/bin")
WORK = pathlib.Path("build/gpu")
RESULTS = pathlib.Path("benches/results")
ONNX = pathlib.Path("/usr/share/libonnx-testdata/data/node")
SKIPPED = 77
CUT_OFF = 124
UNFINISHED = 75       # Exit status of the kit after its time limit.
STEP_SECONDS = 1800   # Time limit of each step except the kit.
KIT_SECONDS = 600     # Additional time for cells that the kit has begun.


class Step:
    """A command, the function that parses its output, its time limit, and the files that it needs.
    `shards` is the number of parallel processes, each of which runs a part of the tests."""

    def __init__(self, name, command, read, seconds=STEP_SECONDS, needs=(), shards=1):
        self.name = name
        self.command = [str(word) for word in command]
        self.read = read
        self.seconds = seconds
        self.needs = [self.command[0], *needs]
        self.shards = shards


# ---- the steps

def kit_step(name, plugin, minutes, jobs, resume, options=()):
    """Runs cells of the kit for `minutes`. With `resume`, reuses the results of an earlier run."""
    command = [DEV / "tenon-conformance", "--plugin", plugin, "--jobs", jobs, *options,
               "--minutes", f"{max(minutes, 0.01):.3g}"]
    expected = pathlib.Path("plugins") / plugin / "expected.jsonl"
    if (ROOT / expected).exists():
        command += ["--expected", expected]
    rows = WORK / f"{file_name(f'{plugin} {name}')}.json"
    if resume and (ROOT / rows).exists():
        command += ["--resume", rows]
    return Step(name, [*command, "--json", rows], gpu_report.read_kit, minutes * 60 + KIT_SECONDS)


def vulkan_steps(minutes, jobs, resume):
    yield Step("tests of the plugin", [DEV / "vulkan_test"], gpu_report.read_gtest, shards=jobs)
    # The plugin has no kernels for determinants, so their node tests are excluded.
    yield Step("node tests of ONNX but determinants",
               [DEV / "tenon-conformance", "onnx", "--device", "vulkan", "--filter", "^test_(?!det_)"],
               gpu_report.read_onnx, needs=[ONNX])
    yield Step("benches", [RELEASE / "bench_vulkan", "--repetitions", 5, "--json", WORK / "vulkan.json"],
               gpu_report.read_bench)
    start = time.monotonic()
    yield kit_step("conformance, all levels", "vulkan", minutes * 2 / 3, jobs, resume)
    minutes -= (time.monotonic() - start) / 60
    yield kit_step("smoke test with the validation layer", "vulkan", minutes, jobs, resume,
                   ["--level", "smoke", "--option", "validate=1"])


def cuda_steps(minutes, jobs, resume):
    # The plugin has no kernels for determinants, so their node tests are excluded. The plugin's own
    # tests need the emulated driver, so they are not run on a GPU.
    yield Step("node tests of ONNX but determinants",
               [DEV / "tenon-conformance", "onnx", "--device", "cuda", "--filter", "^test_(?!det_)"],
               gpu_report.read_onnx, needs=[ONNX])
    start = time.monotonic()
    yield kit_step("smoke level", "cuda", minutes / 3, jobs, resume, ["--level", "smoke"])
    minutes -= (time.monotonic() - start) / 60
    yield kit_step("conformance, all levels", "cuda", minutes, jobs, resume)


# For each GPU plugin: its display name, and the function that yields its steps.
PLUGINS = {"vulkan": ("Vulkan", vulkan_steps), "cuda": ("CUDA", cuda_steps)}


# ---- running the steps

def file_name(text):
    return "".join(c if c.isalnum() else "_" for c in text)


def run_step(step):
    """Runs a step and returns its outcome. Stores the output in a file under build/gpu."""
    command = shlex.join(step.command)
    missing = [str(path) for path in step.needs if not (ROOT / path).exists()]
    if missing:
        return gpu_report.Outcome(step.name, "", reason=f"not run: there is no {missing[0]}")
    print(f"-- {step.name}: {command}", file=sys.stderr, flush=True)
    log = ROOT / WORK / "step.log"
    start = time.monotonic()
    reason = ""
    log.write_text("")
    children = []
    for shard in range(step.shards):
        with open(log, "a") as file:
            children.append(subprocess.Popen(
                step.command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "GTEST_TOTAL_SHARDS": str(step.shards), "GTEST_SHARD_INDEX": str(shard)}))
    status = 0
    try:
        for child in children:
            try:
                status = child.wait(max(0, start + step.seconds - time.monotonic())) or status
            except subprocess.TimeoutExpired:
                status, reason = CUT_OFF, f"cut off after {step.seconds:.0f} s"
                break
    finally:
        for child in children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    text = log.read_text(errors="replace")
    log.replace(log.with_name(f"{file_name(step.name)}.log"))
    summary, faults, details = step.read(text)
    if status == UNFINISHED:
        reason, status = "its time was over", None
    if status == SKIPPED:
        reason, status = "the device did not open", 1
    if status and not faults:
        faults = text.splitlines()[-5:]
    outcome = gpu_report.Outcome(step.name, command, status, time.monotonic() - start, summary, faults,
                             details, reason)
    print(f"   {outcome.summary or '-'}: {gpu_report.words_of(outcome)}", flush=True)
    return outcome


def is_fault(outcome):
    return bool(outcome.faults) or outcome.status not in (0, None)


# ---- results of earlier runs

def keep(path, state, done):
    outcomes = [dataclasses.asdict(outcome) for outcome in done.values()]
    path.write_text(json.dumps({"of": state, "outcomes": outcomes}))


def delete_stored_outcomes(plugin):
    """Deletes the stored outcomes of a plugin's steps, and the cells that the kit has stored."""
    for path in (ROOT / WORK).glob(f"{plugin}_*.json"):
        path.unlink()


def kept(path, state):
    """Returns {name: outcome} of the stored steps that passed with this `state`.

    Returns None if the stored outcomes belong to a different state.

    """
    told = json.loads(path.read_text()) if path.exists() else {"of": "nothing"}
    if told["of"] != state:
        print(f"gpu: nothing to resume: what was kept is of {told['of']}, and this is {state}", file=sys.stderr)
        return None
    outcomes = [gpu_report.Outcome(**outcome) for outcome in told["outcomes"]]
    return {outcome.name: outcome for outcome in outcomes if outcome.passed}


# ---- the machine

def first_output_line(*command):
    """Returns the first line of a command's output; empty if the command does not exist."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    lines = done.stdout.splitlines() if done.returncode == 0 else []
    return lines[0].strip() if lines else ""


def commit(given):
    if given:
        return given
    name = first_output_line("git", "rev-parse", "--short=10", "HEAD")
    changed = first_output_line("git", "status", "--porcelain", "--untracked-files=no")
    return (name or "unknown") + ("-changed" if changed else "")


def processor():
    """Returns the name and the number of the machine's processors."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def facts_of(device, software, commit_name):
    """Returns pairs (name, value) about the machine, for the start of the report."""
    memory = device.get("memory_bytes", 0)
    return [("device", f"{device['name']}: {device.get('description', '')}"),
            ("kind", "a software driver, not a GPU" if software else device["kind"]),
            ("driver", device.get("driver", "")),
            ("memory", f"{memory / 2**30:.1f} GiB" if memory else ""),
            ("features", " ".join(device.get("features", []))),
            ("plugin", device.get("plugin_version", "")),
            ("commit", commit_name),
            ("date", datetime.date.today().isoformat()),
            ("processor", processor()),
            ("system", platform.platform()),
            ("compiler", first_output_line("c++", "--version"))]


def listed_devices():
    """Runs `tenon devices` and returns (devices, plugins)."""
    done = subprocess.run([ROOT / DEV / "tenon", "devices", "--json"], capture_output=True, text=True)
    told = json.loads(done.stdout or "{}")
    return told.get("devices", []), told.get("plugins", [])


def chosen(devices, plugin, software):
    """Returns the first device of a plugin, if it is a GPU, or a software driver with `software`.
    """
    for device in devices:
        if device["name"] == f"{plugin}:0" and (software or device["kind"] != "cpu"):
            return device
    return None


def print_devices_and_plugins(devices, plugins):
    print("gpu: there is no GPU here that a plugin opens, so nothing was tested", file=sys.stderr)
    for device in devices:
        print(f"gpu: found {device['name']}, {device['kind']}: {device.get('description', '')}",
              file=sys.stderr)
    for name in PLUGINS:
        told = [plugin for plugin in plugins if plugin["name"] == name]
        for plugin in told:
            if "reason" in plugin:
                print(f"gpu: the plugin {name} was {plugin['state']}: {plugin['reason']}", file=sys.stderr)
        if not told:
            print(f"gpu: the plugin {name} was not built; ./dev setup --{name} installs what it needs",
                  file=sys.stderr)


def write_report(title, device, outcomes, software, commit_name):
    stem = gpu_report.file_stem(datetime.date.today().isoformat(), device.get("description", device["name"]),
                                commit_name)
    folder = ROOT / (WORK if software else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.md"
    path.write_text(gpu_report.page(title, facts_of(device, software, commit_name), outcomes))
    return path


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--software", action="store_true")
    options.add_argument("--commit", default="")
    # By default, half as many processes as cores, because each process of the kit has several
    # threads.
    options.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    options.add_argument("--resume", action="store_true")
    options = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(CUT_OFF))  # Also ends the running command.
    (ROOT / WORK).mkdir(parents=True, exist_ok=True)
    devices, plugins = listed_devices()
    ran, faults = False, 0
    for name, (title, steps) in PLUGINS.items():
        device = chosen(devices, name, options.software)
        if device is None:
            continue
        ran = True
        outcomes = []
        kind = ": a software driver" if options.software else ""
        state = [commit(options.commit), device.get("description", name), device.get("driver", "")]
        memory = ROOT / WORK / f"{name}_outcomes.json"
        before = kept(memory, state) if options.resume else None
        if before is None:
            delete_stored_outcomes(name)
        done = before or {}
        for step in steps(options.minutes, options.jobs, before is not None):
            if step.name not in done:
                done[step.name] = run_step(step)
            outcomes.append(done[step.name])
            # Stored after each step, so that an interrupted run keeps its results.
            keep(memory, state, done)
            path = write_report(f"{title} on {device.get('description', name)}{kind}", device, outcomes,
                                options.software, state[0])
        print(f"gpu: wrote {path.relative_to(ROOT)}")
        faults += sum(is_fault(outcome) for outcome in outcomes)
    if not ran:
        print_devices_and_plugins(devices, plugins)
        sys.exit(SKIPPED)
    print(f"gpu: {faults} steps with faults" if faults else "gpu: no faults in what was run")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
