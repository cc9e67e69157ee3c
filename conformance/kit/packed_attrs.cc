#include "conformance/kit/packed_attrs.h"

#include <tenon/plugin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "conformance/kit/dtypes.h"

namespace tenon_kit {
namespace {

double number(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  if (value == "nan") return NAN;
  return value == "inf" ? INFINITY : -INFINITY;
}

}  // namespace

PackedAttrs::PackedAttrs(const OpFacts& op, const Json& values) {
  for (const auto& [name, value] : values.items()) {
    if (!op.attr(name)) throw std::invalid_argument(op.name + " has no attribute " + name);
  }
  if (op.attrs.empty()) return;
  bytes_.reserve(512);  // Moving would be harmless, but `data` would not stay.
  const uint32_t unknown_yet = 0;
  append(&unknown_yet, sizeof unknown_yet);
  for (const AttrFacts& attr : op.attrs) {
    const auto given = values.is_null() ? values.end() : values.find(attr.name);
    append_attr(attr, given == values.end() ? attr.initial : *given);
  }
  bytes_.resize((bytes_.size() + align_ - 1) / align_ * align_);
  const auto size = static_cast<uint32_t>(bytes_.size());
  std::memcpy(bytes_.data(), &size, sizeof size);
}

// Each member is aligned to its own size, as the C ABI has it; none is larger than a pointer.
void PackedAttrs::append(const void* value, size_t size) {
  align_ = std::max(align_, size);
  bytes_.resize((bytes_.size() + size - 1) / size * size);
  const auto* from = static_cast<const std::byte*>(value);
  bytes_.insert(bytes_.end(), from, from + size);
}

void PackedAttrs::append_attr(const AttrFacts& attr, const Json& value) {
  const auto add = [&](auto v) { append(&v, sizeof v); };
  if (attr.type == "int") return add(value.get<int64_t>());
  if (attr.type == "float") return add(number(value));
  if (attr.type == "bool") return add(value.get<bool>());
  if (attr.type == "dtype") return add(dtype_named(value.get<std::string>()));
  if (attr.type == "enum") {
    const auto found = std::find(attr.values.begin(), attr.values.end(), value.get<std::string>());
    if (found == attr.values.end()) {
      throw std::invalid_argument(attr.name + " cannot be " + value.dump());
    }
    return add(static_cast<int32_t>(found - attr.values.begin()));
  }
  if (attr.type == "ints") {
    lists_.push_back(value.get<std::vector<int64_t>>());
    lists_.back().reserve(1);  // NULL would stand for the default.
    add(static_cast<const int64_t*>(lists_.back().data()));
    return add(lists_.back().size());
  }
  if (attr.type == "string") {
    texts_.push_back(value.get<std::string>());
    add(static_cast<const char*>(texts_.back().data()));
    return add(texts_.back().size());
  }
  throw std::invalid_argument("attributes of the type " + attr.type + " are unknown here");
}

}  // namespace tenon_kit
