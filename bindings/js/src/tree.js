// Trees: nested arrays and plain objects that functions take and return.

import { Tensor } from './tensor.js';
import { releaseTemporaries, countTemporaries, operand } from './call.js';
import { c, readPointers } from './native.js';

function isBranch(value) {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Returns { leaves, structure }: the leaves in order, and the tree with each leaf replaced by its
 * index.
 */
export function flattenTree(value, leaves = []) {
  const walk = (at) => {
    if (Array.isArray(at)) return at.map(walk);
    if (isBranch(at)) return Object.fromEntries(Object.keys(at).sort().map((key) => [key, walk(at[key])]));
    leaves.push(at);
    return leaves.length - 1;
  };
  const structure = walk(value);
  return { leaves, structure };
}

/** Rebuilds a tree from its structure and leaves. */
export function unflattenTree(structure, leaves) {
  if (typeof structure === 'number') return leaves[structure];
  if (Array.isArray(structure)) return structure.map((part) => unflattenTree(part, leaves));
  return Object.fromEntries(Object.entries(structure).map(([key, part]) => [key, unflattenTree(part, leaves)]));
}

/** Returns whether two structures are equal. */
export function sameStructure(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Formats a structure for messages. Leaves are shown as *. */
export function structureText(structure) {
  return JSON.stringify(structure).replace(/\d+/g, '*');
}

/** Wraps handles that C passed to a callback. Adds a reference to each. */
export function borrow(handles) {
  return handles.map((handle) => {
    if (handle === 0) return null;
    c.tenon_tensor_retain(handle);
    return new Tensor(handle);
  });
}

/**
 * Converts what a callback returns to handles, and adds a reference to each for C. null becomes 0.
 */
export function handOver(values) {
  const count = countTemporaries();
  try {
    return values.map((value) => {
      if (value === null) return 0;
      const handle = operand(value, typeof value === 'number');
      c.tenon_tensor_retain(handle);
      return handle;
    });
  } finally {
    releaseTemporaries(count);
  }
}

/** Calls `body` with the handles of values. Releases temporary handles afterwards. */
export function withHandles(values, body) {
  const count = countTemporaries();
  try {
    return body(values.map((value) => (value === null ? 0 : operand(value, typeof value === 'number'))));
  } finally {
    releaseTemporaries(count);
  }
}

/** Wraps the borrowed handles in a C array as tensors. */
export function borrowAt(at, count) {
  return borrow(readPointers(at, count));
}
