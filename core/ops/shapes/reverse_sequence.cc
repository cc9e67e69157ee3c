// reverse_sequence: reverses the first sequence_lens[i] elements of each sequence i of a batch.

#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t batch_axis = 1;  // The batch axis; a negative one counts from the end.
  int64_t time_axis = 0;   // The axis along which each sequence extends.
  TENON_ATTRS(batch_axis, time_axis)
};

// Constraints.
//   C1  sequence_lens are int32 or int64.
//   C2  no length is larger than the size of x along time_axis.
//   C3  batch_axis and time_axis are two different axes of x: -rank(x) <= axis < rank(x).
//   C4  sequence_lens have one axis, with one element for each sequence.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &lens = in[1];
  require_indices(lens, "sequence_lens");
  require_axes({attrs.batch_axis, attrs.time_axis}, x, "C3");
  const Size batch = x.shape[static_cast<size_t>(from_front(attrs.batch_axis, x.rank()))];
  require(lens.rank() == 1 && lens.shape[0] == batch,
          "C4: sequence_lens must have one element for each of {} sequences, but are {}", batch,
          lens);
  return {TensorType(x.dtype, x.shape)};
}

// If the sequence has length n, element t < n of the result is element n - 1 - t of x. Elements
// from n on are unchanged.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  const auto batch = static_cast<size_t>(from_front(attrs.batch_axis, x->rank()));
  const auto time = static_cast<size_t>(from_front(attrs.time_axis, x->rank()));
  Dims along_time, along_batch;
  for (size_t i = 0; i < x->rank(); ++i) {
    along_time.push_back(i == time ? x->shape()[i] : Size(1));
    along_batch.push_back(i == batch ? x->shape()[i] : Size(1));
  }
  const Tensor t = iota(along_time, DType::kI64, static_cast<int64_t>(time));
  const Tensor lens = reshape(cast(in[1], DType::kI64), along_batch);
  const Tensor from = where(less(t, lens), sub(sub(lens, t), integer(1)), t);
  return {gather_elements(x, broadcast_to(from, x->shape()), attrs.time_axis)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example", .inputs = {x, i64({3, 2})}, .expect = {f32({3, 2}, {5, 4, 3, 2, 1, 6})}},
      {.name = "axes",
       .attrs = {.batch_axis = 0, .time_axis = -1},
       .inputs = {x, i32({1, 2, 2})},
       .expect = {f32({3, 2}, {1, 2, 4, 3, 6, 5})}},
      {.name = "lengths_below_two_change_nothing",
       .inputs = {i8({2, 3}, {1, 2, 3, 4, 5, 6}), i64({1, 0, -5})},
       .expect = {i8({2, 3}, {1, 2, 3, 4, 5, 6})}},
      {.name = "steps_of_many_elements", .inputs = {uniform({4, 3, 2}), i64({4, 2, 3})}},
      {.name = "axes_apart",
       .attrs = {.batch_axis = 2, .time_axis = 0},
       .inputs = {uniform({3, 2, 2}), i64({3, 2})}},
      {.name = "no_sequences",
       .inputs = {uniform({3, 0}), i64({0}, {})},
       .expect = {f32({3, 0}, {})}},
      {.name = "lengths_are_floating", .inputs = {x, f32({3, 2})}, .error = "C1"},
      {.name = "longer_than_there_is", .inputs = {x, i64({3, 4})}, .error = "C2"},
      {.name = "one_axis", .inputs = {f32({1, 2}), i64({1})}, .error = "C3"},
      {.name = "axis_twice",
       .attrs = {.batch_axis = 0, .time_axis = -2},
       .inputs = {x, i64({1, 1, 1})},
       .error = "C3"},
      {.name = "a_length_too_few", .inputs = {x, i64({1})}, .error = "C4"},
  };
}

}  // namespace

OpDef reverse_sequence_def() {
  return define<Attrs>({
      .name = "reverse_sequence",
      .summary = "A batch of sequences, with the leading elements of each in reverse order.",
      .formula = "y[t, b] = x[sequence_lens[b] - 1 - t, b] if t < sequence_lens[b], else x[t, b]",
      .details = "A sequence with a length of 0 or less is unchanged.",
      .inputs = {{"x", "the sequences"},
                 {"sequence_lens", "the number of leading elements to reverse in each sequence"}},
      .outputs = {{"y", "the sequences with their leading elements reversed"}},
      .attrs_doc =
          {{"batch_axis",
            "The axis that enumerates the sequences; a negative one counts from the end."},
           {"time_axis",
            "The axis along which each sequence runs; a negative one counts from the end."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .index_rule = "C2",
      .onnx = "ReverseSequence",
  });
}

}  // namespace tenon::ops
