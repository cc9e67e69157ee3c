// Checks the plugin's entry: the exported symbol, the query function, and its description of the
// plugin.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>

#include "conformance/device/device_check.h"
#include "conformance/device/elf_symbols.h"
#include "conformance/kit/threads.h"

namespace tenon_kit::device {
namespace {

// Checks that the library exports only the query function and imports no symbols of Tenon.
void test_symbol(const Subject& subject) {
  if (!std::filesystem::exists(subject.file))
    throw Unsupported("the plugin is linked into the program and not loaded from a file");
  const Symbols symbols = read_symbols(subject.file);
  require(!symbols.exported.empty(), "{} does not export {}", subject.file, TENON_PLUGIN_SYMBOL);
  for (const std::string& name : symbols.exported) {
    require(name == TENON_PLUGIN_SYMBOL, "the plugin exports the symbol {}, but may export only {}",
            name, TENON_PLUGIN_SYMBOL);
  }
  for (const std::string& name : symbols.imported) {
    require(!name.starts_with("tenon_"),
            "the plugin imports the symbol {} of the host, but may import none", name);
  }
}

// Checks that repeated queries, from any thread, return the same plugin.
void test_query(const Subject& subject) {
  const Plugin first(subject);
  std::atomic<int> others{0};
  std::vector<Thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        const tenon_plugin* again = nullptr;
        const bool failed = subject.query(&host_table(), &again) != nullptr;
        if (failed || again != first.facts) ++others;
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  require(others == 0,
          "repeated queries from eight threads failed or returned another plugin {} times",
          others.load());
}

bool is_plugin_name(const tenon_string& name) {
  const std::string text(name.data ? name.data : "", name.data ? name.size : 0);
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// Checks that the plugin describes its name, version, table and list of kernels completely.
void test_description(const Subject& subject) {
  const Plugin plugin(subject);
  const tenon_plugin& facts = *plugin.facts;
  require(facts.struct_size >= sizeof(tenon_plugin),
          "tenon_plugin.struct_size is {}, but must be at least {}", facts.struct_size,
          sizeof(tenon_plugin));
  require(facts.reserved == 0 && facts.calls->reserved == 0, "a reserved word is not zero");
  require(is_plugin_name(facts.name), "the plugin's name does not match [a-z][a-z0-9_]*");
  // Programs find a plugin NAME by its file name, libtenon_NAME.so.
  const std::string file = std::filesystem::path(subject.file).filename();
  if (file.starts_with("libtenon_") && file.ends_with(".so")) {
    const std::string wanted = "libtenon_" + std::string(facts.name.data, facts.name.size) + ".so";
    require(file == wanted, "the plugin's file is {}, but its name requires {}", file, wanted);
  }
  require(facts.version.data != nullptr && facts.version.size > 0, "the plugin's version is empty");
  require(facts.n_kernels == 0 || facts.kernels,
          "tenon_plugin.kernels is NULL, but n_kernels is not 0");
  require(facts.n_kernels == 0 || facts.kernel_size >= sizeof(tenon_kernel),
          "tenon_plugin.kernel_size is {} bytes, but must be at least {}", facts.kernel_size,
          sizeof(tenon_kernel));
  const auto claims = [&](tenon_features feature) { return (facts.provides & feature) != 0; };
  const tenon_plugin_calls& calls = plugin.calls;
  require(calls.map || !claims(TENON_FEATURE_HOST_VISIBLE),
          "the plugin provides HOST_VISIBLE, but has no `map`");
  require(calls.wait || !claims(TENON_FEATURE_HOST_BLOCKING),
          "the plugin provides HOST_BLOCKING, but has no `wait`");
  require(calls.import_host || !claims(TENON_FEATURE_IMPORT_HOST),
          "the plugin provides IMPORT_HOST, but has no `import_host`");
  require((calls.record != nullptr) == (calls.replay != nullptr) &&
              (calls.record != nullptr) == (calls.release_recording != nullptr),
          "`record`, `replay` and `release_recording` must be all set or all NULL");
  require((calls.mark_time != nullptr) == (calls.read_time != nullptr),
          "`mark_time` and `read_time` must be both set or both NULL");
  const auto is_optional = [](const std::string& name) {
    return name == "map" || name == "wait" || name == "import_host" || name == "prepare_loop" ||
           name == "record" || name == "replay" || name == "release_recording" ||
           name == "run_tasks" || name == "mark_time" || name == "read_time";
  };
#define TENON_SLOT(result, name, parameters)           \
  require(calls.name != nullptr || is_optional(#name), \
          "the table of calls has no `{}`, which is required", #name);
#include <tenon/plugin_slots.def>
}

// ---- feature negotiation in both directions

// Checks that the plugin requires and provides the same features with every host.
void test_features(const Subject& subject) {
  const Plugin plugin(subject);
  const tenon_features lacking = plugin.facts->requires_of_host & ~host_table().provides;
  require(lacking == 0, "the plugin requires the host features {:#x}, which do not exist", lacking);
  require(plugin.facts->provides != ~tenon_features{0},
          "the plugin provides all 64 feature bits, most of which do not exist");
  const auto ask = [&](const tenon_host& host, const char* whose) {
    const tenon_plugin* found = nullptr;
    if (tenon_error* error = subject.query(&host, &found)) {
      const Failure failure = take_failure(error);
      require(failure.code == TENON_UNAVAILABLE,
              "{}: the query function fails with code {}, not UNAVAILABLE: {}", whose, failure.code,
              failure.message);
      require(found == nullptr, "{}: the query function returned both an error and a plugin",
              whose);
    } else {
      require(found != nullptr, "{}: the query function returned neither a plugin nor an error",
              whose);
    }
    return found;
  };
  tenon_host poor = host_table();
  poor.provides = 0;
  const tenon_plugin* found = ask(poor, "with a host without features");
  // A plugin that accepts a host must list the required host features in its description.
  require(!found || found->requires_of_host == plugin.facts->requires_of_host,
          "requires_of_host differs between hosts with different features");
  tenon_host rich = host_table();
  rich.provides = ~tenon_features{0};
  require(ask(rich, "with a host with more features") != nullptr,
          "the plugin rejects a host that offers more features");
  tenon_host asking = host_table();
  asking.requires_of_plugin = tenon_features{1} << 63;
  found = ask(asking, "with a host that requires unknown features");
  require(!found || !(found->provides & asking.requires_of_plugin),
          "the plugin provides feature 63, which does not exist");
}

// ---- structs with struct_size

// A host table of another size than ours, as an older or newer host has. The plugin must not call
// slots beyond `struct_size`.
struct OtherHost {
  explicit OtherHost(size_t size) {
    std::memset(bytes, 0, sizeof bytes);
    std::memcpy(bytes, &host_table(), sizeof(tenon_host));
    table().struct_size = static_cast<uint32_t>(size);
    beyond = 0;
    const auto absent = [](auto& slot, size_t offset, size_t length, auto function) {
      if (offset + sizeof(void*) > length) slot = function;
    };
    absent(table().log, offsetof(tenon_host, log), size,
           [](void*, int32_t, tenon_string) { ++beyond; });
    absent(table().launch_failed, offsetof(tenon_host, launch_failed), size,
           [](void*, uint64_t, tenon_error*) { ++beyond; });
  }
  tenon_host& table() { return *reinterpret_cast<tenon_host*>(bytes); }

  alignas(tenon_host) unsigned char bytes[sizeof(tenon_host) + 64];
  static std::atomic<int> beyond;
};
std::atomic<int> OtherHost::beyond{0};

// Checks that the plugin calls no function beyond the end of the host's table.
void test_host_table(const Subject& subject) {
  for (const size_t size : {offsetof(tenon_host, log), offsetof(tenon_host, launch_failed),
                            sizeof(tenon_host), sizeof(tenon_host) + 64}) {
    OtherHost host(size);
    {
      const Bench bench(subject, host.table());
      const Buffer buffer(bench, 100);
      const Stream stream(bench);
      const Bytes bytes = pseudorandom_bytes(100, 1);
      stream.write_now(buffer, 0, bytes);
      expect_bytes(stream.read_now(buffer, 0, 100), bytes,
                   "data read back by a plugin whose host table has another size");
      tenon_device_p* none = nullptr;
      expect_failure(bench.calls().open_device(bench.instance(), SIZE_MAX, &none),
                     "open_device(SIZE_MAX)");
    }
    require(OtherHost::beyond == 0,
            "with a host table of {} bytes, the plugin called a function beyond the table's end",
            size);
  }
}

// Checks a struct that the plugin fills. The plugin must not write past the size that the host
// sets.
template <class Struct, class Fill>
void check_filled(const char* what, const Fill& fill) {
  for (const size_t size :
       {sizeof(uint32_t) * 2, sizeof(Struct) / 2 / 8 * 8, sizeof(Struct), sizeof(Struct) + 32}) {
    alignas(Struct) unsigned char bytes[sizeof(Struct) + 64];
    std::memset(bytes, 0, sizeof bytes);
    std::memset(bytes + size, 0x5a, sizeof bytes - size);
    auto* const object = reinterpret_cast<Struct*>(bytes);
    object->struct_size = static_cast<uint32_t>(size);
    fill(object);
    require(object->struct_size <= size,
            "{0}: the plugin sets struct_size to {2}, but the host's struct has {1} bytes", what,
            size, object->struct_size);
    for (size_t i = size; i < sizeof bytes; ++i) {
      require(bytes[i] == 0x5a, "{}: the plugin writes beyond the {} bytes that the host provides",
              what, size);
    }
  }
}

// Checks that the plugin accesses no field of a struct beyond its struct_size.
void test_structs(const Subject& subject) {
  const Bench bench(subject);
  check_filled<tenon_device_properties>("describe_device", [&](tenon_device_properties* out) {
    expect_success(bench.calls().describe_device(bench.device(), out), "describe_device");
  });
  check_filled<tenon_memory_statistics>("memory_statistics", [&](tenon_memory_statistics* out) {
    expect_success(bench.calls().memory_statistics(bench.device(), out), "memory_statistics");
  });
  // Instance options of an older host with only the first fields, and of a newer host with
  // additional ones.
  struct Longer {
    tenon_instance_options known;
    unsigned char more[32];
  } longer = {};
  std::memset(&longer, 0x5a, sizeof longer);
  const InstanceOptions own(subject);
  for (const size_t size : {offsetof(tenon_instance_options, option_keys), sizeof longer}) {
    if (size > sizeof longer.known) {
      longer.known = own.get();
    } else if (!subject.options.empty()) {
      continue;  // This size would cut off the subject's options.
    }
    longer.known.struct_size = static_cast<uint32_t>(size);
    longer.known.threads = 1;
    longer.known.log_context = nullptr;
    tenon_instance_p* instance = nullptr;
    expect_success(bench.plugin().facts->create(&host_table(), &longer.known, &instance),
                   "create with options of another length");
    bench.calls().destroy(instance);
  }
}

}  // namespace

std::vector<DeviceCheck> entry_checks() {
  return {
      {"entry", "symbol", 0, "The library exports the query function alone and imports nothing.",
       test_symbol},
      {"entry", "query", 0, "Repeated queries, from any thread, return the same plugin.",
       test_query},
      {"entry", "description", 0,
       "The plugin's name, version, table and list of kernels are complete.", test_description},
      {"entry", "features", 0,
       "The plugin's required and provided features are the same for every host.", test_features},
      {"entry", "host_table", 0, "The plugin calls no function beyond the end of the host's table.",
       test_host_table},
      {"entry", "structs", 0, "The plugin accesses no struct field beyond struct_size.",
       test_structs},
  };
}

}  // namespace tenon_kit::device
