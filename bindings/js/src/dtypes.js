// Element types: their names, their codes in the C ABI, and the corresponding typed arrays.

import { invalid } from './errors.js';

// [name, code in the C ABI, bytes, typed array or null]
const rows = [
  ['float32', 0x12002, 4, Float32Array], ['float64', 0x14002, 8, Float64Array],
  ['int8', 0x10800, 1, Int8Array], ['int16', 0x11000, 2, Int16Array], ['int32', 0x12000, 4, Int32Array],
  ['int64', 0x14000, 8, BigInt64Array], ['uint8', 0x10801, 1, Uint8Array], ['uint16', 0x11001, 2, Uint16Array],
  ['uint32', 0x12001, 4, Uint32Array], ['uint64', 0x14001, 8, BigUint64Array], ['bool', 0x10806, 1, Uint8Array],
  ['float16', 0x11002, 2, null], ['bfloat16', 0x11004, 2, null],
  // Storage dtypes: only moved and converted. An element is one byte.
  ['int4', 0x10400, 1, null], ['uint4', 0x10401, 1, null], ['int2', 0x10200, 1, null], ['uint2', 0x10201, 1, null],
  ['float8_e4m3fn', 0x1080a, 1, null], ['float8_e4m3fnuz', 0x1080b, 1, null],
  ['float8_e5m2', 0x1080c, 1, null], ['float8_e5m2fnuz', 0x1080d, 1, null],
  ['float8_e8m0fnu', 0x1080e, 1, null], ['float4_e2m1fn', 0x10411, 1, null],
];

const byName = new Map(rows.map(([name, code, bytes, array]) => [name, { name, code, bytes, array }]));
const byCode = new Map([...byName.values()].map((dtype) => [dtype.code, dtype]));
const byArray = new Map([...byName.values()].filter((dtype) => dtype.array && dtype.name !== 'bool')
    .map((dtype) => [dtype.array, dtype]));
byArray.set(Uint8ClampedArray, byName.get('uint8'));

/** The names of all dtypes. */
export const dtypes = rows.map((row) => row[0]);

/** Returns the row of a dtype by name. */
export function dtypeOf(name) {
  const found = byName.get(name);
  if (!found) throw invalid(`there is no dtype '${name}'; the dtypes are ${dtypes.join(', ')}`);
  return found;
}

/** Returns the row of a dtype by its code in the C ABI. */
export function dtypeOfCode(code) {
  return byCode.get(code) ?? { name: `dtype ${code}`, code, bytes: 0, array: null };
}

/** Returns the row of the dtype of a typed array. */
export function dtypeOfArray(array) {
  return byArray.get(array.constructor);
}

export function isFloating(name) {
  return /float/.test(name);
}

export function is64Bit(name) {
  return name === 'int64' || name === 'uint64';
}
