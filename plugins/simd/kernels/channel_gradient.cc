#include "plugins/simd/kernels/channel_gradient.h"

#include <optional>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/reduce.h"
#include "plugins/simd/vectors/channel_gradient.h"

namespace tenon_simd {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

// The values of the loop by their meaning; kNone if the loop has no such value. vjp() of
// core/ops/normalization/batch_norm_train.cc states the formulas.
struct ChannelValues {
  uint32_t x = kNone, mean = kNone, inv_std = kNone, scale = kNone;  // Inputs.
  uint32_t mask = kNone, a = kNone, b = kNone;                       // Inputs, as in the run.
  uint32_t zeros[2] = {kNone, kNone};                                // Inputs that must be 0.
  uint32_t g = kNone, z = kNone, dz = kNone, dx = kNone;
  uint32_t sum_g = kNone, sum_g_z = kNone;
};

// Finds the values of the gradient in a loop.
class ChannelMatcher {
 public:
  explicit ChannelMatcher(const tenon_sdk::LoopRequest& request)
      : request_(request), is_matched_(request.n_instructions()) {}

  // Returns nullopt if the loop computes something else.
  std::optional<ChannelValues> match() {
    ChannelValues values;
    for (size_t i = 0; i < request_.n_outputs(); ++i) {
      const uint32_t v = request_.output(i);
      if (op_of(v) == TENON_OP_sub && !request_.is_per_row(v)) values.dx = v;
    }
    if (values.dx == kNone || !match_dx(values) || !match_g(values)) return std::nullopt;
    // The remaining instructions must be the sums of g and of g * z.
    for (uint32_t i = 0; i < request_.n_instructions(); ++i) {
      const uint32_t v = value_of(i);
      if (op_of(v) != TENON_OP_sum || !request_.reduces(i)) continue;
      is_matched_[i] = true;
      const uint32_t from = input_of(v, 0);
      if (from == values.g && values.sum_g == kNone) {
        values.sum_g = v;
      } else if (matches(from, TENON_OP_mul, values.g, values.z) && values.sum_g_z == kNone) {
        values.sum_g_z = v;
      } else {
        return std::nullopt;
      }
    }
    for (const bool is_matched : is_matched_) {
      if (!is_matched) return std::nullopt;
    }
    return has_layouts(values) ? std::optional(values) : std::nullopt;
  }

 private:
  uint32_t value_of(uint32_t instruction) const {
    return static_cast<uint32_t>(request_.n_inputs()) + instruction;
  }
  bool is_input(uint32_t v) const { return v < request_.n_inputs(); }
  const tenon_loop_instruction& instruction_of(uint32_t v) const {
    return request_.instruction(v - request_.n_inputs());
  }
  // Returns the op that computes a value; kNone for an input.
  uint32_t op_of(uint32_t v) const { return is_input(v) ? kNone : instruction_of(v).line->op; }
  uint32_t input_of(uint32_t v, size_t k) const { return instruction_of(v).inputs[k]; }

  // Whether the value is computed by the op. Marks its instruction as matched.
  bool matches(uint32_t v, uint32_t op) {
    if (op_of(v) != op) return false;
    is_matched_[v - request_.n_inputs()] = true;
    return true;
  }
  // Whether the value is computed by the op from these two values.
  bool matches(uint32_t v, uint32_t op, uint32_t first, uint32_t second) {
    return matches(v, op) && input_of(v, 0) == first && input_of(v, 1) == second;
  }

  // Matches dx = (dz * inv_std - constant) - z * slope.
  bool match_dx(ChannelValues& values) {
    if (!matches(values.dx, TENON_OP_sub)) return false;
    const uint32_t left = input_of(values.dx, 0), right = input_of(values.dx, 1);
    if (!matches(left, TENON_OP_sub) || !matches(right, TENON_OP_mul)) return false;
    const uint32_t scaled = input_of(left, 0), constant = input_of(left, 1);
    const uint32_t slope = input_of(right, 1);
    values.z = input_of(right, 0);
    if (!matches(scaled, TENON_OP_mul) || !matches(constant, TENON_OP_mul) ||
        !matches(slope, TENON_OP_mul) || !matches(values.z, TENON_OP_mul)) {
      return false;
    }
    values.dz = input_of(scaled, 0);
    values.inv_std = input_of(scaled, 1);
    const uint32_t centered = input_of(values.z, 0);
    if (!matches(values.dz, TENON_OP_mul) || !matches(centered, TENON_OP_sub)) return false;
    values.g = input_of(values.dz, 0);
    values.scale = input_of(values.dz, 1);
    values.x = input_of(centered, 0);
    values.mean = input_of(centered, 1);
    const uint32_t mean_dz = input_of(constant, 0), mean_dz_z = input_of(slope, 0);
    return input_of(values.z, 1) == values.inv_std && input_of(constant, 1) == values.inv_std &&
           input_of(slope, 1) == values.inv_std && matches(mean_dz, TENON_OP_mean) &&
           input_of(mean_dz, 0) == values.dz && matches(mean_dz_z, TENON_OP_mean) &&
           matches(input_of(mean_dz_z, 0), TENON_OP_mul, values.dz, values.z);
  }

  // Matches g = where(mask > 0, t, 0) or g = t, with t = a + b or t = a.
  bool match_g(ChannelValues& values) {
    uint32_t t = values.g;
    if (matches(t, TENON_OP_where)) {
      const uint32_t is_positive = input_of(t, 0);
      values.zeros[0] = input_of(t, 2);
      t = input_of(t, 1);
      if (!matches(is_positive, TENON_OP_greater)) return false;
      values.mask = input_of(is_positive, 0);
      values.zeros[1] = input_of(is_positive, 1);
    }
    values.a = t;
    if (matches(t, TENON_OP_add)) {
      values.a = input_of(t, 0);
      values.b = input_of(t, 1);
    }
    return true;
  }

  // Whether all values that are read are inputs with the expected layouts, and no other values are
  // outputs.
  bool has_layouts(const ChannelValues& values) const {
    const auto is = [&](uint32_t v, bool per_row, tenon_stride_class strides) {
      return is_input(v) && request_.is_per_row(v) == per_row &&
             request_.input(v).strides == strides && request_.dtype(v) == TENON_FLOAT32;
    };
    for (const uint32_t v : {values.x, values.mask, values.a, values.b}) {
      const bool is_optional = v == values.mask || v == values.b;
      if (!(is_optional && v == kNone) && !is(v, false, TENON_STRIDES_DENSE)) return false;
    }
    for (const uint32_t v : {values.mean, values.inv_std, values.scale}) {
      if (!is(v, true, TENON_STRIDES_DENSE)) return false;
    }
    for (const uint32_t v : values.zeros) {
      const bool is_zero_input = v != kNone && is_input(v) && request_.dtype(v) == TENON_FLOAT32 &&
                                 request_.input(v).strides == TENON_STRIDES_UNIFORM;
      if (values.mask != kNone && !is_zero_input) return false;
    }
    for (size_t i = 0; i < request_.n_outputs(); ++i) {
      const uint32_t v = request_.output(i);
      if (v != values.dx && v != values.g && v != values.sum_g && v != values.sum_g_z) return false;
    }
    // Rows are channels: they extend along all axes but axis 1.
    return request_.rank() >= 3 &&
           request_.row_axes() == (((uint32_t{1} << request_.rank()) - 1) & ~uint32_t{2});
  }

  const tenon_sdk::LoopRequest& request_;
  std::vector<bool> is_matched_;  // Indexed by instruction.
};

class ChannelGradient final : public tenon_sdk::Kernel {
 public:
  ChannelGradient(const tenon_sdk::LoopRequest& request, const ChannelValues& values,
                  tenon_sdk::KernelPtr general)
      : pool_(pool_of(request.device())), values_(values), general_(std::move(general)) {
    for (uint32_t i = 0; i < request.n_outputs(); ++i) {
      const uint32_t v = request.output(i);
      if (v == values.dx) dx_ = i;
      if (v == values.g) g_ = i;
      if (v == values.sum_g) sum_g_ = i;
      if (v == values.sum_g_z) sum_g_z_ = i;
    }
  }

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    const tenon_view& x = launch.inputs[values_.x];
    const int64_t channels = x.sizes[1], images = x.sizes[0];
    const int64_t area = count(x.rank - 2, x.sizes + 2);
    bool is_served = images * area != 0 && area % kLanes == 0;
    for (const uint32_t v : values_.zeros) {
      if (v != kNone && *data<const float>(launch.inputs[v]) != 0) is_served = false;
    }
    if (!is_served) return general_->launch(stream, launch);
    const int64_t grain = std::max<int64_t>(1, 32 * 1024 / (images * area));
    pool_.parallel_tasks(channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) run_channel(launch, c, channels, images, area);
    });
    return nullptr;
  }

 private:
  static constexpr int64_t kLanes = 64;
  static constexpr int64_t kPiece = 1024;  // Elements of an input that stay in the L1 cache.

  void run_channel(const tenon_launch& launch, int64_t c, int64_t channels, int64_t images,
                   int64_t area) const {
    const auto elements = [&](uint32_t v) {
      return v == kNone ? nullptr : data<const float>(launch.inputs[v]) + c * area;
    };
    const auto parameter = [&](uint32_t v) { return data<const float>(launch.inputs[v])[c]; };
    const auto output = [&](uint32_t i) { return data<float>(launch.outputs[i]); };
    const float *const x = elements(values_.x), *const mask = elements(values_.mask);
    const float *const a = elements(values_.a), *const b = elements(values_.b);
    ChannelGradientRun run{.mean = parameter(values_.mean),
                           .inv_std = parameter(values_.inv_std),
                           .scale = parameter(values_.scale)};
    const auto set_run = [&](int64_t first, int64_t n) {
      run.n = n;
      run.x = x + first;
      run.mask = mask == nullptr ? nullptr : mask + first;
      run.a = a + first;
      run.b = b == nullptr ? nullptr : b + first;
    };

    const Reducer& sum = *find_reducer(TENON_OP_sum, TENON_FLOAT32);
    BlockTree<float> dz(sum), dz_z(sum), g_z(sum), g(sum);
    ChannelSums sums;
    int64_t in_block = 0;
    const auto end_block = [&] {
      const auto add = [&](BlockTree<float>& tree, const float* partial) {
        float total;
        sum.block(partial, kLanes, &total);
        tree.add(total);
      };
      add(dz, sums.dz);
      add(dz_z, sums.dz_z);
      add(g_z, sums.g_z);
      add(g, sums.g);
      in_block = 0;
    };
    for (int64_t image = 0; image < images; ++image) {
      for (int64_t at = 0; at < area;) {
        const int64_t n = std::min({kPiece, area - at, kReduceBlock - in_block});
        set_run(image * channels * area + at, n);
        add_channel_sums(run, in_block == 0, sums);
        in_block += n;
        at += n;
        if (in_block == kReduceBlock) end_block();
      }
    }
    if (in_block != 0) end_block();
    if (sum_g_ != kNone) output(sum_g_)[c] = g.result();
    if (sum_g_z_ != kNone) output(sum_g_z_)[c] = g_z.result();

    const auto n = static_cast<float>(images * area);
    const float constant = dz.result() / n * run.inv_std, slope = dz_z.result() / n * run.inv_std;
    float* const to = output(dx_) + c * area;
    float* const g_to = g_ == kNone ? nullptr : output(g_) + c * area;
    for (int64_t image = 0; image < images; ++image) {
      const int64_t first = image * channels * area;
      set_run(first, area);
      store_channel_gradient(run, constant, slope, to + first,
                             g_to == nullptr ? nullptr : g_to + first);
    }
  }

  const Pool& pool_;
  const ChannelValues values_;
  const tenon_sdk::KernelPtr general_;
  // Indices of the outputs; kNone if the loop does not have the output.
  uint32_t dx_ = kNone, g_ = kNone, sum_g_ = kNone, sum_g_z_ = kNone;
};

}  // namespace

Prepared prepare_channel_gradient(const tenon_sdk::LoopRequest& request, Prepared general) {
  const std::optional<ChannelValues> values = ChannelMatcher(request).match();
  if (!general.kernel || !values) return general;
  return {.kernel = std::make_unique<ChannelGradient>(request, *values, std::move(general.kernel)),
          .traits = general.traits};
}

}  // namespace tenon_simd
