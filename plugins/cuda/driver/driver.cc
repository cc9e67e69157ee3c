#include "plugins/cuda/driver/driver.h"

namespace tenon_cuda {
namespace {

// Whether this error of a kernel or of the hardware makes the context unusable.
bool loses_device(CUresult result) {
  switch (result) {
    case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
    case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
    case 226:  // CUDA_ERROR_CONTAINED
    case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
    case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
    case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
    case 710:  // CUDA_ERROR_ASSERT
    case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
    case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
    case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    case 718:  // CUDA_ERROR_INVALID_PC
    case 719:  // CUDA_ERROR_LAUNCH_FAILED
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string Driver::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cu.GetErrorName(result, &name) != kCudaSuccess || name == nullptr) name = "an unknown result";
  if (cu.GetErrorString(result, &text) != kCudaSuccess || text == nullptr) text = "no description";
  return std::string(name) + " (" + text + ", " + std::to_string(result) + ")";
}

// Converts a result to an error; returns NULL for success. `what`: the operation that the error
// names.
tenon_error* Driver::check(CUresult result, std::string_view what) const {
  if (result == kCudaSuccess) return nullptr;
  const std::string message = "cuda: " + std::string(what) + " failed: " + describe(result);
  if (result == kCudaOutOfMemory) return error(TENON_OUT_OF_MEMORY, message);
  if (!loses_device(result)) return error(TENON_INTERNAL, message);
  std::lock_guard guard(mutex_);
  if (!is_lost_) {
    loss_ = message + "; the device is lost until it is opened again";
    is_lost_ = true;
  }
  return error(TENON_DEVICE_LOST, loss_);
}

// Returns an error if the device is lost, otherwise NULL.
tenon_error* Driver::check_lost() const {
  if (!is_lost_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard guard(mutex_);
  return error(TENON_DEVICE_LOST, loss_);
}

}  // namespace tenon_cuda
