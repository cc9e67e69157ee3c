#include "conformance/kit/packed_attrs.h"

#include <tenon/plugin.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "conformance/kit/dtypes.h"

namespace tenon_kit {

PackedAttrs::PackedAttrs(const OpFacts& op, const AttrValues& values) {
  for (const auto& [name, value] : values) {
    if (!op.attr(name)) throw std::invalid_argument(op.name + " has no attribute " + name);
  }
  if (op.attrs.empty()) return;
  bytes_.reserve(512);  // Avoids reallocation, which would move the data that `data` points to.
  const uint32_t unknown_yet = 0;
  append(&unknown_yet, sizeof unknown_yet);
  for (const AttrFacts& attr : op.attrs) {
    const AttrValue* given = values.find(attr.name);
    append_attr(attr, given ? *given : attr.initial);
  }
  bytes_.resize((bytes_.size() + align_ - 1) / align_ * align_);
  const auto size = static_cast<uint32_t>(bytes_.size());
  std::memcpy(bytes_.data(), &size, sizeof size);
}

// Aligns each member to its own size, as the C ABI does. No member is larger than a pointer.
void PackedAttrs::append(const void* value, size_t size) {
  align_ = std::max(align_, size);
  bytes_.resize((bytes_.size() + size - 1) / size * size);
  const auto* from = static_cast<const std::byte*>(value);
  bytes_.insert(bytes_.end(), from, from + size);
}

void PackedAttrs::append_attr(const AttrFacts& attr, const AttrValue& value) {
  const auto add = [&](auto v) { append(&v, sizeof v); };
  if (attr.type == "int") return add(value.whole());
  if (attr.type == "float") return add(value.number());
  if (attr.type == "bool") return add(value.flag());
  if (attr.type == "dtype") return add(dtype_named(value.text()));
  if (attr.type == "enum") {
    const auto found = std::find(attr.values.begin(), attr.values.end(), value.text());
    if (found == attr.values.end()) {
      throw std::invalid_argument(attr.name + " cannot be " + value.text());
    }
    return add(static_cast<int32_t>(found - attr.values.begin()));
  }
  if (attr.type == "ints") {
    lists_.push_back(value.list());
    // Ensures that an empty list is not NULL, because NULL stands for the default.
    lists_.back().reserve(1);
    add(static_cast<const int64_t*>(lists_.back().data()));
    return add(lists_.back().size());
  }
  if (attr.type == "string") {
    texts_.push_back(value.text());
    add(static_cast<const char*>(texts_.back().data()));
    return add(texts_.back().size());
  }
  throw std::invalid_argument("the kit does not support attributes of type " + attr.type);
}

}  // namespace tenon_kit
