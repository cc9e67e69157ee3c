/* Invalid plugin files. Each must be refused with a reason and must not crash the process. */

#define _POSIX_C_SOURCE 200112L
#include <dlfcn.h>
#include <sys/stat.h>
#include <tenon/introspect.h>
#include <unistd.h>

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

static void a_missing_file_is_an_error(void) {
  CHECK_ERROR(load("no/such/libtenon_x.so"), TENON_NOT_FOUND,
              "no/such/libtenon_x.so: cannot be opened: No such file");
  CHECK_ERROR(load(""), TENON_NOT_FOUND, "cannot be opened");
}

static void a_file_truncated_anywhere_is_refused(void) {
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

static void files_that_are_no_shared_objects_are_refused(void) {
  size_t size = 0;
  char* bytes = whole_plugin(&size);

  write_copy("#!/bin/sh\necho hello, this is a script, and a rather long one for its kind\n", 76);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "is not a shared object: no ELF header");
  bytes[16] = 2; /* ELF type: executable. */
  write_copy(bytes, size);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "is not a shared object");
  CHECK_ERROR(load(plugin_folder()), TENON_INVALID_ARGUMENT, "not a regular file");
  free(bytes);
  remove(kCopy);
}

static void files_for_another_machine_are_refused(void) {
  size_t size = 0;
  char* bytes = whole_plugin(&size);

  bytes[18] = (char)0xf7; /* ELF machine: BPF. */
  write_copy(bytes, size);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT,
              "is built for another machine, but this machine is");
  bytes[4] = 1; /* ELF class: 32 bits. */
  write_copy(bytes, size);
  CHECK_ERROR(load(kCopy), TENON_INVALID_ARGUMENT, "its word size or byte order differs");
  free(bytes);
  remove(kCopy);
}

static void shared_objects_that_are_no_plugins_are_refused(void) {
  CHECK_ERROR(load_bad("symbol"), TENON_INVALID_ARGUMENT,
              "is not a plugin: the file does not export tenon_plugin_query_v1");
  CHECK_ERROR(load_bad("load"), TENON_UNAVAILABLE, "cannot be loaded: ");
  CHECK_ERROR(load_bad("load"), TENON_UNAVAILABLE, "what_no_library_has");
}

static void invalid_plugins_are_refused(void) {
  CHECK_ERROR(
      load_bad("epoch"), TENON_UNAVAILABLE,
      "has another ABI epoch: the file exports tenon_plugin_query_v2, but this host requires "
      "tenon_plugin_query_v1");
  CHECK_ERROR(load_bad("error"), TENON_UNAVAILABLE, "bad: needs a unicorn");
  CHECK_ERROR(load_bad("nothing"), TENON_INTERNAL, "neither a plugin nor an error");
  CHECK_ERROR(load_bad("feature"), TENON_UNAVAILABLE,
              "the plugin requires features that this host lacks: bit 40");
  CHECK_ERROR(load_bad("name"), TENON_INVALID_ARGUMENT,
              "its name Bad name is not of the form [a-z][a-z0-9_]*");
  CHECK_ERROR(load_bad("calls"), TENON_INVALID_ARGUMENT, "the table of calls has no `launch`");
  CHECK_ERROR(load_bad("table"), TENON_INVALID_ARGUMENT,
              "tenon_plugin_calls.struct_size is 0, too small for any function");
  CHECK_ERROR(load_bad("signature"), TENON_INVALID_ARGUMENT,
              "kernels[1]: signature \"f32,f23->f32\": expected a dtype or a letter");
  CHECK_ERROR(load_bad("prepare"), TENON_INVALID_ARGUMENT, "kernels[1].prepare is NULL");
  CHECK_ERROR(load_bad("kernels"), TENON_INVALID_ARGUMENT, "tenon_plugin.kernels is NULL");
  CHECK_ERROR(load_bad("nulltext"), TENON_INVALID_ARGUMENT, "kernels[1].signature is NULL");
  CHECK_ERROR(load_bad("custom"), TENON_INVALID_ARGUMENT, "which is the number of a custom op");
  CHECK_ERROR(load_bad("count"), TENON_INVALID_ARGUMENT,
              "tenon_plugin.n_kernels is 1099511627776, but must be at most 1048576");
  CHECK_ERROR(load_bad("create"), TENON_UNAVAILABLE, "the driver is asleep");
  CHECK_ERROR(load_bad("devices"), TENON_INTERNAL, "the device caught fire");
  CHECK_ERROR(load_bad("many"), TENON_INVALID_ARGUMENT,
              "the plugin reports 1099511627776 devices, but at most 4096 are allowed");
}

static void each_refused_candidate_has_a_reason(void) {
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
  CHECK(loaded == 1); /* Only one candidate is loaded. */
  CHECK(candidate.state == TENON_PLUGIN_REFUSED && candidate.code == TENON_UNAVAILABLE);
  CHECK_TEXT(candidate.reason, "bad: needs a unicorn");
  CHECK_ERROR(tenon_context_get_candidate(context(), before + 1, &candidate), TENON_OUT_OF_RANGE,
              "was requested, but there are");
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
  CHECK_ERROR(load(path), TENON_INVALID_ARGUMENT, "a plugin named ref is already loaded");
}

static void plugin_paths_of_the_options_are_searched_first(void) {
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

  CHECK_CONTAINS(candidate.path, paths[0].data);
  CHECK(candidate.state == TENON_PLUGIN_NOT_TRIED);
  tenon_device_release(device);
  tenon_context_release(own);
}

static void write_renamed(const char* path, const char* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
  if (file) fclose(file);
}

/* A plugin folder contains files that have the names of other plugins. */
static void a_file_with_another_plugins_name_is_refused(void) {
  static const char* const renamed[] = {"plugin_names/libtenon_cpu.so",
                                        "plugin_names/libtenon_other.so"};
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  const tenon_string folder = tenon_str("plugin_names");
  tenon_context* own = NULL;
  tenon_device* device = NULL;
  tenon_plugin_candidate candidate;
  size_t size = 0, i;
  char* bytes = whole_plugin(&size);
  mkdir("plugin_names", 0755);
  for (i = 0; i < 2; ++i) write_renamed(renamed[i], bytes, size);
  options.plugin_paths = &folder;
  options.n_plugin_paths = 1;
  CHECK_OK(tenon_context_create(&options, &own));

  CHECK_ERROR(tenon_context_find_device(own, tenon_str("other"), &device), TENON_NOT_FOUND,
              "its file is named for the plugin other, but holds the plugin ref");
  /* If this build has the plugin cpu, the search continues and finds the valid file in the next
   * folder. */
  tenon_error_release(tenon_context_find_device(own, tenon_str("cpu"), &device));
  tenon_device_release(device);
  CHECK_OK(tenon_context_find_device(own, tenon_str("ref"), &device));
  tenon_device_release(device);
  memset(&candidate, 0, sizeof candidate);
  for (i = 0; i < tenon_context_count_candidates(own); ++i) {
    candidate.struct_size = sizeof candidate;
    CHECK_OK(tenon_context_get_candidate(own, i, &candidate));
    if (strstr(candidate.path.data, "plugin_names/") == NULL) continue;
    CHECK(candidate.state == TENON_PLUGIN_REFUSED);
  }

  tenon_context_release(own);
  for (i = 0; i < 2; ++i) remove(renamed[i]);
  rmdir("plugin_names");
  free(bytes);
}

/* Writes to `text` the paths of the candidates of a context with TENON_PLUGIN_PATH=`list`, one per
 * line. */
static void list_candidates(const char* list, char* text, size_t size) {
  tenon_context* own = NULL;
  char* kept = getenv("TENON_PLUGIN_PATH");
  size_t i;
  kept = kept ? strcpy(malloc(strlen(kept) + 1), kept) : NULL;
  setenv("TENON_PLUGIN_PATH", list, 1);
  CHECK_OK(tenon_context_create(NULL, &own));
  text[0] = '\0';
  for (i = 0; i < tenon_context_count_candidates(own); ++i) {
    tenon_plugin_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.struct_size = sizeof candidate;
    CHECK_OK(tenon_context_get_candidate(own, i, &candidate));
    CHECK(strlen(text) + candidate.path.size + 2 < size);
    strcat(strcat(text, candidate.path.data), "\n");
  }
  tenon_context_release(own);
  if (kept) {
    setenv("TENON_PLUGIN_PATH", kept, 1);
  } else {
    unsetenv("TENON_PLUGIN_PATH");
  }
  free(kept);
}

/* Copies a plugin to plugin_test_folder/libtenon_inner.so, and another to ./libtenon_stray.so. */
static void write_strays(void) {
  size_t size = 0;
  char* bytes = whole_plugin(&size);
  mkdir("plugin_test_folder", 0700);
  write_copy(bytes, size);
  CHECK(rename(kCopy, "plugin_test_folder/libtenon_inner.so") == 0);
  write_copy(bytes, size);
  CHECK(rename(kCopy, "libtenon_stray.so") == 0);
  free(bytes);
}

static void remove_strays(void) {
  remove("plugin_test_folder/libtenon_inner.so");
  remove("plugin_test_folder");
  remove("libtenon_stray.so");
}

static void the_working_directory_is_not_searched_for_plugins(void) {
  const char* lists[] = {"",
                         ".",
                         "./",
                         "plugin_test_folder",
                         "./plugin_test_folder",
                         "plugin_test_folder/libtenon_inner.so",
                         "libtenon_stray.so",
                         ":",
                         "::.:"};
  char text[1 << 16];
  tenon_device* device = GARBAGE(tenon_device);
  size_t i;
  write_strays();
  for (i = 0; i < sizeof lists / sizeof *lists; ++i) {
    list_candidates(lists[i], text, sizeof text);
    CHECK(!strstr(text, "stray") && !strstr(text, "inner"));
    CHECK(text[0] == '/' || text[0] == '\0');
  }
  CHECK_ERROR(tenon_context_find_device(context(), tenon_str("stray"), &device), TENON_NOT_FOUND,
              "there is no device \"stray\"");
  CHECK(device == NULL);
  remove_strays();
}

static void absolute_plugin_paths_are_searched_in_order(void) {
  char here[4096], list[9 * 4096], text[1 << 16], expected[4 * 4096];
  CHECK(getcwd(here, sizeof here) != NULL);
  write_strays();

  /* The list has a folder, a missing folder, a relative path, a file, and both files again. */
  snprintf(list, sizeof list,
           "%s/plugin_test_folder:/no/such/folder:plugin_test_folder::%s/libtenon_stray.so:%s/"
           "plugin_test_folder/libtenon_inner.so:%s/libtenon_stray.so",
           here, here, here, here);
  list_candidates(list, text, sizeof text);
  snprintf(expected, sizeof expected,
           "%s/plugin_test_folder/libtenon_inner.so\n/no/such/folder\n%s/libtenon_stray.so\n", here,
           here);

  CHECK(strncmp(text, expected, strlen(expected)) == 0);
  CHECK(!strstr(text + strlen(expected), "stray") && !strstr(text + strlen(expected), "inner"));
  remove_strays();
}

/* A file name without a slash refers to the working directory. dlopen() must not search the
 * system's library folders for it. */
static void folders_of_the_dynamic_loader_are_not_searched_for_plugins(void) {
  tenon_context* own = NULL;
  size_t size = 0;
  char* bytes = whole_plugin(&size);
  CHECK_OK(tenon_context_create(NULL, &own));

  CHECK_ERROR(tenon_context_load_plugin(own, tenon_str("libc.so.6")), TENON_NOT_FOUND,
              "libc.so.6: cannot be opened");
  write_copy(bytes, size);
  CHECK_OK(tenon_context_load_plugin(own, tenon_str(kCopy)));

  tenon_context_release(own);
  free(bytes);
  remove(kCopy);
}

static tenon_error* refuse(const tenon_host* host, const tenon_plugin** out_plugin) {
  (void)out_plugin;
  return host->make_error(TENON_UNAVAILABLE, tenon_str("not on Sundays"));
}

static tenon_plugin_query inner;

/* The query function of a plugin that is another plugin under a new name. */
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

static void plugins_can_be_added_by_query_function(void) {
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
  RUN(a_missing_file_is_an_error);
  RUN(a_file_truncated_anywhere_is_refused);
  RUN(files_that_are_no_shared_objects_are_refused);
  RUN(files_for_another_machine_are_refused);
  RUN(shared_objects_that_are_no_plugins_are_refused);
  RUN(invalid_plugins_are_refused);
  RUN(each_refused_candidate_has_a_reason);
  RUN(a_plugin_is_loaded_once);
  RUN(plugin_paths_of_the_options_are_searched_first);
  RUN(a_file_with_another_plugins_name_is_refused);
  RUN(the_working_directory_is_not_searched_for_plugins);
  RUN(absolute_plugin_paths_are_searched_in_order);
  RUN(folders_of_the_dynamic_loader_are_not_searched_for_plugins);
  RUN(plugins_can_be_added_by_query_function);
  return report();
}
