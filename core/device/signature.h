// Signatures of kernel entries (grammar: tenon/plugin.h). They are parsed when a device is opened,
// and matched when a call finds no cached kernel.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"

namespace tenon {

class Signature {
 public:
  // Parses a signature. The INVALID_ARGUMENT error reports what is wrong and at which position.
  static Signature parse(std::string_view text);

  // Whether the signature allows these dtypes. kNone stands for an absent operand.
  bool matches(std::span<const DType> inputs, std::span<const DType> outputs) const;
  // Whether the kernel entry is marked SHAPED, LOOP or ANCHOR.
  bool is_shaped() const { return shaped_; }
  bool is_loop() const { return loop_; }
  bool is_anchor() const { return is_anchor_; }

 private:
  friend class SignatureParser;
  struct Operand {
    uint16_t dtypes = 0;  // Bit i: dtype i is allowed.
    int8_t letter = -1;   // Operands with the same letter have the same dtype.
    bool optional = false;
    bool variadic = false;
  };

  // Whether the operands accept these dtypes. bound[i] is the dtype of letter i; kNone: not yet
  // set.
  static bool match_operands(const std::vector<Operand>& operands, std::span<const DType> dtypes,
                             DType (&bound)[26]);

  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  bool shaped_ = false;
  bool loop_ = false;
  bool is_anchor_ = false;
};

}  // namespace tenon
