// The wire format of protocol buffers, as a cursor over bytes. A message is a row of fields: a key
// that holds a number and one of four ways to lie there, then the value.
//
//   for (WireReader fields(bytes); fields.next();) {
//     switch (fields.number()) {
//       case 1: name = fields.text(); break;
//       case 5: read_node(fields.message()); break;
//     }
//   }
//
// What nobody asks for is skipped. Bytes are hostile: each length is held against what is left, and
// every error is DATA_LOSS that names the byte.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::onnx {

class WireReader {
 public:
  // `offset` is where the bytes begin in their file.
  explicit WireReader(std::string_view bytes, uint64_t offset = 0)
      : bytes_(bytes), offset_(offset) {}

  // Goes to the next field; false behind the last one.
  bool next();
  uint32_t number() const { return number_; }

  // The value of the field, which lies there as it is asked for, or the file is refused.
  uint64_t uint64() const;
  int64_t int64() const { return static_cast<int64_t>(uint64()); }
  int32_t int32() const { return static_cast<int32_t>(uint64()); }
  float float32() const;
  std::string_view bytes() const;
  std::string text() const;  // UTF-8.
  WireReader message() const { return WireReader(bytes(), value_at_); }

  // The values of a repeated field, which may lie in one field, packed, or in many.
  void append_to(std::vector<int64_t>& values) const;
  void append_to(std::vector<uint64_t>& values) const;
  void append_to(std::vector<int32_t>& values) const;
  void append_to(std::vector<float>& values) const;
  void append_to(std::vector<double>& values) const;

  // Throws DATA_LOSS about the field at hand.
  [[noreturn]] void fail_here(std::string_view what) const;

 private:
  enum class Form : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  uint64_t here() const { return offset_ + at_; }
  uint64_t read_varint();
  uint64_t read_fixed(size_t size);
  void require_form(Form form) const;
  template <class T>
  void append_varints(std::vector<T>& values) const;
  template <class T>
  void append_fixed(std::vector<T>& values, Form form) const;

  std::string_view bytes_;
  uint64_t offset_;
  size_t at_ = 0;
  // The field at hand.
  uint64_t field_at_ = 0;  // Where its key lies in the file,
  uint64_t value_at_ = 0;  // and its value.
  uint32_t number_ = 0;
  Form form_ = Form::kVarint;
  uint64_t word_ = 0;     // A number's bits,
  std::string_view run_;  // or the bytes.
};

}  // namespace tenon::onnx
