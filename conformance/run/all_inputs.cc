#include "conformance/run/all_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "conformance/kit/json.h"
#include "conformance/kit/packed_attrs.h"
#include "plugins/sdk/dtype.h"

namespace tenon_kit {
namespace {

using tenon::Tensor;

// Number of inputs in a part of a 32-bit dtype: half of the inputs that share a sign and an
// exponent.
constexpr uint32_t kPart = 1u << 22;
constexpr uint32_t kBlock = 1u << 16;  // Number of inputs per call; small enough for the cache.

// Creates a tensor of n elements, copied from `data`.
Tensor tensor_of(const Session& session, tenon_dtype dtype, const void* data, size_t n) {
  const auto size = static_cast<int64_t>(n);
  tenon_tensor* tensor = nullptr;
  tenon::check(tenon_tensor_from_data(session.scope().get(), dtype, &size, 1, data,
                                      n * facts(dtype).size, &tensor));
  return Tensor::adopt(tensor);
}

// Converts elements of type T at `bytes` to float64.
template <class T>
void widen(const std::byte* bytes, std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    values[i] = static_cast<double>(value);
  }
}

// Converts elements to float64, which represents all values of 16-bit and 32-bit floats and of
// bool.
std::vector<double> doubles_of(const std::byte* bytes, size_t n, tenon_dtype dtype) {
  std::vector<double> values(n);
  const auto widen_halves = [&](auto value_of) {
    for (size_t i = 0; i < n; ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes + 2 * i, sizeof bits);
      values[i] = static_cast<double>(value_of(bits));
    }
  };
  switch (dtype) {
    case TENON_FLOAT16:
      widen_halves([](uint16_t bits) { return tenon_sdk::half_value(bits); });
      return values;
    case TENON_BFLOAT16:
      widen_halves([](uint16_t bits) { return tenon_sdk::bfloat16_value(bits); });
      return values;
    case TENON_FLOAT32:
      widen<float>(bytes, values);
      return values;
    case TENON_FLOAT64:
      widen<double>(bytes, values);
      return values;
    case TENON_BOOL:
      widen<uint8_t>(bytes, values);
      return values;
    default:
      throw std::invalid_argument("results of " + name_of(dtype) +
                                  " cannot be checked exhaustively");
  }
}

// Returns the unit in the last place at x, a finite number, in the dtype that `f` describes.
double unit_of(double x, const DTypeFacts& f) {
  const auto field = static_cast<int>((bit_cast<uint64_t>(x) >> 52) & 0x7ff);
  const int exponent = std::clamp(field - 1023, f.least_exponent, f.greatest_exponent);
  return bit_cast<double>(static_cast<uint64_t>(exponent - f.precision + 1 + 1023) << 52);
}

Json to_json(const InputError& error) {
  // Stores floats as their bits, because JSON has neither NaN nor infinities.
  return {error.bits, bit_cast<uint64_t>(error.got), bit_cast<uint64_t>(error.want)};
}

InputError error_from_json(const Json& json) {
  return {json[0].get<uint32_t>(), bit_cast<double>(json[1].get<uint64_t>()),
          bit_cast<double>(json[2].get<uint64_t>())};
}

}  // namespace

std::vector<InputPart> input_parts(tenon_dtype dtype) {
  if (!is_float(dtype) || facts(dtype).size > 4) {
    throw std::runtime_error(
        fmt::format("--exhaustive takes f32, f16 and bf16, not {}", name_of(dtype)));
  }
  if (facts(dtype).size == 2) return {{0, 1u << 15}, {1u << 15, 1u << 15}};
  std::vector<InputPart> parts;
  for (uint64_t first = 0; first < (uint64_t{1} << 32); first += kPart) {
    parts.push_back({static_cast<uint32_t>(first), kPart});
  }
  return parts;
}

double input_value(uint32_t bits, tenon_dtype dtype) {
  std::byte bytes[4];
  std::memcpy(bytes, &bits, sizeof bytes);
  return doubles_of(bytes, 1, dtype)[0];
}

Json to_json(const PartResult& part) {
  return {
      {"inputs", part.n_inputs},         {"beyond", part.n_beyond},      {"ulp", part.ulp},
      {"allowed", part.allowed},         {"first", to_json(part.first)}, {"message", part.message},
      {"largest", to_json(part.largest)}};
}

PartResult part_from_json(const Json& json) {
  return {.n_inputs = json.at("inputs"),
          .n_beyond = json.at("beyond"),
          .first = error_from_json(json.at("first")),
          .message = json.at("message"),
          .ulp = json.at("ulp"),
          .allowed = json.at("allowed"),
          .largest = error_from_json(json.at("largest"))};
}

// Returns a problem that calls the op on the input with this bit pattern.
Problem problem_at(const OpFacts& op, tenon_dtype dtype, uint32_t bits) {
  Operand x;
  x.dtype = dtype;
  x.shape = {1};
  x.fill.values = {input_value(bits, dtype)};
  Problem problem;
  problem.op = &op;
  problem.inputs = {std::move(x)};
  return problem;
}

// Returns why the op cannot be tested at every input; empty if it can.
std::string untestable_reason(const OpFacts& op, tenon_dtype dtype, const Session& oracle) {
  if (!op.elementwise || op.inputs.size() != 1) {
    return op.name + " is not an elementwise op with one input";
  }
  try {
    const tenon_dtype out = oracle.infer(problem_at(op, dtype, 0)).at(0).first;
    if (is_float(out) || is_bool(out)) return "";
    return op.name + " gives " + name_of(out);
  } catch (const tenon::Error& error) {
    return std::string(error.message());
  }
}

// Compares results with the oracle's values, and merges the outcome into `result`.
void judge_part(std::span<const double> got, std::span<const double> want, tenon_dtype dtype,
                const Bound& bound, uint32_t first, PartResult& result, const Comparison& beside) {
  result.n_inputs += got.size();
  const bool floats = is_float(dtype);
  const DTypeFacts& f = facts(dtype);
  const double most = floats ? static_cast<double>(greatest(dtype)) : 1;
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = got[i], w = want[i];
    if (g == w && (w != 0 || std::signbit(g) == std::signbit(w))) continue;
    if (std::isnan(g) && std::isnan(w)) continue;
    const InputError at = {first + static_cast<uint32_t>(i), g, w};
    const double slack = beside.slack.empty() ? 0 : beside.slack[i];
    const double unit = floats && std::isfinite(w) ? unit_of(w, f) : 1;
    const double allowed =
        slack + std::max({bound.ulp * unit, bound.rtol * std::fabs(w), bound.atol});
    const auto note = [&](double ulps) {
      if (!(ulps > result.ulp)) return;
      result.ulp = ulps;
      result.allowed = allowed / unit;
      result.largest = at;
    };
    if (floats && std::fabs(g) <= most && std::fabs(w) <= most) {
      const double error = std::fabs(g - w);
      if (error != 0 && error <= allowed) {
        note(error / unit);
        continue;
      }
    }
    const Real one = g, oracle = w, more = slack;
    const Real other = beside.other.empty() ? w : beside.other[i];
    const Answer answers[] = {{.oracle = {&oracle, 1}, .slack = {&more, 1}},
                              {.oracle = {&other, 1}, .slack = {&more, 1}}};
    const Verdict verdict = compare_answers({&one, 1}, dtype, answers, bound);
    note(verdict.largest_ulp);
    if (verdict.passed) continue;
    if (result.n_beyond++ == 0) {
      result.first = at;
      result.message = verdict.message;
    }
  }
}

namespace {

// Runs the op on inputs given by their bits, on the device or on the oracle.
class PartRun {
 public:
  PartRun(const Environment& env, const OpFacts& op, tenon_dtype dtype)
      : env_(env),
        op_(op),
        dtype_(dtype),
        wide_(op.numeric != "exact"),
        attrs_(op, problem_at(op, dtype, 0).attrs),
        wide_attrs_(op, widen(problem_at(op, dtype, 0)).attrs) {}

  Result on_device(const Session& device, const std::vector<uint32_t>& bits) const {
    return call(device, attrs_, dtype_, bytes_of(bits).data(), bits.size());
  }

  std::vector<double> on_oracle(const std::vector<uint32_t>& bits) const {
    const std::vector<std::byte> bytes = bytes_of(bits);
    const std::vector<double> values = values_of(bits);
    const Result y = wide_
                         ? call(env_.oracle, wide_attrs_, TENON_FLOAT64, values.data(), bits.size())
                         : call(env_.oracle, attrs_, dtype_, bytes.data(), bits.size());
    return doubles_of(y.bytes.data(), bits.size(), y.dtype);
  }

  // Returns the error that the profile `relaxed` allows in addition to the bound, for each input.
  std::vector<double> slack(const std::vector<uint32_t>& bits,
                            const std::vector<double>& want) const {
    std::vector<double> result;
    if (!has_slack(op_, dtype_, env_.profile)) return result;
    const std::vector<double> values = values_of(bits);
    for (size_t i = 0; i < values.size(); ++i) {
      const Real x = values[i];
      result.push_back(
          static_cast<double>(slack_of(op_, dtype_, env_.profile, {&x, 1}, Real(want[i]))));
    }
    return result;
  }

  // Returns the oracle's results for the inputs with subnormals flushed to zero. Returns an empty
  // list if the device must not flush, or if no input is subnormal.
  std::vector<double> flushed(std::vector<uint32_t> bits) const {
    if (!may_flush(op_, env_.features)) return {};
    const auto least = static_cast<double>(smallest_normal(dtype_));
    const uint32_t sign = 1u << (8 * facts(dtype_).size - 1);
    const std::vector<double> values = values_of(bits);
    bool any = false;
    for (size_t i = 0; i < bits.size(); ++i) {
      if (values[i] == 0 || !(std::fabs(values[i]) < least)) continue;
      bits[i] &= sign;
      any = true;
    }
    return any ? on_oracle(bits) : std::vector<double>();
  }

 private:
  Result call(const Session& session, const PackedAttrs& attrs, tenon_dtype dtype, const void* data,
              size_t n) const {
    const Tensor x = tensor_of(session, dtype, data, n);
    return session.read(session.call(op_.id, attrs.data(), {x}, 1)[0]);
  }

  std::vector<std::byte> bytes_of(const std::vector<uint32_t>& bits) const {
    const size_t size = facts(dtype_).size;
    std::vector<std::byte> bytes(size * bits.size());
    for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&bytes[i * size], &bits[i], size);
    return bytes;
  }

  std::vector<double> values_of(const std::vector<uint32_t>& bits) const {
    return doubles_of(bytes_of(bits).data(), bits.size(), dtype_);
  }

  const Environment& env_;
  const OpFacts& op_;
  tenon_dtype dtype_;
  bool wide_;
  PackedAttrs attrs_, wide_attrs_;
};

}  // namespace

PartResult run_part(const Environment& env, const OpFacts& op, tenon_dtype dtype, InputPart part) {
  const PartRun run(env, op, dtype);
  const std::shared_ptr<Session> alone = env.with_threads ? env.with_threads(1) : nullptr;
  const Session& device = alone ? *alone : env.device;

  PartResult result;
  for (uint32_t done = 0; done < part.count; done += kBlock) {
    const uint32_t first = part.first + done;
    std::vector<uint32_t> bits(std::min(part.count - done, kBlock));
    std::iota(bits.begin(), bits.end(), first);
    const Result got = run.on_device(device, bits);
    const std::vector<double> want = run.on_oracle(bits);
    const std::vector<double> slack = run.slack(bits, want), other = run.flushed(bits);
    judge_part(doubles_of(got.bytes.data(), bits.size(), got.dtype), want, got.dtype,
               bound_of(op, got.dtype, env.profile, env.features), first, result,
               {.slack = slack, .other = other});
  }
  return result;
}

}  // namespace tenon_kit
