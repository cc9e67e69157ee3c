// Checks tensors with more than 2^31 elements: a few ops in an ordinary run, and one op of each
// family with --large.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

constexpr int64_t kMany = (int64_t{1} << 31) + 5;
// The input, the output and one host copy need 6 GiB. Another worker may need as much at the same
// time.
constexpr int64_t kNeededBytes = 12 * (int64_t{1} << 30);

const std::set<std::string> kOps = {"copy", "neg", "add", "max", "argmax", "gather"};
const std::set<std::string> kLargeOps = {"cast", "maximum", "equal",  "where",
                                         "sum",  "min",     "concat", "cumsum"};

bool is_tested_on_large_tensors(const Environment& env, const Claim& claim) {
  const std::string& name = claim.op->name;
  if (!env.thorough || claim.inputs.empty()) return false;
  if (name == "where") return env.large && claim.inputs[1] == TENON_INT8;
  if (claim.inputs[0] != TENON_INT8) return false;
  if (kOps.contains(name)) return name != "gather" || claim.inputs[1] == TENON_INT64;
  return env.large && kLargeOps.contains(name) &&
         (name != "cast" || claim.outputs[0] == TENON_UINT8);
}

bool takes_same_input_twice(const std::string& op) {
  return op == "add" || op == "maximum" || op == "equal" || op == "where";
}

// Returns one problem of the claim's op with kMany elements in the first int8 input.
std::vector<Problem> one_problem(const Environment&, const Claim& claim) {
  Problem problem;
  problem.op = claim.op;
  const std::string& name = claim.op->name;
  problem.inputs = {uniform_operand(TENON_INT8, {kMany}, 0)};
  if (takes_same_input_twice(name)) problem.inputs.push_back(problem.inputs[0]);
  if (name == "where")
    problem.inputs.insert(problem.inputs.begin(), uniform_operand(TENON_BOOL, {}, 0));
  if (name == "gather") problem.inputs.push_back(indices(TENON_INT64, {4}, 1, 0));
  if (name == "cast") problem.attrs["to"] = "u8";
  if (name == "concat") problem.attrs["axis"] = 0;
  return {problem};
}

// Returns the available memory of the host, in bytes; 0 if unknown.
int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    int64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// Element i of the input. The sequence has period 251, which is not a power of two, and ends with a
// unique maximum.
int8_t element_at(int64_t i, int64_t n) {
  return i == n - 1 ? int8_t{127} : static_cast<int8_t>(i % 251 - 125);
}

// Creates a tensor of `n` elements from host memory.
tenon::Tensor make_tensor(const Session& session, tenon_dtype dtype, int64_t n, const void* data,
                          size_t bytes) {
  tenon_tensor* tensor = nullptr;
  tenon::check(tenon_tensor_from_data(session.scope().get(), dtype, &n, 1, data, bytes, &tensor));
  return tenon::Tensor::adopt(tensor);
}

// The expected value of element i of the result.
using Expected = int64_t (*)(int64_t i, int64_t n);

// Number of elements that are written and compared at once: a multiple of the period 251. Only the
// last element of the tensor breaks the period.
constexpr int64_t kBlock = 251 * 4096;

// Returns element_at(i, n) for each i less than `n`.
std::vector<int8_t> make_elements(int64_t n) {
  std::vector<int8_t> values(static_cast<size_t>(n));
  const int64_t once = std::min(n, kBlock);
  for (int64_t i = 0; i < once; ++i) values[static_cast<size_t>(i)] = element_at(i, n);
  for (int64_t at = once; at < n; at += kBlock) {
    std::memcpy(&values[static_cast<size_t>(at)], values.data(),
                static_cast<size_t>(std::min(kBlock, n - at)));
  }
  values.back() = element_at(n - 1, n);
  return values;
}

// Compares each element i of `y` with expected(i, n). Reads the elements to `room`, a buffer that
// later calls reuse.
template <class T>
Finding compare_with_expected(const Session& session, const tenon::Tensor& y, int64_t n,
                              Expected expected, std::vector<int8_t>& room) {
  const int64_t count = y.count();
  room.resize(static_cast<size_t>(count) * sizeof(T));
  tenon::check(tenon_tensor_read(session.scope().get(), y.get(), room.data(), room.size()));
  std::vector<T> want(static_cast<size_t>(std::min(count, kBlock)));
  for (size_t i = 0; i < want.size(); ++i) {
    want[i] = static_cast<T>(expected(static_cast<int64_t>(i), n));
  }
  for (int64_t at = 0; at < count; at += kBlock) {
    const auto size = static_cast<size_t>(std::min(kBlock, count - at));
    if (at + kBlock >= count) want[size - 1] = static_cast<T>(expected(count - 1, n));
    const T* const got = reinterpret_cast<const T*>(room.data()) + at;
    const size_t i = static_cast<size_t>(std::mismatch(got, got + size, want.data()).first - got);
    if (i == size) continue;
    return Finding::fault(fmt::format("of {} elements: element {} is {}, not {}", n,
                                      at + static_cast<int64_t>(i), got[i], want[i]));
  }
  return {};
}

// The i-th tested index into a tensor of `n` elements. Some are below 2^31, others above it.
int64_t tested_index(int64_t i, int64_t n) {
  const int64_t places[] = {0, n / 2, n - 2, n - 1};
  return places[i];
}

// The sum of elements 0 to i. The sum over a whole period is zero, and so is the sum over a block.
int64_t sum_until(int64_t i, int64_t n) {
  int64_t total = 0;
  for (int64_t k = i / 251 * 251; k <= i; ++k) total += element_at(k, n);
  return total;
}

// Returns the function that computes expected elements, for ops with 8-bit results.
Expected expected_of(const std::string& op) {
  if (op == "neg") return [](int64_t i, int64_t k) -> int64_t { return -element_at(i, k); };
  if (op == "add") return [](int64_t i, int64_t k) -> int64_t { return 2 * element_at(i, k); };
  if (op == "max") return [](int64_t, int64_t) -> int64_t { return 127; };
  if (op == "min") return [](int64_t, int64_t) -> int64_t { return -125; };
  if (op == "equal") return [](int64_t, int64_t) -> int64_t { return 1; };
  if (op == "sum") return [](int64_t, int64_t k) { return sum_until(k - 1, k); };
  if (op == "cumsum") return sum_until;
  if (op == "gather") {
    return [](int64_t i, int64_t k) -> int64_t { return element_at(tested_index(i, k), k); };
  }
  return [](int64_t i, int64_t k) -> int64_t { return element_at(i, k); };
}

// Checks that an op on a tensor of more than 2^31 elements returns the expected elements.
Finding test_large_tensor(const Environment& env, const Problem& problem) {
  const Session& device = env.device;
  const uint64_t device_bytes = device.scope().device().info().memory_bytes;
  if (available_bytes() < kNeededBytes ||
      (device_bytes != 0 && device_bytes < static_cast<uint64_t>(kNeededBytes) / 2)) {
    Finding finding;
    finding.impossible = "2^31 elements need 12 GiB of memory";
    return finding;
  }
  const std::string& name = problem.op->name;
  const int64_t n = problem.inputs[name == "where" ? 1 : 0].shape[0];
  std::vector<int8_t> values = make_elements(n);
  std::vector<tenon::Tensor> inputs;
  if (name == "concat") {
    const int64_t half = n / 2;
    inputs.push_back(
        make_tensor(device, TENON_INT8, half, values.data(), static_cast<size_t>(half)));
    inputs.push_back(make_tensor(device, TENON_INT8, n - half, values.data() + half,
                                 static_cast<size_t>(n - half)));
  } else {
    inputs.push_back(make_tensor(device, TENON_INT8, n, values.data(), values.size()));
  }
  if (takes_same_input_twice(name)) inputs.push_back(inputs[0]);
  if (name == "where") inputs.insert(inputs.begin(), device.make(problem.inputs[0]));
  if (name == "gather") {
    const int64_t at[] = {tested_index(0, n), tested_index(1, n), tested_index(2, n),
                          tested_index(3, n)};
    inputs.push_back(make_tensor(device, TENON_INT64, 4, at, sizeof at));
  }
  const std::vector<tenon::Tensor> outputs = device.call(problem, inputs);
  inputs.clear();
  if (name == "argmax") {
    return compare_with_expected<int64_t>(
        device, outputs[0], n, [](int64_t, int64_t count) { return count - 1; }, values);
  }
  return compare_with_expected<int8_t>(device, outputs[0], n, expected_of(name), values);
}

}  // namespace

std::vector<Check> large_tensor_checks() {
  return {
      {"many", 6, "Ops on more than 2^31 elements of one byte return the right results.",
       is_tested_on_large_tensors, one_problem, test_large_tensor},
  };
}

}  // namespace tenon_kit
