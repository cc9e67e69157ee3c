#include "examples/c/fashion_options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

static const char kHelp[] =
    "Trains a convolutional network on Fashion-MNIST with the gradient tape.\n\nUsage: fashion "
    "[OPTION VALUE]...\n\n  --device NAME   where to train: cpu, cpu:0, best, or a plugin's device "
    "(cpu)\n  --compare NAME  a device that takes the first 100 steps too; the losses of both are "
    "printed, and\n                  have to agree; none for no device (cpu, unless that trains)\n "
    " --fallback HOW  ops that the device cannot run; warn: the CPU runs them and warns; auto: "
    "the\n                  CPU runs them silently; strict: error (warn)\n  --epochs N      "
    "number of passes over the images, 1 to 1000 (5)\n  --batch N       images for each step, 1 to "
    "10000 (64)\n  --seed N        seed of the initial weights and of the order of images (1)\n  "
    "--threads N     threads of a device that computes on the host; 0 is all cores (0)\n  --steps "
    "HOW     traced: a step is a function that is traced once; eager: call by call\n               "
    "   (traced)\n  --data FOLDER   the four gzipped files (/usr/share/datasets/fashion-mnist)\n  "
    "--save FILE     write the weights to this file (fashion.safetensors)\n  --program FOLDER\n    "
    "          "
    "    write the network as a program to this folder, for `tenon run` and ONNX\n                 "
    " runtimes (fashion_program)\n  --images FILE   write the test images to this file, as "
    "numpy.save() does\n  --page FILE     where to write the report (fashion.html)\n  --help       "
    "   print this\n\nThe same seed gives the same numbers with any number of threads, traced and "
    "eager.\n";

static void fail(const char* option, const char* problem) {
  fprintf(stderr, "fashion: %s%s\nTry fashion --help.\n", option, problem);
  exit(2);
}

static uint64_t number(const char* option, const char* text, uint64_t least, uint64_t most) {
  char* end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  /* strtoull also accepts blanks and signs. */
  if (text[0] < '0' || text[0] > '9' || *end || errno || value < least || value > most) {
    char problem[160];
    snprintf(problem, sizeof problem, ": '%.40s' is not a whole number from %llu to %llu", text,
             (unsigned long long)least, (unsigned long long)most);
    fail(option, problem);
  }
  return value;
}

/* Returns the index of `text` in a list of `count` words; exits if it is absent. */
static int place(const char* option, const char* text, const char* const* words, int count) {
  char problem[160];
  int length = snprintf(problem, sizeof problem, ": '%.40s' is none of", text);
  for (int i = 0; i < count; ++i) {
    if (!strcmp(text, words[i])) return i;
    length += snprintf(problem + length, sizeof problem - (size_t)length, "%s %s", i ? "," : "",
                       words[i]);
  }
  fail(option, problem);
  return 0;
}

static const char* nonempty(const char* option, const char* text) {
  if (!*text) fail(option, ": the value is empty");
  return text;
}

fashion_options fashion_options_parse(int argc, char** argv) {
  static const char* const steps[] = {"traced", "eager"};
  /* Indexed by the constants TENON_FALLBACK_*. */
  static const char* const fallbacks[] = {"warn", "strict", "auto"};
  const char* compare = NULL;
  fashion_options options = {"cpu",
                             "",
                             "/usr/share/datasets/fashion-mnist",
                             "fashion.safetensors",
                             "fashion_program",
                             "",
                             "fashion.html",
                             5,
                             64,
                             1,
                             0,
                             TENON_FALLBACK_WARN,
                             false};
  for (int i = 1; i < argc; ++i) {
    char option[32];
    /* Accepts both "--epochs 3" and "--epochs=3". */
    const char* equals = strchr(argv[i], '=');
    const size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
    snprintf(option, sizeof option, "%.*s", (int)(length < 31 ? length : 31), argv[i]);
    if (!strcmp(option, "--help") || !strcmp(option, "-h")) {
      fputs(kHelp, stdout);
      exit(0);
    }
    static const char* const known[] = {
        "--device", "--epochs", "--batch",   "--seed",   "--threads", "--data",    "--save",
        "--page",   "--steps",  "--program", "--images", "--compare", "--fallback"};
    bool is_known = false;
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) is_known |= !strcmp(option, known[k]);
    if (!is_known) fail(argv[i], ": unknown option");
    if (!equals && i + 1 == argc) fail(option, ": a value is missing");
    const char* value = equals ? equals + 1 : argv[++i];

    if (!strcmp(option, "--device")) options.device = nonempty(option, value);
    if (!strcmp(option, "--steps")) options.eager = place(option, value, steps, 2);
    if (!strcmp(option, "--compare")) compare = nonempty(option, value);
    if (!strcmp(option, "--fallback")) options.fallback = place(option, value, fallbacks, 3);
    if (!strcmp(option, "--data")) options.data = nonempty(option, value);
    if (!strcmp(option, "--save")) options.save = nonempty(option, value);
    if (!strcmp(option, "--program")) options.program = nonempty(option, value);
    if (!strcmp(option, "--images")) options.images = nonempty(option, value);
    if (!strcmp(option, "--page")) options.page = nonempty(option, value);
    if (!strcmp(option, "--epochs")) options.epochs = (int64_t)number(option, value, 1, 1000);
    if (!strcmp(option, "--batch")) options.batch = (int64_t)number(option, value, 1, 10000);
    if (!strcmp(option, "--seed")) options.seed = number(option, value, 0, UINT64_MAX);
    if (!strcmp(option, "--threads")) options.threads = (uint32_t)number(option, value, 0, 4096);
  }
  if (!compare) compare = strncmp(options.device, "cpu", 3) ? "cpu" : "none";
  options.compare = strcmp(compare, "none") ? compare : "";
  return options;
}
