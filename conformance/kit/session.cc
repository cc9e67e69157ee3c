#include "conformance/kit/session.h"

#include <algorithm>
#include <numeric>

#include "conformance/kit/packed_attrs.h"
#include "conformance/kit/whole.h"

namespace tenon_kit {
namespace {

using tenon::Tensor;

tenon::Context make_context(const SessionOptions& options) {
  std::vector<tenon_plugin_option> plugin_options;
  const std::string plugin = options.device.substr(0, options.device.find(':'));
  for (const auto& [key, value] : options.plugin_options) {
    plugin_options.push_back({.plugin = tenon_str(plugin.c_str()),
                              .key = tenon_str(key.c_str()),
                              .value = tenon_str(value.c_str())});
  }
  const tenon_string path = {options.plugin_path.data(), options.plugin_path.size()};
  tenon_context_options c_options = TENON_CONTEXT_OPTIONS_DEFAULT;
  c_options.threads = options.threads;
  c_options.memory_limit_bytes = options.memory_limit_bytes;
  c_options.numeric_policy = options.strict ? TENON_NUMERIC_STRICT : TENON_NUMERIC_FAST;
  c_options.fallback_policy = TENON_FALLBACK_STRICT;
  c_options.plugin_options = plugin_options.data();
  c_options.n_plugin_options = plugin_options.size();
  if (!options.plugin_path.empty()) {
    c_options.plugin_paths = &path;
    c_options.n_plugin_paths = 1;
  }
  tenon_context* context = nullptr;
  tenon::check(tenon_context_create(&c_options, &context));
  tenon::Context owner = tenon::Context::adopt(context);
  if (options.query) {
    tenon::check(tenon_context_add_plugin(context, tenon_str(plugin.c_str()), options.query));
  }
  return owner;
}

// Returns the id of the op with this name.
uint32_t op_id(const char* name) { return op_named(name).id; }

// Elements of `size` bytes each, row-major.
struct Elements {
  std::vector<std::byte> bytes;
  size_t size;

  size_t count() const { return bytes.size() / size; }
  void append(const Elements& from, size_t i) {
    const auto at = from.bytes.begin() + static_cast<std::ptrdiff_t>(i * size);
    bytes.insert(bytes.end(), at, at + static_cast<std::ptrdiff_t>(size));
  }
};

// Returns an empty list of elements with the same element size and as much reserved memory.
Elements make_empty_elements(const Elements& other) {
  Elements elements = {{}, other.size};
  elements.bytes.reserve(other.bytes.size());
  return elements;
}

// Permutes the axes of `values`: axis k of the result is axis perm[k] of the input.
Elements permute_axes(const Elements& values, const Sizes& shape, const std::vector<size_t>& perm) {
  const size_t rank = shape.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  Elements result = make_empty_elements(values);
  Sizes at(rank, 0);
  for (size_t n = 0; n < values.count(); ++n) {
    int64_t from = 0;
    for (size_t k = 0; k < rank; ++k) from += at[k] * strides[perm[k]];
    result.append(values, static_cast<size_t>(from));
    for (size_t k = rank; k-- > 0;) {
      if (++at[k] < shape[perm[k]]) break;
      at[k] = 0;
    }
  }
  return result;
}

// The element that fills memory which no kernel may read: NaN for floats, else 1.
Elements unreadable_element(tenon_dtype dtype) {
  return {encode({is_float(dtype) ? Real(NAN) : Real(1)}, dtype), facts(dtype).size};
}

}  // namespace

Session::Session(const SessionOptions& options)
    : context_(make_context(options)), scope_(context_, options.device), device_(options.device) {}

Tensor Session::make(const Operand& x) const {
  if (x.absent) return Tensor();
  if (is_tensor(x) && x.fill.kind == Fill::Kind::kWhole && x.layout != Layout::kRepeated) {
    return make_of_bytes(x, encode_integers(integer_elements(x), x.dtype));
  }
  return make(x, x.values());
}

Tensor Session::make(const Operand& x, const Reals& values) const {
  if (!x.scalar) return make_of_bytes(x, encode(values, x.dtype));
  if (is_float(x.dtype)) return Tensor(static_cast<double>(values[0]));
  if (is_bool(x.dtype)) return Tensor(values[0] != 0);
  return Tensor(static_cast<int64_t>(values[0]));
}

// Creates a tensor in the operand's layout, from the bytes of its elements in row-major order.
Tensor Session::make_of_bytes(const Operand& x, std::vector<std::byte> bytes) const {
  const Elements values = {std::move(bytes), facts(x.dtype).size};
  const size_t n = values.count();
  const auto dense = [&](const Elements& elements, const Sizes& shape) {
    tenon_tensor* tensor = nullptr;
    tenon::check(tenon_tensor_from_data(scope_.get(), x.dtype, shape.data(), shape.size(),
                                        elements.bytes.data(), elements.bytes.size(), &tensor));
    return Tensor::adopt(tensor);
  };
  const auto view = [&](const char* op, const AttrValues& attrs, const Tensor& base) {
    const PackedAttrs packed(op_named(op), attrs);
    return call(op_id(op), packed.data(), {base}, 1)[0];
  };
  const size_t rank = x.shape.size();
  if (rank == 0 || n == 0) return dense(values, x.shape);

  switch (x.layout) {
    case Layout::kDense:
      return dense(values, x.shape);
    case Layout::kTransposed: {
      std::vector<size_t> perm(rank);
      std::iota(perm.rbegin(), perm.rend(), size_t{0});
      Sizes shape;
      for (const size_t axis : perm) shape.push_back(x.shape[axis]);
      return view("transpose", {}, dense(permute_axes(values, x.shape, perm), shape));
    }
    case Layout::kStepped: {
      // Adds unused elements before the first and after each element of the last axis. Kernels must
      // not read these.
      const int64_t row = x.shape.back(), apart = 2 * row + 1;
      Sizes shape = x.shape;
      shape.back() = apart;
      const Elements hole = unreadable_element(x.dtype);
      Elements spaced = make_empty_elements(values);
      for (size_t i = 0; i < n; ++i) {
        spaced.append(hole, 0);
        spaced.append(values, i);
        if ((i + 1) % static_cast<size_t>(row) == 0) spaced.append(hole, 0);
      }
      const AttrValues attrs = {{"starts", Sizes{1}},
                                {"ends", Sizes{apart}},
                                {"axes", Sizes{static_cast<int64_t>(rank) - 1}},
                                {"steps", Sizes{2}}};
      return view("slice", attrs, dense(spaced, shape));
    }
    case Layout::kReversed: {
      Elements backwards = make_empty_elements(values);
      for (size_t i = n; i-- > 0;) backwards.append(values, i);
      Sizes axes(rank);
      std::iota(axes.begin(), axes.end(), int64_t{0});
      return view("flip", {{"axes", axes}}, dense(backwards, x.shape));
    }
    case Layout::kOffset: {
      // Starts one element after the beginning of the buffer, so that vector loads are unaligned.
      Elements shifted = unreadable_element(x.dtype);
      shifted.bytes.insert(shifted.bytes.end(), values.bytes.begin(), values.bytes.end());
      const auto end = static_cast<int64_t>(n) + 1;
      const Tensor line = dense(shifted, {end});
      const Tensor rest = view("slice", {{"starts", Sizes{1}}, {"ends", Sizes{end}}}, line);
      return view("reshape", {{"shape", x.shape}}, rest);
    }
    case Layout::kRepeated: {
      Sizes first = x.shape;
      first.back() = 1;
      Elements firsts = make_empty_elements(values);
      for (size_t i = 0; i < n; i += static_cast<size_t>(x.shape.back())) firsts.append(values, i);
      return view("broadcast_to", {{"shape", x.shape}}, dense(firsts, first));
    }
  }
  throw std::logic_error("an operand has an unknown layout");
}

std::vector<Tensor> Session::make(const std::vector<Operand>& inputs) const {
  std::vector<Tensor> tensors;
  for (const Operand& x : inputs) tensors.push_back(make(x));
  return tensors;
}

std::vector<Tensor> Session::call(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
                                  size_t n_outputs) const {
  std::vector<tenon_tensor*> in, out(n_outputs, nullptr);
  for (const Tensor& x : inputs) in.push_back(x.get());
  tenon::check(tenon_call(scope_.get(), op, attrs, in.data(), in.size(), out.data(), out.size()));
  std::vector<Tensor> outputs;
  for (tenon_tensor* y : out) outputs.push_back(Tensor::adopt(y));
  return outputs;
}

std::vector<Tensor> Session::call(const Problem& problem, const std::vector<Tensor>& inputs) const {
  const PackedAttrs attrs(*problem.op, problem.attrs);
  size_t n = problem.op->n_outputs;
  if (problem.op->variadic_outputs) n = infer(problem).size();
  return call(problem.op->id, attrs.data(), inputs, n);
}

// Copies the tensor to the host.
Result Session::read(const Tensor& x) const {
  Result result;
  result.dtype = tenon_tensor_dtype(x.get());
  result.shape.assign(x.shape().begin(), x.shape().end());
  result.bytes.resize(static_cast<size_t>(x.count()) * facts(result.dtype).size);
  tenon::check(tenon_tensor_read(scope_.get(), x.get(), result.bytes.data(), result.bytes.size()));
  return result;
}

std::vector<Result> Session::run(const Problem& problem) const {
  return run(problem, make(problem.inputs));
}

std::vector<Result> Session::run(const Problem& problem, const std::vector<Tensor>& inputs) const {
  std::vector<Result> results;
  for (const Tensor& y : call(problem, inputs)) results.push_back(read(y));
  return results;
}

// Waits for the work of the scope, and releases the error that the wait returns.
void Session::discard_errors() const { tenon_error_release(tenon_scope_wait(scope_.get())); }

std::vector<std::pair<tenon_dtype, Sizes>> Session::infer(const Problem& problem) const {
  const PackedAttrs attrs(*problem.op, problem.attrs);
  std::vector<tenon_type> inputs;
  for (const Operand& x : problem.inputs) {
    tenon_type type = {};
    type.dtype = x.absent ? TENON_DTYPE_NONE : x.dtype;
    type.rank = static_cast<uint32_t>(x.shape.size());
    std::copy(x.shape.begin(), x.shape.end(), type.shape);
    inputs.push_back(type);
  }
  std::vector<tenon_type> outputs(64);
  size_t n = 0;
  tenon::check(tenon_op_infer(scope_.get(), problem.op->id, attrs.data(), inputs.data(),
                              inputs.size(), outputs.data(), outputs.size(), &n));
  std::vector<std::pair<tenon_dtype, Sizes>> types;
  for (size_t i = 0; i < n && i < outputs.size(); ++i) {
    types.emplace_back(outputs[i].dtype,
                       Sizes(outputs[i].shape, outputs[i].shape + outputs[i].rank));
  }
  return types;
}

// Returns the problem in the float dtype `to`, or, if `to` is 0, in the dtypes in which the oracle
// computes.
Problem widen(const Problem& problem, tenon_dtype to) {
  Problem wide = problem;
  const auto wider = [&](tenon_dtype dtype) { return to ? to : widen(dtype); };
  tenon_dtype narrowest = TENON_FLOAT64;
  for (Operand& x : wide.inputs) {
    if (x.absent || !is_float(x.dtype)) continue;
    if (facts(x.dtype).precision < facts(narrowest).precision) narrowest = x.dtype;
    x.fill = {.kind = Fill::Kind::kValues, .values = x.values()};
    for (Real& value : x.fill.values) value = rounded(value, x.dtype);
    x.dtype = wider(x.dtype);
    x.layout = Layout::kDense;
    x.scalar = false;
  }
  // Rounds float attributes to the problem's dtype, and widens attributes that name a dtype (of a
  // created tensor).
  for (const AttrFacts& attr : problem.op->attrs) {
    if (attr.type == "float" && problem.op->numeric != "composite") {
      const double value = problem.attr(attr.name).number();
      if (std::isfinite(value)) {
        wide.attrs[attr.name] = static_cast<double>(rounded(value, narrowest));
      }
    }
    if (attr.type != "dtype") continue;
    const tenon_dtype dtype = dtype_named(problem.attr(attr.name).text());
    if (dtype != TENON_DTYPE_NONE && is_float(dtype)) {
      wide.attrs[attr.name] = name_of(wider(dtype));
    }
  }
  return wide;
}

}  // namespace tenon_kit
