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

TensorType list_of(TensorType element);
TensorType element_of(TensorType list);

// Creates an empty list on the scope's device. The first `capacity` entries are copied into
// preallocated contiguous memory. Other entries keep their own memory.
Tensor list_create(const TensorType& element, Size capacity = 0);
// Returns the list with one entry replaced. `index` is an integer of rank 0. A null `x` clears the
// entry.
Tensor list_set(const Tensor& list, const Tensor& index, const Tensor& x);
Tensor list_get(const Tensor& list, const Tensor& index);
// Returns one more than the last index that was set, as an i64 of rank 0.
Tensor list_length(const Tensor& list);
// Adds the entries at equal indices.
Tensor list_add(const Tensor& a, const Tensor& b);
// list_stack() joins the first `length` entries along a new first axis; list_unstack() reverses it.
Tensor list_stack(const Tensor& list, Size length);
Tensor list_unstack(const Tensor& x);

// Finds a list op by name; NULL if there is none.
const OpDef* find_list_op(std::string_view name);

// zeros_or_list() returns zeros or, for a list type, an empty list. accumulated() adds two tensors
// or two lists.
Tensor zeros_or_list(const TensorType& type);
Tensor accumulated(const Tensor& a, const Tensor& b);

}  // namespace tenon
