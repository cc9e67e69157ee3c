"""Tests gpu_report.py: each test parses the output of one program, or formats a report."""

import unittest

import gpu_report

GTEST = """\
[==========] Running 4 tests from 2 test suites.
[       OK ] VulkanStream.Copies (3 ms)
[  FAILED  ] VulkanStream.Waits (3 ms)
[==========] 4 tests from 2 test suites ran. (10 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] VulkanStream.Large
[  FAILED  ] 1 test, listed below:
[  FAILED  ] VulkanStream.Waits
"""

KIT = """\
vulkan 0.1.0, device vulkan:0: 900 claims, profile strict, level 2, seed 1
driver: SomeDriver 1.2
FAIL value exp f32: element 0 is 1, not 2
    --check value --case 'exp f32[1]'
XFAIL is no fault
cells: 16214, 16212 PASS, 1 FAIL, 1 XFAIL in 175 s
cases: 90000, of which 3 are degenerate, so they do not count as passed
FAILED
"""

ONNX = """\
FAILED test_add: output sum: element 0 is 1, not 2
left out 4 tests:
onnx node tests: 853 of 854 on vulkan:0
"""

BENCH = """\
version tenon 0.1.0
time add_16M/tenon 12.0 ns (of 15: 11.0 to 13.0)
something else
ratio add_16M copy_words 0.95
"""


class Outputs(unittest.TestCase):
    def test_googletest_output_is_summarised(self):
        self.assertEqual(gpu_report.read_gtest(GTEST),
                         ("2 passed, 1 skipped, 1 failed", ["VulkanStream.Waits"], []))

    def test_kit_output_is_summarised(self):
        self.assertEqual(gpu_report.read_kit(KIT),
                         ("cells: 16214, 16212 PASS, 1 FAIL, 1 XFAIL in 175 s",
                          ["FAIL value exp f32: element 0 is 1, not 2"], []))

    def test_unfinished_kit_output_is_summarised(self):
        self.assertEqual(gpu_report.read_kit("cells: 7, 7 PASS in 60 s\nleft: 21 cells; --resume continues with them\n"),
                         ("cells: 7, 7 PASS in 60 s, left: 21 cells", [], []))

    def test_node_test_output_is_summarised(self):
        self.assertEqual(gpu_report.read_onnx(ONNX),
                         ("onnx node tests: 853 of 854 on vulkan:0",
                          ["FAILED test_add: output sum: element 0 is 1, not 2"], []))

    def test_bench_output_is_summarised(self):
        summary, faults, details = gpu_report.read_bench(BENCH)
        self.assertEqual((summary, faults), ("1 ratios", []))
        self.assertEqual(len(details), 3)

    def test_empty_output_is_summarised(self):
        for read in [gpu_report.read_gtest, gpu_report.read_kit, gpu_report.read_onnx, gpu_report.read_bench]:
            self.assertEqual(read(""), ("", [], []))


class Pages(unittest.TestCase):
    def test_report_names_have_date_device_and_commit(self):
        self.assertEqual(gpu_report.file_stem("2026-11-24", "NVIDIA H100 80GB HBM3", "0123456789"),
                         "2026-11-24-nvidia-h100-80gb-hbm3-0123456789")
        self.assertEqual(gpu_report.file_stem("2026-11-24", "llvmpipe (LLVM 15.0.6, 256 bits)", "0123456789"),
                         "2026-11-24-llvmpipe-0123456789")

    def test_report_lists_every_step_and_fault(self):
        outcomes = [
            gpu_report.Outcome("tests", "run tests", 0, 12.3, "2 passed"),
            gpu_report.Outcome("kit", "run kit", 1, 5, "cells: 2", ["FAIL a | b"]),
            gpu_report.Outcome("nodes", "", reason="not run: there is no data"),
            gpu_report.Outcome("bench", "run bench", 0, 1, "1 ratios", [], ["ratio a b 1"])]
        text = gpu_report.page("Vulkan on X", [("GPU", "X"), ("empty", "")], outcomes)
        self.assertIn("| GPU | X |", text)
        self.assertNotIn("empty", text)
        self.assertIn("| tests | 2 passed | passed | 12 |", text)
        self.assertIn("| kit | cells: 2 | failed, status 1 | 5 |", text)
        self.assertIn("| nodes | - | not run: there is no data | 0 |", text)
        self.assertIn("run tests\nrun kit\nrun bench\n", text)
        self.assertIn("## Faults: kit\n\n- `FAIL a | b`", text)
        self.assertIn("ratio a b 1", text)

    def test_report_counts_the_omitted_faults(self):
        faults = [f"FAIL {i}" for i in range(gpu_report.SHOWN_FAULTS + 3)]
        text = gpu_report.page("t", [], [gpu_report.Outcome("kit", "", 1, faults=faults)])
        self.assertIn("- and 3 more", text)
        self.assertNotIn(f"FAIL {gpu_report.SHOWN_FAULTS}", text)


if __name__ == "__main__":
    unittest.main()
