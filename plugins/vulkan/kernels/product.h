// Matrix products of any operands: matmul reads its matrices by strides, a convolution reads the
// input element for each row and column.
//
// Each element of the result is the sum of its products in the order of k, with rounding after
// every step. Floating-point sums of more than longest_chain() products are split into chunks of
// that length. So both algorithms, which are selected by size, return the same bits for any layout.
// GPUs are an exception: results with few elements use shorter chunks (tiled_product.h).

#pragma once

#include "plugins/vulkan/kernels/epilogue.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/packed_product.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/kernels/tiled_product.h"

namespace tenon_vulkan {

// The dtype in which products of a dtype are computed.
tenon_dtype product_dtype(tenon_dtype dtype);

// The matrices that are accessed in vectors of four elements. Their sizes are multiples of four, so
// no remainder is left.
struct VectorisedMatrices {
  bool left = false, right = false, result = false;
};

// Whether the axis is vectorised: every fourth element is at a multiple of four.
bool can_vectorise(const Operand& operand, const tenon_view& view, size_t axis);

// Whether contiguous elements of a factor are neighbours in k, rather than in rows or columns.
struct AlongK {
  bool left = false, right = false;
};

// Prepare the kernels, with an epilogue if one is given.
Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue);

// The reason why a device cannot compute the product, or an empty string.
tenon_string refusal_of_product(const Request& request);

class ProductKernel : public Kernel, public ProductParameters {
 public:
  // Indices of the launch's operands, without those of an epilogue.
  struct Operands {
    uint32_t left, right, n_inputs;
  };
  ProductKernel(tenon_device_p* device, const Operands& operands, tenon_dtype dtype,
                std::optional<LoopPlan> epilogue = {});

  uint64_t workspace(const tenon_launch& launch) const final;
  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const final;

  static constexpr uint32_t kTraits =
      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_WORKSPACE;

 protected:
  tenon_device_p* device() const { return device_; }
  // The result in a shader. `end`: index of the parameter after the kernel's own.
  ResultCode result(spirv::Code& code, spirv::U32 end) const;

 private:
  // All shaders of a kernel have these operands, possibly more, and these parameters.
  virtual FactorsOf factors(spirv::Code& code) const = 0;
  virtual ProductSizes sizes(const tenon_launch& launch) const = 0;
  virtual void push(const tenon_launch& launch, Words& words) const = 0;
  virtual VectorisedMatrices fours(const tenon_launch& launch) const = 0;
  virtual AlongK along_k(const tenon_launch& launch) const = 0;
  // Returns an error if the shaders cannot compute the launch.
  virtual tenon_error* check(const tenon_launch&) const { return nullptr; }

  // The layout of the packed factors, and how much is computed by one dispatch.
  struct Packing {
    int64_t n_blocks, n_tiles;
    int64_t blocks_at_once;
    int64_t left_bytes,
        tile_bytes;  // Packed bytes of the left matrix, and of a tile of columns of the right one.
    int64_t matrices_at_once, tiles_at_once;
    int64_t sums_bytes;  // Bytes of a matrix of partial sums, which pass from one dispatch over k
                         // to the next.

    bool has_partial_sums() const { return blocks_at_once < n_blocks; }
  };

  // Empty if the product is not packed.
  std::optional<Packing> packing(const ProductSizes& sizes) const;
  SplitK parts(const ProductSizes& sizes) const;
  // The bit of `operand` for Code::Shape::vectors; 0 if the operand is not vectorised.
  uint32_t vectors_of(uint32_t operand, bool is_vectorised) const;
  uint32_t vectors_of_result(bool is_vectorised) const;
  // The shape of a shader that packs this operand.
  spirv::Code::Shape shape_of_packing(uint32_t operand, bool is_vectorised) const;
  template <class Write>
  tenon_error* get(const LazyPipeline& lazy, spirv::Code::Shape shape, const Pipeline*& pipeline,
                   const Write& write) const;
  // `sums`: memory for partial sums; NULL if the sums are not split. `of_store`: iterations of the
  // epilogue per element.
  tenon_error* run_tiles(Encoder& encoder, std::vector<Operand> operands, const Operand* sums,
                         Words& words, const ProductSizes& product, uint64_t of_store = 0) const;
  tenon_error* add_parts(Encoder& encoder, std::vector<Operand> operands, Operand sums,
                         const Words& words, const ProductSizes& product) const;
  tenon_error* run_packed(Encoder& encoder, std::vector<Operand> operands, const Operand& workspace,
                          Words& words, const ProductSizes& product, const Packing& all,
                          const VectorisedMatrices& fours) const;
  enum Side { kLeft, kRight };
  tenon_error* pack(Encoder& encoder, Side side, std::vector<Operand> operands, const Operand& to,
                    const Words& words, bool is_vectorised) const;
  // `sums`: memory for partial sums; NULL if one dispatch processes all of k.
  tenon_error* multiply(Encoder& encoder, std::vector<Operand> operands, Operand left,
                        Operand right, const Operand* sums, const Words& words,
                        bool is_vectorised) const;

  tenon_device_p* const device_;
  const Capabilities& capabilities_;
  const Operands operands_;
  const std::optional<Epilogue> epilogue_;
  const uint32_t n_operands_;
  const tenon_dtype dtype_, wide_;
  const std::optional<PackedShape> packed_;  // Absent: nothing is packed on this device.
  // Of two pipelines, the second is vectorised. multiply_ is indexed by Sums; tiles_ by tile size
  // and by whether sums are split.
  LazyPipeline tiles_[2][2], add_parts_, pack_[2][2], multiply_[3];
};

}  // namespace tenon_vulkan
