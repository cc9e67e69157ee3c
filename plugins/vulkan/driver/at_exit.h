// Base class of objects that must stop using the driver before the process ends. A program's static
// objects may hold a device until the process ends, but the driver's static objects may be
// destroyed earlier. Therefore every open device makes its last driver calls when the process
// begins to exit.

#pragma once

namespace tenon_vulkan {

class AtExit {
 public:
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;

  // Registers a handler that calls end_with_process() before the destructors of the driver's static
  // objects. A driver creates static objects when it is loaded, when it creates the first pipeline,
  // or when it executes the first batch. The handler is registered after each of these moments,
  // because atexit handlers run in reverse order of registration.
  enum class Moment { kLoaded, kMade, kWorked };
  static void register_handler(Moment now);

 protected:
  AtExit() = default;
  ~AtExit() { unregister_object(); }
  // Adds this object to those for which end_with_process() is called.
  void register_object();
  // Removes this object. Derived classes must call it before they destroy any member.
  void unregister_object();

 private:
  // Stops using the driver. Called when the process begins to exit.
  virtual void end_with_process() noexcept = 0;
  // The atexit handler: calls end_with_process() of all objects.
  static void end_all();

  static AtExit* last_;
  AtExit* before_ = nullptr;
  bool is_watched_ = false;
};

}  // namespace tenon_vulkan
