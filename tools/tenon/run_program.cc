// `tenon run`: calls a function of a program with arrays from files, and writes or prints its
// outputs.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "tools/tenon/failure.h"
#include "tools/tenon/npy.h"
#include "tools/tenon/program_inputs.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

// Returns the elements of a tensor as bytes, row-major.
std::string bytes_of(const Tensor& x) {
  std::string bytes(x.bytes(), '\0');
  tenon::check(tenon_tensor_read(current_scope(), x.get(), bytes.data(), bytes.size()));
  return bytes;
}

// Returns a tensor that a .npy file can hold: bfloat16, which NumPy lacks, becomes float32, and an
// inline scalar becomes a tensor in memory.
Tensor to_numpy_dtype(const Tensor& x) {
  return x.dtype() == kBfloat16 ? cast(x, {.to = kFloat32}) : x;
}

// Calls add(double) for each element of type T in `bytes`.
template <class T>
void add_each(const std::string& bytes, const auto& add) {
  const T* const elements = reinterpret_cast<const T*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) add(static_cast<double>(elements[i]));
}

// Calls add(double) for each element of the dtype in `bytes`.
void for_each_element(DType dtype, const std::string& bytes, const auto& add) {
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

// Computes the minimum, mean and maximum of the elements that are not NaN.
class Statistics {
 public:
  void add(const Tensor& x) {
    const Tensor wide = x.dtype() == kFloat16 ? cast(x, {.to = kFloat32}) : x;
    for_each_element(wide.dtype(), bytes_of(wide), [&](double value) {
      if (std::isnan(value)) {
        ++n_nan_;
        return;
      }
      least_ = std::min(least_, value);
      most_ = std::max(most_, value);
      sum_ += value;
      ++n_;
    });
  }
  std::string text() const {
    const std::string nans = n_nan_ ? fmt::format("{} of {} are NaN", n_nan_, n_ + n_nan_) : "";
    if (n_ == 0) return n_nan_ ? nans : "no elements";
    return fmt::format("min {:.6g}, mean {:.6g}, max {:.6g}{}{}", least_,
                       sum_ / static_cast<double>(n_), most_, n_nan_ ? ", " : "", nans);
  }

 private:
  double least_ = INFINITY, most_ = -INFINITY, sum_ = 0;
  size_t n_ = 0, n_nan_ = 0;
};

// Collects one output of a function. With batches, concatenates the rows of all calls.
class Output {
 public:
  Output(std::string name, const Tensor& first, bool is_kept)
      : name_(std::move(name)), dtype_(first.dtype()), is_kept_(is_kept) {}

  // Stores the output of the only call.
  void take(const Tensor& y) {
    shape_.assign(y.shape().begin(), y.shape().end());
    keep(y);
  }
  // Appends the output of a call with `rows` rows.
  void append(const Tensor& y, int64_t rows) {
    Shape shape(y.shape().begin(), y.shape().end());
    if (shape.empty() || shape[0] != rows) {
      throw Failure(
          fmt::format("--batch-size: the output {} is {} for inputs of {} along their first axis, "
                      "so outputs of batches cannot be concatenated",
                      name_, type_text(dtype_, shape), rows));
    }
    if (!shape_.empty()) shape[0] = shape_[0];
    if (!shape_.empty() && shape != shape_) {
      throw Failure(
          fmt::format("--batch-size: the output {} is {} for one batch and {} for another", name_,
                      type_text(dtype_, shape_), type_text(dtype_, y.shape())));
    }
    shape[0] = (shape_.empty() ? 0 : shape[0]) + rows;
    shape_ = shape;
    keep(y);
  }

  const std::string& name() const { return name_; }
  std::string type() const { return type_text(dtype_, shape_); }
  std::string statistics() const { return statistics_.text(); }
  void write(const std::string& path) const { write_npy(path, written_, shape_, bytes_); }

 private:
  void keep(const Tensor& y) {
    const Tensor x = to_numpy_dtype(y);
    written_ = x.dtype();
    statistics_.add(x);
    if (is_kept_) bytes_ += bytes_of(x);
  }

  std::string name_;
  DType dtype_, written_;
  Shape shape_;
  Statistics statistics_;
  bool is_kept_;
  std::string bytes_;
};

// Converts an output's name to a file name without slashes, so that the file stays inside the
// folder. Avoids the names in `taken`, and adds the new name to them.
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

// Calls the function once with complete inputs, or once for each batch of rows. Returns all
// outputs.
std::vector<Output> run_function(const Function& code, const CallInputs& given,
                                 const RunOptions& options) {
  const bool is_kept = !options.output.empty(), in_parts = options.batch_size > 0;
  const int64_t n = in_parts ? given.rows() : 0;
  const int64_t step = in_parts ? std::min(options.batch_size, std::max<int64_t>(n, 1)) : 1;
  if (in_parts && n % step != 0) given.try_part(n % step);
  std::vector<Output> outputs;
  Progress progress("running", static_cast<size_t>((n + step - 1) / step));
  int64_t begin = 0;
  do {
    const int64_t end = std::min(begin + step, n);
    const Call call = in_parts ? given.part(begin, end) : given.all();
    // Creates the folder before the function runs, so that an error is reported early.
    if (begin == 0 && is_kept) std::filesystem::create_directories(options.output);
    const std::vector<Tensor> part = code(call.inputs, call.statics);
    for (size_t i = 0; i < part.size(); ++i) {
      if (i == outputs.size()) {
        outputs.emplace_back(call.signature->outputs[i].name, part[i], is_kept);
      }
      in_parts ? outputs[i].append(part[i], end - begin) : outputs[i].take(part[i]);
    }
    begin = end;
    progress.step();
  } while (begin < n);
  progress.end();
  return outputs;
}

}  // namespace

int run_program(const RunOptions& options) {
  const OpenedProgram opened(options.path, options.device, options.strict);
  const ProgramFunction& function = opened.find(options.function);
  const CallInputs given(opened, function, options);
  std::vector<std::vector<std::string>> rows;
  std::set<std::string> taken;
  for (const Output& output :
       run_function(opened.program().function(function.name), given, options)) {
    rows.push_back({output.name(), output.type(), output.statistics()});
    if (options.output.empty()) continue;
    const auto path = std::filesystem::path(options.output) / file_name(output.name(), taken);
    output.write(path.string());
    rows.back().insert(rows.back().end() - 1, path.string());
  }
  if (rows.empty()) fmt::print("{} gives nothing\n", function.name);
  fmt::print("{}", columns(rows, 0));
  return kDone;
}

}  // namespace tenon::command
