#include "conformance/run/plain_load.h"

#include <tenon/tenon.hpp>

namespace tenon_kit {

void load_plainly(const std::string& path) {
  const tenon::Context context;
  tenon::check(tenon_context_load_plugin(context.get(), {path.data(), path.size()}));
}

}  // namespace tenon_kit
