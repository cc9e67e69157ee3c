// `tenon run`: calls a function of a program with arrays from files.

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "tools/tenon/failure.h"
#include "tools/tenon/npy.h"
#include "tools/tenon/program_call.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

std::string bytes_of(const Tensor& x) {
  std::string bytes(x.bytes(), '\0');
  tenon::check(tenon_tensor_read(current_scope(), x.get(), bytes.data(), bytes.size()));
  return bytes;
}

// The elements in a dtype that NumPy has. An inline scalar becomes a tensor.
Tensor for_numpy(const Tensor& x) { return x.dtype() == kBfloat16 ? cast(x, {.to = kFloat32}) : x; }

template <class T>
void add_each(const std::string& bytes, const auto& add) {
  const T* const elements = reinterpret_cast<const T*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) add(static_cast<double>(elements[i]));
}

void each_element(DType dtype, const std::string& bytes, const auto& add) {
  switch (dtype) {
    case kBool:
    case kUint8:
      return add_each<uint8_t>(bytes, add);
    case kInt8:
      return add_each<int8_t>(bytes, add);
    case kInt16:
      return add_each<int16_t>(bytes, add);
    case kUint16:
      return add_each<uint16_t>(bytes, add);
    case kInt32:
      return add_each<int32_t>(bytes, add);
    case kUint32:
      return add_each<uint32_t>(bytes, add);
    case kInt64:
      return add_each<int64_t>(bytes, add);
    case kUint64:
      return add_each<uint64_t>(bytes, add);
    case kFloat32:
      return add_each<float>(bytes, add);
    default:
      return add_each<double>(bytes, add);
  }
}

// The least, the mean and the most of the elements, of those that are numbers.
std::string statistics(const Tensor& x) {
  const Tensor wide = x.dtype() == kFloat16 ? cast(x, {.to = kFloat32}) : x;
  double least = INFINITY, most = -INFINITY, sum = 0;
  size_t n = 0, n_nan = 0;
  each_element(wide.dtype(), bytes_of(wide), [&](double value) {
    if (std::isnan(value)) {
      ++n_nan;
      return;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    ++n;
  });
  const std::string nans = n_nan ? fmt::format("{} of {} are NaN", n_nan, n + n_nan) : "";
  if (n == 0) return n_nan ? nans : "no elements";
  return fmt::format("min {:.6g}, mean {:.6g}, max {:.6g}{}{}", least, sum / static_cast<double>(n),
                     most, n_nan ? ", " : "", nans);
}

// A name of a value as a name of a file: nothing in it leads out of the folder.
std::string file_name(const std::string& name, std::set<std::string>& taken) {
  std::string made;
  for (const char c : name) {
    const bool is_plain = static_cast<unsigned char>(c) > ' ' && c != '/' && c != '\\' && c != ':';
    made += is_plain ? c : '_';
  }
  if (made.empty() || made[0] == '.') made.insert(made.begin(), '_');
  while (!taken.insert(made).second) made += '_';
  return made + ".npy";
}

}  // namespace

int run_program(const RunOptions& options) {
  const OpenedProgram opened(options.path, options.device);
  const ProgramFunction& function = opened.find(options.function);
  const std::vector<Tensor> inputs = read_inputs(function, options.inputs);
  // Told before the function runs, and not after.
  if (!options.output.empty()) std::filesystem::create_directories(options.output);

  const std::vector<Tensor> outputs = opened.program().function(function.name)(inputs);
  std::vector<std::vector<std::string>> rows;
  std::set<std::string> taken;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor x = for_numpy(outputs[i]);
    const std::string& name = function.outputs[i].name;
    rows.push_back({name, type_text(outputs[i].dtype(), outputs[i].shape()), statistics(x)});
    if (options.output.empty()) continue;
    const auto path = std::filesystem::path(options.output) / file_name(name, taken);
    write_npy(path.string(), x.dtype(), x.shape(), bytes_of(x));
    rows.back().insert(rows.back().end() - 1, path.string());
  }
  if (rows.empty()) fmt::print("{} gives nothing\n", function.name);
  fmt::print("{}", columns(rows, 0));
  return kDone;
}

}  // namespace tenon::command
