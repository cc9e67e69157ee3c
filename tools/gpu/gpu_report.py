"""The outcomes of the steps of a run on a device, and the page that reports them. A step is a command that
has ended, and its output is the only source. This module runs no commands.
"""

import dataclasses
import re

SHOWN_FAULTS = 40


@dataclasses.dataclass
class Outcome:
    """A step that was run, or the reason why it was not."""
    name: str
    command: str
    status: int | None = None  # None: it was not run, or did not end in its time.
    seconds: float = 0.0
    summary: str = ""          # One line.
    faults: list = dataclasses.field(default_factory=list)
    details: list = dataclasses.field(default_factory=list)  # Lines to show as they stand.
    reason: str = ""           # Why it was not run, or not to its end.

    @property
    def passed(self):
        return self.status == 0


def last(pattern, text):
    """The last line that the pattern matches from its beginning, or an empty one."""
    lines = [line for line in text.splitlines() if re.match(pattern, line)]
    return lines[-1].strip() if lines else ""


def read_gtest(text):
    """(summary, faults, details) of a googletest program, or of some that had a shard each."""
    counts = []
    for word in ["PASSED", "SKIPPED", "FAILED"]:
        found = re.findall(rf"^\[ +{word} +\] (\d+) tests?[.,]", text, re.MULTILINE)
        if found:
            counts.append(f"{sum(map(int, found))} {word.lower()}")
    # The final list has a test's name alone on its line; a failure reported earlier has its time
    # after the name.
    faults = re.findall(r"^\[ +FAILED +\] ([\w/]+\.[\w/]+)(?:, where .*)?$", text, re.MULTILINE)
    return ", ".join(counts), faults, []


def read_kit(text):
    """(summary, faults, details) of tenon-conformance, including the cells that it had no time for."""
    faults = re.findall(r"^(?:FAIL|CRASH|TIMEOUT|LEAK|MISTRUSTED|XPASS) .*$", text, re.MULTILINE)
    left = last(r"left: \d+ cells", text).partition(";")[0]
    return ", ".join(filter(None, [last(r"cells: \d+", text), left])), faults, []


def read_onnx(text):
    """(summary, faults, details) of tenon-conformance onnx."""
    faults = re.findall(r"^(?:FAILED|LOGGED) .*$", text, re.MULTILINE)
    return last("onnx node tests: ", text), faults, []


def read_bench(text):
    """(summary, faults, details) of a bench."""
    details = [line for line in text.splitlines()
               if re.match("(version|time|figure|ratio) ", line)]
    ratios = sum(line.startswith("ratio ") for line in details)
    return f"{ratios} ratios" if details else "", [], details


def words_of(outcome):
    """The outcome of a step, in a few words."""
    if outcome.reason:
        return outcome.reason
    return "passed" if outcome.passed else f"failed, status {outcome.status}"


def file_stem(date, device, commit):
    """The name of a report, such as 2026-11-24-nvidia-h100-0123456789, from the device's name."""
    words = re.sub(r"\(.*?\)", " ", device).lower()
    words = "-".join(re.findall(r"[a-z0-9]+", words))[:40].strip("-")
    return f"{date}-{words}-{commit}"


def cell(text):
    """A text that can be part of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def page(title, facts, outcomes):
    """The report as Markdown. `facts` are pairs of a name and a value."""
    lines = [f"# {title}", "", "| | |", "|---|---|"]
    lines += [f"| {cell(what)} | {cell(which)} |" for what, which in facts if which]
    lines += ["", "## What was run", "", "| step | came to | result | seconds |", "|---|---|---|---|"]
    for outcome in outcomes:
        lines.append(f"| {cell(outcome.name)} | {cell(outcome.summary) or '-'} | "
                     f"{cell(words_of(outcome))} | {outcome.seconds:.0f} |")
    lines += ["", "The commands:", "", "```sh"]
    lines += [outcome.command for outcome in outcomes if outcome.command]
    lines += ["```"]
    for outcome in outcomes:
        if not outcome.faults:
            continue
        lines += ["", f"## Faults: {outcome.name}", ""]
        lines += [f"- `{' '.join(fault.split())[:300]}`" for fault in outcome.faults[:SHOWN_FAULTS]]
        if len(outcome.faults) > SHOWN_FAULTS:
            lines.append(f"- and {len(outcome.faults) - SHOWN_FAULTS} more")
    for outcome in outcomes:
        if outcome.details:
            lines += ["", f"## Figures: {outcome.name}", "", "```text", *outcome.details, "```"]
    return "\n".join(lines) + "\n"
