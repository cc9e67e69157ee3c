#include "plugins/vulkan/kernels/merge.h"

#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::ElementVar;
using spirv::U32;
using spirv::Var;

Bool precedes(const Element& a, const Element& b, bool is_descending) {
  const Bool before =
      a.kind() == spirv::Kind::kBool
          ? (is_descending ? a.boolean() & (!b.boolean()) : b.boolean() & (!a.boolean()))
          : compare(is_descending ? TENON_OP_greater : TENON_OP_less, a, b);
  if (!spirv::is_float(a.dtype())) return before;
  return select(is_nan(b), !is_nan(a), before);
}

namespace {

// Emits the shader that sorts blocks of kLocalSize elements, one block per group. The new position
// of an element is the number of elements of its block that precede it. Parameters: the total
// number of blocks, the length of a line, the number of blocks per line, the stride along a line,
// and the other axes.
Words write_block_sort(const Capabilities& capabilities, tenon_dtype dtype, bool is_descending) {
  Code code(capabilities, {.n_operands = 2, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), to(code, 1, TENON_UINT32);
  const U32 length = code.parameter(1u), n_blocks = code.parameter(2u), stride = code.parameter(3u);
  const AxesCode axes(code, code.u32(4), 1);
  const spirv::SharedElements block(code, dtype, kLocalSize);
  const U32 self = code.local_index();
  code.for_(code.group_index(), code.parameter(0u), code.n_groups(), [&](U32 item) {
    const U32 line = item / n_blocks, begin = (item - line * n_blocks) * kLocalSize;
    const U32 n = min(code.u32(kLocalSize), length - begin);
    const ElementVar loaded(spirv::constant(code, dtype, 0));
    code.if_(self < n,
             [&] { loaded.set(x.load(axes.operand_offsets(line)[0] + (begin + self) * stride)); });
    const Element own = loaded.get();
    block.set(self, own);
    code.barrier();
    const Var<U32> rank = code.var(code.u32(0));
    code.for_many(code.u32(0), n, [&](U32 i) {
      const Element other = block.get(i);
      const Bool is_before = select(i < self, !precedes(own, other, is_descending),
                                    precedes(other, own, is_descending));
      rank.set(rank.get() + to_u32(is_before));
    });
    code.if_(self < n, [&] {
      to.store(line * length + begin + rank.get(), {TENON_UINT32, begin + self});
    });
    code.barrier();
  });
  return code.finish();
}

// Parameters of a pass: the total number of elements, the length of a line, the length of the
// sorted runs, the stride along a line, and the other axes.
Words write_merge_pass(const Capabilities& capabilities, tenon_dtype dtype, bool is_descending) {
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), from(code, 1, TENON_UINT32), to(code, 2, TENON_UINT32);
  const U32 length = code.parameter(1u), run = code.parameter(2u), stride = code.parameter(3u);
  const AxesCode axes(code, code.u32(4), 1);
  // In the first pass runs have one element, and the permutation is the identity.
  const Bool is_first = run == 1;
  code.for_each(code.parameter(0u), [&](U32 number) {
    const U32 line = number / length, at = number - line * length, first = line * length;
    const U32 place = axes.operand_offsets(line)[0];
    const auto place_at = [&](U32 i) {
      const Var<U32> found = code.var(i);
      code.if_(!is_first, [&] { found.set(from.load(first + i).word()); });
      return found.get();
    };
    const U32 own_place = place_at(at);
    const Element own = x.load(place + own_place * stride);
    const U32 own_run = at / run;
    const Bool is_right = (own_run & 1) != 0;
    const U32 pair = (own_run & ~code.u32(1)) * run;
    const U32 middle = min(pair + run, length);
    const U32 begin = select(is_right, pair, middle);
    const U32 end = select(is_right, middle, min(middle + run, length));
    const U32 found = find_first_false(code, begin, end, [&](U32 i) {
      const Element other = x.load(place + place_at(i) * stride);
      // Keeps the sort stable: equal elements of the left run remain before those of the right run.
      return select(is_right, !precedes(own, other, is_descending),
                    precedes(other, own, is_descending));
    });
    // The new position is the number of preceding elements in the own run plus those in the other
    // run.
    const U32 own_begin = select(is_right, middle, pair);
    to.store(first + pair + (at - own_begin) + (found - begin), {TENON_UINT32, own_place});
  });
  return code.finish();
}

}  // namespace

tenon_error* MergeSort::enqueue(Encoder& encoder, const Operand& x, const Lines& lines,
                                const Operand& room, Operand* out_indices) const {
  const Pipeline *blocks = nullptr, *merge = nullptr;
  tenon_error* error = sort_blocks_.get(device_, 2, &blocks, [&] {
    return write_block_sort(capabilities_of(device_), dtype_, is_descending_);
  });
  if (error != nullptr) return error;
  error = merge_.get(device_, 3, &merge, [&] {
    return write_merge_pass(capabilities_of(device_), dtype_, is_descending_);
  });
  if (error != nullptr) return error;

  Operand from = room, to = room;
  from.end = from.begin + 4 * static_cast<uint64_t>(lines.n_elements);
  to.begin = to.first = from.end;
  to.end = to.begin + 4 * static_cast<uint64_t>(lines.n_elements);
  const int64_t length = lines.length;
  int64_t run = 1;
  // Short lines skip this step, because their blocks would be mostly empty.
  if (length > kLocalSize / 2) {
    const int64_t n_blocks = (length + kLocalSize - 1) / kLocalSize;
    const int64_t n = lines.n_elements / length * n_blocks;
    Words words;
    for (const int64_t word : {n, length, n_blocks, lines.stride}) push(words, word);
    lines.others.push(words);
    from.is_written = true;
    const Operand operands[] = {x, from};
    error =
        encoder.dispatch({blocks, operands, words, groups_up_to_limit(static_cast<uint64_t>(n))});
    if (error != nullptr) return error;
    run = kLocalSize;
  }
  // One pass also runs for lines of one element, because it writes the index.
  for (; run < length || run == 1; run *= 2) {
    Words words;
    for (const int64_t word : {lines.n_elements, length, run, lines.stride}) push(words, word);
    lines.others.push(words);
    from.is_written = false;
    to.is_written = true;
    const Operand operands[] = {x, from, to};
    error = encoder.dispatch(
        {merge, operands, words, groups_for(static_cast<uint64_t>(lines.n_elements))});
    if (error != nullptr) return error;
    std::swap(from, to);
  }
  from.is_written = false;
  *out_indices = from;
  return nullptr;
}

}  // namespace tenon_vulkan
