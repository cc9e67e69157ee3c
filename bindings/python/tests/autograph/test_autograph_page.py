"""The examples of docs/autograph.md produce the documented output, and the page lists every
rule."""

import contextlib
import io
import pathlib
import runpy

import pytest
import tenon as tn

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[3] / "docs" / "autograph.md"


def test_page_lists_every_rule():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    for rule, text in tn.autograph.RULES.items():
        assert f"| `{rule}` | {text} |" in rows


@pytest.mark.skipif(not hasattr(tn, "GradientTape"), reason="the stand-in lacks it")
def test_examples_give_the_outputs_of_the_page():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(HERE / "page.py"))
    text = out.getvalue().replace(str(HERE) + "/", "")
    assert text.startswith("111\n8.0\n1024.0\n[1. 3.]\n")
    blocks = PAGE.read_text().split("```text\n")[1:]
    assert len(blocks) == 2
    for block in blocks:
        assert block.partition("```")[0] in text
