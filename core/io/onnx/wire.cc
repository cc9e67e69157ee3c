#include "core/io/onnx/wire.h"

#include <cstring>

#include "core/base/error.h"

namespace tenon::onnx {
namespace {

constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

// Reinterprets the low bits of a word as a value of type T. (libc++ 14 lacks std::bit_cast.)
template <class T>
T from_bits(uint64_t bits) {
  const auto word = static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(bits);
  T value;
  static_assert(sizeof value == sizeof word);
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// Whether the bytes are valid UTF-8, without overlong encodings, surrogates, or code points above
// U+10FFFF.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t n = first < 0x80   ? 1
                     : first < 0xc2 ? 0
                     : first < 0xe0 ? 2
                     : first < 0xf0 ? 3
                     : first < 0xf5 ? 4
                                    : 0;
    if (n == 0 || text.size() - i < n) return false;
    uint32_t value = n == 1 ? first : first & (0x7fu >> n);
    for (size_t k = 1; k < n; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      value = value << 6 | (next & 0x3f);
    }
    constexpr uint32_t kMinOfLength[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < kMinOfLength[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
      return false;
    i += n;
  }
  return true;
}

}  // namespace

// Throws DATA_LOSS with the offset of the current field.
void WireReader::fail_here(std::string_view what) const {
  fail(Code::kDataLoss, "byte {}: field {} {}", {field_at_, number_, what});
}

uint64_t WireReader::read_varint() {
  const uint64_t begin = current_offset();
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    require_code(at_ < bytes_.size(), Code::kDataLoss, "byte {}: the data ends inside a number",
                 begin);
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  fail(Code::kDataLoss, "byte {}: a variable-length integer has more than 64 bits", {begin});
}

// Reads the next integer, which has `size` bytes in little-endian order.
uint64_t WireReader::read_fixed(size_t size) {
  require_code(bytes_.size() - at_ >= size, Code::kDataLoss,
               "byte {}: the data ends inside a number", current_offset());
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[at_++])) << (8 * i);
  }
  return value;
}

// Advances to the next field. Returns false after the last one.
bool WireReader::next() {
  if (at_ == bytes_.size()) return false;
  field_at_ = current_offset();
  const uint64_t key = read_varint();
  require_code(key >> 3 >= 1 && key >> 3 <= kMaxFieldNumber, Code::kDataLoss,
               "byte {}: {} is not a valid field number", field_at_, key >> 3);
  number_ = static_cast<uint32_t>(key >> 3);
  form_ = static_cast<Form>(key & 7);
  value_at_ = current_offset();
  switch (form_) {
    case Form::kVarint:
      word_ = read_varint();
      return true;
    case Form::kFixed64:
      word_ = read_fixed(8);
      return true;
    case Form::kFixed32:
      word_ = read_fixed(4);
      return true;
    case Form::kBytes: {
      const uint64_t size = read_varint();
      require_code(size <= bytes_.size() - at_, Code::kDataLoss,
                   "byte {}: field {} has {} bytes, but only {} bytes remain", field_at_, number_,
                   size, bytes_.size() - at_);
      value_at_ = current_offset();
      run_ = bytes_.substr(at_, size);
      at_ += size;
      return true;
    }
  }
  fail_here("has an invalid wire type");
}

// Throws unless the current field has this wire type.
void WireReader::require_form(Form form) const {
  if (form_ != form) fail_here("has an unexpected wire type");
}

uint64_t WireReader::uint64() const {
  require_form(Form::kVarint);
  return word_;
}

float WireReader::float32() const {
  require_form(Form::kFixed32);
  return from_bits<float>(word_);
}

std::string_view WireReader::bytes() const {
  require_form(Form::kBytes);
  return run_;
}

std::string WireReader::text() const {
  if (!is_utf8(bytes())) fail_here("is not UTF-8");
  return std::string(run_);
}

template <class T>
void WireReader::append_varints(std::vector<T>& values) const {
  if (form_ == Form::kVarint) {
    values.push_back(static_cast<T>(word_));
    return;
  }
  WireReader packed = message();
  while (packed.at_ < packed.bytes_.size()) values.push_back(static_cast<T>(packed.read_varint()));
}

template <class T>
void WireReader::append_fixed(std::vector<T>& values, Form form) const {
  if (form_ == form) {
    values.push_back(from_bits<T>(word_));
    return;
  }
  WireReader packed = message();
  while (packed.at_ < packed.bytes_.size()) {
    values.push_back(from_bits<T>(packed.read_fixed(sizeof(T))));
  }
}

void WireReader::append_to(std::vector<int64_t>& values) const { append_varints(values); }
void WireReader::append_to(std::vector<uint64_t>& values) const { append_varints(values); }
void WireReader::append_to(std::vector<int32_t>& values) const { append_varints(values); }
void WireReader::append_to(std::vector<float>& values) const {
  append_fixed(values, Form::kFixed32);
}
void WireReader::append_to(std::vector<double>& values) const {
  append_fixed(values, Form::kFixed64);
}

}  // namespace tenon::onnx
