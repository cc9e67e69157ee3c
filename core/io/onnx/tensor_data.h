// Parses tensors of ONNX files (TensorProto): initialisers, constants and test data.

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

// Returns the dtype for an ONNX element type (TensorProto.DataType); kNone if Tenon has no such
// dtype.
DType dtype_of_element(int64_t element);
// Returns the ONNX name of an element type in lower case: float, string, bfloat16.
std::string name_of_element(int64_t element);

// The location of a tensor's elements in a separate file.
struct ExternalData {
  std::string location;  // Relative to the model's folder.
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // In bytes; if absent, up to the end of the file.
};

// A tensor of a file. `raw` refers to the bytes of the file, which must outlive it. If the layout
// in memory differs from the file's, `converted` holds the elements instead.
struct TensorData {
  std::string name;
  TensorType type;
  std::string unreadable;  // Why the elements cannot be read; empty if they can.
  std::optional<ExternalData> external;
  // Returns the elements: `converted` or, if that is empty, `raw`.
  std::span<const std::byte> elements() const {
    return converted.empty() ? std::as_bytes(std::span(raw)) : std::as_bytes(std::span(converted));
  }

  std::string_view raw;
  std::vector<std::byte> converted;
};

// Reads a TensorProto. Throws if the number of elements does not match the shape.
TensorData read_tensor_data(WireReader fields);

// Converts elements as files store them to elements in memory: sets every nonzero byte of a bool
// tensor to 1, and unpacks elements of 4 or 2 bits.
void normalise(TensorData& data);

// Uploads the elements to a device. Throws UNIMPLEMENTED with `unreadable` if that is not empty.
Tensor upload(Scope& scope, Device& device, const TensorData& data);

}  // namespace tenon::onnx
