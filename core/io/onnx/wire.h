// Reads the protocol buffer wire format with a cursor. A message is a sequence of fields. Each
// field consists of a key, which holds the field number and one of four encodings, and a value.
//
//   for (WireReader fields(bytes); fields.next();) {
//     switch (fields.number()) {
//       case 1: name = fields.text(); break;
//       case 5: read_node(fields.message()); break;
//     }
//   }
//
// Fields whose values are not read are skipped. The bytes are untrusted: each length is checked
// against the number of remaining bytes. Every error is DATA_LOSS and reports the byte offset.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::onnx {

class WireReader {
 public:
  // `offset` is the position of `bytes` in the file, for error messages.
  explicit WireReader(std::string_view bytes, uint64_t offset = 0)
      : bytes_(bytes), offset_(offset) {}

  // Advances to the next field. Returns false after the last one.
  bool next();
  // Returns the number of the current field.
  uint32_t number() const { return number_; }

  // Return the value of the current field. Throw if the field has a different encoding.
  uint64_t uint64() const;
  int64_t int64() const { return static_cast<int64_t>(uint64()); }
  int32_t int32() const { return static_cast<int32_t>(uint64()); }
  float float32() const;
  std::string_view bytes() const;
  std::string text() const;  // Throws unless it is valid UTF-8.
  // Returns a reader of the current field, whose value is a message.
  WireReader message() const { return WireReader(bytes(), value_at_); }

  // Append the values of a repeated field, which is encoded as one packed field or as several
  // fields.
  void append_to(std::vector<int64_t>& values) const;
  void append_to(std::vector<uint64_t>& values) const;
  void append_to(std::vector<int32_t>& values) const;
  void append_to(std::vector<float>& values) const;
  void append_to(std::vector<double>& values) const;

  // Throws DATA_LOSS with the offset of the current field.
  [[noreturn]] void fail_here(std::string_view what) const;

 private:
  enum class Form : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  uint64_t current_offset() const { return offset_ + at_; }
  // Reads the next integer, which has a variable length.
  uint64_t read_varint();
  // Reads the next integer, which has `size` bytes in little-endian order.
  uint64_t read_fixed(size_t size);
  // Throws unless the current field has this wire type.
  void require_form(Form form) const;
  // Append the values of the current field: a single value, or all values of a packed field. `form`
  // is the wire type of a single value.
  template <class T>
  void append_varints(std::vector<T>& values) const;
  template <class T>
  void append_fixed(std::vector<T>& values, Form form) const;

  std::string_view bytes_;
  uint64_t offset_;
  size_t at_ = 0;
  // State of the current field.
  uint64_t field_at_ = 0;  // File offset of its key.
  uint64_t value_at_ = 0;  // File offset of its value.
  uint32_t number_ = 0;
  Form form_ = Form::kVarint;
  uint64_t word_ = 0;     // The value, if it is a number.
  std::string_view run_;  // The value, if it is a string of bytes.
};

}  // namespace tenon::onnx
