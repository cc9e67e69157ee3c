// Exports ops as ONNX nodes: ops that differ only in name, arithmetic and reductions.

#include "core/io/onnx/export_ops.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/base/search.h"
#include "core/base/storage_dtype.h"
#include "core/ops/definition/formulas.h"

namespace tenon::onnx {

// ---- attributes

const AttrField& OpCall::find(std::string_view name) const {
  const AttrField* field = node_.op->attrs->find(name);
  require_code(field != nullptr, Code::kInternal, "{} has no attribute {}", node_.op->name, name);
  return *field;
}

Sizes OpCall::sizes(std::string_view name) const {
  const AttrField& field = find(name);
  if (field.kind == AttrKind::kSizes) return attr<Sizes>(name);
  return to_sizes(attr<Ints>(name));
}

Size OpCall::size(std::string_view name) const {
  return find(name).kind == AttrKind::kSize ? attr<Size>(name) : Size(attr<int64_t>(name));
}

// Returns the name of the value of an enumeration attribute.
std::string_view OpCall::choice(std::string_view name) const {
  const AttrField& field = find(name);
  const auto value = static_cast<size_t>(field.get_enum(node_.attrs.view().data));
  return field.info().values[value];
}

// Returns the attribute `name`, an axis of a tensor of this rank, as a non-negative index.
int64_t OpCall::axis(std::string_view name, size_t rank) const {
  const int64_t axis = integer(name);
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Converts all attributes to ONNX attributes. Returns false if ONNX cannot express one of them.
bool OpCall::attributes(Attributes& all) const {
  for (const AttrField& field : node_.op->attrs->all()) {
    const std::string_view name = field.name;
    if (field.kind == AttrKind::kInt) {
      all.push_back(attribute(name, integer(name)));
    } else if (field.kind == AttrKind::kBool) {
      all.push_back(attribute(name, int64_t{flag(name)}));
    } else if (field.kind == AttrKind::kFloat) {
      // ONNX stores attributes as float32, which may not represent a float64 value exactly.
      const double value = real(name);
      if (dtype() == DType::kF64 && static_cast<double>(static_cast<float>(value)) != value) {
        return false;
      }
      all.push_back(attribute(name, value));
    } else if (field.kind == AttrKind::kEnum) {
      all.push_back(attribute(name, choice(name)));
    } else if (field.kind == AttrKind::kText) {
      all.push_back(attribute(name, std::string_view(attr<std::string>(name))));
    } else if (field.kind == AttrKind::kInts) {
      const Ints& values = ints(name);
      if (!values.empty()) all.push_back(attribute(name, values.span()));
    } else {
      return false;
    }
  }
  return true;
}

namespace {

// ---- ops that differ only in name

bool export_renamed(OpCall& c) {
  Attributes attributes;
  if (!c.attributes(attributes)) return false;
  c.out = {c.w.node(c.node().op->onnx, c.in, attributes)};
  return true;
}

constexpr std::string_view kSame =
    "abs sign reciprocal sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh erf sigmoid floor ceil round isnan isinf logical_not add sub mul maximum "
    "minimum equal less less_equal greater greater_equal logical_and logical_or logical_xor "
    "relu leaky_relu elu celu selu softplus softsign prelu hard_sigmoid hard_swish mish "
    "thresholded_relu shrink hardmax softmax log_softmax argmax argmin gather gather_elements "
    "scatter_elements concat instance_norm batch_norm flatten det global_avg_pool";

// Exports an op that differs only in name, and that ONNX defines, or onnxruntime implements, only
// for floating-point dtypes.
bool export_renamed_floating(OpCall& c) { return is_floating(c.dtype()) && export_renamed(c); }

bool export_where(OpCall& c) {
  c.out = {write_select(c.w, c.types[1].dtype, c.in[0], c.in[1], c.in[2])};
  return true;
}

bool export_neg(OpCall& c) {
  const bool has_sign = !is_unsigned_integer(c.dtype());
  c.out = {has_sign ? c.w.node("Neg", c.in) : c.w.node("Sub", {c.w.number(0, c.dtype()), c.in[0]})};
  return true;
}

bool export_identity(OpCall& c) {
  c.out = {c.in[0]};
  return true;
}

// ---- arithmetic

bool export_bitwise(OpCall& c) {
  static constexpr std::pair<std::string_view, std::string_view> kOfBools[] = {
      {"bitwise_and", "And"}, {"bitwise_or", "Or"}, {"bitwise_xor", "Xor"}, {"bitwise_not", "Not"}};
  for (const auto& [op, of_bools] : kOfBools) {
    const bool is_bool = c.dtype() == DType::kBool;
    if (c.node().op->name == op) c.out = {c.w.node(is_bool ? of_bools : c.node().op->onnx, c.in)};
  }
  return true;
}

// Whether x is a constant that is not 0.
bool is_nonzero_constant(const Value& x) {
  if (x.node->kind != NodeKind::kConstant) return false;
  const TensorImpl& value = *x.node->constant;
  return is_floating(value.type.dtype) ? value.float_value != 0 : value.int_value != 0;
}

// Divides integers such that x / 0 is 0, as in Tenon. ONNX leaves division by zero undefined.
template <class Divide>
std::string divide_or_zero(OpCall& c, const Divide& divide) {
  const std::string zero = c.w.number(0, c.dtype());
  const std::string is_zero = c.w.node("Equal", {c.in[1], zero});
  const std::string divisor = c.w.node("Where", {is_zero, c.w.number(1, c.dtype()), c.in[1]});
  return c.w.node("Where", {is_zero, zero, divide(divisor)});
}

bool export_div(OpCall& c) {
  if (!is_floating(c.dtype()) && !is_nonzero_constant(c.node().inputs[1])) return false;
  c.out = {c.w.node("Div", c.in)};
  return true;
}
bool export_div_of_integers(OpCall& c) {
  c.out = {divide_or_zero(c, [&](const std::string& b) { return c.w.node("Div", {c.in[0], b}); })};
  return true;
}

// Adds a node for the remainder of truncated division, which has the sign of a.
std::string remainder(OpCall& c, const std::string& b) {
  return c.w.node("Mod", {c.in[0], b}, {attribute("fmod", int64_t{1})});
}
// Adds nodes for the test whether truncated division rounded up: the remainder `rest` is not zero,
// and its sign differs from the sign of b.
std::string rounded_up_in_truncation(OpCall& c, const std::string& rest, const std::string& b) {
  const std::string zero = c.w.number(0, c.dtype());
  const std::string differ =
      c.w.node("Xor", {c.w.node("Less", {rest, zero}), c.w.node("Less", {b, zero})});
  return c.w.node("And", {c.w.node("Not", {c.w.node("Equal", {rest, zero})}), differ});
}

bool export_fmod(OpCall& c) {
  c.out = {is_floating(c.dtype())
               ? remainder(c, c.in[1])
               : divide_or_zero(c, [&](const std::string& b) { return remainder(c, b); })};
  return true;
}

bool export_mod(OpCall& c) {
  const auto of = [&](const std::string& b) {
    const std::string rest = remainder(c, b);
    return c.w.node("Where",
                    {rounded_up_in_truncation(c, rest, b), c.w.node("Add", {rest, b}), rest});
  };
  c.out = {is_floating(c.dtype()) ? of(c.in[1]) : divide_or_zero(c, of)};
  return true;
}

bool export_floor_div(OpCall& c) {
  if (is_floating(c.dtype())) {
    c.out = {c.w.node("Floor", {c.w.node("Div", c.in)})};
    return true;
  }
  c.out = {divide_or_zero(c, [&](const std::string& b) {
    const std::string quotient = c.w.node("Div", {c.in[0], b});
    const std::string below = c.w.node("Sub", {quotient, c.w.number(1, c.dtype())});
    return c.w.node("Where", {rounded_up_in_truncation(c, remainder(c, b), b), below, quotient});
  })};
  return true;
}

bool export_not_equal(OpCall& c) {
  c.out = {c.w.node("Not", {c.w.node("Equal", c.in)})};
  return true;
}

bool export_trunc(OpCall& c) {
  const std::string below = c.w.node("Less", {c.in[0], c.w.number(0, c.dtype())});
  c.out = {c.w.node("Where", {below, c.w.node("Ceil", c.in), c.w.node("Floor", c.in)})};
  return true;
}

bool export_fma(OpCall& c) {
  c.out = {c.w.node("Add", {c.w.node("Mul", {c.in[0], c.in[1]}), c.in[2]})};
  return true;
}

bool export_clip(OpCall& c) {
  c.out = {c.w.node("Min", {c.w.node("Max", {c.in[0], c.in[1]}), c.in[2]})};
  return true;
}

// Adds a node that shifts x by `by` bits; `direction` is LEFT or RIGHT.
std::string write_bit_shift(OpCall& c, const std::string& x, const std::string& by,
                            const char* direction) {
  return c.w.node("BitShift", {x, by}, {attribute("direction", std::string_view(direction))});
}

bool export_shift(OpCall& c) {
  const bool left = c.node().op->name == "shift_left";
  const char* direction = left ? "LEFT" : "RIGHT";
  if (is_unsigned_integer(c.dtype())) {
    c.out = {write_bit_shift(c, c.in[0], c.in[1], direction)};
    return true;
  }
  // Shifts the bits as an unsigned integer. For an arithmetic right shift, a negative number is
  // inverted before and after the shift.
  static constexpr std::pair<DType, DType> kUnsigned[] = {{DType::kI8, DType::kU8},
                                                          {DType::kI16, DType::kU16},
                                                          {DType::kI32, DType::kU32},
                                                          {DType::kI64, DType::kU64}};
  for (const auto& each : kUnsigned) {
    const DType own = each.first, bits = each.second;
    if (own != c.dtype()) continue;
    const std::string by = c.w.cast(c.in[1], bits);
    const auto move = [&](const std::string& x) {
      return c.w.cast(write_bit_shift(c, c.w.cast(x, bits), by, direction), own);
    };
    if (left) {
      c.out = {move(c.in[0])};
      return true;
    }
    const std::string turned = c.w.node("BitwiseNot", {move(c.w.node("BitwiseNot", {c.in[0]}))});
    const std::string negative = c.w.node("Less", {c.in[0], c.w.number(0, own)});
    c.out = {c.w.node("Where", {negative, turned, move(c.in[0])})};
  }
  return true;
}

bool export_cast(OpCall& c) {
  const DType to = c.out_type().dtype;
  if (is_floating(c.dtype()) && is_integer(to)) return false;
  std::string x = c.in[0];
  if (is_floating(c.dtype()) && is_storage_integer(to)) {
    const auto [least, greatest] = storage_range(to);
    x = c.w.node("Clip", {x, c.w.number(static_cast<double>(least), c.dtype()),
                          c.w.number(static_cast<double>(greatest), c.dtype())});
  }
  std::vector<WireWriter> attributes = {attribute("to", onnx_type_number(to))};
  if (!c.flag("saturate")) attributes.push_back(attribute("saturate", int64_t{0}));
  if (to == DType::kF8E8M0FNU) attributes.push_back(attribute("round_mode", "nearest"));
  c.out = {c.w.node("Cast", {x}, attributes)};
  return true;
}
// Casts floats to integers, saturating, with NaN as 0. ONNX leaves both cases undefined.
bool export_cast_to_integer(OpCall& c) {
  const DType from = c.dtype(), to = c.out_type().dtype;
  const int bits = static_cast<int>(size_of(to)) * 8 - is_signed_integer(to);
  const double end = std::ldexp(1.0, bits), begin = is_signed_integer(to) ? -end : 0;
  const uint64_t most = ~uint64_t{0} >> (64 - bits);
  const auto element = [&](uint64_t value) {
    return c.w.constant(to, {}, {reinterpret_cast<const char*>(&value), size_of(to)});
  };
  const auto where = [&](const std::string& condition, uint64_t value, const std::string& y) {
    return c.w.node("Where", {condition, element(value), y});
  };
  const std::string& x = c.in[0];
  std::string y = c.w.cast(x, to);
  y = where(c.w.node("GreaterOrEqual", {x, c.w.number(end, from)}), most, y);
  y = where(c.w.node("LessOrEqual", {x, c.w.number(begin, from)}), begin < 0 ? most + 1 : 0, y);
  c.out = {where(c.w.node("IsNaN", {x}), 0, y)};
  return true;
}

bool export_gelu(OpCall& c) {
  const std::string_view how = c.flag("approximate") ? "tanh" : "none";
  c.out = {c.w.node("Gelu", c.in, {attribute("approximate", how)})};
  return true;
}

// ---- reductions

bool export_reduction(OpCall& c) {
  if (is_narrow(c.dtype())) return false;
  Texts inputs = {c.in[0]};
  if (const Ints& axes = c.ints("axes"); !axes.empty()) inputs.push_back(c.w.integers(axes.span()));
  c.out = {
      c.w.node(c.node().op->onnx, inputs, {attribute("keepdims", int64_t{c.flag("keepdims")})})};
  return true;
}

// Exports a reduction of a narrow dtype, computed in i64.
bool export_reduction_as_i64(OpCall& c) { return export_widened(c, export_reduction); }

bool export_cumsum(OpCall& c) {
  if (is_narrow(c.dtype())) return false;
  c.out = {c.w.node("CumSum", {c.in[0], c.w.integer(c.integer("axis"))},
                    {attribute("exclusive", int64_t{c.flag("exclusive")}),
                     attribute("reverse", int64_t{c.flag("reverse")})})};
  return true;
}

// Exports a cumsum of a narrow dtype, computed in i64.
bool export_cumsum_as_i64(OpCall& c) { return export_widened(c, export_cumsum); }

// Returns the exporters of all ops.
ExportTable table() {
  ExportTable all;
  for (size_t at = 0; at < kSame.size();) {
    const size_t end = std::min(kSame.find(' ', at), kSame.size());
    all[kSame.substr(at, end - at)] = {.as_nodes = export_renamed};
    at = end + 1;
  }
  for (const char* op : {"identity", "stop_gradient", "copy"})
    all[op] = {.as_nodes = export_identity};
  for (const char* op : {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}) {
    all[op] = {.as_nodes = export_bitwise};
  }
  for (const char* op : {"sum", "prod", "max", "min", "mean", "l1_norm", "l2_norm", "sum_square",
                         "log_sum", "logsumexp"}) {
    all[op] = {.as_nodes = export_reduction, .as_function = export_reduction_as_i64};
  }
  all["neg"] = {.as_nodes = export_neg};
  all["div"] = {export_div, export_div_of_integers};
  all["fmod"] = {.as_function = export_fmod};
  all["mod"] = {.as_function = export_mod};
  all["floor_div"] = {.as_function = export_floor_div};
  all["not_equal"] = {.as_nodes = export_not_equal};
  all["trunc"] = {.as_function = export_trunc};
  all["fma"] = {.as_function = export_fma};
  all["clip"] = {.as_nodes = export_clip};
  all["shift_left"] = all["shift_right"] = {.as_function = export_shift};
  all["cast"] = {.as_nodes = export_cast, .as_function = export_cast_to_integer};
  all["gelu"] = {.as_nodes = export_gelu};
  all["cumsum"] = {.as_nodes = export_cumsum, .as_function = export_cumsum_as_i64};
  for (const char* op : {"pow", "global_max_pool"}) all[op] = {.as_nodes = export_renamed_floating};
  all["where"] = {.as_nodes = export_where};
  add_shape_exporters(all);
  add_math_exporters(all);
  add_nn_exporters(all);
  add_index_exporters(all);
  return all;
}

}  // namespace

// Exports the call by `exporter`, with its inputs cast to i64 and its result cast back. Returns
// false if ONNX cannot express the call.
bool export_widened(OpCall& c, OpExport::Exporter exporter) {
  const DType own = c.dtype();
  // max and min of u64 are rejected, because a cast to i64 changes the order of large numbers.
  const std::string_view op = c.node().op->name;
  if (own == DType::kU64 && (op == "max" || op == "min")) return false;
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (c.types[i].dtype != own) continue;
    c.in[i] = c.w.cast(c.in[i], DType::kI64);
    c.types[i].dtype = DType::kI64;
  }
  if (!exporter(c)) return false;
  c.out[0] = c.w.cast(c.out[0], own);
  return true;
}

// Exports a select: x where the condition is true, else y.
std::string write_select(NodeWriter& w, DType dtype, const std::string& condition,
                         const std::string& x, const std::string& y) {
  if (dtype != DType::kBool) return w.node("Where", {condition, x, y});
  const std::string otherwise = w.node("And", {w.node("Not", {condition}), y});
  return w.node("Or", {w.node("And", {condition, x}), otherwise});
}

// Returns the exporters of an op; NULL if the op is exported only by its decomposition.
const OpExport* find_export(const OpDef& op) {
  static const Immortal<ExportTable> made = table();
  const ExportTable& forms = made;
  const auto at = forms.find(op.name);
  if (at == forms.end()) return nullptr;
  return &at->second;
}

}  // namespace tenon::onnx
