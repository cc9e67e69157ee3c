"""The rules of conversion, the error that reports a violated rule, and clean tracebacks.

Each rule has a unique name. docs/autograph.md lists the rules in the order of the table below.
"""

import linecache
import os
import sys

PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""Frames of files in this folder are removed from tracebacks."""

RULES = {
    "unbound-branch": "A name that is read after a branch is bound in both branches.",
    "branch-types": "Both branches give a name the same dtype, shape and structure.",
    "branch-return": "If one branch returns, every path returns a value of the same type.",
    "loop-types": "A value that a loop carries keeps its dtype, shape and structure.",
    "loop-unbound": "A name that a loop reads from the previous iteration is bound before the loop.",
    "after-loop-unbound": "A name that is read after a loop is bound before the loop.",
    "loop-value": "A value that a loop changes is a tensor or a number.",
    "list-structure": "A loop over tensors changes a list only by appending tensors of one type.",
    "python-loop-exit": "A tensor condition does not leave a Python loop.",
    "condition-shape": "A condition has one element.",
    "raise-in-branch": "An exception is not raised under a tensor condition.",
    "not-converted": "A tensor condition is in a function that can be converted.",
    "no-source": "The source of a function with a tensor condition can be found.",
    "coroutine": "Generators and coroutines are not converted.",
    "jump-in-finally": "A finally block contains no return, break or continue.",
}


class AutoGraphError(Exception):
    """The program violates a rule of conversion.

    Attributes: rule (a key of RULES), filename, lineno, column (from 1; 0 if unknown).
    """

    def __init__(self, rule, what, advice, filename=None, lineno=0, column=0):
        self.rule = rule
        self.what = what
        self.advice = advice
        self.filename = filename
        self.lineno = lineno
        self.column = column
        super().__init__(self._text())

    def _text(self):
        lines = [self.what]
        if self.filename:
            place = f'  File "{self.filename}", line {self.lineno}'
            lines.append(place + (f", column {self.column}" if self.column else ""))
            source = linecache.getline(self.filename, self.lineno).rstrip()
            if source:
                stripped = source.lstrip()
                lines.append("    " + stripped)
                if self.column:
                    offset = self.column - 1 - (len(source) - len(stripped))
                    lines.append("    " + " " * max(offset, 0) + "^")
        lines.append(f"{self.advice} [{self.rule}]")
        return "\n".join(lines)


class Site:
    """The location of a statement or expression in the user's code."""

    __slots__ = ("filename", "lineno", "column")

    def __init__(self, filename, at):
        self.filename = filename
        line, _, column = at.partition(":")
        self.lineno = int(line)
        self.column = int(column)

    def error(self, rule, what, advice):
        return AutoGraphError(rule, what, advice, self.filename, self.lineno, self.column)


def caller_site(at=None):
    """Returns the site `at` ("line:column") in the file of the innermost user frame. If `at` is
    None, returns the current line of that frame."""
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return Site("", at or "0:0")
    return Site(frame.f_code.co_filename, at or f"{frame.f_lineno}:{column_of(frame)}")


def user_frame(frame):
    """Returns the innermost frame of user code, starting from `frame`; None if there is none."""
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_internal(filename):
    """Returns whether a file belongs to the runtime, whose frames tracebacks omit."""
    return filename.startswith(PACKAGE_FOLDER) or filename in HIDDEN_FILES


HIDDEN_FILES = set()


def clean_traceback():
    """Removes the runtime's frames from the traceback of the current exception.

    TENON_FULL_TRACEBACKS=1 disables this.
    """
    if os.environ.get("TENON_FULL_TRACEBACKS") == "1":
        return
    error = sys.exc_info()[1]
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        _drop_internal_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _drop_internal_frames(traceback):
    while traceback is not None:
        following = traceback.tb_next
        while following is not None and is_internal(following.tb_frame.f_code.co_filename):
            following = following.tb_next
        if following is not traceback.tb_next:
            traceback.tb_next = following
        traceback = following


def column_of(frame):
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return 0
    for index, position in enumerate(positions()):
        if index == frame.f_lasti // 2:
            return (position[2] or 0) + 1 if position[2] is not None else 0
    return 0
