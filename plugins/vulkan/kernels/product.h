// Matrix products whose elements are loaded by functions. matmul loads them from strided matrices;
// a convolution loads them from the input and the filter.
//
// Each element of the result is the sum of its products in the order of k, with rounding after
// every step. Floating-point sums of more than longest_chain() products are split into chunks of
// that length. So both algorithms (packed and tiled) return the same bits for any layout. On GPUs,
// results with few elements use shorter chunks (tiled_product.h), which may change the bits.

#pragma once

#include "plugins/vulkan/kernels/epilogue.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/packed_product.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/kernels/tiled_product.h"

namespace tenon_vulkan {

// Returns the dtype in which products of this dtype are computed.
tenon_dtype product_dtype(tenon_dtype dtype);

// States which matrices are accessed as vectors of four elements. Their sizes along the vectors are
// multiples of four, so there is no remainder.
struct VectorisedMatrices {
  bool left = false, right = false, result = false;
};

// Whether the view can be accessed as vectors along this axis: its elements are contiguous, and
// each vector begins at a multiple of four elements.
bool can_vectorise(const Operand& operand, const tenon_view& view, size_t axis);

// States for each factor whether its contiguous elements are neighbours in k. Otherwise, they are
// neighbours in a column of the left factor or in a row of the right factor.
struct AlongK {
  bool left = false, right = false;
};

// Prepare the kernels of these ops, with an epilogue if `epilogue` is present.
Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue);

// Returns the reason why the device cannot compute the product; empty if it can.
tenon_string refusal_of_product(const Request& request);

class ProductKernel : public Kernel, public ProductParameters {
 public:
  // `left` and `right`: indices of the factors among the launch's inputs. `n_inputs`: number of
  // inputs, without those of an epilogue.
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
  // Returns the code that stores the result in a shader. `end`: index of the first parameter after
  // the kernel's own parameters.
  ResultCode result_code(spirv::Code& code, spirv::U32 end) const;

 private:
  // Returns functions that load the factors and store the result. They use the launch's operands
  // and the parameters that push() adds, which all shaders of the kernel have.
  virtual FactorsOf factors(spirv::Code& code) const = 0;
  // Returns the numbers of matrices, rows, columns and values of k of the product.
  virtual ProductSizes sizes(const tenon_launch& launch) const = 0;
  // Appends the kernel's own parameters to `words`.
  virtual void push(const tenon_launch& launch, Words& words) const = 0;
  // Returns which matrices of the launch can be accessed as vectors.
  virtual VectorisedMatrices vectorised_matrices(const tenon_launch& launch) const = 0;
  // Returns which factors of the launch are contiguous along k.
  virtual AlongK along_k(const tenon_launch& launch) const = 0;
  // Returns an error if the shaders cannot compute the launch.
  virtual tenon_error* check(const tenon_launch&) const { return nullptr; }

  // Sizes of the packed factors, and the numbers of blocks, matrices and tiles per dispatch.
  struct Packing {
    int64_t n_blocks, n_tiles;
    int64_t blocks_at_once;
    // Size in bytes of the packed left matrix, and of a packed tile of columns of the right matrix.
    int64_t left_bytes, tile_bytes;
    int64_t matrices_at_once, tiles_at_once;
    // Size in bytes of the partial sums of a matrix, which a dispatch passes to the next dispatch.
    int64_t sums_bytes;

    bool has_partial_sums() const { return blocks_at_once < n_blocks; }
  };

  // Returns how the product is packed, or nullopt if it is not packed.
  std::optional<Packing> packing(const ProductSizes& sizes) const;
  // Returns how the sums over k are split.
  SplitK split_k(const ProductSizes& sizes) const;
  // Returns the bit of `operand` in Code::Shape::vectors, or 0 if the operand is not accessed as
  // vectors.
  uint32_t vector_operand_bit(uint32_t operand, bool is_vectorised) const;
  // Returns the mask of the result's operands, or of the epilogue's operands if there is one, in
  // Code::Shape::vectors.
  uint32_t result_vector_operand_mask(bool is_vectorised) const;
  // Returns the shape of the shader that packs this operand.
  spirv::Code::Shape shape_of_packing(uint32_t operand, bool is_vectorised) const;
  // Returns in `pipeline` the pipeline of a shader of this shape. write(code) emits the shader,
  // unless `lazy` has already created its pipeline.
  template <class Write>
  tenon_error* get_pipeline(const LazyPipeline& lazy, spirv::Code::Shape shape,
                            const Pipeline*& pipeline, const Write& write) const;
  // Dispatches the tiled kernel. `sums`: memory for partial sums; NULL if sums are not split.
  // `iterations_of_store`: loop iterations of the epilogue per element.
  tenon_error* run_tiles(Encoder& encoder, std::vector<Operand> operands, const Operand* sums,
                         Words& words, const ProductSizes& product,
                         uint64_t iterations_of_store = 0) const;
  // Dispatches the shader that adds the partial sums of all chunks and stores the result.
  tenon_error* add_partial_sums(Encoder& encoder, std::vector<Operand> operands, Operand sums,
                                const Words& words, const ProductSizes& product) const;
  // Packs the factors into the workspace and multiplies them, in as many dispatches as needed.
  tenon_error* run_packed(Encoder& encoder, std::vector<Operand> operands, const Operand& workspace,
                          Words& words, const ProductSizes& product, const Packing& all,
                          const VectorisedMatrices& vectorised_matrices) const;
  enum Side { kLeft, kRight };
  // Dispatches the packing of one factor to `to`.
  tenon_error* pack(Encoder& encoder, Side side, std::vector<Operand> operands, const Operand& to,
                    const Words& words, bool is_vectorised) const;
  // Dispatches the product of the packed factors. `sums`: memory for partial sums; NULL if one
  // dispatch sums over all values of k.
  tenon_error* multiply(Encoder& encoder, std::vector<Operand> operands, Operand left,
                        Operand right, const Operand* sums, const Words& words,
                        bool is_vectorised) const;

  tenon_device_p* const device_;
  const Capabilities& capabilities_;
  const Operands operands_;
  const std::optional<Epilogue> epilogue_;
  const uint32_t n_operands_;
  const tenon_dtype dtype_, wide_;
  const std::optional<PackedShape> packed_;  // nullopt if products are not packed on this device.
  // tiles_ is indexed by tile size and by whether sums are split, pack_ by Side and by whether the
  // factor is vectorised, and multiply_ by Sums.
  LazyPipeline tiles_[2][2], add_parts_, pack_[2][2], multiply_[3];
};

}  // namespace tenon_vulkan
