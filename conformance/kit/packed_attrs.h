// Packs attributes by name into the C struct of the op.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "conformance/kit/op_registry.h"

namespace tenon_kit {

class PackedAttrs {
 public:
  // Attributes that are missing in `values` have their defaults. Throws if `values` has an
  // attribute that the op lacks.
  PackedAttrs(const OpFacts& op, const AttrValues& values);
  PackedAttrs(const PackedAttrs&) = delete;
  PackedAttrs& operator=(const PackedAttrs&) = delete;

  // Returns the op's struct, tenon_<op>_attrs; NULL for an op without attributes.
  const void* data() const { return bytes_.empty() ? nullptr : bytes_.data(); }

 private:
  // Appends a member of the C struct: `size` bytes, aligned to `size`.
  void append(const void* value, size_t size);
  void append_attr(const AttrFacts& attr, const AttrValue& value);

  std::vector<std::byte> bytes_;
  size_t align_ = 1;
  std::deque<std::vector<int64_t>> lists_;
  std::deque<std::string> texts_;
};

}  // namespace tenon_kit
