// Trees: arrays and plain objects of leaves, as functions take and return them.

import { Tensor } from './tensor.js';
import { releaseTemporaries, countTemporaries, operand } from './call.js';
import { c, readPointers } from './native.js';

function isBranch(value) {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** { leaves, structure }: the leaves in order, and a tree that has numbers in their places. */
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

/** The tree of a structure with these leaves. */
export function unflattenTree(structure, leaves) {
  if (typeof structure === 'number') return leaves[structure];
  if (Array.isArray(structure)) return structure.map((part) => unflattenTree(part, leaves));
  return Object.fromEntries(Object.entries(structure).map(([key, part]) => [key, unflattenTree(part, leaves)]));
}

/** Whether two structures are equal. */
export function sameStructure(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A structure for messages: * stands for a leaf. */
export function structureText(structure) {
  return JSON.stringify(structure).replace(/\d+/g, '*');
}

/** Wraps handles that C lends to a callback. */
export function borrow(handles) {
  return handles.map((handle) => {
    if (handle === 0) return null;
    c.tenon_tensor_retain(handle);
    return new Tensor(handle);
  });
}

/** The handles of what a callback returns, each with a reference for C. null becomes 0. */
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

/** Runs `body` with the handles of values, and releases what was made for them. */
export function withHandles(values, body) {
  const count = countTemporaries();
  try {
    return body(values.map((value) => (value === null ? 0 : operand(value, typeof value === 'number'))));
  } finally {
    releaseTemporaries(count);
  }
}

/** Tensors for the borrowed handles in an array of C. */
export function borrowAt(at, count) {
  return borrow(readPointers(at, count));
}
