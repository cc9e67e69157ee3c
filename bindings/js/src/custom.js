// Custom ops, which are written in JavaScript and registered at run time.

import * as abi from './abi_gen.js';
import { check, invalid } from './errors.js';
import { c, alloc, enter, i64, leave, memory, putText, readSizes, refresh, struct, text, textOf, u32 } from './native.js';
import { dtypeOf, dtypeOfCode } from './dtypes.js';
import { cFunction, register } from './callbacks.js';
import { inCallback, requireContext } from './scope.js';
import { callByNumber } from './call.js';
import { borrow, handOver } from './tree.js';

const type = abi.tenon_type;
const hostArray = abi.tenon_host_array;

function readType(at) {
  refresh();
  const code = u32[(at + type.dtype) >>> 2];
  if (code === 0) return null;
  return { dtype: dtypeOfCode(code).name, shape: readSizes(at + type.shape, u32[(at + type.rank) >>> 2]) };
}

function writeType(at, { dtype, shape }) {
  refresh();
  u32[(at + type.dtype) >>> 2] = dtypeOf(dtype).code;
  u32[(at + type.rank) >>> 2] = shape.length;
  shape.forEach((size, axis) => { i64[(at + type.shape) / 8 + axis] = BigInt(size); });
}

/** Wraps the elements of a C array as a typed array on WebAssembly memory, without a copy. */
function readArray(at) {
  refresh();
  const found = readType(at + hostArray.type);
  if (found === null) return null;
  const { array, bytes } = dtypeOf(found.dtype);
  const size = u32[(at + hostArray.size) >>> 2];
  const data = new (array ?? Uint16Array)(memory.buffer, u32[(at + hostArray.data) >>> 2], size / bytes);
  return { ...found, data };
}

function asList(value) {
  return Array.isArray(value) ? value : [value];
}

function exactly(list, count, what) {
  if (list.length !== count) throw invalid(`${what} returned ${list.length} values instead of ${count}`);
  return list;
}

/** Registers a custom op, and returns the function that calls it. Types: index.d.ts. */
export function customOp({ name, inputs, outputs = 1, infer, compute, decompose, backward }) {
  if (typeof infer !== 'function') throw invalid('customOp: infer must be a function');
  const lists = (call, what) => (scope, handles, count) => inCallback(
      scope, () => handOver(exactly(asList(call(...borrow(handles))), count, what)));
  const callbacks = {
    infer(at, n, out, nOut) {
      const types = Array.from({ length: n }, (_, i) => readType(at + type.$ * i));
      exactly(asList(infer(...types)), nOut, `${name}: infer`).forEach((found, i) => writeType(out + type.$ * i, found));
    },
    compute(at, n, out, nOut) {
      const read = (start, count) => Array.from({ length: count }, (_, i) => readArray(start + hostArray.$ * i));
      compute(read(at, n), read(out, nOut));
    },
    decompose: decompose && lists(decompose, `${name}: decompose`),
    backward: backward && ((scope, args, count) => inCallback(scope, () => handOver(exactly(asList(backward(
        borrow(args.cotangents), borrow(args.inputs), borrow(args.outputs))), count, `${name}: backward`)))),
  };
  const frame = enter();
  try {
    const layout = abi.tenon_custom_op;
    const at = struct(layout);
    const set = (field, value) => { u32[(at + layout[field]) >> 2] = value; };
    set('n_inputs', inputs);
    set('n_outputs', outputs);
    putText(at + layout.name, name);
    set('infer', cFunction('infer'));
    if (compute) set('compute', cFunction('compute'));
    if (decompose) set('decompose', cFunction('decompose'));
    if (backward) set('backward', cFunction('custom_backward'));
    set('payload', register(callbacks));
    set('destroy', cFunction('destroy'));
    const out = alloc(4);
    check(c.tenon_op_register(requireContext(), at, out));
    refresh();
    const number = u32[out >> 2];
    return (...values) => {
      const tensors = callByNumber(number, values, outputs);
      return outputs === 1 ? tensors[0] : tensors;
    };
  } finally {
    leave(frame);
  }
}

/** Returns the number of an op by name, as in the C ABI. */
export function findOp(name) {
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_op_find(requireContext(), text(name), out));
    refresh();
    return u32[out >> 2];
  } finally {
    leave(frame);
  }
}

/** Returns the name of an op by number; empty if there is none. */
export function opName(number) {
  return textOf(c.tenon_op_name, requireContext(), number);
}
