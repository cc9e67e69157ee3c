// A deep copy of a tenon_launch. The copy remains valid after the call that passed the launch.

#pragma once

#include <tenon/plugin.h>

#include <cstring>
#include <vector>

#include "plugins/fake/device.h"

namespace tenon_fake {

class OwnLaunch {
 public:
  explicit OwnLaunch(const tenon_launch& given) : launch_(given) {
    views_.reserve(given.n_inputs + given.n_outputs);
    for (size_t i = 0; i < given.n_inputs; ++i) add(given.inputs[i]);
    for (size_t i = 0; i < given.n_outputs; ++i) add(given.outputs[i]);
    // The vectors have their final sizes, so pointers to their elements stay valid.
    size_t at = 0;
    for (size_t i = 0; i < views_.size(); ++i) {
      tenon_view& view = views_[i];
      view.sizes = dims_.data() + at;
      view.strides = dims_.data() + at + view.rank;
      at += 2 * view.rank;
      if (by_value_[i]) view.data = &values_[i];
    }
    launch_.inputs = views_.data();
    launch_.outputs = views_.data() + given.n_inputs;
  }
  OwnLaunch(const OwnLaunch& other) : OwnLaunch(other.launch_) {}
  OwnLaunch& operator=(const OwnLaunch&) = delete;

  // Returns the copied launch.
  const tenon_launch& get() const { return launch_; }

  // ---- changes for a replay, made before the call of locate()
  //
  // Returns the number of operands: inputs, outputs and, if there is one, the workspace.
  size_t n_operands() const { return views_.size() + (launch_.workspace_size ? 1 : 0); }
  // Moves operand `i` to the memory that the replay supplies for a slot, at `offset` bytes.
  void set_slot(size_t i, const tenon_slot& slot, uint64_t offset) {
    tenon_view& view = i < views_.size() ? views_[i] : launch_.workspace;
    view.buffer = slot.buffer;
    view.byte_offset = slot.byte_offset + offset;
  }
  // Sets the value of operand `i`, which is passed by value.
  void set_value(size_t i, const tenon_element& value) { values_[i] = value; }
  // Sets the error record of the launch to that of the replay.
  void set_record(const tenon_replay& replay) {
    launch_.record_buffer = replay.record_buffer;
    launch_.record_offset = replay.record_offset;
    launch_.record = replay.record;
  }

  // Replaces the fake device's buffers by those of plugin `ref`, and sets the data pointers. The
  // host does not set them if the fake device reports that its memory is not host-visible.
  void locate() {
    for (tenon_view& view : views_) locate(view);
    locate(launch_.workspace);
    if (launch_.record_buffer) {
      std::byte* const data = from_c(launch_.record_buffer).data + launch_.record_offset;
      launch_.record = reinterpret_cast<tenon_error_record*>(data);
      launch_.record_buffer = from_c(launch_.record_buffer).buffer;
    }
  }

 private:
  // Appends a copy of an operand: its view, sizes, strides and, if it has no buffer, its value.
  void add(const tenon_view& given) {
    dims_.insert(dims_.end(), given.sizes, given.sizes + given.rank);
    dims_.insert(dims_.end(), given.strides, given.strides + given.rank);
    const bool by_value = !given.buffer && given.data;
    tenon_element value = {};
    if (by_value) std::memcpy(&value, given.data, TENON_DTYPE_BITS(given.dtype) / 8);
    by_value_.push_back(by_value);
    values_.push_back(value);
    views_.push_back(given);
  }

  // Replaces the buffer of one view and sets its data pointer.
  static void locate(tenon_view& view) {
    if (!view.buffer) return;
    const Buffer& buffer = from_c(view.buffer);
    view.data = buffer.data + view.byte_offset;
    view.buffer = buffer.buffer;
  }

  tenon_launch launch_;
  std::vector<tenon_view> views_;
  std::vector<int64_t> dims_;  // Sizes and strides of all views.
  std::vector<tenon_element> values_;
  std::vector<bool> by_value_;
};

}  // namespace tenon_fake
