#include "conformance/onnx/amend.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>

#include "conformance/kit/bits.h"

namespace tenon::conformance {
namespace {

// Field numbers in onnx.proto.
constexpr uint64_t kModelGraph = 7, kGraphNode = 1, kNodeAttribute = 5;
constexpr uint64_t kAttributeName = 1, kAttributeFloat = 2, kAttributeType = 20, kTypeFloat = 1;
enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string encode_varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Encodes the key of a field: its number and its wire type.
std::string encode_key(uint64_t field, Wire wire) { return encode_varint(field << 3 | wire); }

// Encodes a field that holds bytes, such as a string or an embedded message.
std::string encode_bytes_field(uint64_t field, const std::string& bytes) {
  return encode_key(field, kBytes) + encode_varint(bytes.size()) + bytes;
}

uint64_t read_varint(const std::string& message, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < message.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(message[at++]);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("an ONNX model is truncated");
}

// Returns `message` with each embedded message of the given field replaced.
std::string replace_messages(const std::string& message, uint64_t field,
                             const std::function<std::string(const std::string&)>& replace) {
  std::string result;
  size_t at = 0;
  while (at < message.size()) {
    const size_t begin = at;
    const uint64_t tag = read_varint(message, at);
    size_t size = 0;
    switch (tag & 7) {
      case kVarint:
        read_varint(message, at);
        break;
      case kFixed64:
        size = 8;
        break;
      case kFixed32:
        size = 4;
        break;
      case kBytes:
        size = read_varint(message, at);
        break;
      default:
        throw std::runtime_error("an ONNX model has an invalid field");
    }
    if (size > message.size() - at) throw std::runtime_error("an ONNX model is truncated");
    if (tag == (field << 3 | kBytes)) {
      result += encode_bytes_field(field, replace(message.substr(at, size)));
    } else {
      result += message.substr(begin, at + size - begin);
    }
    at += size;
  }
  return result;
}

}  // namespace

// Returns the model with a float attribute added to each node of its graph.
std::string with_attribute(const std::string& model, const std::string& name, float value) {
  std::string number = encode_key(kAttributeFloat, kFixed32);
  for (int shift = 0; shift < 32; shift += 8) {
    number += static_cast<char>(tenon_kit::bit_cast<uint32_t>(value) >> shift);
  }
  const std::string attribute = encode_bytes_field(
      kNodeAttribute, encode_bytes_field(kAttributeName, name) + number +
                          encode_key(kAttributeType, kVarint) + encode_varint(kTypeFloat));
  return replace_messages(model, kModelGraph, [&](const std::string& graph) {
    return replace_messages(graph, kGraphNode,
                            [&](const std::string& node) { return node + attribute; });
  });
}

}  // namespace tenon::conformance
