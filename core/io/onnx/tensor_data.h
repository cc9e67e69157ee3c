// Tensors as ONNX files hold them (TensorProto): initialisers, constants, test data.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/shape.h"
#include "core/device/device.h"
#include "core/io/onnx/wire.h"
#include "core/tensor/tensor.h"

namespace tenon {
class Scope;
}

namespace tenon::onnx {

// The dtype of an element type, given by its number in ONNX; kNone if it is unknown.
DType dtype_of_element(int64_t element);
// Its name, in lower case: float, string, bfloat16.
std::string name_of_element(int64_t element);

// The location of elements in another file.
struct ExternalData {
  std::string location;  // Relative to the model's folder.
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // Bytes; if absent, to the end of the file.
};

// The content of a tensor in a file. If the elements have the same layout in the file and in
// memory, this refers to the file's bytes, which must outlive it.
struct TensorData {
  std::string name;
  TensorType type;
  std::string unreadable;  // Why the elements cannot be read; empty if they can.
  std::optional<ExternalData> external;
  std::span<const std::byte> elements() const {
    return converted.empty() ? std::as_bytes(std::span(raw)) : std::as_bytes(std::span(converted));
  }

  std::string_view raw;
  std::vector<std::byte> converted;
};

// The size of a tensor's elements in bytes.
uint64_t bytes_of(const TensorType& type);

// Reads a TensorProto and checks that its number of elements matches its shape.
TensorData read_tensor_data(WireReader fields);

// Replaces every nonzero bool element by 1.
void normalise(TensorData& data);

// Uploads the tensor to a device. Throws UNIMPLEMENTED if it is unreadable.
Tensor upload(Scope& scope, Device& device, const TensorData& data);

}  // namespace tenon::onnx
