// Objects that must stop using the driver before the process ends. A program's static objects may
// hold a device until the very end, but the driver's own static objects may be destroyed before
// them. So every open device makes its last driver calls when the process begins to exit.

#pragma once

namespace tenon_vulkan {

class AtExit {
 public:
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;

  // Registers a handler that calls end_with_process() before the destructors of the driver's static
  // objects. Drivers create these when they are loaded, when they create a pipeline, or when they
  // work, so the handler is registered at each of these moments.
  enum class Moment { kLoaded, kMade, kWorked };
  static void register_handler(Moment now);

 protected:
  AtExit() = default;
  ~AtExit() { unwatch(); }
  void watch();
  void unwatch();  // Called before any member is destroyed.

 private:
  virtual void end_with_process() noexcept = 0;
  static void end_all();

  static AtExit* last_;
  AtExit* before_ = nullptr;
  bool is_watched_ = false;
};

}  // namespace tenon_vulkan
