"""Tests the checks. Most tests remove one annotation or comment from a complete header."""

import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gen")]

import annotations
import gen_api
import portable
import words
import wrappers

WHOLE = """\
/* tenon/sample.h - a header in which nothing is missing.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: of one that takes a scope TENON_FAILED_PRECONDITION.
 */
#include <tenon/types.h>

/* A list. */
typedef struct tenon_list {
  uint32_t struct_size;
  uint32_t n_names;
  const tenon_string* names TENON_BORROWED TENON_COUNT(n_names);
  tenon_tensor* const* tensors TENON_BORROWED TENON_COUNT(n_names);
} tenon_list;

/* Called back. */
typedef struct tenon_callback {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           const int64_t* sizes TENON_BORROWED TENON_COUNT(rank), size_t rank,
                           tenon_tensor** out_tensor TENON_OWNED);
  void* payload;
} tenon_callback;

/* Asks. */
typedef tenon_error* (*tenon_query)(const tenon_list** out_list TENON_BORROWED);

typedef struct tenon_calls {
  uint32_t struct_size;
#define TENON_SLOT(result, name, parameters) result(*name) parameters;
/* Gives an address. */
TENON_SLOT(TENON_BORROWED void*, map, (tenon_tensor* x, void* data TENON_BORROWED) TENON_NULLABLE)
} tenon_calls;

/**
 * Does something.
 *
 * @param scope  Where.
 * @param data   Bytes.
 * @param size   How many.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is none.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_do(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                            const void* data TENON_BORROWED TENON_COUNT(size),
                                            size_t size);
"""


def faults_of(text):
    """Writes a header with this text and returns the faults that the check `annotations` finds."""
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder)
        (include / "tenon").mkdir()
        (include / "tenon" / "sample.h").write_text(text)
        types = gen_api.INCLUDE / "tenon" / "types.h"
        (include / "tenon" / "types.h").write_text(types.read_text())
        api = gen_api.read_api(["sample.h"], include)
        for kind in ("functions", "structs"):
            api[kind] = [entry for entry in api[kind] if entry["header"] == "tenon/sample.h"
                         or entry["name"] == "tenon_string"]
        return annotations.faults_in(api, include)


class Annotations(unittest.TestCase):
    def expect(self, taken, instead, fault):
        self.assertEqual(WHOLE.count(taken), 1, taken)
        found = faults_of(WHOLE.replace(taken, instead))
        self.assertEqual([line.split(".h: ", 1)[1] for line in found], [fault])

    def test_complete_header_has_no_faults(self):
        self.assertEqual(faults_of(WHOLE), [])

    def test_struct_list_without_count_is_a_fault(self):
        self.expect("names TENON_BORROWED TENON_COUNT(n_names)", "names TENON_BORROWED",
                    "tenon_list: names: TENON_COUNT is missing")
        self.expect("tensors TENON_BORROWED TENON_COUNT(n_names)", "tensors TENON_COUNT(n_names)",
                    "tenon_list: tensors: TENON_BORROWED or TENON_OWNED is missing at a list")

    def test_count_that_names_no_sibling_is_a_fault(self):
        self.expect("names TENON_BORROWED TENON_COUNT(n_names)",
                    "names TENON_BORROWED TENON_COUNT(n)",
                    "tenon_list: names: counts n, which is not beside it")

    def test_missing_annotations_of_callback_parameters_are_faults(self):
        self.expect("sizes TENON_BORROWED TENON_COUNT(rank)", "sizes",
                    "tenon_callback: function: sizes: TENON_COUNT is missing")
        self.expect("out_tensor TENON_OWNED", "out_tensor",
                    "tenon_callback: function: out_tensor: TENON_OWNED or TENON_BORROWED is missing")
        self.expect("void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time)",
                    "void* payload, tenon_scope* scope",
                    "tenon_callback: function: scope: TENON_THREADS is missing")
        self.expect("out_list TENON_BORROWED", "out_list",
                    "tenon_query: out_list: TENON_OWNED or TENON_BORROWED is missing")

    def test_plugin_functions_need_annotations_and_comments(self):
        self.expect("TENON_BORROWED void*, map", "void*, map",
                    "tenon_calls: map: returns a pointer: TENON_OWNED or TENON_BORROWED is missing")
        self.expect("data TENON_BORROWED) TENON_NULLABLE", "data) TENON_NULLABLE",
                    "tenon_calls: map: data: TENON_BORROWED or TENON_OWNED is missing")
        self.expect("/* Gives an address. */\n", "", "tenon_calls: map: has no comment")

    def test_missing_annotations_of_functions_are_faults(self):
        self.expect("data TENON_BORROWED TENON_COUNT(size)", "data TENON_COUNT(size)",
                    "tenon_do: data: TENON_BORROWED or TENON_OWNED is missing")
        self.expect("TENON_OWNED tenon_error* tenon_do", "tenon_error* tenon_do",
                    "tenon_do: returns a pointer: TENON_OWNED or TENON_BORROWED is missing")

    def test_incomplete_comments_of_functions_are_faults(self):
        self.expect(" * @param size   How many.\n", "", "tenon_do: @param size is missing")
        self.expect(" * @since 0.1, unstable\n", "", "tenon_do: @since is missing")
        self.expect("TENON_NOT_FOUND", "TENON_NOT_FUOND", "tenon_do: there is no TENON_NOT_FUOND")
        self.expect("TENON_FAILED_PRECONDITION", "nothing",
                    "tenon_do: TENON_FAILED_PRECONDITION, of a scope in use elsewhere, is missing")

    def test_missing_errors_and_threads_are_faults(self):
        silent = (WHOLE.replace(" * Threads: any, but one at a time for one scope.\n", "")
                  .replace(" * Errors: of one that takes a scope TENON_FAILED_PRECONDITION.\n", "")
                  .replace(" *   - TENON_NOT_FOUND if there is none.\n", "")
                  .replace("tenon_do(tenon_scope* scope TENON_THREADS(one_at_a_time)",
                           "tenon_do(tenon_tensor* scope"))
        self.assertEqual([line.split("tenon_do: ")[1] for line in faults_of(silent)],
                         ["who may call it from where is missing",
                          "the errors that it gives are missing"])


class Wrappers(unittest.TestCase):
    def test_functions_that_are_neither_called_nor_exempted_are_faults(self):
        called = wrappers.called_in(["check(tenon_a(x));  // As tenon_b() would."])
        self.assertEqual(wrappers.faults_in(["tenon_a", "tenon_b"], called, {"tenon_b": "why"}), [])
        self.assertEqual(len(wrappers.faults_in(["tenon_a", "tenon_b"], called, {})), 1)

    def test_stale_exemptions_from_the_check_of_uncalled_functions_are_faults(self):
        reasons = {"tenon_a": "why", "tenon_gone": "why", "tenon_b": " "}
        faults = wrappers.faults_in(["tenon_a", "tenon_b"], {"tenon_a"}, reasons)
        self.assertEqual([fault.split(": ", 1)[1] for fault in faults],
                         ["tenon_a is called", "there is no tenon_gone", "tenon_b has no reason"])


class Portable(unittest.TestCase):
    def test_features_that_emscripten_lacks_are_found_with_their_line(self):
        lines = ["#include <bit>", "#include <format>", "auto y = std::bit_cast<int>(x);",
                 "// No std::bit_cast.", "sort(ranges);"]
        self.assertEqual(list(portable.faults_in(lines)),
                         [(2, "#include <format>"), (3, "std::bit_cast")])

    def test_phrases_that_words_md_forbids_are_found(self):
        text = "// The way\n// back.\nconstexpr int kMost = 1;\n// The way in which\n"
        self.assertEqual([number for number, _ in words.faults_in(text)], [1, 3])


def run():
    """Runs the tests as a check, whose faults are the failed tests."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    return f"{result.testsRun} tests of the checks", [
        line for _, report in result.failures + result.errors for line in report.splitlines()]


if __name__ == "__main__":
    unittest.main()
