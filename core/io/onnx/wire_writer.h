// Writes protocol buffer messages field by field. Each field is a key and a value. WireReader
// (wire.h) reads the format.
//
//   WireWriter node;
//   node.text(1, "x").text(2, "y").text(4, "Relu");
//   graph.message(1, node);

#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tenon::onnx {

class WireWriter {
 public:
  // Appends an integer field.
  WireWriter& number(uint32_t field, uint64_t value) {
    varint(uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  // Appends a float field.
  WireWriter& real(uint32_t field, float value) {
    varint(uint64_t{field} << 3 | 5);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);  // libc++ 14 has no std::bit_cast.
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(bits >> (8 * i));
    return *this;
  }
  // Appends a text field.
  WireWriter& text(uint32_t field, std::string_view value) {
    varint(uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  // Appends a field whose value is a message.
  WireWriter& message(uint32_t field, const WireWriter& value) { return text(field, value.bytes_); }
  // Writes one field for each value, not packed.
  WireWriter& numbers(uint32_t field, std::span<const int64_t> values) {
    for (const int64_t value : values) number(field, static_cast<uint64_t>(value));
    return *this;
  }

  bool empty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }

 private:
  // Appends an integer of variable length: 7 bits in each byte, low bits first.
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace tenon::onnx
