// Lists of tensors of one type, as values of graphs. Loops store residuals and gathered outputs in
// them. A tensor whose type has `lists` set is a list (core/tensor/tensor_list.h). Lists are
// carried by loops, captured and differentiated like tensors. Only the ops in this file accept them
// as inputs.
//
// Entries that were never set read as zeros. The length is one more than the last index that was
// set.

#pragma once

#include "core/ops/definition/op.h"

namespace tenon {

// Returns the type of a list with entries of type `element`.
TensorType list_of(TensorType element);
// Returns the type of the entries of a list type.
TensorType element_of(TensorType list);

// Creates an empty list on the scope's device. The first `capacity` entries are copied into
// preallocated contiguous memory. Other entries keep their own memory.
Tensor list_create(const TensorType& element, Size capacity = 0);
// Returns the list with one entry replaced. `index` is an integer of rank 0. A null `x` clears the
// entry.
Tensor list_set(const Tensor& list, const Tensor& index, const Tensor& x);
// Returns the entry at `index`, an i64 of rank 0; zeros if it is not set.
Tensor list_get(const Tensor& list, const Tensor& index);
// Returns one more than the last index that was set, as an i64 of rank 0.
Tensor list_length(const Tensor& list);
// Returns a list whose entries are the sums of the entries of `a` and `b` at the same index.
Tensor list_add(const Tensor& a, const Tensor& b);
// Stacks the first `length` entries along a new first axis.
Tensor list_stack(const Tensor& list, Size length);
// Returns a list of the slices of x along its first axis.
Tensor list_unstack(const Tensor& x);

// Finds a list op by name; NULL if there is none.
const OpDef* find_list_op(std::string_view name);

// Returns zeros of this type or, for a list type, an empty list.
Tensor zeros_or_empty_list(const TensorType& type);
// Adds two tensors or two lists.
Tensor add_values(const Tensor& a, const Tensor& b);

}  // namespace tenon
