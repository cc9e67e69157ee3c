// Exports ops that create tensors, and ops that rearrange elements without arithmetic.

#include <limits>

#include "core/base/search.h"
#include "core/io/onnx/export_ops.h"

namespace tenon::onnx {
namespace {

// ---- creation

bool export_fill(OpCall& c) {
  const TensorType& type = c.out_type();
  const bool is_constant = c.node().inputs[0].node->kind == NodeKind::kConstant;
  const std::string value = c.dtype() == type.dtype ? c.in[0] : c.w.cast(c.in[0], type.dtype);
  if (type.rank() == 0) {
    c.out = {value};
  } else if (is_constant) {
    ElementBits bits = {};
    write_scalar(*c.node().inputs[0].node->constant, type.dtype, &bits);
    const int64_t one = 1;
    const std::string_view element(reinterpret_cast<const char*>(&bits), size_of(type.dtype));
    c.out = {c.w.node("ConstantOfShape", {c.w.sizes(type.shape)},
                      {tensor_attribute("value", tensor("", type.dtype, {&one, 1}, element))})};
  } else {
    c.out = {c.w.node("Expand", {value, c.w.sizes(type.shape)})};
  }
  return true;
}

bool export_iota(OpCall& c) {
  const TensorType& type = c.out_type();
  const auto axis = static_cast<size_t>(c.axis("axis", type.rank()));
  const std::string n = c.w.reshape(c.w.size(type.shape[axis]), {});
  std::string y = c.w.node("Range", {c.w.integer(0), n, c.w.integer(1)});
  if (type.dtype != DType::kI64) y = c.w.cast(y, type.dtype);
  if (type.rank() > 1) {
    Ints column(type.rank(), 1);
    column[axis] = -1;
    y = c.w.node("Reshape", {y, c.w.integers(column.span())});
    y = c.w.node("Expand", {y, c.w.sizes(type.shape)});
  }
  c.out = {y};
  return true;
}

// ---- shapes

// Uses a constant shape if at most one size must be inferred (-1). A size that x has at the same
// axis is copied (0). Other shapes are computed at run time.
bool export_reshape(OpCall& c) {
  SizeTable& table = c.w.body().sizes;
  const Dims& from = c.types[0].shape;
  const TensorType& to = c.out_type();
  Ints shape;
  size_t n_open = 0;
  bool has_zero = false;
  for (size_t i = 0; i < to.rank(); ++i) {
    const Size size = table.resolved(to.shape[i]);
    const bool kept = i < from.rank() && identical(size, table.resolved(from[i]));
    has_zero = has_zero || identical(size, 0);
    n_open += !size.known() && !kept;
    shape.push_back(size.known() ? size.word() : kept ? 0 : -1);
  }
  const bool numbers = !has_zero && n_open <= 1;
  const std::string sizes = numbers ? c.w.integers(shape.span()) : c.w.sizes(to.shape);
  const Attributes literal = {attribute("allowzero", int64_t{1})};
  c.out = {c.w.node("Reshape", {c.in[0], sizes}, numbers ? Attributes() : literal)};
  return true;
}

bool export_broadcast(OpCall& c) {
  SizeTable& table = c.w.body().sizes;
  const Dims& from = c.types[0].shape;
  const TensorType& to = c.out_type();
  Dims sizes = to.shape;
  for (size_t i = 0; i < from.rank(); ++i) {
    Size& size = sizes[to.rank() - from.rank() + i];
    // For Expand, size 1 means that the axis keeps its size.
    if (identical(table.resolved(size), table.resolved(from[i]))) size = 1;
  }
  c.out = {c.w.node("Expand", {c.in[0], c.w.sizes(sizes)})};
  return true;
}

bool export_squeeze(OpCall& c) {
  Ints axes = c.ints("axes");
  for (size_t i = 0; c.ints("axes").empty() && i < c.rank(); ++i) {
    if (identical(c.types[0].shape[i], 1)) axes.push_back(static_cast<int64_t>(i));
  }
  c.out = {axes.empty() ? c.in[0] : c.w.node("Squeeze", {c.in[0], c.w.integers(axes.span())})};
  return true;
}

bool export_expand_dims(OpCall& c) {
  c.out = {c.w.node("Unsqueeze", {c.in[0], c.w.integers(c.ints("axes").span())})};
  return true;
}

bool export_slice(OpCall& c) {
  if (c.rank() == 0) {
    c.out = {c.in[0]};
    return true;
  }
  const Sizes starts = c.sizes("starts"), ends = c.sizes("ends");
  Ints axes = c.ints("axes"), steps = c.ints("steps");
  for (size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  Texts inputs = {c.in[0], c.w.sizes(starts.span()), c.w.sizes(ends.span()),
                  c.w.integers(axes.span())};
  if (!steps.empty()) inputs.push_back(c.w.integers(steps.span()));
  c.out = {c.w.node("Slice", inputs)};
  return true;
}

bool export_flip(OpCall& c) {
  if (c.rank() == 0) {
    c.out = {c.in[0]};
    return true;
  }
  Ints axes = c.ints("axes");
  for (size_t i = 0; c.ints("axes").empty() && i < c.rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  const Ints last(axes.size(), -1), before_all(axes.size(), std::numeric_limits<int64_t>::min());
  c.out = {c.w.node("Slice", {c.in[0], c.w.integers(last.span()), c.w.integers(before_all.span()),
                              c.w.integers(axes.span()), c.w.integers(last.span())})};
  return true;
}

bool export_split(OpCall& c) {
  const int64_t axis = c.axis("axis", c.rank());
  Sizes parts;
  for (const TensorType& type : c.node().types) {
    parts.push_back(type.shape[static_cast<size_t>(axis)]);
  }
  c.out = c.w.nodes_of("Split", {c.in[0], c.w.sizes(parts.span())}, parts.size(),
                       {attribute("axis", axis)});
  return true;
}

bool export_unstack(OpCall& c) {
  const int64_t axis = c.axis("axis", c.rank());
  for (size_t i = 0; i < c.node().types.size(); ++i) {
    c.out.push_back(c.w.node("Gather", {c.in[0], c.w.integer(static_cast<int64_t>(i))},
                             {attribute("axis", axis)}));
  }
  return true;
}

bool export_stack(OpCall& c) {
  const int64_t axis = c.axis("axis", c.out_type().rank());
  Texts parts;
  for (const std::string& x : c.in)
    parts.push_back(c.w.node("Unsqueeze", {x, c.w.integers({axis})}));
  c.out = {c.w.node("Concat", parts, {attribute("axis", axis)})};
  return true;
}

// Transposes the first input.
std::string transpose_input(OpCall& c, const Ints& perm) {
  return c.w.node("Transpose", {c.in[0]}, {attribute("perm", perm.span())});
}

bool export_transpose(OpCall& c) {
  Ints perm = c.ints("perm");
  const auto rank = static_cast<int64_t>(c.rank());
  for (int64_t& axis : perm) axis = axis < 0 ? axis + rank : axis;
  for (int64_t axis = rank; c.ints("perm").empty() && axis > 0; --axis) perm.push_back(axis - 1);
  c.out = {transpose_input(c, perm)};
  return true;
}

bool export_swapaxes(OpCall& c) {
  Ints perm;
  for (size_t i = 0; i < c.rank(); ++i) perm.push_back(static_cast<int64_t>(i));
  std::swap(perm[static_cast<size_t>(c.axis("axis1", c.rank()))],
            perm[static_cast<size_t>(c.axis("axis2", c.rank()))]);
  c.out = {transpose_input(c, perm)};
  return true;
}

bool export_moveaxis(OpCall& c) {
  const auto rank = static_cast<int64_t>(c.rank());
  const auto from_front = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const Ints &source = c.ints("source"), &destination = c.ints("destination");
  Ints perm(c.rank(), -1), others;
  for (size_t i = 0; i < source.size(); ++i) {
    perm[static_cast<size_t>(from_front(destination[i]))] = from_front(source[i]);
  }
  int64_t next = 0;
  for (int64_t& axis : perm) {
    while (axis < 0 && any_of(source, [&](int64_t s) { return from_front(s) == next; })) ++next;
    if (axis < 0) axis = next++;
  }
  c.out = {transpose_input(c, perm)};
  return true;
}

bool export_tile(OpCall& c) {
  c.out = {c.w.node("Tile", {c.in[0], c.w.integers(c.ints("repeats").span())})};
  return true;
}

bool export_pad(OpCall& c) {
  // REFLECT padding must be smaller than the axis.
  for (size_t i = 0; c.choice("mode") == "reflect" && i < c.rank(); ++i) {
    for (const Size pad : c.sizes("pads")) {
      const Size size = c.types[0].shape[i];
      if (pad.known() && size.known() && pad.word() >= size.word()) return false;
    }
  }
  Texts inputs = {c.in[0], c.w.sizes(c.sizes("pads").span()), c.has(1) ? c.in[1] : ""};
  if (const Ints& axes = c.ints("axes"); !axes.empty()) inputs.push_back(c.w.integers(axes.span()));
  c.out = {c.w.node("Pad", inputs, {attribute("mode", c.choice("mode"))})};
  return true;
}

bool export_triangle(OpCall& c) {
  const int64_t upper = c.node().op->name == "triu";
  c.out = {c.w.node("Trilu", {c.in[0], c.w.integer(c.integer("k"))}, {attribute("upper", upper)})};
  return true;
}

// NonZero has no `size` argument: it returns exactly the indices of the nonzero elements.
bool export_nonzero(OpCall& c) {
  if (c.rank() == 0) return false;
  const Attributes columns = {attribute("start", int64_t{1}), attribute("end", int64_t{2})};
  const std::string places = c.w.node("NonZero", {c.in[0]});
  const std::string count = c.w.node("Shape", {places}, columns);
  const std::string room = c.w.size(c.out_type().shape[1]);
  const std::string taken = c.w.node("Min", {count, room});
  const std::string first =
      c.w.node("Slice", {places, c.w.integers({0}), taken, c.w.integers({1})});
  const std::string pads =
      c.w.node("Concat", {c.w.integers({0, 0, 0}), c.w.node("Sub", {room, taken})},
               {attribute("axis", int64_t{0})});
  c.out = {c.w.node("Pad", {first, pads, c.w.integer(c.integer("fill"))}),
           c.w.node("Squeeze", {count})};
  return true;
}

}  // namespace

void add_shape_exporters(ExportTable& all) {
  all["fill"] = {.as_nodes = export_fill};
  all["iota"] = {.as_nodes = export_iota};
  all["reshape"] = {.as_nodes = export_reshape};
  all["broadcast_to"] = {.as_nodes = export_broadcast};
  all["squeeze"] = {.as_nodes = export_squeeze};
  all["expand_dims"] = {.as_nodes = export_expand_dims};
  all["slice"] = {.as_nodes = export_slice};
  all["nonzero"] = {.as_nodes = export_nonzero};
  all["flip"] = {.as_nodes = export_flip};
  all["split"] = {.as_nodes = export_split};
  all["unstack"] = {.as_nodes = export_unstack};
  all["stack"] = {.as_nodes = export_stack};
  all["transpose"] = {.as_nodes = export_transpose};
  all["swapaxes"] = {.as_nodes = export_swapaxes};
  all["moveaxis"] = {.as_nodes = export_moveaxis};
  all["tile"] = {.as_nodes = export_tile};
  all["pad"] = {.as_nodes = export_pad};
  all["tril"] = all["triu"] = {.as_nodes = export_triangle};
}

}  // namespace tenon::onnx
