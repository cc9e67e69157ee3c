#include "conformance/run/all_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "conformance/kit/json.h"
#include "conformance/kit/packed_attrs.h"
#include "plugins/sdk/dtype.h"

namespace tenon_kit {
namespace {

using tenon::Tensor;

constexpr uint32_t kPart = 1u << 22;   // Half of what has one exponent.
constexpr uint32_t kBlock = 1u << 16;  // Runs at once: it stays in the cache.

Tensor tensor_of(const Session& session, tenon_dtype dtype, const void* data, size_t n) {
  const auto size = static_cast<int64_t>(n);
  tenon_tensor* tensor = nullptr;
  tenon::check(tenon_tensor_from_data(session.scope().get(), dtype, &size, 1, data,
                                      n * facts(dtype).size, &tensor));
  return Tensor::adopt(tensor);
}

template <class T>
void widen(const std::byte* bytes, std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    values[i] = static_cast<double>(value);
  }
}

// float64 holds what floats of 16 and 32 bits hold, and every bool.
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
      throw std::invalid_argument("results of " + name_of(dtype) + " are not judged so");
  }
}

// As ulp() (kit/dtypes.h), of a finite double.
double unit_of(double x, const DTypeFacts& f) {
  const auto field = static_cast<int>((std::bit_cast<uint64_t>(x) >> 52) & 0x7ff);
  const int exponent = std::clamp(field - 1023, f.least_exponent, f.greatest_exponent);
  return std::bit_cast<double>(static_cast<uint64_t>(exponent - f.precision + 1 + 1023) << 52);
}

Json to_json(const InputError& error) {
  // JSON has neither NaN nor infinities.
  return {error.bits, std::bit_cast<uint64_t>(error.got), std::bit_cast<uint64_t>(error.want)};
}

InputError error_from_json(const Json& json) {
  return {json[0].get<uint32_t>(), std::bit_cast<double>(json[1].get<uint64_t>()),
          std::bit_cast<double>(json[2].get<uint64_t>())};
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

std::string reason_against(const OpFacts& op, tenon_dtype dtype, const Session& oracle) {
  if (!op.elementwise || op.inputs.size() != 1) {
    return op.name + " is no elementwise op of one input";
  }
  try {
    const tenon_dtype out = oracle.infer(problem_at(op, dtype, 0)).at(0).first;
    if (is_float(out) || is_bool(out)) return "";
    return op.name + " gives " + name_of(out);
  } catch (const tenon::Error& error) {
    return std::string(error.message());
  }
}

void judge_part(std::span<const double> got, std::span<const double> want, tenon_dtype dtype,
                const Bound& bound, uint32_t first, PartResult& result) {
  result.n_inputs += got.size();
  const bool floats = is_float(dtype);
  const DTypeFacts& f = facts(dtype);
  const double most = floats ? static_cast<double>(greatest(dtype)) : 1;
  const auto at = [&](size_t i) {
    return InputError{first + static_cast<uint32_t>(i), got[i], want[i]};
  };
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = got[i], w = want[i];
    if (g == w && (w != 0 || std::signbit(g) == std::signbit(w))) continue;
    if (std::isnan(g) && std::isnan(w)) continue;
    if (floats && std::fabs(g) <= most && std::fabs(w) <= most) {
      const double unit = unit_of(w, f), error = std::fabs(g - w);
      const double ulps = error / unit;
      const double allowed = std::max({bound.ulp * unit, bound.rtol * std::fabs(w), bound.atol});
      if (ulps > result.ulp) {
        result.ulp = ulps;
        result.allowed = allowed / unit;
        result.largest = at(i);
      }
      if (error <= allowed && error != 0) continue;
    }
    const Verdict verdict = compare({g}, dtype, {w}, bound);
    if (verdict.passed) continue;
    if (result.n_beyond++ == 0) {
      result.first = at(i);
      result.message = verdict.message;
    }
  }
}

PartResult run_part(const Environment& env, const OpFacts& op, tenon_dtype dtype, InputPart part) {
  const bool wide = op.numeric != "exact";
  const Problem problem = problem_at(op, dtype, 0);
  const PackedAttrs attrs(op, problem.attrs), wide_attrs(op, widened(problem).attrs);
  const std::shared_ptr<Session> alone = env.with_threads ? env.with_threads(1) : nullptr;
  const Session& device = alone ? *alone : env.device;

  PartResult result;
  const size_t size = facts(dtype).size;
  std::vector<std::byte> bytes(size * std::min(part.count, kBlock));
  for (uint32_t done = 0; done < part.count; done += kBlock) {
    const size_t n = std::min(part.count - done, kBlock);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t bits = part.first + done + static_cast<uint32_t>(i);
      std::memcpy(&bytes[i * size], &bits, size);
    }
    const Tensor x = tensor_of(device, dtype, bytes.data(), n);
    const Result got = device.read(device.call(op.id, attrs.data(), {x}, 1)[0]);

    const std::vector<double> values = doubles_of(bytes.data(), n, dtype);
    const Tensor wide_x = wide ? tensor_of(env.oracle, TENON_FLOAT64, values.data(), n)
                               : tensor_of(env.oracle, dtype, bytes.data(), n);
    const void* const oracle_attrs = wide ? wide_attrs.data() : attrs.data();
    const Result want = env.oracle.read(env.oracle.call(op.id, oracle_attrs, {wide_x}, 1)[0]);
    judge_part(doubles_of(got.bytes.data(), n, got.dtype),
               doubles_of(want.bytes.data(), n, want.dtype), got.dtype,
               bound_of(op, got.dtype, env.profile, env.features), part.first + done, result);
  }
  return result;
}

}  // namespace tenon_kit
