"""Tests the selection of devices and steps in run_on_gpu.py, with fake clocks, devices and
commands."""

import pathlib
import sys
import tempfile
import unittest

import gpu_report
import run_on_gpu

GPU = {"name": "vulkan:0", "kind": "gpu", "description": "a card"}
SOFTWARE = {"name": "vulkan:0", "kind": "cpu", "description": "llvmpipe"}


class Devices(unittest.TestCase):
    def test_chosen_devices_are_gpus_unless_software_is_requested(self):
        cpu = {"name": "cpu:0", "kind": "cpu"}
        self.assertEqual(run_on_gpu.chosen([cpu, GPU], "vulkan", False), GPU)
        self.assertIsNone(run_on_gpu.chosen([cpu, SOFTWARE], "vulkan", False))
        self.assertEqual(run_on_gpu.chosen([cpu, SOFTWARE], "vulkan", True), SOFTWARE)
        self.assertIsNone(run_on_gpu.chosen([cpu], "vulkan", True))


class KitSteps(unittest.TestCase):
    def words_of(self, resume):
        step = run_on_gpu.kit_step("the kit", "vulkan", 2.5, 8, resume, ["--level", "smoke"])
        self.assertGreater(step.seconds, 150)
        return " ".join(step.command)

    def test_kit_steps_have_a_time_limit_and_processes(self):
        words = self.words_of(False)
        for part in ["--jobs 8", "--level smoke", "--minutes 2.5"]:
            self.assertIn(part, words)
        self.assertTrue(words.endswith("--json build/gpu/vulkan_the_kit.json"))

    def test_kit_steps_resume_from_stored_results(self):
        root = run_on_gpu.ROOT
        with tempfile.TemporaryDirectory() as folder:
            run_on_gpu.ROOT = pathlib.Path(folder)
            try:
                self.assertNotIn("--resume", self.words_of(True))
                rows = run_on_gpu.ROOT / run_on_gpu.WORK / "vulkan_the_kit.json"
                rows.parent.mkdir(parents=True)
                rows.write_text("{}")
                self.assertIn("--resume build/gpu/vulkan_the_kit.json", self.words_of(True))
                self.assertNotIn("--resume", self.words_of(False))
            finally:
                run_on_gpu.ROOT = root


class StoppedRuns(unittest.TestCase):
    def test_passed_steps_are_kept_for_the_same_state(self):
        done = {"tests": gpu_report.Outcome("tests", "run", 1, 2.5, "1 failed", ["It.Works"]),
                "benches": gpu_report.Outcome("benches", "run", 0, 5.0, "1 ratio", [], ["ratio a b 1"]),
                "kit": gpu_report.Outcome("kit", "run", None, reason="its time was over")}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "outcomes.json"
            self.assertIsNone(run_on_gpu.kept(path, ["1a2b", "a card"]))
            run_on_gpu.keep(path, ["1a2b", "a card"], done)
            del done["tests"], done["kit"]
            self.assertEqual(run_on_gpu.kept(path, ["1a2b", "a card"]), done)
            self.assertIsNone(run_on_gpu.kept(path, ["1a2b", "another"]))

    def test_steps_are_repeated_for_another_state(self):
        root = run_on_gpu.ROOT
        with tempfile.TemporaryDirectory() as folder:
            run_on_gpu.ROOT = pathlib.Path(folder)
            work = run_on_gpu.ROOT / run_on_gpu.WORK
            work.mkdir(parents=True)
            for name in ["vulkan_outcomes.json", "vulkan_the_kit.json", "vulkan.json", "other_the_kit.json"]:
                (work / name).write_text("{}")
            try:
                run_on_gpu.delete_stored_outcomes("vulkan")
            finally:
                run_on_gpu.ROOT = root
            self.assertEqual(sorted(path.name for path in work.iterdir()), ["other_the_kit.json", "vulkan.json"])


class Steps(unittest.TestCase):
    def outcome_of(self, code, seconds=20, needs=(), shards=1):
        root = run_on_gpu.ROOT
        with tempfile.TemporaryDirectory() as folder:
            run_on_gpu.ROOT = pathlib.Path(folder)
            (run_on_gpu.ROOT / run_on_gpu.WORK).mkdir(parents=True)
            try:
                return run_on_gpu.run_step(run_on_gpu.Step(
                    "a step", [sys.executable, "-c", code], gpu_report.read_onnx, seconds, needs, shards))
            finally:
                run_on_gpu.ROOT = root

    def test_steps_report_their_output(self):
        outcome = self.outcome_of("print('onnx node tests: 1 of 1 on x')")
        self.assertEqual((outcome.status, outcome.summary), (0, "onnx node tests: 1 of 1 on x"))
        self.assertFalse(run_on_gpu.is_fault(outcome))

    def test_failed_steps_are_faults(self):
        outcome = self.outcome_of("print('FAILED it'); raise SystemExit(1)")
        self.assertEqual(outcome.faults, ["FAILED it"])
        self.assertTrue(run_on_gpu.is_fault(outcome))

    def test_crashed_steps_report_their_last_output(self):
        outcome = self.outcome_of("import os; print('so far', flush=True); os.abort()")
        self.assertEqual(outcome.faults, ["so far"])
        self.assertTrue(run_on_gpu.is_fault(outcome))

    def test_steps_without_their_device_are_faults(self):
        self.assertTrue(run_on_gpu.is_fault(self.outcome_of("raise SystemExit(77)")))

    def test_one_failed_shard_is_a_fault(self):
        outcome = self.outcome_of("import os; i = os.environ['GTEST_SHARD_INDEX']; print('FAILED', i); "
                                  "raise SystemExit(i == '1')", shards=3)
        self.assertEqual(sorted(outcome.faults), ["FAILED 0", "FAILED 1", "FAILED 2"])
        self.assertEqual(outcome.status, 1)

    def test_kit_steps_out_of_time_are_not_faults(self):
        outcome = self.outcome_of("raise SystemExit(75)")
        self.assertEqual((outcome.status, outcome.reason), (None, "its time was over"))
        self.assertFalse(run_on_gpu.is_fault(outcome))

    def test_steps_that_do_not_end_are_faults(self):
        outcome = self.outcome_of("import time; time.sleep(60)", seconds=0.5)
        self.assertEqual(outcome.reason, "cut off after 0 s")
        self.assertTrue(run_on_gpu.is_fault(outcome))

    def test_steps_with_missing_files_are_not_run(self):
        outcome = self.outcome_of("", needs=["no/such/file"])
        self.assertEqual((outcome.reason, outcome.command), ("not run: there is no no/such/file", ""))
        self.assertFalse(run_on_gpu.is_fault(outcome))


if __name__ == "__main__":
    unittest.main()
