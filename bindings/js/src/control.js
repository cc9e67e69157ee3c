// Branches and loops on tensors. Eagerly they run immediately; inside a function they are traced.

import * as abi from './abi_gen.js';
import { check, invalid } from './errors.js';
import { c, alloc, enter, i32, i64, leave, pointers, refresh, struct, u32, u8 } from './native.js';
import { forget, putBlock, register } from './callbacks.js';
import { inCallback, scope, requireContext } from './scope.js';
import { Tensor, withOutput } from './tensor.js';
import { takeTensors } from './call.js';
import { borrow, flattenTree, handOver, sameStructure, structureText, unflattenTree, withHandles } from './tree.js';

const MAX_OUTPUTS = 256;
const POLICIES = { stack: abi.TENON_LOOP_STACK, recompute: abi.TENON_LOOP_RECOMPUTE, bounded: abi.TENON_LOOP_BOUNDED };

function policyOf(name) {
  if (!(name in POLICIES)) throw invalid(`policy must be one of ${Object.keys(POLICIES).join(', ')}, but is '${name}'`);
  return POLICIES[name];
}

/**
 * Wraps a JavaScript function as a C block for the duration of a call. Records the structure of its
 * result.
 */
class Block {
  constructor(call) {
    this.structure = null;
    this.payload = register((callbackScope, inputs, max) => inCallback(callbackScope, () => {
      const result = call(borrow(inputs));
      if (typeof result?.then === 'function') throw invalid('a branch or a loop body returned a Promise');
      const { leaves, structure } = flattenTree(result);
      if (leaves.length > max) {
        throw invalid(`a block returned ${leaves.length} tensors, but at most ${max} are allowed`);
      }
      this.structure = structure;
      return handOver(leaves);
    }));
  }

  put(at) {
    putBlock(at, this.payload);
    return at;
  }
}

function withBlocks(calls, body) {
  requireContext();
  const blocks = calls.map((call) => new Block(call));
  const frame = enter();
  try {
    return body(blocks);
  } finally {
    leave(frame);
    for (const block of blocks) forget(block.payload);
  }
}

/**
 * Converts a condition to a rank-0 bool tensor, or to a JavaScript boolean if it is not a tensor.
 */
function predicate(value) {
  const tensor = value?._isVariable ? value.read() : value;
  if (!(tensor instanceof Tensor)) return Boolean(tensor);
  const truth = tensor.dtype === 'bool' ? tensor : tensor.not_equal(0);
  return truth.rank === 0 ? truth : truth.reshape([]);
}

function structureOf(blocks, name) {
  const found = blocks.filter((block) => block.structure !== null).map((block) => block.structure);
  for (const structure of found) {
    if (!sameStructure(structure, found[0])) {
      throw invalid(`${name}: the branches must return the same structure, but return ` +
                    `${structureText(found[0])} and ${structureText(structure)}`);
    }
  }
  return found[0];
}

/** Runs `then` or `otherwise`. Types: index.d.ts. */
export function cond(condition, then, otherwise) {
  requireContext();
  const truth = predicate(condition);
  if (!(truth instanceof Tensor)) return truth ? then() : otherwise();
  return withBlocks([() => then(), () => otherwise()], (blocks) => withHandles([truth], ([handle]) => {
    const [first, second] = blocks.map((block) => block.put(alloc(abi.tenon_block.$)));
    const out = alloc(4 * MAX_OUTPUTS);
    const count = alloc(4);
    check(c.tenon_cond(scope, handle, first, second, out, MAX_OUTPUTS, count));
    refresh();
    return unflattenTree(structureOf(blocks, 'cond'), takeTensors(out, u32[count >> 2]));
  }));
}

/** Runs the branch at `index`. Types: index.d.ts. */
export function switchCase(index, branches) {
  requireContext();
  if (typeof index === 'number') return branches[index in branches ? index : branches.length - 1]();
  const chosen = index._isVariable ? index.read() : index;
  const wide = chosen.dtype === 'int64' ? chosen : chosen.cast('int64');
  return withBlocks(branches.map((branch) => () => branch()), (blocks) => withHandles([wide], ([handle]) => {
    const list = alloc(abi.tenon_block.$ * blocks.length);
    blocks.forEach((block, i) => block.put(list + abi.tenon_block.$ * i));
    const out = alloc(4 * MAX_OUTPUTS);
    const count = alloc(4);
    check(c.tenon_case(scope, handle, list, blocks.length, out, MAX_OUTPUTS, count));
    refresh();
    return unflattenTree(structureOf(blocks, 'switchCase'), takeTensors(out, u32[count >> 2]));
  }));
}

/** Runs `body` while `condition` returns true. Types: index.d.ts. */
export function whileLoop(condition, body, initial, { policy = 'stack', maxTrips = 0 } = {}) {
  const isSingle = !Array.isArray(initial);
  const { leaves, structure } = flattenTree(isSingle ? [initial] : initial);
  const holds = (tensors) => {
    const truth = predicate(condition(...unflattenTree(structure, tensors)));
    return [truth];
  };
  const step = (tensors) => {
    const result = body(...unflattenTree(structure, tensors));
    const list = Array.isArray(result) ? result : [result];
    const found = flattenTree(list);
    if (!sameStructure(found.structure, structure)) {
      throw invalid(`whileLoop: the body returned ${structureText(found.structure)}, but must return ` +
                    `the structure of the initial values, ${structureText(structure)}`);
    }
    return list;
  };
  return withBlocks([holds, step], ([first, second]) => withHandles(leaves, (handles) => {
    const options = struct(abi.tenon_while_options);
    i32[(options + abi.tenon_while_options.policy) >> 2] = policyOf(policy);
    i64[(options + abi.tenon_while_options.max_trips) / 8] = BigInt(maxTrips);
    const out = alloc(4 * Math.max(handles.length, 1));
    check(c.tenon_while_loop(
        scope, first.put(alloc(abi.tenon_block.$)), second.put(alloc(abi.tenon_block.$)), pointers(handles),
        handles.length, options, out));
    const values = unflattenTree(structure, takeTensors(out, handles.length));
    return isSingle ? values[0] : values;
  }));
}

/** Runs `body` for each slice of xs along the first axis. Types: index.d.ts. */
export function scan(body, initial, xs, { reverse = false, policy = 'stack' } = {}) {
  const carried = flattenTree(initial);
  const slices = flattenTree(xs);
  const n = carried.leaves.length;
  let outputs = null;
  const step = (tensors) => {
    const [next, output] = body(
        unflattenTree(carried.structure, tensors.slice(0, n)), unflattenTree(slices.structure, tensors.slice(n)));
    const found = flattenTree(next);
    if (!sameStructure(found.structure, carried.structure)) {
      throw invalid(`scan: the body returned ${structureText(found.structure)}, but must return ` +
                    `the structure of the carried values, ${structureText(carried.structure)}`);
    }
    const stacked = output === undefined || output === null ? { leaves: [], structure: [] } : flattenTree(output);
    outputs = stacked.structure;
    return [...found.leaves, ...stacked.leaves];
  };
  return withBlocks([step], ([block]) => withHandles([...carried.leaves, ...slices.leaves], (handles) => {
    const options = struct(abi.tenon_scan_options);
    u8[options + abi.tenon_scan_options.reverse] = reverse ? 1 : 0;
    i32[(options + abi.tenon_scan_options.policy) >> 2] = policyOf(policy);
    const last = alloc(4 * Math.max(n, 1));
    const stacked = alloc(4 * MAX_OUTPUTS);
    const count = alloc(4);
    check(c.tenon_scan(
        scope, block.put(alloc(abi.tenon_block.$)), pointers(handles.slice(0, n)), n, pointers(handles.slice(n)),
        slices.leaves.length, options, last, stacked, MAX_OUTPUTS, count));
    refresh();
    const nStacked = u32[count >> 2];
    return [unflattenTree(carried.structure, takeTensors(last, n)),
      unflattenTree(outputs ?? [], takeTensors(stacked, nStacked))];
  }));
}

/** Returns the sizes of a tensor as a tensor. */
export function shape(x) {
  return withHandles([x], ([handle]) => withOutput((out) => c.tenon_shape(scope, handle, out)));
}

/** Returns whether calls are traced instead of executed, as in the body of a function. */
export function isTracing() {
  requireContext();
  return c.tenon_scope_is_tracing(scope) !== 0;
}
