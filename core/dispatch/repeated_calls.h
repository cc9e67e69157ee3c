// Fast path for repeated elementwise calls: the same op on dense tensors of equal shape and on
// inline scalars. The output sizes of such a call equal the input sizes. Everything else depends
// only on dtypes. The results of inference, promotion and kernel preparation are therefore reused.
//
// This makes an eager add of a few elements cost little more than its kernel. All other calls take
// the full path; see eager().

#pragma once

#include <array>

#include "core/device/device.h"
#include "core/dispatch/interpreter.h"

namespace tenon {

class RepeatedCalls {
 public:
  // Runs the call if a call with the same key was learned. Otherwise returns false and does
  // nothing.
  bool run(Scope& scope, const OpDef& op, Inputs inputs, Tensors& outputs);

  // Stores the kernel and the dtypes of a call that took the full path, if dtypes and rank suffice
  // to recognise such calls.
  void learn(const Call& call, Device& device, const TensorTypes& types,
             const PreparedKernel& kernel);

 private:
  static constexpr size_t kMaxInputs = 3;
  static constexpr size_t kEntries = 256;

  // The cache key: op, device, and a word that encodes the operands' dtypes and rank.
  struct Key {
    const OpDef* op = nullptr;
    Device* device = nullptr;
    uint64_t word = 0;
    const TensorImpl* like = nullptr;  // A tensor of the call, for its shape; not compared.
  };
  struct Entry {
    Key key;
    Ref<const PreparedKernel> kernel;
    DType output = DType::kNone;
    std::array<DType, kMaxInputs> inputs{};  // The dtypes that scalars adopt.
  };

  // Computes the key of a call. Returns false if the call must take the full path.
  static bool read_key(const OpDef& op, Inputs inputs, Key& key);
  // Returns the only entry that may hold this key. The entry may also hold a different key.
  Entry& entry_of(const Key& key) {
    return entries_[(key.op->id * 0x9e3779b1u ^ key.word * 0x85ebca6bu) >> 8 & (kEntries - 1)];
  }

  std::array<Entry, kEntries> entries_;
};

}  // namespace tenon
