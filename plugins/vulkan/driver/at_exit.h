// What is open while the process ends. A program's static objects may hold a device to the very
// end, and those of a driver end before them if they came later. So whatever is open asks the
// driver for the last time when the process begins to end.

#pragma once

namespace tenon_vulkan {

class AtExit {
 public:
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;

  // What calls end_with_process() comes before all that ends static objects which are there when
  // a driver is loaded, when it has made a pipeline, and when it has worked: some make theirs then.
  enum class Moment { kLoaded, kMade, kWorked };
  static void come_first(Moment now);

 protected:
  AtExit() = default;
  ~AtExit() { unwatch(); }
  void watch();
  void unwatch();  // Before anything of it ends.

 private:
  virtual void end_with_process() noexcept = 0;
  static void end_all();

  static AtExit* last_;
  AtExit* before_ = nullptr;
  bool is_watched_ = false;
};

}  // namespace tenon_vulkan
