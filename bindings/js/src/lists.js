// Lists of tensors of one type, for loops that collect results. A tensor represents the list.

import { c, int64s } from './native.js';
import { dtypeOf } from './dtypes.js';
import { scope } from './scope.js';
import { Tensor, withOutput } from './tensor.js';
import { withHandles } from './tree.js';

/** An immutable list of tensors: push() and set() return a new list. Types: index.d.ts. */
export class TensorList {
  constructor(tensor) {
    this.tensor = tensor;
  }

  static create(shape, { dtype = 'float32', capacity = 0 } = {}) {
    return new TensorList(withOutput((out) => c.tenon_list_create(
        scope, dtypeOf(dtype).code, int64s(shape), shape.length, BigInt(capacity), out)));
  }

  static like(entry, { capacity = 0 } = {}) {
    return listOf([entry], ([handle], out) => c.tenon_list_create_like(scope, handle, BigInt(capacity), out));
  }

  static unstack(tensor) {
    return listOf([tensor], ([handle], out) => c.tenon_list_unstack(scope, handle, out));
  }

  push(entry) {
    return listOf([this.tensor, entry], ([list, handle], out) => c.tenon_list_push(scope, list, handle, out));
  }

  set(index, entry) {
    return listOf([this.tensor, asIndex(index), entry],
        ([list, at, handle], out) => c.tenon_list_set(scope, list, at, handle, out));
  }

  get(index) {
    return tensorOf([this.tensor, asIndex(index)], ([list, at], out) => c.tenon_list_get(scope, list, at, out));
  }

  length() {
    return tensorOf([this.tensor], ([list], out) => c.tenon_list_length(scope, list, out));
  }

  stack(length = null) {
    return tensorOf([this.tensor, asIndex(length)], ([list, n], out) => c.tenon_list_stack(scope, list, n, out));
  }

  concat(length = null) {
    return tensorOf([this.tensor, asIndex(length)], ([list, n], out) => c.tenon_list_concat(scope, list, n, out));
  }

  dispose() {
    this.tensor.dispose();
  }

  [Symbol.dispose]() {
    this.dispose();
  }
}

/** Converts a number to a bigint, so that the index becomes an int64 and never a float. */
function asIndex(index) {
  return typeof index === 'number' ? BigInt(index) : index;
}

function tensorOf(values, call) {
  return withHandles(values, (handles) => withOutput((out) => call(handles, out)));
}

function listOf(values, call) {
  return new TensorList(tensorOf(values, call));
}

/** Wraps a tensor whose value is a list, such as an output of a loop. */
export function asList(tensor) {
  return new TensorList(tensor instanceof Tensor ? tensor : tensor.tensor);
}
