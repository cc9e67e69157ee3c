#include "core/dispatch/callback_depth.h"

#include "core/base/error.h"

namespace tenon {
namespace {

constinit thread_local size_t depth = 0;

}  // namespace

CallbackDepth::CallbackDepth(std::string_view what) {
  require_code(
      depth < kMax, Code::kFailedPrecondition,
      "callbacks are nested {} levels deep, which is the maximum. Does {} call itself without "
      "end?",
      kMax, what);
  ++depth;
}

CallbackDepth::~CallbackDepth() { --depth; }

}  // namespace tenon
