"""Parses the output of the commands that ./dev gpu has run, and formats the report. Runs no
commands itself."""

import dataclasses
import re

SHOWN_FAULTS = 40


@dataclasses.dataclass
class Outcome:
    """The result of a step, or the reason why it was not run."""
    name: str
    command: str
    status: int | None = None  # None: it was not run, or it exceeded its time limit.
    seconds: float = 0.0
    summary: str = ""          # One line about the results.
    faults: list = dataclasses.field(default_factory=list)
    details: list = dataclasses.field(default_factory=list)  # Lines to copy into the report.
    reason: str = ""           # Why it was not run, or not completed.

    @property
    def passed(self):
        return self.status == 0


def last(pattern, text):
    """Returns the last line whose beginning matches the pattern, or an empty string."""
    lines = [line for line in text.splitlines() if re.match(pattern, line)]
    return lines[-1].strip() if lines else ""


def read_gtest(text):
    """Returns (summary, faults, details) of the output of a googletest program or of several
    shards."""
    counts = []
    for word in ["PASSED", "SKIPPED", "FAILED"]:
        found = re.findall(rf"^\[ +{word} +\] (\d+) tests?[.,]", text, re.MULTILINE)
        if found:
            counts.append(f"{sum(map(int, found))} {word.lower()}")
    # In the final list of failed tests, a line has only the name. In earlier lines, the time
    # follows.
    faults = re.findall(r"^\[ +FAILED +\] ([\w/]+\.[\w/]+)(?:, where .*)?$", text, re.MULTILINE)
    return ", ".join(counts), faults, []


def read_kit(text):
    """Returns (summary, faults, details) of the output of tenon-conformance. The summary includes
    the cells that were not run for lack of time."""
    faults = re.findall(r"^(?:FAIL|CRASH|TIMEOUT|LEAK|MISTRUSTED|XPASS) .*$", text, re.MULTILINE)
    left = last(r"left: \d+ cells", text).partition(";")[0]
    return ", ".join(filter(None, [last(r"cells: \d+", text), left])), faults, []


def read_onnx(text):
    """Returns (summary, faults, details) of the output of tenon-conformance onnx."""
    faults = re.findall(r"^(?:FAILED|LOGGED) .*$", text, re.MULTILINE)
    return last("onnx node tests: ", text), faults, []


def read_bench(text):
    """Returns (summary, faults, details) of the output of a bench."""
    details = [line for line in text.splitlines()
               if re.match("(version|time|figure|ratio) ", line)]
    ratios = sum(line.startswith("ratio ") for line in details)
    return f"{ratios} ratios" if details else "", [], details


def words_of(outcome):
    """Describes the result of a step in a few words."""
    if outcome.reason:
        return outcome.reason
    return "passed" if outcome.passed else f"failed, status {outcome.status}"


def file_stem(date, device, commit):
    """Returns the file name of a report without extension, such as
    2026-11-24-nvidia-h100-0123456789."""
    words = re.sub(r"\(.*?\)", " ", device).lower()
    words = "-".join(re.findall(r"[a-z0-9]+", words))[:40].strip("-")
    return f"{date}-{words}-{commit}"


def cell(text):
    """Formats text for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def page(title, facts, outcomes):
    """Returns the report as Markdown. `facts` are pairs (name, value) about the machine."""
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
