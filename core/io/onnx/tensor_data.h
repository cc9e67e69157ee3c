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

// The dtype of an element type by its number in ONNX; kNone for one that is unknown here.
DType dtype_of_element(int64_t element);
// Its name, in lower case: float, string, bfloat16.
std::string name_of_element(int64_t element);

// Elements that lie in another file.
struct ExternalData {
  std::string location;  // Relative to the model's folder.
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // Bytes; without, to the end of the file.
};

// What a tensor in a file holds. The elements lie in the file where they lie there as they do in
// memory, so its bytes must outlive this.
struct TensorData {
  std::string name;
  TensorType type;
  std::string unreadable;  // Why the elements cannot be had; empty if they can.
  std::optional<ExternalData> external;
  std::span<const std::byte> elements() const {
    return converted.empty() ? std::as_bytes(std::span(raw)) : std::as_bytes(std::span(converted));
  }

  std::string_view raw;
  std::vector<std::byte> converted;
};

// How many bytes the elements of a tensor take.
uint64_t bytes_of(const TensorType& type);

// Reads one, and checks that its elements are as many as its sizes say.
TensorData read_tensor_data(WireReader fields);

// Makes any that is no zero true 1, in elements of bool.
void normalise(TensorData& data);

// The tensor on a device; throws UNIMPLEMENTED where it is unreadable.
Tensor upload(Scope& scope, Device& device, const TensorData& data);

}  // namespace tenon::onnx
