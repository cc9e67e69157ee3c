#include "plugins/vulkan/driver/at_exit.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace tenon_vulkan {

static std::mutex mutex;
AtExit* AtExit::last_ = nullptr;

// Registers at most one handler for each Moment, shared by all devices, because atexit handlers
// cannot be unregistered. If std::atexit fails because memory is exhausted, the handler does not
// run.
void AtExit::register_handler(Moment now) {
  static std::atomic<bool> is_registered[3];
  if (!is_registered[static_cast<int>(now)].exchange(true)) (void)std::atexit(end_all);
}

void AtExit::register_object() {
  std::lock_guard guard(mutex);
  before_ = std::exchange(last_, this);
  is_watched_ = true;
}

void AtExit::unregister_object() {
  std::lock_guard guard(mutex);
  if (!std::exchange(is_watched_, false)) return;
  AtExit** link = &last_;
  while (*link != this) link = &(*link)->before_;
  *link = before_;
}

void AtExit::end_all() {
  std::lock_guard guard(mutex);
  for (AtExit* each = last_; each != nullptr; each = each->before_) each->end_with_process();
}

}  // namespace tenon_vulkan
