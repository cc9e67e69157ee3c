// Exports convolutions, pooling, normalisation, recurrent networks and quantisation as ONNX nodes.

#include "core/base/search.h"
#include "core/io/onnx/export_ops.h"

namespace tenon::onnx {
namespace {

bool export_matmul(OpCall& c) {
  if (is_narrow(c.dtype())) return false;
  const auto operand = [&](size_t i, std::string_view flag) {
    if (!c.flag(flag)) return c.in[i];
    Ints perm;
    for (size_t axis = 0; axis < c.rank(i); ++axis) perm.push_back(static_cast<int64_t>(axis));
    std::swap(perm[c.rank(i) - 2], perm[c.rank(i) - 1]);
    return c.w.node("Transpose", {c.in[i]}, {attribute("perm", perm.span())});
  };
  const std::string a = operand(0, "transpose_a"), b = operand(1, "transpose_b");
  c.out = {c.w.node("MatMul", {a, b})};
  return true;
}

// Exports a matmul of a narrow dtype, computed in i64.
bool export_matmul_as_i64(OpCall& c) { return export_widened(c, export_matmul); }

// Exports products whose zero points are absent or scalars as MatMulInteger. For per-row and
// per-column zero points, the decomposition subtracts them first.
bool export_int8_matmul(OpCall& c) {
  for (const size_t i : {size_t{2}, size_t{3}}) {
    if (c.has(i) && c.rank(i) > 0) return false;
  }
  c.out = {c.w.node("MatMulInteger", c.in)};
  return true;
}
// Exports products with zero points per row or column: subtracts them in int32 and multiplies.
bool export_int8_matmul_of_rows(OpCall& c) {
  const auto centred = [&](size_t i) {
    const std::string x = c.w.cast(c.in[i], DType::kI32);
    if (!c.has(2 + i)) return x;
    std::string zero = c.w.cast(c.in[2 + i], DType::kI32);
    if (i == 0 && c.rank(2) == 1 && c.rank(0) > 1) {
      zero = c.w.node("Unsqueeze", {zero, c.w.integers({-1})});
    }
    return c.w.node("Sub", {x, zero});
  };
  const std::string a = centred(0), b = centred(1);
  c.out = {c.w.node("MatMul", {a, b})};
  return true;
}

// Exports equations that onnxruntime interprets as Tenon does: letters with an explicit "->",
// without an ellipsis.
bool export_einsum(OpCall& c) {
  const std::string_view equation = c.text("equation");
  const bool plain = equation.find("->") != equation.npos && equation.find('.') == equation.npos;
  Attributes attributes;
  if (!plain || !is_floating(c.dtype()) || !c.attributes(attributes)) return false;
  c.out = {c.w.node("Einsum", c.in, attributes)};
  return true;
}

bool export_gemm(OpCall& c) {
  // ONNX stores alpha and beta as float32, so for float64 both must be 1.
  const bool plain = c.real("alpha") == 1 && c.real("beta") == 1;
  if (c.dtype() == DType::kF64 && !plain) return false;
  c.out = {c.w.node("Gemm", c.in,
                    {attribute("alpha", c.real("alpha")), attribute("beta", c.real("beta")),
                     attribute("transA", int64_t{c.flag("trans_a")}),
                     attribute("transB", int64_t{c.flag("trans_b")})})};
  return true;
}

// ---- convolutions

// The window attributes of a call. Empty lists are replaced by their default values.
struct Window {
  explicit Window(const OpCall& c, size_t n_axes) {
    const auto or_ones = [&](const Ints& given) { return given.empty() ? Ints(n_axes, 1) : given; };
    strides = or_ones(c.ints("strides"));
    dilations = or_ones(c.ints("dilations"));
    pads = c.ints("pads").empty() ? Ints(2 * n_axes, 0) : c.ints("pads");
  }
  bool has_negative_pads() const {
    return any_of(pads, [](int64_t pad) { return pad < 0; });
  }
  Attributes attributes(int64_t group) const {
    return {attribute("strides", strides.span()), attribute("pads", pads.span()),
            attribute("dilations", dilations.span()), attribute("group", group)};
  }

  Ints strides, dilations, pads;
};

// Whether the input of a convolution is dilated, which ONNX does not support.
bool is_dilated(const OpCall& c) {
  return any_of(c.ints("lhs_dilation"), [](int64_t d) { return d != 1; });
}

// Crops x instead of using negative pads, which ONNX does not allow for this op. Sets those pads to
// 0.
std::string crop_negative_pads(OpCall& c, std::string x, Ints& pads) {
  const size_t n = pads.size() / 2;
  Ints cuts(2 * (n + 2), 0);
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    for (const size_t end : {size_t{0}, size_t{1}}) {
      int64_t& pad = pads[end * n + i];
      any = any || pad < 0;
      cuts[end * (n + 2) + 2 + i] = std::min<int64_t>(pad, 0);
      pad = std::max<int64_t>(pad, 0);
    }
  }
  return any ? c.w.node("Pad", {std::move(x), c.w.integers(cuts.span())}) : x;
}

// Dilates x: reshapes each element to a row of its own and pads the row with zeros. The zeros after
// the last element are subtracted from the end pads.
std::string insert_dilation_zeros(OpCall& c, const std::string& x, const Ints& dilation,
                                  Ints& pads) {
  const SizeTable::Use use(c.w.body().sizes);
  const Dims& shape = c.types[0].shape;
  const size_t n = dilation.size();
  Dims rows{shape[0], shape[1]}, wide{shape[0], shape[1]};
  Ints zeros(2 * (2 + 2 * n), 0);
  for (size_t i = 0; i < n; ++i) {
    rows.push_back(shape[2 + i]);
    rows.push_back(1);
    wide.push_back(shape[2 + i] * dilation[i]);
    zeros[2 + 2 * n + 3 + 2 * i] = dilation[i] - 1;
    pads[n + i] -= dilation[i] - 1;
  }
  const std::string apart = c.w.node("Reshape", {x, c.w.sizes(rows)});
  const std::string filled = c.w.node("Pad", {apart, c.w.integers(zeros.span())});
  return c.w.node("Reshape", {filled, c.w.sizes(wide)});
}

bool export_conv(OpCall& c) {
  if (is_dilated(c) || Window(c, c.rank() - 2).has_negative_pads()) return false;
  c.out = {c.w.node("Conv", c.in, Window(c, c.rank() - 2).attributes(c.integer("group")))};
  return true;
}

// Exports convolutions with input dilation or negative pads: inserts zeros into the input, and
// crops it.
bool export_dilated_or_cropped_conv(OpCall& c) {
  Window window(c, c.rank() - 2);
  std::string x = c.in[0];
  if (is_dilated(c)) x = insert_dilation_zeros(c, x, c.ints("lhs_dilation"), window.pads);
  Texts inputs = c.in;
  inputs[0] = crop_negative_pads(c, x, window.pads);
  c.out = {c.w.node("Conv", inputs, window.attributes(c.integer("group")))};
  return true;
}

// The gradient of a convolution's input is a ConvTranspose whose output has the input's size.
bool export_conv_backward_input(OpCall& c) {
  const size_t n = c.rank() - 2;
  Window window(c, n);
  if (is_dilated(c) || window.has_negative_pads()) return false;
  Ints behind;
  for (size_t i = 0; i < n; ++i) {
    const Size size = c.out_type().shape[2 + i], dy = c.types[0].shape[2 + i];
    const Size taps = c.types[1].shape[2 + i];
    if (!size.known() || !dy.known() || !taps.known()) return false;
    const int64_t extent = (taps - 1) * window.dilations[i] + 1;
    const int64_t whole =
        (dy - 1) * window.strides[i] + extent - window.pads[i] - window.pads[n + i];
    behind.push_back(size - whole);
    if (behind[i] < 0 || behind[i] >= std::max(window.strides[i], window.dilations[i])) {
      return false;
    }
  }
  Attributes attributes = window.attributes(c.integer("group"));
  attributes.push_back(attribute("output_padding", behind.span()));
  c.out = {c.w.node("ConvTranspose", c.in, attributes)};
  return true;
}

// The gradient of a convolution's filter is a convolution of x with dy, with the batch and channel
// axes exchanged, and with strides and dilations exchanged. Each group is convolved separately.
bool export_conv_backward_filter(OpCall& c) {
  const size_t n = c.rank() - 2;
  Window window(c, n);
  std::string x = c.in[0];
  if (is_dilated(c)) x = insert_dilation_zeros(c, x, c.ints("lhs_dilation"), window.pads);
  x = crop_negative_pads(c, x, window.pads);
  std::swap(window.strides, window.dilations);
  const int64_t group = c.integer("group");
  Ints perm = {1, 0}, spatial, zeros(n, 0);
  Sizes sizes;
  for (size_t i = 0; i < n; ++i) {
    perm.push_back(static_cast<int64_t>(2 + i));
    spatial.push_back(static_cast<int64_t>(2 + i));
    sizes.push_back(c.out_type().shape[2 + i]);
  }
  const auto parts = [&](const std::string& whole) {
    if (group == 1) return Texts{whole};
    return c.w.nodes_of("Split", {whole}, static_cast<size_t>(group),
                        {attribute("axis", int64_t{1}), attribute("num_outputs", group)});
  };
  const auto turned = [&](const std::string& part) {
    return c.w.node("Transpose", {part}, {attribute("perm", perm.span())});
  };
  const Texts xs = parts(x), dys = parts(c.in[1]);
  Texts filters;
  for (size_t g = 0; g < xs.size(); ++g) {
    const std::string found =
        c.w.node("Conv", {turned(xs[g]), turned(dys[g])}, window.attributes(1));
    // Elements of x that no window of the forward convolution covers would produce additional
    // filter elements. They are cut off.
    const std::string taps = c.w.node(
        "Slice",
        {found, c.w.integers(zeros.span()), c.w.sizes(sizes.span()), c.w.integers(spatial.span())});
    filters.push_back(turned(taps));
  }
  c.out = {group == 1 ? filters[0] : c.w.node("Concat", filters, {attribute("axis", int64_t{0})})};
  return true;
}

bool export_conv_transpose(OpCall& c) {
  const size_t n = c.rank() - 2;
  Window window(c, n);
  if (window.has_negative_pads() || !c.sizes("output_shape").empty()) return false;
  for (size_t i = 0; i < c.ints("output_padding").size(); ++i) {
    const int64_t most = std::max(window.strides[i], window.dilations[i]);
    if (c.ints("output_padding")[i] >= most) return false;
  }
  Attributes attributes = window.attributes(c.integer("group"));
  if (const Ints& behind = c.ints("output_padding"); !behind.empty()) {
    attributes.push_back(attribute("output_padding", behind.span()));
  }
  c.out = {c.w.node("ConvTranspose", c.in, attributes)};
  return true;
}

// ---- pools

bool export_pool(OpCall& c) {
  const bool fits = is_floating(c.dtype()) || c.dtype() == DType::kI8 || c.dtype() == DType::kU8;
  Attributes attributes;
  if (!fits) return false;
  if (!c.attributes(attributes)) return false;
  const size_t n = c.wants(c.node().types.size() - 1) ? c.node().types.size() : 1;
  c.out = c.w.nodes_of(c.node().op->onnx, c.in, n, attributes);
  c.out.resize(c.node().types.size());
  return true;
}

// Sums windows by a convolution with ones. Each channel becomes an element of the batch.
bool export_window_sum(OpCall& c) {
  const SizeTable::Use use(c.w.body().sizes);
  const size_t n = c.rank() - 2;
  Window window(c, n);
  const Dims &from = c.types[0].shape, &to = c.out_type().shape;
  const Ints& kernel = c.ints("kernel_shape");
  Ints ones_shape = {1, 1};
  Dims one_channel{from[0] * from[1], 1};
  for (size_t i = 0; i < n; ++i) {
    ones_shape.push_back(kernel[i]);
    one_channel.push_back(from[2 + i]);
    if (!c.flag("ceil_mode")) continue;
    // With ceil_mode, windows may extend beyond the end, so the end padding is increased.
    if (!from[2 + i].known() || !to[2 + i].known()) return false;
    const int64_t reach =
        (to[2 + i] - 1) * window.strides[i] + (kernel[i] - 1) * window.dilations[i] + 1;
    window.pads[n + i] = reach - from[2 + i] - window.pads[i];
  }
  const std::string ones =
      c.w.node("Expand", {c.w.number(1, c.dtype()), c.w.integers(ones_shape.span())});
  const std::string x = c.w.node("Reshape", {c.in[0], c.w.sizes(one_channel)});
  const std::string y =
      c.w.node("Conv", {crop_negative_pads(c, x, window.pads), ones}, window.attributes(1));
  c.out = {c.w.node("Reshape", {y, c.w.sizes(to)})};
  return true;
}

// ---- normalisation

bool export_layer_norm(OpCall& c) {
  Attributes attributes;
  if (!c.attributes(attributes) || (c.dtype() != DType::kF32 && c.dtype() != DType::kF64)) {
    return false;
  }
  // ONNX's LayerNormalization returns float32 statistics for every dtype of x, unlike Tenon's op.
  const bool more = c.wants(1) || c.wants(2);
  if (more && c.dtype() != DType::kF32) return false;
  c.out = c.w.nodes_of("LayerNormalization", c.in, more ? 3 : 1, attributes);
  c.out.resize(3);
  return true;
}

// onnxruntime supports LRN only for 4-d float32 tensors, an odd size and positive factors.
bool export_lrn(OpCall& c) {
  const bool centred = c.integer("size") % 2 == 1 && c.real("alpha") > 0 && c.real("beta") > 0;
  const bool fits = c.rank() == 4 && c.dtype() == DType::kF32 && centred;
  Attributes attributes;
  for (const Size size : c.types[0].shape) {
    if (identical(size, 0)) return false;
  }
  if (!fits || !c.attributes(attributes)) return false;
  c.out = {c.w.node("LRN", c.in, attributes)};
  return true;
}

// ---- recurrent networks

bool export_recurrent(OpCall& c) {
  const Size hidden = c.types[2].shape[2];
  if (!hidden.known() || c.dtype() != DType::kF32 || c.integer("layout") != 0) return false;
  // onnxruntime computes these cases differently: with sequence lengths, or with clip.
  if (c.has(4) || c.real("clip") > 0) return false;
  const std::string_view op = c.node().op->name, direction = c.choice("direction");
  Attributes attributes = {attribute("hidden_size", hidden.word()),
                           attribute("direction", direction)};
  if (op == "lstm") {
    attributes.push_back(attribute("input_forget", int64_t{c.flag("input_forget")}));
  } else if (op == "gru") {
    attributes.push_back(attribute("linear_before_reset", int64_t{c.flag("linear_before_reset")}));
  } else {
    const std::string own = c.choice("activation") == "relu" ? "Relu" : "Tanh";
    const size_t n = direction == "bidirectional" ? 2 : 1;
    attributes.push_back(attribute("activations", Texts(n, own)));
  }
  c.out = c.w.nodes_of(c.node().op->onnx, c.in, c.node().types.size(), attributes);
  return true;
}

// ---- quantisation

bool is_byte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

bool export_quantize(OpCall& c) {
  if (c.dtype() != DType::kF32 || !is_byte(c.out_type().dtype)) return false;
  // ONNX quantises to uint8 if there is no zero point.
  if (!c.has(2) && c.out_type().dtype != DType::kU8) return false;
  Texts inputs = c.in;
  inputs.resize(c.has(2) ? 3 : 2);
  c.out = {c.w.node("QuantizeLinear", inputs, {attribute("axis", c.integer("axis"))})};
  return true;
}
bool export_dequantize(OpCall& c) {
  if (c.out_type().dtype != DType::kF32 || !is_byte(c.dtype())) return false;
  Texts inputs = c.in;
  inputs.resize(c.has(2) ? 3 : 2);
  c.out = {c.w.node("DequantizeLinear", inputs, {attribute("axis", c.integer("axis"))})};
  return true;
}

// ---- images

bool export_depth_to_space(OpCall& c) {
  const bool deep = c.node().op->name == "depth_to_space", dcr = c.choice("mode") == "dcr";
  if (!deep && !dcr) return false;
  Attributes attributes = {attribute("blocksize", c.integer("blocksize"))};
  if (deep) attributes.push_back(attribute("mode", std::string_view(dcr ? "DCR" : "CRD")));
  c.out = {c.w.node(c.node().op->onnx, c.in, attributes)};
  return true;
}

}  // namespace

void add_nn_exporters(ExportTable& all) {
  all["matmul"] = {.as_nodes = export_matmul, .as_function = export_matmul_as_i64};
  all["int8_matmul"] = {.as_nodes = export_int8_matmul, .as_function = export_int8_matmul_of_rows};
  all["einsum"] = {.as_nodes = export_einsum};
  all["lrn"] = {.as_nodes = export_lrn};
  all["gemm"] = {.as_nodes = export_gemm};
  all["conv"] = {.as_nodes = export_conv, .as_function = export_dilated_or_cropped_conv};
  all["conv_backward_input"] = {.as_function = export_conv_backward_input};
  all["conv_backward_filter"] = {.as_function = export_conv_backward_filter};
  all["conv_transpose"] = {.as_nodes = export_conv_transpose};
  for (const char* op : {"max_pool", "avg_pool", "lp_pool"}) all[op] = {.as_nodes = export_pool};
  all["window_sum"] = {.as_function = export_window_sum};
  all["layer_norm"] = {.as_nodes = export_layer_norm};
  for (const char* op : {"lstm", "gru", "rnn"}) all[op] = {.as_nodes = export_recurrent};
  all["quantize_linear"] = {.as_nodes = export_quantize};
  all["dequantize_linear"] = {.as_nodes = export_dequantize};
  all["depth_to_space"] = all["space_to_depth"] = {.as_nodes = export_depth_to_space};
}

}  // namespace tenon::onnx
