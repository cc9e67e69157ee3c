// Tests feature negotiation between host and plugin, and invalid descriptions that the host refuses
// before it calls the plugin.

#include "core/device/plugin_library.h"

#include <gtest/gtest.h>

#include "core/testing/test.h"

namespace tenon {
namespace {

constexpr tenon_features kOfTheFuture = tenon_features{1} << 50;

tenon_plugin_calls calls;
tenon_plugin plugin;

void unused() {}

tenon_error* create(const tenon_host*, const tenon_instance_options*, tenon_instance_p**) {
  return nullptr;
}

tenon_error* query(const tenon_host*, const tenon_plugin** out_plugin) {
  *out_plugin = &plugin;
  return nullptr;
}

// Starts from a valid description (tenon_plugin). Each test makes one field invalid.
class PluginLibrary : public ::testing::Test {
 protected:
  PluginLibrary() {
    calls = {};
    calls.struct_size = sizeof calls;
#define TENON_SLOT(result, name, parameters) \
  calls.name = reinterpret_cast<result(*) parameters>(unused);
#include <tenon/plugin_slots.def>
    plugin = {};
    plugin.struct_size = sizeof plugin;
    plugin.name = TENON_STR("sample");
    plugin.version = TENON_STR("1");
    plugin.create = create;
    plugin.calls = &calls;
    plugin.kernel_size = sizeof(tenon_kernel);
  }

  PluginCandidate loaded() {
    PluginCandidate candidate;
    candidate.query = query;
    load_plugin(candidate);
    return candidate;
  }
  void expect_refused(Code code, const std::string& reason) {
    const PluginCandidate candidate = loaded();
    EXPECT_EQ(candidate.state, PluginCandidate::State::kRefused);
    EXPECT_EQ(candidate.refusal.code, code);
    EXPECT_EQ(candidate.refusal.message, reason);
    EXPECT_EQ(candidate.plugin, nullptr);
  }
};

TEST_F(PluginLibrary, LoadsAValidPlugin) {
  plugin.requires_of_host = host_table().provides;
  plugin.provides = kOfTheFuture;  // A plugin may provide features that the host does not know.

  const PluginCandidate candidate = loaded();

  EXPECT_EQ(candidate.state, PluginCandidate::State::kLoaded) << candidate.refusal.message;
  EXPECT_EQ(candidate.name, "sample");
  EXPECT_EQ(candidate.version, "1");
  EXPECT_EQ(candidate.plugin, &plugin);
}

TEST_F(PluginLibrary, RefusesAPluginThatRequiresAMissingHostFeature) {
  plugin.requires_of_host = TENON_HOST_FEATURE_ERROR_RECORDS | kOfTheFuture;

  expect_refused(Code::kUnavailable, "the plugin requires features that this host lacks: bit 50");
}

TEST_F(PluginLibrary, RefusesAPluginThatLacksARequiredFeature) {
  tenon_host host = host_table();
  host.requires_of_plugin = TENON_FEATURE_IEEE_DIV | TENON_FEATURE_IMPORT_HOST | kOfTheFuture;
  plugin.provides = TENON_FEATURE_IEEE_DIV;

  EXPECT_ERROR(match_features(host, plugin), Code::kUnavailable,
               "the plugin lacks features that this host requires: IMPORT_HOST, bit 50");

  plugin.provides |= TENON_FEATURE_IMPORT_HOST | kOfTheFuture;
  match_features(host, plugin);
}

TEST_F(PluginLibrary, ReportsTheFeaturesThatAnOlderHostLacks) {
  tenon_host host = host_table();
  host.provides = TENON_HOST_FEATURE_BROADCAST_VIEWS;
  plugin.requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS | TENON_HOST_FEATURE_ERROR_RECORDS;

  EXPECT_ERROR(match_features(host, plugin), Code::kUnavailable,
               "the plugin requires features that this host lacks: ERROR_RECORDS");
}

TEST_F(PluginLibrary, RefusesAClaimedFeatureWithoutItsFunction) {
  calls.map = nullptr;
  calls.wait = nullptr;
  calls.import_host = nullptr;
  EXPECT_EQ(loaded().state, PluginCandidate::State::kLoaded);

  plugin.provides = TENON_FEATURE_HOST_VISIBLE;
  expect_refused(Code::kInvalidArgument, "the plugin provides HOST_VISIBLE, but has no `map`");
  plugin.provides = TENON_FEATURE_HOST_BLOCKING;
  expect_refused(Code::kInvalidArgument, "the plugin provides HOST_BLOCKING, but has no `wait`");
  plugin.provides = TENON_FEATURE_IMPORT_HOST;
  expect_refused(Code::kInvalidArgument,
                 "the plugin provides IMPORT_HOST, but has no `import_host`");
}

TEST_F(PluginLibrary, RefusesATooSmallStructSize) {
  plugin.struct_size = offsetof(tenon_plugin, kernel_size);
  expect_refused(
      Code::kInvalidArgument,
      format("tenon_plugin.struct_size is {}, but must be at least {}",
             {plugin.struct_size, offsetof(tenon_plugin, kernel_size) + sizeof(size_t)}));
  plugin.struct_size = sizeof plugin;

  const tenon_kernel line = {};
  plugin.kernels = &line;
  plugin.n_kernels = 1;
  plugin.kernel_size = offsetof(tenon_kernel, prepare);
  expect_refused(
      Code::kInvalidArgument,
      format("tenon_plugin.kernel_size is {} bytes, but must be at least {}",
             {offsetof(tenon_kernel, prepare), offsetof(tenon_kernel, prepare) + sizeof(void*)}));
}

TEST_F(PluginLibrary, RefusesADiscoveredFileThatIsNotNamedAfterItsPlugin) {
  PluginCandidate candidate;
  candidate.query = query;
  candidate.name = "other";
  candidate.is_discovered = true;

  load_plugin(candidate);

  EXPECT_EQ(candidate.state, PluginCandidate::State::kRefused);
  EXPECT_EQ(candidate.name, "other");
  EXPECT_EQ(candidate.refusal.message,
            "its file is named for the plugin other, but holds the plugin sample: name the file "
            "after its plugin, or load it by its path");
}

TEST_F(PluginLibrary, RefusesAnImplausibleNumberOfKernels) {
  const tenon_kernel line = {};
  plugin.kernels = &line;
  plugin.n_kernels = size_t{1} << 40;
  expect_refused(Code::kInvalidArgument,
                 "tenon_plugin.n_kernels is 1099511627776, but must be at most 1048576");
  plugin.n_kernels = 1;
  plugin.kernel_size = size_t{1} << 40;
  expect_refused(Code::kInvalidArgument,
                 "tenon_plugin.kernel_size is 1099511627776 bytes, but must be at most 4096");
}

TEST_F(PluginLibrary, RefusesDescriptionsWithNullPointers) {
  plugin.version = {nullptr, 3};
  expect_refused(Code::kInvalidArgument, "tenon_plugin.version is NULL; give a version string");
  plugin.version = {nullptr, 0};
  plugin.create = nullptr;
  expect_refused(Code::kInvalidArgument,
                 "tenon_plugin.create or tenon_plugin.calls is NULL; both are required");
  plugin.create = create;
  plugin.calls = nullptr;
  expect_refused(Code::kInvalidArgument,
                 "tenon_plugin.create or tenon_plugin.calls is NULL; both are required");
}

TEST_F(PluginLibrary, ReplacesMissingOptionalCallsByStubs) {
  calls.map = nullptr;
  calls.wait = nullptr;
  calls.import_host = nullptr;
  calls.record = nullptr;
  calls.read_time = nullptr;

  const tenon_plugin_calls complete = complete_calls(calls);

  EXPECT_EQ(complete.map(nullptr), nullptr);
  tenon_string why = {};
  EXPECT_EQ(complete.record(nullptr, nullptr, nullptr, &why), nullptr);
  EXPECT_EQ(std::string_view(why.data, why.size), "has no recordings");
  tenon_buffer_p* buffer = nullptr;
  const tenon_host& host = host_table();
  uint64_t mark = 0;
  tenon_error* errors[] = {complete.wait(nullptr),
                           complete.import_host(nullptr, nullptr, 0, &buffer),
                           complete.mark_time(nullptr, &mark)};
  for (tenon_error* error : errors) {
    EXPECT_EQ(host.error_code(error), TENON_UNIMPLEMENTED);
    host.release_error(error);
  }
}

}  // namespace
}  // namespace tenon
