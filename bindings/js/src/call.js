// Calls of ops: converts the arguments as the generated table describes, and calls tenon_call.

import { enums, tenon_size_argument } from './abi_gen.js';
import { fail, invalid } from './errors.js';
import {
  c, alloc, bytes, enter, f64, i32, i64, int64s, leave, onReady, pointers, putText, refresh, u32, u8,
} from './native.js';
import { dtypeOf } from './dtypes.js';
import { readValues, scalarHandle, tensorHandle } from './convert.js';
import { handleOf, scope, requireContext } from './scope.js';
import { Tensor } from './tensor.js';

/**
 * All ops, each with its row of the generated table and its function. index.js adds them to Tensor
 * as methods.
 */
export const ops = [];
/** The number of the op that was called last. */
export let lastOp = 0;

let tenonCall;
let release;
onReady(() => {
  tenonCall = c.tenon_call;
  release = c.tenon_tensor_release;
});

// ---- inputs

// Handles that the current call created and must release.
const temporaries = [];

/** Releases the temporaries beyond the first `count`. */
export function releaseTemporaries(count) {
  while (temporaries.length > count) release(temporaries.pop());
}

export function countTemporaries() {
  return temporaries.length;
}

function isNumber(value) {
  return typeof value === 'number';
}

/**
 * Returns the handle of an input: a tensor, a variable, a number or nested arrays. Handles that it
 * creates are added to the temporaries. A number becomes float32 if `isFloat`; otherwise it adopts
 * the dtype of the other operand.
 */
export function operand(value, isFloat) {
  if (value instanceof Tensor) return handleOf(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
    const { handle, isOwned } = scalarHandle(value, isFloat && typeof value === 'number');
    if (isOwned) temporaries.push(handle);
    return handle;
  }
  let handle;
  if (value?._isVariable) {
    handle = value._readHandle();
  } else if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const found = readValues(value);
    handle = tensorHandle(found);
  } else {
    throw invalid(`expected a tensor, a number or an array, but got ${describe(value)}`);
  }
  temporaries.push(handle);
  return handle;
}

function describe(value) {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? `an object of ${value.constructor?.name ?? 'no class'}` : `a ${typeof value}`;
}

/**
 * Returns the handles of inputs. If all inputs are numbers, they become float32; otherwise numbers
 * adopt the dtype of the tensors.
 */
export function operands(values) {
  const isFloat = values.every((value) => value === null || isNumber(value));
  return values.map((value) => (value === null ? 0 : operand(value, isFloat)));
}

// ---- fast path: one or two tensors, no options, one output

function unary(number) {
  return (x) => {
    const count = temporaries.length;
    const frame = enter();
    try {
      const at = alloc(8);
      const handle = x instanceof Tensor && x._handle !== 0 ? x._handle : operand(x, true);
      if (u32.length === 0) refresh();
      u32[at >> 2] = handle;
      lastOp = number;
      const error = tenonCall(scope, number, 0, at, 1, at + 4, 1);
      if (error !== 0) fail(error);
      if (u32.length === 0) refresh();
      return new Tensor(u32[(at + 4) >> 2]);
    } finally {
      leave(frame);
      if (temporaries.length > count) releaseTemporaries(count);
    }
  };
}

function binary(number) {
  return (x, y) => {
    const count = temporaries.length;
    const frame = enter();
    try {
      const at = alloc(16);
      let first;
      let second;
      if (x instanceof Tensor && y instanceof Tensor && x._handle !== 0 && y._handle !== 0) {
        first = x._handle;
        second = y._handle;
      } else {
        const isFloat = typeof x === 'number' && typeof y === 'number';
        first = operand(x, isFloat);
        second = operand(y, isFloat);
      }
      if (u32.length === 0) refresh();
      u32[at >> 2] = first;
      u32[(at >> 2) + 1] = second;
      lastOp = number;
      const error = tenonCall(scope, number, 0, at, 2, at + 8, 1);
      if (error !== 0) fail(error);
      if (u32.length === 0) refresh();
      return new Tensor(u32[(at >> 2) + 2]);
    } finally {
      leave(frame);
      if (temporaries.length > count) releaseTemporaries(count);
    }
  };
}

// ---- general path

function isOptions(value) {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Splits the arguments of an op: { inputs, values }. `values` are the attributes in table order.
 */
function arrange(row, args, skipsState) {
  const required = row.inputs.filter((input) => !input.isOptional && !(skipsState && input.name === 'state'));
  const names = [...row.inputs.filter((input) => input.isOptional), ...row.attributes].map((entry) => entry.name);
  const rest = args.slice(required.length);
  while (rest.length > 0 && rest[rest.length - 1] === undefined) rest.pop();
  const given = rest.length > 0 && isOptions(rest[rest.length - 1]) ? { ...rest.pop() } : {};
  if (rest.length > 1 || (rest.length > 0 && names.length === 0)) {
    throw invalid(`takes ${required.length} inputs${names.length ? ` and the options ${names.join(', ')}` : ''}, but ` +
                  `got ${args.length} arguments`, row.name);
  }
  if (rest.length > 0) given[names[0]] = rest[0];
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw invalid(names.length ? `there is no option '${name}'; the options are ${names.join(', ')}` :
                                   `there is no option '${name}'; the op has no options`, row.name);
    }
  }
  let next = 0;
  let inputs = row.inputs.map((input) => {
    if (input.isOptional) return given[input.name] ?? null;
    if (skipsState && input.name === 'state') return null;
    const value = args[next++];
    if (value === undefined || value === null || isOptions(value)) {
      throw invalid(`the input ${input.name} is missing`, row.name);
    }
    return value;
  });
  if (row.isVariadic) {
    if (!Array.isArray(inputs[0])) throw invalid(`${row.inputs[0].name} must be an array of tensors`, row.name);
    [inputs] = inputs;
  }
  return { inputs, values: row.attributes.map((attribute) => given[attribute.name]) };
}

function toInt(value, row, attribute) {
  if (typeof value === 'bigint') return value;
  if (!Number.isInteger(value)) throw invalid(`${attribute.name} must be an integer, but is ${value}`, row.name);
  return BigInt(value);
}

/**
 * Combines sizes that contain tensors into one tensor, and returns its handle; null if all are
 * numbers.
 */
function sizeTensor(value) {
  if (value instanceof Tensor) return operand(value);
  if (!Array.isArray(value) || !value.some((item) => item instanceof Tensor)) return null;
  const parts = value.map((item) => (item instanceof Tensor ? item.cast('int64').reshape([]) :
      new Tensor(tensorHandle(readValues(BigInt(item), 'int64', [])))));
  const stacked = ops.find((op) => op.name === 'stack').call(parts);
  for (const part of parts) part.dispose();
  const handle = handleOf(stacked);
  c.tenon_tensor_retain(handle);
  stacked.dispose();
  temporaries.push(handle);
  return handle;
}

function putAttribute(at, row, attribute, value, sizes) {
  const where = at + attribute.offset;
  switch (attribute.kind) {
    case 'i': {
      const tensor = sizeTensor(value);
      if (tensor !== null) sizes.push([attribute.name, tensor]);
      else i64[where / 8] = toInt(value, row, attribute);
      return;
    }
    case 'f':
      if (typeof value !== 'number') throw invalid(`${attribute.name} must be a number`, row.name);
      f64[where / 8] = value;
      return;
    case 'b':
      u8[where] = value ? 1 : 0;
      return;
    case 'd':
      u32[where >> 2] = typeof value === 'number' ? value : dtypeOf(value).code;
      return;
    case 's':
      putText(where, String(value));
      return;
    case 'I': {
      const tensor = sizeTensor(value);
      if (tensor !== null) {
        sizes.push([attribute.name, tensor]);
        return;
      }
      const list = (Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value) : [value])
          .map((item) => toInt(item, row, attribute));
      const data = int64s(list);
      u32[where >> 2] = data;
      u32[(at + attribute.countOffset) >> 2] = list.length;
      return;
    }
    default: {
      const names = enums[attribute.kind].split(' ');
      const index = typeof value === 'number' ? value : names.indexOf(value);
      if (!(index in names)) throw invalid(`${attribute.name} must be one of ${names.join(', ')}`, row.name);
      i32[where >> 2] = index;
    }
  }
}

/** Allocates the attribute struct of a call; 0 if all attributes have their defaults. */
function attributesOf(row, values, sizes) {
  if (values.every((value) => value === undefined)) return 0;
  const at = alloc(row.size);
  u8.fill(0, at, at + row.size);
  u32[at >> 2] = row.size;
  row.attributes.forEach((attribute, i) => {
    putAttribute(at, row, attribute, values[i] ?? attribute.value, sizes);
  });
  return at;
}

/** Returns the number of outputs of a variadic op. */
function countOutputs(row, inputs, values) {
  const value = (name) => {
    const at = row.attributes.findIndex((attribute) => attribute.name === name);
    return values[at] ?? row.attributes[at].value;
  };
  if (row.name === 'meshgrid') return inputs.length;
  if (row.name === 'split') {
    const parts = value('split');
    return Number(value('num_outputs')) || (Array.isArray(parts) ? parts.length : 1);
  }
  const { shape } = inputs[0] instanceof Tensor ? inputs[0] : readValues(inputs[0]);
  const axis = Number(value('axis'));
  return shape[axis < 0 ? axis + shape.length : axis] ?? 1;
}

/** Stores the tensors that hold sizes as an array of tenon_size_argument for tenon_call_sized. */
function sizeArguments(sizes) {
  const at = alloc(tenon_size_argument.$ * sizes.length);
  sizes.forEach(([name, handle], i) => {
    const entry = at + tenon_size_argument.$ * i;
    putText(entry + tenon_size_argument.attribute, name);
    u32[(entry + tenon_size_argument.sizes) >> 2] = handle;
  });
  return at;
}

/** Wraps an array of handles that C wrote. The tensors own them. */
export function takeTensors(at, count) {
  refresh();
  const tensors = new Array(count);
  for (let i = 0; i < count; ++i) {
    const handle = u32[(at >>> 2) + i];
    tensors[i] = handle === 0 ? null : new Tensor(handle);
  }
  return tensors;
}

/**
 * Calls an op of the generated table. With a generator, C passes the generator's state to the op
 * and stores the new state in the generator.
 */
export function callRow(row, args, generator = 0) {
  requireContext();
  const count = temporaries.length;
  const frame = enter();
  try {
    const { inputs, values } = arrange(row, args, generator !== 0);
    const sizes = [];
    const nOutputs = (row.outputs === null ? countOutputs(row, inputs, values) : row.outputs.length) -
        (generator !== 0 ? 1 : 0);
    const handles = operands(inputs);
    const attributes = attributesOf(row, values, sizes);
    const list = pointers(handles);
    const out = alloc(4 * Math.max(nOutputs, 1));
    let error;
    lastOp = row.number;
    if (generator !== 0) {
      error = c.tenon_generator_call(scope, generator, row.number, attributes, list, handles.length, out, nOutputs);
    } else if (sizes.length > 0) {
      error = c.tenon_call_sized(
          scope, row.number, attributes, sizeArguments(sizes), sizes.length, list, handles.length, out, nOutputs);
    } else {
      error = tenonCall(scope, row.number, attributes, list, handles.length, out, nOutputs);
    }
    if (error !== 0) fail(error);
    const tensors = takeTensors(out, nOutputs);
    if (row.outputs === null) return tensors;
    if (tensors.length === 1) return tensors[0];
    return Object.fromEntries(tensors.map((tensor, i) => [row.outputs[i], tensor]));
  } finally {
    leave(frame);
    releaseTemporaries(count);
  }
}

function readRow(number, name, inputs, outputs, size, attributes) {
  return {
    number,
    name,
    size,
    inputs: inputs.split(' ').filter(Boolean).map((input) => ({
      name: input.replace(/^(\?|\.\.\.)/, ''), isOptional: input[0] === '?',
    })),
    isVariadic: inputs.startsWith('...'),
    outputs: outputs === '...' ? null : outputs.split(' '),
    attributes: attributes.map((entry) => ({
      name: entry[0],
      kind: entry[1],
      offset: entry[2],
      countOffset: entry[1] === 'I' ? entry[3] : 0,
      value: entry[entry.length - 1],
    })),
  };
}

/** Calls an op that is not in the table, such as a custom op. */
export function callByNumber(number, inputs, nOutputs, attributes = null) {
  requireContext();
  const count = temporaries.length;
  const frame = enter();
  try {
    const handles = operands(inputs);
    const list = pointers(handles);
    const data = attributes === null ? 0 : bytes(attributes);
    const out = alloc(4 * nOutputs);
    const error = tenonCall(scope, number, data, list, handles.length, out, nOutputs);
    if (error !== 0) fail(error);
    return takeTensors(out, nOutputs);
  } finally {
    leave(frame);
    releaseTemporaries(count);
  }
}

/** Creates the function of an op and adds it to `ops`. Called by the table in ops_gen.js. */
export function op(number, name, inputs, outputs, size = 0, attributes = []) {
  const isSimple = size === 0 && !/[?.]|state/.test(inputs) && !outputs.includes(' ') && outputs !== '...';
  const width = inputs === '' ? 0 : inputs.split(' ').length;
  let row = null;
  const general = (...args) => {
    row ??= readRow(number, name, inputs, outputs, size, attributes);
    return callRow(row, args);
  };
  const short = isSimple && width === 1 ? unary(number) : isSimple && width === 2 ? binary(number) : null;
  const call = short === null ? general : short;
  ops.push({
    number,
    name,
    call,
    isMethod: width > 0 && !/^(\?|\.|state)/.test(inputs),
    width: short === null ? 0 : width,
    drawn: inputs.split(' ').includes('state') ? (generator, args) => {
      row ??= readRow(number, name, inputs, outputs, size, attributes);
      return callRow(row, args, generator);
    } : null,
  });
  return call;
}
