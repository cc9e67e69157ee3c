// Elementwise calls that were made before: the same op on dense tensors of one shape, and on inline
// scalars. Dtypes decide everything about such a call but its sizes, so what inference, promotion
// and the kernel's preparation found the first time holds for every later one.
//
// This is what makes an eager add of a few elements cost little more than its kernel. Whatever does
// not fit goes the whole way; see eager().

#pragma once

#include <array>

#include "core/device/device.h"
#include "core/dispatch/interpreter.h"

namespace tenon {

class RepeatedCalls {
 public:
  // Runs the call if it was learned. False: it was not, and nothing has happened.
  bool run(Scope& scope, const OpDef& op, Inputs inputs, Tensors& outputs);

  // Remembers what the whole way found, if later calls can be told by their dtypes.
  void learn(const Call& call, Device& device, const TensorTypes& types,
             const PreparedKernel& kernel);

 private:
  static constexpr size_t kMostInputs = 3;
  static constexpr size_t kEntries = 256;

  // How a call is told from another: its op, its device, and a word of its operands' dtypes and
  // rank.
  struct Key {
    const OpDef* op = nullptr;
    Device* device = nullptr;
    uint64_t word = 0;
    const TensorImpl* like = nullptr;  // A tensor of the call: not part of what is compared.
  };
  struct Entry {
    Key key;
    Ref<const PreparedKernel> kernel;
    DType output = DType::kNone;
    std::array<DType, kMostInputs> inputs{};  // What scalars adopt.
  };

  static bool read_key(const OpDef& op, Inputs inputs, Key& key);
  Entry& entry_of(const Key& key) {
    return entries_[(key.op->id * 0x9e3779b1u ^ key.word * 0x85ebca6bu) >> 8 & (kEntries - 1)];
  }

  std::array<Entry, kEntries> entries_;
};

}  // namespace tenon
