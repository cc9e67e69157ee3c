// Lists of tensors of one type, as values of programs: what a loop leaves for its way back, and
// what it gathers. A tensor whose type says `list` is one (core/tensor/tensor_list.h). Lists are
// carried, captured and differentiated as tensors are; only these ops take them.
//
// An entry that nobody set is zeros. A list is as long as its last entry that was set says.

#pragma once

#include "core/ops/op.h"

namespace tenon {

TensorType list_of(TensorType element);
TensorType element_of(TensorType list);

// An empty list, on the scope's device. `capacity`: for so many entries there is memory from the
// start, side by side, into which they are copied; others keep the memory that they have.
Tensor list_create(const TensorType& element, Size capacity = 0);
// The list with another entry; `index` is an integer of rank 0. Without `x`, none is there.
Tensor list_set(const Tensor& list, const Tensor& index, const Tensor& x);
Tensor list_get(const Tensor& list, const Tensor& index);
// One more than the last index that was set, as an i64 of rank 0.
Tensor list_length(const Tensor& list);
// The sums of entries at one index.
Tensor list_add(const Tensor& a, const Tensor& b);
// The first `length` entries as one tensor, along a new first axis; and back.
Tensor list_stack(const Tensor& list, Size length);
Tensor list_unstack(const Tensor& x);

// The ops by their names; NULL if there is none.
const OpDef* find_list_op(std::string_view name);

// Zeros and sums of whatever can be differentiated.
Tensor zeros_or_list(const TensorType& type);
Tensor accumulated(const Tensor& a, const Tensor& b);

}  // namespace tenon
