#include <tenon/passes.h>

#include "capi/src/boundary.h"
#include "core/trace/passes/pass.h"

using namespace tenon::capi;

size_t tenon_count_passes(void) { return tenon::passes().size(); }

tenon_string tenon_pass_name(size_t index) {
  const auto all = tenon::passes();
  return tenon_str(index < all.size() ? all[index].name : "");
}

tenon_string tenon_pass_summary(size_t index) {
  const auto all = tenon::passes();
  return tenon_str(index < all.size() ? all[index].summary : "");
}

tenon_error* tenon_context_set_pass(tenon_context* context, tenon_string name, bool enabled) {
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    self.disable_pass(tenon::find_pass(get_text(name, "name")), !enabled);
  });
}
