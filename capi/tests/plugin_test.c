/* Plugin files that are wrong: each gets a reason, and none ends the process. */

#include <dlfcn.h>
#include <tenon/introspect.h>

#include "capi/tests/check.h"

static const char kCopy[] = "plugin_test_copy.so";

static char* whole_plugin(size_t* size) {
  char path[4096];
  char* bytes = NULL;
  FILE* file;
  snprintf(path, sizeof path, "%s/libtenon_ref.so", plugin_folder());
  file = fopen(path, "rb");
  CHECK(file != NULL);
  if (!file) exit(1);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*size);
  CHECK(fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

static void write_copy(const char* bytes, size_t size) {
  FILE* file = fopen(kCopy, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
  if (file) fclose(file);
}

static tenon_error* load(const char* path) {
  return tenon_context_load_plugin(context(), tenon_str(path));
}

static tenon_error* load_bad(const char* fault) {
  char path[4096];
  const char* folder = getenv("TENON_TEST_PLUGINS");
  snprintf(path, sizeof path, "%s/libtenon_bad_%s.so", folder ? folder : ".", fault);
  return load(path);
}

static void a_missing_file(void) {
  CHECK_ERROR(load("no/such/libtenon_x.so"), TENON_NOT_FOUND,
              "no/such/libtenon_x.so: cannot be opened: No such file");
  CHECK_ERROR(load(""), TENON_NOT_FOUND, "cannot be opened");
}

static void a_file_truncated_anywhere(void) {
  size_t size = 0;
  char* bytes = whole_plugin(&size);
  const size_t step = size / 61;
  size_t cut;

  for (cut = 0; cut < size; cut = cut < 128 ? cut + 1 : cut + step) {
    tenon_error* error;
    write_copy(bytes, cut);
    error = load(kCopy);
    CHECK(tenon_error_code(error) == TENON_DATA_LOSS ||
          tenon_error_code(error) == TENON_INVALID_ARGUMENT);
    CHECK_CONTAINS(tenon_error_message(error), kCopy);
    tenon_error_release(error);
  }
  write_copy(bytes, size - 1);
  CHECK_ERROR(load(kCopy), TENON_DATA_LOSS, "is truncated");
  free(bytes);
  remove(kCopy);
}

static void what_is_no_shared_object(void) {
  size_t size = 0;
  char* bytes = whole_plugin(&size);

  write_copy("#!/bin/sh\necho hello, this is a script, and a rather long one for its kind\n", 76);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "is not a shared object: no ELF header");
  bytes[16] = 2; /* An executable. */
  write_copy(bytes, size);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "is not a shared object");
  CHECK_ERROR(load(plugin_folder()), TENON_INVALID_ARGUMENT, "no regular file");
  free(bytes);
  remove(kCopy);
}

static void for_another_machine(void) {
  size_t size = 0;
  char* bytes = whole_plugin(&size);

  bytes[18] = (char)0xf7; /* BPF. */
  write_copy(bytes, size);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "is for another machine: another machine");
  bytes[4] = 1; /* Words of 32 bits. */
  write_copy(bytes, size);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "other word size or byte order");
  free(bytes);
  remove(kCopy);
}

static void plugins_that_are_wrong(void) {
  CHECK_ERROR(load_bad("epoch"), TENON_UNAVAILABLE,
              "is of another epoch: it exports tenon_plugin_query_v2, and this host looks for "
              "tenon_plugin_query_v1");
  CHECK_ERROR(load_bad("error"), TENON_UNAVAILABLE, "bad: needs a unicorn");
  CHECK_ERROR(load_bad("nothing"), TENON_INTERNAL, "neither a plugin nor an error");
  CHECK_ERROR(load_bad("feature"), TENON_UNAVAILABLE,
              "it needs of the host what this one lacks: bit 40");
  CHECK_ERROR(load_bad("name"), TENON_INVALID_ARGUMENT,
              "its name Bad name is not of the form [a-z][a-z0-9_]*");
  CHECK_ERROR(load_bad("calls"), TENON_INVALID_ARGUMENT, "it has no `launch`");
  CHECK_ERROR(load_bad("table"), TENON_INVALID_ARGUMENT,
              "its table of calls says that it has 0 bytes");
  CHECK_ERROR(load_bad("signature"), TENON_INVALID_ARGUMENT,
              "its kernels[1]: signature \"f32,f23->f32\": expected a dtype or a letter");
  CHECK_ERROR(load_bad("prepare"), TENON_INVALID_ARGUMENT, "its kernels[1] has no `prepare`");
  CHECK_ERROR(load_bad("kernels"), TENON_INVALID_ARGUMENT, "its list of kernels is NULL");
  CHECK_ERROR(load_bad("create"), TENON_UNAVAILABLE, "the driver is asleep");
  CHECK_ERROR(load_bad("devices"), TENON_INTERNAL, "the device caught fire");
}

static void every_candidate_has_its_reason(void) {
  tenon_plugin_candidate candidate;
  const size_t before = tenon_context_count_candidates(context());
  size_t i;
  int loaded = 0;
  memset(&candidate, 0, sizeof candidate);
  CHECK_ERROR(load_bad("error"), TENON_UNAVAILABLE, "unicorn");

  CHECK(tenon_context_count_candidates(context()) == before + 1);
  for (i = 0; i <= before; ++i) {
    candidate.struct_size = sizeof candidate;
    CHECK_OK(tenon_context_get_candidate(context(), i, &candidate));
    CHECK(candidate.path.size > 0 && candidate.name.size > 0);
    CHECK((candidate.state == TENON_PLUGIN_REFUSED) == (candidate.reason.size > 0));
    loaded += candidate.state == TENON_PLUGIN_LOADED;
  }
  CHECK(loaded == 1); /* Only the one whose device was asked for. */
  CHECK(candidate.state == TENON_PLUGIN_REFUSED && candidate.code == TENON_UNAVAILABLE);
  CHECK_TEXT(candidate.reason, "bad: needs a unicorn");
  CHECK_ERROR(tenon_context_get_candidate(context(), before + 1, &candidate), TENON_OUT_OF_RANGE,
              "is asked for, but there are");
  CHECK_ERROR(tenon_context_get_candidate(context(), 0, NULL), TENON_INVALID_ARGUMENT,
              "out_candidate is NULL");
}

static void a_plugin_is_loaded_once(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/libtenon_%s.so", plugin_folder(), "ref");
  {
    tenon_device* device = NULL;
    CHECK_OK(tenon_context_find_device(context(), tenon_str("ref"), &device));
    tenon_device_release(device);
  }
  CHECK_ERROR(load(path), TENON_INVALID_ARGUMENT, "a plugin named ref is loaded already");
}

static void paths_of_the_program_go_first(void) {
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  tenon_plugin_candidate candidate;
  tenon_string paths[2];
  tenon_context* own = NULL;
  tenon_device* device = NULL;
  const char* folder = getenv("TENON_TEST_PLUGINS");
  paths[0] = tenon_str(folder ? folder : ".");
  paths[1] = tenon_str("no/such/file");
  options.plugin_paths = paths;
  options.n_plugin_paths = 2;
  CHECK_OK(tenon_context_create(&options, &own));
  memset(&candidate, 0, sizeof candidate);
  candidate.struct_size = sizeof candidate;

  CHECK_OK(tenon_context_find_device(own, tenon_str("ref"), &device));
  CHECK_OK(tenon_context_get_candidate(own, 0, &candidate));

  CHECK_CONTAINS(candidate.path, "libtenon_bad_");
  CHECK(candidate.state == TENON_PLUGIN_NOT_TRIED);
  tenon_device_release(device);
  tenon_context_release(own);
}

static tenon_error* refuse(const tenon_host* host, const tenon_plugin** out_plugin) {
  (void)out_plugin;
  return host->make_error(TENON_UNAVAILABLE, tenon_str("not on Sundays"));
}

static tenon_plugin_query inner;

/* What a program does that wraps a plugin: it answers for it, under another name. */
static tenon_error* renamed(const tenon_host* host, const tenon_plugin** out_plugin) {
  static tenon_plugin plugin;
  const tenon_plugin* found = NULL;
  tenon_error* error = inner(host, &found);
  if (error) return error;
  plugin = *found;
  plugin.name = tenon_str("wrapped");
  *out_plugin = &plugin;
  return NULL;
}

static void plugins_that_the_program_holds(void) {
  tenon_plugin_candidate candidate;
  tenon_device* device = NULL;
  char path[4096];
  void* library;
  void* symbol;
  CHECK_ERROR(tenon_context_add_plugin(context(), tenon_str("x"), NULL), TENON_INVALID_ARGUMENT,
              "query is NULL");
  CHECK_ERROR(tenon_context_add_plugin(context(), tenon_str("x"), refuse), TENON_UNAVAILABLE,
              "x: not on Sundays");

  snprintf(path, sizeof path, "%s/libtenon_ref.so", plugin_folder());
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  symbol = dlsym(library, TENON_PLUGIN_SYMBOL);
  memcpy(&inner, &symbol, sizeof inner);
  CHECK_OK(tenon_context_add_plugin(context(), tenon_str("y"), renamed));
  CHECK_OK(tenon_context_find_device(context(), tenon_str("wrapped:0"), &device));
  CHECK(device != NULL);
  tenon_device_release(device);

  memset(&candidate, 0, sizeof candidate);
  candidate.struct_size = sizeof candidate;
  CHECK_OK(tenon_context_get_candidate(context(), tenon_context_count_candidates(context()) - 1,
                                       &candidate));
  CHECK_TEXT(candidate.name, "wrapped");
  CHECK(candidate.path.size == 0 && candidate.state == TENON_PLUGIN_LOADED);
}

int main(void) {
  RUN(a_missing_file);
  RUN(a_file_truncated_anywhere);
  RUN(what_is_no_shared_object);
  RUN(for_another_machine);
  RUN(plugins_that_are_wrong);
  RUN(every_candidate_has_its_reason);
  RUN(a_plugin_is_loaded_once);
  RUN(paths_of_the_program_go_first);
  RUN(plugins_that_the_program_holds);
  return report();
}
