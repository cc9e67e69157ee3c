// Exports indexing, sorting, dynamic slices, running extremes and random words as ONNX nodes.

#include <limits>

#include "core/io/onnx/export_ops.h"

namespace tenon::onnx {
namespace {

// ---- indexing

// Casts the coordinates (input 1) to i64, the only dtype that ONNX allows for them.
bool export_by_coordinates(OpCall& c) {
  Attributes attributes;
  if (!c.attributes(attributes)) return false;
  Texts inputs = c.in;
  if (c.types[1].dtype != DType::kI64) inputs[1] = c.w.cast(inputs[1], DType::kI64);
  c.out = {c.w.node(c.node().op->onnx, inputs, attributes)};
  return true;
}

// ---- order

// Maps elements to keys of a dtype that onnxruntime can sort, in the same order, and maps keys
// back.
struct SortKeys {
  SortKeys(OpCall& call, const std::string& x) : c(call) {
    const DType dtype = c.dtype();
    if (dtype == DType::kF16 || dtype == DType::kBF16) {
      keys = c.w.cast(x, DType::kF32);
    } else if (dtype == DType::kBool || is_narrow(dtype)) {
      keys = c.w.cast(x, DType::kI64);
      if (dtype == DType::kU64) keys = turned(keys);
    } else {
      keys = x;
    }
  }
  std::string values(const std::string& found) {
    const DType dtype = c.dtype();
    const bool same = is_floating(dtype) ? dtype == DType::kF32 || dtype == DType::kF64
                                         : !is_narrow(dtype) && dtype != DType::kBool;
    if (same) return found;
    return c.w.cast(dtype == DType::kU64 ? turned(found) : found, dtype);
  }

  OpCall& c;
  std::string keys;

 private:
  // Flips the sign bit, which maps the order of unsigned numbers to the order of signed numbers.
  std::string turned(const std::string& x) {
    const std::string first_bit = c.w.integer(std::numeric_limits<int64_t>::min());
    return c.w.node("BitwiseXor", {x, first_bit});
  }
};

// Adds a TopK node. Returns the names of its values and of its indices.
Texts write_top_k(OpCall& c, const std::string& x, const std::string& k, int64_t axis,
                  bool largest) {
  return c.w.nodes_of("TopK", {x, k}, 2,
                      {attribute("axis", axis), attribute("largest", int64_t{largest})});
}

// Sorts by TopK, which orders equal elements by index, as Tenon's sorts do.
bool export_sort(OpCall& c) {
  if (c.rank() == 0) return false;
  const int64_t axis = c.axis("axis", c.rank());
  const std::string n = c.w.size(c.types[0].shape[static_cast<size_t>(axis)]);
  SortKeys keys(c, c.in[0]);
  const Texts found = write_top_k(c, keys.keys, n, axis, c.flag("descending"));
  c.out = {c.node().op->name == "sort" ? keys.values(found[0]) : found[1]};
  return true;
}

bool export_top_k(OpCall& c) {
  const int64_t axis = c.axis("axis", c.rank());
  const std::string k = c.w.size(c.size("k"));
  SortKeys keys(c, c.in[0]);
  const Texts found = write_top_k(c, keys.keys, k, axis, c.flag("largest"));
  c.out = {keys.values(found[0]), found[1]};
  if (c.flag("sorted")) return true;
  // For unsorted results, orders the selected elements by their indices.
  c.out[1] = write_top_k(c, found[1], k, axis, false)[0];
  c.out[0] = c.w.node("GatherElements", {c.in[0], c.out[1]}, {attribute("axis", axis)});
  return true;
}

// For each value, counts the elements of the sequence that are less (side "left") or not greater.
bool export_searchsorted(OpCall& c) {
  const bool is_bool = c.dtype() == DType::kBool;
  const auto comparable = [&](const std::string& x) {
    return is_bool ? c.w.cast(x, DType::kI32) : x;
  };
  const std::string sequence = comparable(c.in[0]);
  const std::string value = c.w.node("Unsqueeze", {comparable(c.in[1]), c.w.integers({-1})});
  const bool left = c.choice("side") == "left";
  std::string before = c.w.node(left ? "Less" : "LessOrEqual", {sequence, value});
  if (is_floating(c.dtype())) {
    // NaN is greater than all numbers and equals itself.
    const std::string is_number = c.w.node("Not", {c.w.node("IsNaN", {c.in[0]})});
    const std::string value_is_nan = c.w.node("IsNaN", {value});
    before =
        c.w.node("Or", {before, left ? c.w.node("And", {value_is_nan, is_number}) : value_is_nan});
  }
  c.out = {c.w.node("ReduceSum", {c.w.cast(before, DType::kI64), c.w.integers({-1})},
                    {attribute("keepdims", int64_t{0})})};
  return true;
}

// ---- running products and extremes, as reductions over a masked square

// Expands x for a running op: inserts an axis i at `axis`, so that the axis of x, now j, follows
// it. Row i holds the elements that the op combines for result i, and `otherwise` at all other
// positions. `itself`: whether element i is among them.
std::string expand_for_running_op(OpCall& c, int64_t axis, bool itself,
                                  const std::string& otherwise) {
  const Size n = c.types[0].shape[static_cast<size_t>(axis)];
  const std::string length = c.w.reshape(c.w.size(n), {});
  const std::string places = c.w.node("Range", {c.w.integer(0), length, c.w.integer(1)});
  // i is the index of the result, and j, along the next axis, the index of a combined element.
  const std::string i = c.w.node("Unsqueeze", {places, c.w.integers({1})});
  const char* behind = itself ? "LessOrEqual" : "Less";
  const char* before = itself ? "GreaterOrEqual" : "Greater";
  const std::string counts = c.w.node(c.flag("reverse") ? behind : before, {i, places});
  Dims pair;
  for (int64_t k = 0; k <= static_cast<int64_t>(c.rank()); ++k) {
    pair.push_back(k == axis || k == axis + 1 ? n : Size(1));
  }
  const std::string mask = c.w.node("Reshape", {counts, c.w.sizes(pair)});
  const std::string each = c.w.node("Unsqueeze", {c.in[0], c.w.integers({axis})});
  return c.w.node("Where", {mask, each, otherwise});
}

bool export_cumprod(OpCall& c) {
  if (is_narrow(c.dtype())) return export_widened(c, export_cumprod);
  const SizeTable::Use use(c.w.body().sizes);
  const int64_t axis = c.axis("axis", c.rank());
  const std::string factors =
      expand_for_running_op(c, axis, !c.flag("exclusive"), c.w.number(1, c.dtype()));
  c.out = {c.w.node("ReduceProd", {factors, c.w.integers({axis + 1})},
                    {attribute("keepdims", int64_t{0})})};
  return true;
}

// Returns the smallest number of the dtype, which is the identity of max. If `least` is false,
// returns the largest number, which is the identity of min.
std::string extreme_value_of(OpCall& c, bool least) {
  const DType dtype = c.dtype();
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return c.w.number(least ? -infinity : infinity, dtype);
  }
  const uint64_t most = ~uint64_t{0} >> (64 - 8 * size_of(dtype) + is_signed_integer(dtype));
  const uint64_t bits = !least ? most : is_signed_integer(dtype) ? most + 1 : 0;
  return c.w.constant(dtype, {}, {reinterpret_cast<const char*>(&bits), size_of(dtype)});
}

// Exports cummax and cummin. Of equal extremes, they select the first in scan order, which is the
// last one in a reversed scan.
bool export_running_extreme(OpCall& c) {
  const SizeTable::Use use(c.w.body().sizes);
  const int64_t axis = c.axis("axis", c.rank());
  const bool is_max = c.node().op->name == "cummax";
  const std::string all = expand_for_running_op(c, axis, true, extreme_value_of(c, is_max));
  const std::string places =
      c.w.node(is_max ? "ArgMax" : "ArgMin", {all},
               {attribute("axis", axis + 1), attribute("keepdims", int64_t{0}),
                attribute("select_last_index", int64_t{c.flag("reverse")})});
  c.out = {c.w.node("GatherElements", {c.in[0], places}, {attribute("axis", axis)}), places};
  return true;
}

// Merges the two axes into one, along which the elements of the diagonal are evenly spaced.
bool export_diagonal(OpCall& c) {
  const SizeTable::Use use(c.w.body().sizes);
  const int64_t first = c.axis("axis1", c.rank()), second = c.axis("axis2", c.rank());
  const int64_t offset = c.integer("offset");
  Ints perm;
  Dims flat;
  const Dims& shape = c.types[0].shape;
  for (int64_t axis = 0; axis < static_cast<int64_t>(c.rank()); ++axis) {
    if (axis == first || axis == second) continue;
    perm.push_back(axis);
    flat.push_back(shape[static_cast<size_t>(axis)]);
  }
  perm.push_back(first);
  perm.push_back(second);
  const Size columns = shape[static_cast<size_t>(second)];
  flat.push_back(shape[static_cast<size_t>(first)] * columns);
  const std::string matrices = c.w.node("Transpose", {c.in[0]}, {attribute("perm", perm.span())});
  const std::string rows = c.w.node("Reshape", {matrices, c.w.sizes(flat)});
  const Dims& to = c.out_type().shape;
  const std::string length = c.w.reshape(c.w.size(to[to.rank() - 1]), {});
  const std::string steps = c.w.node("Range", {c.w.integer(0), length, c.w.integer(1)});
  // If the diagonal is empty because the offset is outside the matrix, the start index is
  // arbitrary.
  const bool is_empty = identical(to[to.rank() - 1], Size(0));
  const Size begin = is_empty ? Size(0) : offset >= 0 ? Size(offset) : columns * -offset;
  const std::string places =
      c.w.node("Add", {c.w.node("Mul", {steps, c.w.size(columns + 1)}), c.w.size(begin)});
  c.out = {c.w.node("Gather", {rows, places}, {attribute("axis", int64_t{-1})})};
  return true;
}

// ---- dynamic slices

// Converts negative starts, and clamps the starts so that the block is inside the input.
std::string clamp_block_start(OpCall& c, const std::string& starts, const Dims& block) {
  const std::string given = c.w.cast(starts, DType::kI64);
  const std::string from_end = c.w.node("Add", {given, c.w.sizes(c.types[0].shape)});
  const std::string negative = c.w.node("Less", {given, c.w.integer(0)});
  const std::string begin = c.w.node("Where", {negative, from_end, given});
  const std::string most = c.w.node("Sub", {c.w.sizes(c.types[0].shape), c.w.sizes(block)});
  return c.w.node("Max", {c.w.node("Min", {begin, most}), c.w.integer(0)});
}

bool export_dynamic_slice(OpCall& c) {
  const Dims& block = c.out_type().shape;
  const std::string begin = clamp_block_start(c, c.in[1], block);
  const std::string end = c.w.node("Add", {begin, c.w.sizes(block)});
  Ints axes;
  for (size_t i = 0; i < block.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  c.out = {block.rank() == 0 ? c.in[0]
                             : c.w.node("Slice", {c.in[0], begin, end, c.w.integers(axes.span())})};
  return true;
}

// Pads the update with zeros to the size of x, and selects it where a padded mask of ones is true.
bool export_dynamic_update_slice(OpCall& c) {
  const Dims& block = c.types[1].shape;
  if (block.rank() == 0) {
    c.out = {c.in[1]};
    return true;
  }
  const std::string begin = clamp_block_start(c, c.in[2], block);
  const std::string rest = c.w.node("Sub", {c.w.sizes(c.types[0].shape), c.w.sizes(block)});
  const std::string pads =
      c.w.node("Concat", {begin, c.w.node("Sub", {rest, begin})}, {attribute("axis", int64_t{0})});
  const std::string ones = c.w.node("Expand", {c.w.number(1, DType::kI32), c.w.sizes(block)});
  const std::string here = c.w.cast(c.w.node("Pad", {ones, pads}), DType::kBool);
  const std::string update = c.w.node("Pad", {c.in[1], pads});
  c.out = {write_select(c.w, c.dtype(), here, update, c.in[0])};
  return true;
}

// ---- random words: Philox4x32-10 with each 32-bit word in the low half of an int64

constexpr int64_t kMask = 0xffffffff;

// Shifts a u64 by 32 bits.
std::string shift_by_32(OpCall& c, const std::string& x, const char* direction) {
  const std::string by = c.w.number(32, DType::kU64);
  return c.w.node("BitShift", {x, by}, {attribute("direction", std::string_view(direction))});
}
// Adds nodes that compute the high 32 bits of an i64, as an i64.
std::string high_half(OpCall& c, const std::string& x) {
  return c.w.cast(shift_by_32(c, c.w.cast(x, DType::kU64), "RIGHT"), DType::kI64);
}
// Adds nodes that compute the low 32 bits of an i64, as an i64.
std::string low_half(OpCall& c, const std::string& x) {
  return c.w.node("BitwiseAnd", {x, c.w.integer(kMask)});
}

// Adds `by` to the 128-bit counter, whose four words are ordered from low to high.
Texts advance_counter(OpCall& c, const Texts& counter, const std::string& by) {
  Texts result;
  std::string carry = by;
  for (const std::string& word : counter) {
    // Adds one word of `by` to each word of the counter, with the carry from the previous word.
    const std::string sum = c.w.node("Add", {word, low_half(c, carry)});
    result.push_back(low_half(c, sum));
    carry = c.w.node("Add", {high_half(c, sum), high_half(c, carry)});
  }
  return result;
}

// Computes the ten rounds of Philox4x32 on the four words x.
Texts philox(OpCall& c, Texts x, Texts key) {
  const std::string m0 = c.w.integer(0xD2511F53), m1 = c.w.integer(0xCD9E8D57);
  const auto bitwise_xor = [&](const std::string& a, const std::string& b) {
    return c.w.node("BitwiseXor", {a, b});
  };
  for (int round = 0; round < 10; ++round) {
    const std::string p0 = c.w.node("Mul", {m0, x[0]}), p1 = c.w.node("Mul", {m1, x[2]});
    x = {bitwise_xor(bitwise_xor(high_half(c, p1), x[1]), key[0]), low_half(c, p1),
         bitwise_xor(bitwise_xor(high_half(c, p0), x[3]), key[1]), low_half(c, p0)};
    key = {low_half(c, c.w.node("Add", {key[0], c.w.integer(0x9E3779B9)})),
           low_half(c, c.w.node("Add", {key[1], c.w.integer(0xBB67AE85)}))};
  }
  return x;
}

bool export_rng_bits(OpCall& c) {
  const SizeTable::Use use(c.w.body().sizes);
  const TensorType& type = c.out_type();
  const bool pairs = type.dtype == DType::kU64;
  const Size words = count(type.shape) * (pairs ? 2 : 1), blocks = (words + 3) / 4;
  Texts state;
  const std::string all = c.w.cast(c.in[0], DType::kI64);
  for (int64_t i = 0; i < 6; ++i) state.push_back(c.w.node("Gather", {all, c.w.integers({i})}));
  const Texts key(state.begin(), state.begin() + 2), counter(state.begin() + 2, state.end());
  const std::string n = c.w.size(blocks);
  const std::string places =
      c.w.node("Range", {c.w.integer(0), c.w.reshape(n, {}), c.w.integer(1)});
  const Texts lanes = philox(c, advance_counter(c, counter, places), key);
  Texts columns;
  for (const std::string& lane : lanes) {
    columns.push_back(c.w.node("Unsqueeze", {lane, c.w.integers({1})}));
  }
  const Attributes along_rows = {attribute("axis", int64_t{1})};
  std::string bits = c.w.reshape(c.w.node("Concat", columns, along_rows), {-1});
  bits = c.w.node("Slice", {bits, c.w.integers({0}), c.w.size(words)});
  if (pairs) {
    const std::string rows = c.w.cast(c.w.reshape(bits, {-1, 2}), DType::kU64);
    const auto lane = [&](int64_t i) {
      return c.w.node("Gather", {rows, c.w.integer(i)}, along_rows);
    };
    bits = c.w.node("BitwiseOr", {lane(0), shift_by_32(c, lane(1), "LEFT")});
  } else {
    bits = c.w.cast(bits, DType::kU32);
  }
  Texts after = key;
  for (const std::string& word : advance_counter(c, counter, n)) after.push_back(word);
  const std::string next = c.w.node("Concat", after, {attribute("axis", int64_t{0})});
  c.out = {c.w.node("Reshape", {bits, c.w.sizes(type.shape)}), c.w.cast(next, DType::kU32)};
  return true;
}

}  // namespace

void add_index_exporters(ExportTable& all) {
  for (const char* op : {"gather_nd", "scatter_nd"}) all[op] = {.as_nodes = export_by_coordinates};
  all["sort"] = all["argsort"] = {.as_function = export_sort};
  all["top_k"] = {.as_function = export_top_k};
  all["searchsorted"] = {.as_function = export_searchsorted};
  all["cumprod"] = {.as_function = export_cumprod};
  all["cummax"] = all["cummin"] = {.as_function = export_running_extreme};
  all["diagonal"] = {.as_function = export_diagonal};
  all["dynamic_slice"] = {.as_function = export_dynamic_slice};
  all["dynamic_update_slice"] = {.as_function = export_dynamic_update_slice};
  all["rng_bits"] = {.as_function = export_rng_bits};
}

}  // namespace tenon::onnx
