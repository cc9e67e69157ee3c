#include "tools/tenon/devices.h"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/tenon/failure.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

struct ReleaseContext {
  void operator()(tenon_context* context) const { tenon_context_release(context); }
};
struct ReleaseDevice {
  void operator()(tenon_device* device) const { tenon_device_release(device); }
};
using Context = std::unique_ptr<tenon_context, ReleaseContext>;
using Device = std::unique_ptr<tenon_device, ReleaseDevice>;

constexpr std::pair<tenon_features, const char*> kFeatures[] = {
    {TENON_FEATURE_HOST_VISIBLE, "host-visible"},
    {TENON_FEATURE_HOST_BLOCKING, "host-blocking"},
    {TENON_FEATURE_SYNCHRONOUS, "synchronous"},
    {TENON_FEATURE_IMPORT_HOST, "import-host"},
    {TENON_FEATURE_IEEE_DIV, "ieee-division"},
    {TENON_FEATURE_IEEE_FMA, "ieee-fma"},
    {TENON_FEATURE_FLUSH_TO_ZERO, "flush-to-zero"},
    {TENON_FEATURE_FAST_MATH, "fast-math"},
    {TENON_FEATURE_FLOAT64, "float64"},
    {TENON_FEATURE_PEER_COPY, "peer_copy"},
};

// Copies a string of the C ABI.
std::string text(tenon_string string) { return {string.data ? string.data : "", string.size}; }

// Creates a context that logs nothing, because warnings would appear between the rows of the list.
// --verbose prints the reasons for refused plugins.
Context make_context() {
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  options.log_level = TENON_LOG_ERROR;
  tenon_context* context = nullptr;
  check(tenon_context_create(&options, &context));
  return Context(context);
}

const char* kind_name(int32_t kind) {
  switch (kind) {
    case TENON_DEVICE_CPU:
      return "cpu";
    case TENON_DEVICE_GPU:
      return "gpu";
    case TENON_DEVICE_ACCELERATOR:
      return "accelerator";
    default:
      return "unknown";
  }
}

const char* state_name(int32_t state) {
  switch (state) {
    case TENON_PLUGIN_LOADED:
      return "loaded";
    case TENON_PLUGIN_REFUSED:
      return "refused";
    default:
      return "not tried";
  }
}

std::string uuid_text(const uint8_t (&uuid)[16]) {
  std::string digits;
  bool any = false;
  for (const uint8_t byte : uuid) {
    digits += fmt::format("{:02x}", byte);
    any |= byte != 0;
  }
  return any ? digits : "";
}

// Returns the known properties of a device as JSON. Omits those that are unknown or do not apply.
Json describe(tenon_device* device) {
  tenon_device_info info = {};
  info.struct_size = sizeof info;
  check(tenon_device_describe(device, &info));
  Json row = {{"name", text(info.name)}, {"kind", kind_name(info.kind)}};
  const auto add = [&row](const char* key, const auto& value) {
    if (value != std::decay_t<decltype(value)>{}) row[key] = value;
  };
  add("description", text(info.description));
  add("vendor", text(info.vendor));
  add("driver", text(info.driver));
  add("plugin_version", text(info.plugin));
  add("memory_bytes", info.memory_bytes);
  add("max_buffer_bytes", info.max_buffer_bytes);
  add("compute_units", info.compute_units);
  add("vector_bits", info.vector_bits);
  add("uuid", uuid_text(info.uuid));
  row["features"] = Json::array();
  for (const auto& [bit, name] : kFeatures) {
    if (info.features & bit) row["features"].push_back(name);
  }
  return row;
}

Json list_devices(tenon_context* context) {
  size_t count = 0;
  check(tenon_context_count_devices(context, &count));
  Json rows = Json::array();
  for (size_t i = 0; i < count; ++i) {
    tenon_device* device = nullptr;
    check(tenon_context_get_device(context, i, &device));
    rows.push_back(describe(Device(device).get()));
  }
  return rows;
}

Json list_plugins(tenon_context* context) {
  Json rows = Json::array();
  const size_t count = tenon_context_count_candidates(context);
  for (size_t i = 0; i < count; ++i) {
    tenon_plugin_candidate candidate = {};
    candidate.struct_size = sizeof candidate;
    check(tenon_context_get_candidate(context, i, &candidate));
    Json row = {{"name", text(candidate.name)}, {"state", state_name(candidate.state)}};
    if (candidate.path.size) row["path"] = text(candidate.path);
    if (candidate.version.size) row["version"] = text(candidate.version);
    if (candidate.state == TENON_PLUGIN_REFUSED) {
      row["code"] = text(tenon_code_name(candidate.code));
      row["reason"] = text(candidate.reason);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Formats a property of a device for people.
std::string value_text(const std::string& key, const Json& value) {
  if (key.ends_with("_bytes")) return bytes_text(value.get<uint64_t>());
  if (value.is_array()) {
    std::string words;
    for (const Json& word : value) words += (words.empty() ? "" : " ") + word.get<std::string>();
    return words;
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Prints the devices as a table with one line each.
void print_short(const Json& rows) {
  std::vector<std::vector<std::string>> table;
  for (const Json& row : rows) {
    const uint64_t memory = row.value("memory_bytes", uint64_t{0});
    table.push_back({row["name"], row["kind"], memory ? bytes_text(memory) : "-",
                     row.value("description", "")});
  }
  fmt::print("{}", columns(table, 0));
}

// Prints all properties of each device.
void print_long(const Json& rows) {
  for (const Json& row : rows) {
    fmt::print("{}\n", row["name"].get<std::string>());
    std::vector<std::vector<std::string>> table;
    for (const auto& [key, value] : row.items()) {
      std::string label = key.substr(0, key.find("_bytes"));
      for (char& letter : label) letter = letter == '_' ? ' ' : letter;
      if (key != "name") table.push_back({label, value_text(key, value)});
    }
    fmt::print("{}\n", columns(table, 2));
  }
}

void print_plugins(const Json& rows) {
  fmt::print("plugins, in the order in which they are tried\n");
  for (const Json& row : rows) {
    const std::string version = row.value("version", "");
    fmt::print("  {}{}{}: {}\n", row["name"].get<std::string>(), version.empty() ? "" : " ",
               version, row["state"].get<std::string>());
    fmt::print("    {}\n", row.value("path", "linked in"));
    if (row.contains("reason")) fmt::print("{}", wrapped(row["reason"].get<std::string>(), 4));
  }
  if (rows.empty()) fmt::print("  none was found\n");
}

}  // namespace

// Prints the list of devices and plugins, and returns the exit status.
int devices(const DevicesOptions& options) {
  const Context context = make_context();
  const Json found = list_devices(context.get());
  const Json plugins = list_plugins(context.get());
  if (options.json) {
    fmt::print("{}\n", Json({{"devices", found}, {"plugins", plugins}}).dump(2));
  } else if (options.verbose) {
    print_long(found);
    print_plugins(plugins);
  } else {
    print_short(found);
  }
  if (!found.empty()) return kDone;
  fmt::print(stderr, "tenon: there is no device; `tenon devices --verbose` says what was tried\n");
  return kFailed;
}

}  // namespace tenon::command
