"""What is run on a GPU, and on which: each test makes up a clock, a device or a command."""

import pathlib
import sys
import tempfile
import unittest

import gpu_report
import run_on_gpu

GPU = {"name": "vulkan:0", "kind": "gpu", "description": "a card"}
SOFTWARE = {"name": "vulkan:0", "kind": "cpu", "description": "llvmpipe"}


class Devices(unittest.TestCase):
    def test_are_gpus_unless_a_software_driver_is_asked_for(self):
        cpu = {"name": "cpu:0", "kind": "cpu"}
        self.assertEqual(run_on_gpu.chosen([cpu, GPU], "vulkan", False), GPU)
        self.assertIsNone(run_on_gpu.chosen([cpu, SOFTWARE], "vulkan", False))
        self.assertEqual(run_on_gpu.chosen([cpu, SOFTWARE], "vulkan", True), SOFTWARE)
        self.assertIsNone(run_on_gpu.chosen([cpu], "vulkan", True))


class KitSteps(unittest.TestCase):
    def test_go_on_until_the_time_is_over(self):
        now = [0.0]
        steps = []
        for step in run_on_gpu.kit_steps("kit", "vulkan", 70, 8, clock=lambda: now[0]):
            steps.append(step)
            now[0] += 25
        self.assertEqual([step.seconds for step in steps], [70, 45])
        self.assertEqual(steps[1].name, f"kit, part 2 of {run_on_gpu.PARTS}")
        self.assertIn("8", steps[1].command)
        self.assertEqual(steps[1].command[-2:], ["--shard", f"2/{run_on_gpu.PARTS}"])

    def test_end_with_the_last_part(self):
        steps = list(run_on_gpu.kit_steps("kit", "vulkan", 60, 1, ["--level", "smoke"], lambda: 0.0))
        self.assertEqual(len(steps), run_on_gpu.PARTS)
        self.assertIn("smoke", steps[0].command)


class WhatAStoppedRunHasDone(unittest.TestCase):
    def test_is_kept_for_the_same_state_unless_it_was_cut_off(self):
        done = {"tests": gpu_report.Outcome("tests", "run", 1, 2.5, "1 failed", ["It.Works"]),
                "part 1": gpu_report.Outcome("part 1", "run", 0),
                "part 2": gpu_report.Outcome("part 2", "run", None, reason="cut off after 3 s")}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "outcomes.json"
            self.assertEqual(run_on_gpu.kept(path, ["1a2b", "a card"]), {})
            run_on_gpu.keep(path, ["1a2b", "a card"], done)
            del done["part 2"]
            self.assertEqual(run_on_gpu.kept(path, ["1a2b", "a card"]), done)
            self.assertEqual(run_on_gpu.kept(path, ["1a2b", "another"]), {})


class Steps(unittest.TestCase):
    def outcome_of(self, code, share=20, needs=(), shards=1):
        root = run_on_gpu.ROOT
        with tempfile.TemporaryDirectory() as folder:
            run_on_gpu.ROOT = pathlib.Path(folder)
            (run_on_gpu.ROOT / run_on_gpu.WORK).mkdir(parents=True)
            try:
                return run_on_gpu.run_step(run_on_gpu.Step(
                    "a step", [sys.executable, "-c", code], gpu_report.read_onnx, share, needs, shards))
            finally:
                run_on_gpu.ROOT = root

    def test_tell_what_was_printed(self):
        outcome = self.outcome_of("print('onnx node tests: 1 of 1 on x')")
        self.assertEqual((outcome.status, outcome.summary), (0, "onnx node tests: 1 of 1 on x"))
        self.assertFalse(run_on_gpu.is_fault(outcome))

    def test_that_fail_are_faults(self):
        outcome = self.outcome_of("print('FAILED it'); raise SystemExit(1)")
        self.assertEqual(outcome.faults, ["FAILED it"])
        self.assertTrue(run_on_gpu.is_fault(outcome))

    def test_that_crash_tell_their_last_words(self):
        outcome = self.outcome_of("import os; print('so far', flush=True); os.abort()")
        self.assertEqual(outcome.faults, ["so far"])
        self.assertTrue(run_on_gpu.is_fault(outcome))

    def test_whose_device_did_not_open_are_faults(self):
        self.assertTrue(run_on_gpu.is_fault(self.outcome_of("raise SystemExit(77)")))

    def test_may_have_shards_of_which_one_fails(self):
        outcome = self.outcome_of("import os; i = os.environ['GTEST_SHARD_INDEX']; print('FAILED', i); "
                                  "raise SystemExit(i == '1')", shards=3)
        self.assertEqual(sorted(outcome.faults), ["FAILED 0", "FAILED 1", "FAILED 2"])
        self.assertEqual(outcome.status, 1)

    def test_that_take_too_long_are_cut_off(self):
        outcome = self.outcome_of("import time; time.sleep(60)", share=0.5)
        self.assertEqual(outcome.reason, "cut off after 0 s")
        self.assertFalse(run_on_gpu.is_fault(outcome))

    def test_that_do_not_end_and_have_no_share_of_the_time_are_faults(self):
        seconds = run_on_gpu.STEP_SECONDS
        run_on_gpu.STEP_SECONDS = 0.5
        try:
            outcome = self.outcome_of("import time; time.sleep(60)", share=None)
        finally:
            run_on_gpu.STEP_SECONDS = seconds
        self.assertEqual(outcome.reason, "cut off after 0 s")
        self.assertTrue(run_on_gpu.is_fault(outcome))

    def test_that_lack_something_are_not_run(self):
        outcome = self.outcome_of("", needs=["no/such/file"])
        self.assertEqual((outcome.reason, outcome.command), ("not run: there is no no/such/file", ""))
        self.assertFalse(run_on_gpu.is_fault(outcome))


if __name__ == "__main__":
    unittest.main()
