// Launches as the dispatches that they come to, with operands that each replay puts elsewhere.

#pragma once

#include <vector>

#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class Device;

class Recording final : public Encoder {
 public:
  explicit Recording(Device& device) : device_(device) {}

  // A launch's dispatches behind those that are here.
  tenon_error* add(const tenon_recorded_launch& launch);

  Device& device() const { return device_; }
  size_t n_dispatches() const { return steps_.size(); }

  // The dispatch as a replay wants it. `operands` has room for kMostOperands.
  Dispatch dispatch(size_t i, const tenon_replay& replay, Operand* operands) const;

  // Called by a kernel from within `add`.
  tenon_error* dispatch(const Dispatch& dispatch) override;

 private:
  enum class Where : uint8_t { kFixed, kInSlot, kByValue, kRecord };

  // Where an operand is in a replay. In a slot its bytes count from the slot's beginning.
  struct Place {
    Where where = Where::kFixed;
    uint32_t number = 0;
    Operand operand;
    tenon_element value = {};  // One that is fixed.
  };
  struct Step {
    const Pipeline* pipeline;
    uint32_t first_operand, n_operands;
    uint32_t first_word, n_words;
    std::array<uint32_t, 3> groups;
  };

  Place place_of(const Operand& operand) const;
  static Operand operand_at(const Place& place, const tenon_replay& replay);

  Device& device_;
  std::vector<Step> steps_;
  std::vector<Place> places_;
  std::vector<uint32_t> words_;
  const tenon_recorded_launch* adding_ = nullptr;
};

inline Recording& from_c(tenon_recording_p* recording) {
  return *reinterpret_cast<Recording*>(recording);
}

}  // namespace tenon_vulkan
