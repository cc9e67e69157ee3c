// Conversion of numbers, nested arrays and typed arrays to tensors, and of tensors to arrays.

import { check, invalid } from './errors.js';
import { c, alloc, enter, int64s, leave, refresh, u32, u8 } from './native.js';
import { dtypeOf, dtypeOfArray, is64Bit } from './dtypes.js';
import { scope } from './scope.js';

// A cache of inline scalars, which belong to no context or device. They are never released.
const scalars = new Map();
const MAX_SCALARS = 512;

/** Returns the handle of an inline scalar, and whether the caller must release it. */
export function scalarHandle(value, isFloat) {
  const key = isFloat ? `f${Object.is(value, -0) ? '-0' : value}` : value;
  const found = scalars.get(key);
  if (found !== undefined) return { handle: found, isOwned: false };
  const handle = makeScalar(value, isFloat);
  if (scalars.size >= MAX_SCALARS) return { handle, isOwned: true };
  scalars.set(key, handle);
  return { handle, isOwned: false };
}

/** Creates an inline scalar. An integral number also adopts integer dtypes, unless `isFloat`. */
export function makeScalar(value, isFloat = false) {
  if (typeof value === 'boolean') return c.tenon_scalar_bool(value ? 1 : 0) >>> 0;
  if (typeof value === 'bigint') return c.tenon_scalar_i64(BigInt.asIntN(64, value)) >>> 0;
  const isIntegral = !isFloat && Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 63;
  return (isIntegral ? c.tenon_scalar_i64(BigInt(value)) : c.tenon_scalar_f64(value)) >>> 0;
}

function isTyped(value) {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/**
 * Returns the shape of nested arrays. Their leaves are numbers, booleans, bigints or typed arrays.
 */
function shapeOf(values) {
  const shape = [];
  for (let at = values; Array.isArray(at) || isTyped(at); at = at[0]) {
    shape.push(at.length);
    if (isTyped(at) || at.length === 0) break;
  }
  return shape;
}

function flatten(values, shape, axis, into) {
  if (axis === shape.length) {
    into.push(values);
    return;
  }
  if (!(Array.isArray(values) || isTyped(values)) || values.length !== shape[axis]) {
    throw invalid(`tensor: the arrays of axis ${axis} have different lengths: ${values?.length ?? 'a number'} and ` +
                  `${shape[axis]}`);
  }
  for (const value of values) flatten(value, shape, axis + 1, into);
}

function guessDtype(flat) {
  const first = flat[0];
  if (typeof first === 'boolean') return 'bool';
  return typeof first === 'bigint' ? 'int64' : 'float32';
}

function element(value, dtype) {
  if (dtype === 'bool') return value ? 1 : 0;
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') {
    throw invalid(`tensor: an element is a ${value === null ? 'null' : typeof value}, not a number`);
  }
  return is64Bit(dtype) ? BigInt(value) : Number(value);
}

/**
 * Converts elements to a typed array of `dtype`. float16 and bfloat16 become float32; callers cast
 * later.
 */
function toTyped(flat, dtype) {
  const { array } = dtypeOf(dtype);
  const result = new (array ?? Float32Array)(flat.length);
  for (let i = 0; i < flat.length; ++i) result[i] = element(flat[i], dtype);
  return result;
}

/**
 * Converts the arguments of tensor() to { data, dtype, shape }. `dtype` is the element type of
 * `data`.
 */
export function readValues(values, dtype, shape) {
  let flat = values;
  let found = [];
  let own = null;
  if (isTyped(values)) {
    found = [values.length];
    own = dtypeOfArray(values)?.name;
    if (!own) {
      throw invalid(`tensor: a ${values.constructor.name} is not supported, because no dtype corresponds to it`);
    }
  } else if (values instanceof ArrayBuffer) {
    if (!dtype) throw invalid('tensor: pass the option dtype together with an ArrayBuffer');
    const { array } = dtypeOf(dtype);
    flat = new (array ?? Uint16Array)(values);
    found = [flat.length];
    own = dtype;
  } else if (Array.isArray(values)) {
    found = shapeOf(values);
    flat = [];
    flatten(values, found, 0, flat);
  } else {
    flat = [values];
  }
  const wanted = shape ?? found;
  const count = wanted.reduce((product, size) => product * size, 1);
  if (count !== flat.length || wanted.some((size) => !(size >= 0))) {
    throw invalid(`tensor: the shape [${wanted}] does not fit ${flat.length} elements`);
  }
  const name = dtype ?? own ?? guessDtype(flat);
  if (own === name) return { data: flat, dtype: name, shape: wanted };
  return { data: toTyped(flat, name), dtype: dtypeOf(name).array ? name : 'float32', shape: wanted };
}

/** Creates a tensor from elements and returns its handle. */
export function tensorHandle({ data, dtype, shape }) {
  const frame = enter();
  let block = 0;
  try {
    const sizes = int64s(shape);
    const out = alloc(4);
    const source = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    block = c.malloc(Math.max(source.length, 1)) >>> 0;
    if (block === 0) throw invalid(`tensor: cannot allocate ${source.length} bytes`);
    refresh();
    u8.set(source, block);
    check(c.tenon_tensor_from_data(scope, dtypeOf(dtype).code, sizes, shape.length, block, source.length, out));
    refresh();
    return u32[out >> 2];
  } finally {
    if (block) c.free(block);
    leave(frame);
  }
}

/** Copies elements out of WebAssembly memory into a typed array of `dtype`. */
export function copyOut(address, bytes, dtype) {
  refresh();
  const copy = new Uint8Array(bytes);
  copy.set(u8.subarray(address, address + bytes));
  return new (dtype.array ?? (dtype.bytes === 2 ? Uint16Array : Uint8Array))(copy.buffer);
}

function plain(value, dtype) {
  if (dtype === 'bool') return value !== 0;
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw invalid(`${value} is not exact as a number; read the elements with data() or dataSync()`);
  }
  return number;
}

/** Converts elements to nested arrays of numbers or booleans. */
export function nest(data, shape, dtype) {
  let at = 0;
  const level = (axis) => {
    if (axis === shape.length) return plain(data[at++], dtype);
    const items = new Array(shape[axis]);
    for (let i = 0; i < items.length; ++i) items[i] = level(axis + 1);
    return items;
  };
  return level(0);
}
