"""Tests check_snippets.py: each test checks one document and compares the faults."""

import pathlib
import tempfile
import unittest

import check_snippets
import dev_usage


def faults(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.md"
        path.write_text(text)
        return [fault for _, fault in check_snippets.faults_of_document(path)[2]]


def block(lines, language="", before=""):
    return f"{before}\n```{language}\n{lines}\n```\n"


class Blocks(unittest.TestCase):
    def test_an_excerpt_is_found_at_any_indentation(self):
        source = "<!-- docs/snippets/consumer/CMakeLists.txt -->"
        self.assertEqual(faults(block("  find_package(tenon REQUIRED)", "cmake", source)), [])
        self.assertEqual(faults(block("find_package(tenon OPTIONAL)", "cmake", source)),
                         ["these lines are not in docs/snippets/consumer/CMakeLists.txt"])

    def test_a_block_without_a_language_is_an_excerpt(self):
        self.assertEqual(faults(block("int x;", "", "<!-- docs/no_such_file.c -->")),
                         ["there is no docs/no_such_file.c"])
        self.assertEqual(len(faults(block("int x;", "", "<!-- README.md -->"))), 1)

    def test_an_unchecked_block_needs_a_reason(self):
        for language in ["", "text", "c", "json"]:
            self.assertEqual(faults(block("x", language)),
                             ["no comment names the file that it is from, or why it is unchecked"])
        self.assertEqual(faults(block("x", "", "<!-- unchecked: a picture -->")), [])
        self.assertEqual(len(faults(block("x", "", "<!-- unchecked: -->"))), 1)

    def test_a_shell_block_has_only_dev_commands(self):
        self.assertEqual(faults(block("./dev test   # a minute\n\n# that was it", "sh")), [])
        self.assertEqual(faults(block("./dev test\nmake", "sh")), ["'make' is no command of ./dev"])


class Prose(unittest.TestCase):
    def test_unknown_commands_between_backquotes_are_faults(self):
        self.assertEqual(faults("Run `./dev`, `./dev --help`, `./dev new op` or `./dev gen`."), [])
        self.assertEqual(faults("Run `./dev tset`."), ["there is no command ./dev tset"])

    def test_links_to_missing_files_are_faults(self):
        self.assertEqual(faults("[a](nowhere.md)"), ["there is no nowhere.md"])
        self.assertEqual(faults(block("[a](nowhere.md)", "", "<!-- unchecked: no link -->")), [])


class Commands(unittest.TestCase):
    def assert_right(self, *lines):
        for line in lines:
            self.assertIsNone(dev_usage.fault_of_command(line), line)

    def assert_wrong(self, line, fault):
        self.assertEqual(dev_usage.fault_of_command(line), fault)

    def test_described_commands_are_accepted(self):
        self.assert_right(
            "./dev test --tier full", "./dev test --tier=ci -R tape", "./dev build", "./dev build dev",
            "./dev new plugin acme --out ../acme", "./dev new op activations/soft_cap", "./dev conformance onnx",
            "./dev conformance onnx --device cpu", "./dev conformance cpu --level smoke",
            "./dev conformance mutants --html page.html", "./dev bench dispatch --json out.json",
            "./dev setup --test --conformance", "./dev gen --check", "./dev check layers sizes",
            "./dev demo --epochs 3 --device cpu", "./dev --help", "./dev gen --help")

    def test_unknown_subcommands_are_faults(self):
        self.assert_wrong("./dev new device acme", "./dev new --help does not name device")
        self.assert_wrong("./dev build relaese", "./dev build --help does not name relaese")
        self.assert_wrong("./dev bench dispach", "./dev bench --help does not name dispach")
        self.assert_wrong("./dev check layer", "./dev check --help does not name layer")
        self.assert_wrong("./dev gen all", "./dev gen --help has no place for all")

    def test_unknown_options_are_faults(self):
        self.assert_wrong("./dev test --tiers full", "./dev test --help does not name --tiers")
        self.assert_wrong("./dev test --tier most", "--tier takes ci|sanitizers|full, and not most")
        self.assert_wrong("./dev test --tier", "--tier lacks its ci|sanitizers|full")
        self.assert_wrong("./dev new plugin acme --into x", "./dev new --help does not name --into")
        self.assert_wrong("./dev gen --chec", "./dev gen --help does not name --chec")


if __name__ == "__main__":
    unittest.main()
