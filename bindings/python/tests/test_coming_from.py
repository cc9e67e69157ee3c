"""The listing in docs/coming_from.md runs, and the names in its table exist."""

import pathlib
import re

import tenon as tn

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/coming_from.md"
KEYWORDS = {"if", "while"}


def rows():
    """Returns the rows of the table: for each row, the names in each column."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [[re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")] for line in lines]


def missing(names, roots):
    """Returns the names that are not attributes of any root."""
    found = []
    for name in names:
        root, _, path = name.partition(".")
        value = roots.get(root)
        for part in path.split("."):
            value = getattr(value, part, None)
        if value is None:
            found.append(name)
    return found


def test_listing_of_the_page_runs():
    from tenon import tf

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.nn.softmax(x, axis=-1) ** 2)
    gradient = tape.gradient(loss, x)
    assert gradient.shape == (2, 2)


def test_names_of_the_table_exist():
    table = rows()
    assert len(table) > 40 and all(len(row) == 4 for row in table)
    assert missing([name for row in table for name in row[0]], {"tf": tn.tf}) == []
    ours = [name for row in table for name in row[3] if name not in KEYWORDS]
    assert len(ours) >= len(table) and missing(ours, {"tn": tn}) == []


def test_missing_names_are_detected():
    assert missing(["tn.tensor", "tn.tensors", "tf.math.no"], {"tn": tn, "tf": tn.tf}) == \
        ["tn.tensors", "tf.math.no"]
