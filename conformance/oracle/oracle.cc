#include "conformance/oracle/oracle.h"

#include <string>
#include <vector>

TENON_PLUGIN_ENTRY(ref)(const tenon_host* host, const tenon_plugin** out_plugin);

namespace tenon_kit {
namespace {

// Returns the signature with binary128 added to each class of dtypes that contains all floats.
std::string with_binary128(tenon_string signature) {
  std::string text(signature.data, signature.size);
  for (const std::string word : {":float", ":any", ":f32,f64"}) {
    size_t at = 0;
    while ((at = text.find(word, at)) != std::string::npos) {
      at += word.size();
      text.insert(at, ",f128");
    }
  }
  return text;
}

struct Oracle {
  std::vector<std::string> signatures;
  std::vector<tenon_kernel> kernels;
  tenon_plugin plugin;

  explicit Oracle(const tenon_plugin& ref) : plugin(ref) {
    for (size_t i = 0; i < ref.n_kernels; ++i) {
      signatures.push_back(with_binary128(ref.kernels[i].signature));
    }
    for (size_t i = 0; i < ref.n_kernels; ++i) {
      kernels.push_back(ref.kernels[i]);
      kernels.back().signature = {signatures[i].data(), signatures[i].size()};
    }
    plugin.name = TENON_STR("oracle");
    plugin.kernels = kernels.data();
  }
};

}  // namespace

tenon_error* query_oracle(const tenon_host* host, const tenon_plugin** out_plugin) {
  const tenon_plugin* ref = nullptr;
  if (tenon_error* error = tenon_plugin_query_v1_ref(host, &ref)) return error;
  static const Oracle oracle(*ref);
  *out_plugin = &oracle.plugin;
  return nullptr;
}

}  // namespace tenon_kit
