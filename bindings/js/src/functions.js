// Functions: JavaScript functions that are traced once for each combination of argument types, and
// then run as graphs.

import * as abi from './abi_gen.js';
import { check, invalid } from './errors.js';
import {
  c, alloc, enter, i32, i64, int64s, leave, f64, pointers, putText, refresh, struct, text, textOf, texts, u32, u8,
} from './native.js';
import { dtypeOf } from './dtypes.js';
import { putCallback } from './callbacks.js';
import { Disposable, handleOf, inCallback, scope, requireContext } from './scope.js';
import { Tensor, takeText } from './tensor.js';
import { takeTensors } from './call.js';
import { borrow, flattenTree, handOver, sameStructure, structureText, unflattenTree, withHandles } from './tree.js';
import { Variable } from './variables.js';

const MAX_OUTPUTS = 256;
const UNKNOWN = -1;

function isInput(leaf) {
  return leaf instanceof Tensor || leaf?._isVariable || ArrayBuffer.isView(leaf) || leaf instanceof TensorSpec;
}

/** Returns the cache key of an argument that the graph contains as a constant, such as a number. */
function keyOf(leaf) {
  if ((typeof leaf === 'object' && leaf !== null) || typeof leaf === 'function') {
    throw invalid('function: an argument must be a tensor, a number, a string, a boolean, null, or a tree of these');
  }
  return `${typeof leaf}:${Object.is(leaf, -0) ? '-0' : String(leaf)}`;
}

/**
 * The type of an input: a dtype and sizes. A size of null is unknown, and may differ from call to
 * call.
 */
export class TensorSpec {
  constructor(sizes, dtype = 'float32', { name = '', isScalar = false } = {}) {
    this.shape = [...sizes];
    this.dtype = dtypeOf(dtype).name;
    this.name = name;
    this.isScalar = isScalar;
  }

  /** Writes the spec to the tenon_input_spec at `at`. */
  _put(at, name) {
    const layout = abi.tenon_input_spec;
    u8.fill(0, at, at + layout.$);
    putText(at + layout.name, this.name || name);
    u32[(at + layout.dtype) >> 2] = dtypeOf(this.dtype).code;
    u32[(at + layout.rank) >> 2] = this.shape.length;
    u32[(at + layout.shape) >> 2] = int64s(this.shape.map((size) => (typeof size === 'number' ? size : UNKNOWN)));
    if (this.shape.some((size) => typeof size === 'string')) {
      u32[(at + layout.size_names) >> 2] = texts(this.shape.map((size) => (typeof size === 'string' ? size : '')));
    }
    u8[at + layout.is_scalar] = this.isScalar ? 1 : 0;
  }

  static of(value) {
    return value instanceof TensorSpec ? value : new TensorSpec(value.shape, value.dtype);
  }
}

/** Allocates an array of tenon_input_spec. */
function putSpecs(specs, names) {
  const { $ } = abi.tenon_input_spec;
  const at = alloc(Math.max($ * specs.length, $));
  specs.forEach((spec, i) => spec._put(at + $ * i, names[i] ?? `x${i}`));
  return at;
}

/** Returns the parameter names of a function, parsed from its source text; empty if that fails. */
function parameterNames(body) {
  const list = /^(?:async\s*)?(?:function\s*\w*\s*)?\(?([^)=]*?)\)?\s*(?:=>|\{)/.exec(String(body))?.[1] ?? '';
  return list.split(',').map((name) => name.trim()).filter((name) => /^[\w$]+$/.test(name));
}

/**
 * Owns the C function that traces calls with one structure of arguments and one set of constants.
 */
class Graph {
  constructor(owner, structure, leaves) {
    this.owner = owner;
    this.structure = structure;
    this.leaves = leaves;
    this.positions = leaves.map((leaf, i) => (isInput(leaf) ? i : -1)).filter((i) => i >= 0);
    this.result = null;
    this.handle = this.create();
  }

  create() {
    const { options } = this.owner;
    const frame = enter();
    try {
      const body = alloc(abi.tenon_function_body.$);
      putCallback(body, 'body', (callbackScope, inputs, max) => inCallback(callbackScope, () => this.trace(borrow(inputs), max)));
      const layout = abi.tenon_function_options;
      const at = struct(layout);
      u32[(at + layout.max_outputs) >> 2] = MAX_OUTPUTS;
      u32[(at + layout.max_traces) >> 2] = options.maxTraces ?? 64;
      u8[at + layout.relax] = options.relax === false ? 0 : 1;
      i64[(at + layout.memory_budget_bytes) / 8] = options.memoryBudget === undefined ? -1n : BigInt(options.memoryBudget);
      if (options.signature) {
        const specs = flattenTree(options.signature).leaves.map((spec) => TensorSpec.of(spec));
        u32[(at + layout.signature) >> 2] = putSpecs(specs, this.inputNames());
        u32[(at + layout.n_signature) >> 2] = specs.length;
      }
      const out = alloc(4);
      check(c.tenon_function_create(requireContext(), text(this.owner.name), body, at, out));
      refresh();
      return u32[out >> 2];
    } finally {
      leave(frame);
    }
  }

  /** Returns the parameter name of each input. */
  inputNames() {
    const names = parameterNames(this.owner.body);
    const found = [];
    this.structure.forEach((part, i) => {
      const name = names[i] ?? `x${i}`;
      const { leaves } = flattenTree(part);
      for (const leaf of leaves) {
        if (this.positions.includes(leaf)) found.push(leaves.length === 1 ? name : `${name}_${leaf - leaves[0]}`);
      }
    });
    return found;
  }

  /** The body that C calls while tracing: runs the JavaScript function on traced tensors. */
  trace(tensors, max) {
    const leaves = [...this.leaves];
    this.positions.forEach((position, i) => { leaves[position] = tensors[i]; });
    const result = this.owner.body(...unflattenTree(this.structure, leaves));
    if (typeof result?.then === 'function') throw invalid(`${this.owner.name}: a traced function cannot be asynchronous`);
    const found = result === undefined ? { leaves: [], structure: null } : flattenTree(result);
    if (found.leaves.length > max) throw invalid(`${this.owner.name} returns more than ${max} tensors`);
    if (this.result !== null && !sameStructure(this.result.structure, found.structure)) {
      throw invalid(`${this.owner.name} returned ${structureText(this.result.structure)} before and ` +
                    `${structureText(found.structure)} now; a function must always return the same structure`);
    }
    this.result = { structure: found.structure };
    return handOver(found.leaves);
  }

  inputs(leaves) {
    return this.positions.map((position) => leaves[position]);
  }

  build(tensors) {
    return buildResult(this.result.structure, tensors);
  }
}

function buildResult(structure, tensors) {
  return structure === null ? undefined : unflattenTree(structure, tensors);
}

/** A traced function. Types: index.d.ts. */
class TracedFunction {
  constructor(body, options) {
    if (typeof body !== 'function') throw invalid('function: expected a function');
    this.body = body;
    this.options = options;
    this.name = options.name ?? (body.name || 'function');
    this.graphs = new Map();
  }

  graph(args) {
    const { leaves, structure } = flattenTree(args);
    const key = JSON.stringify([structure, leaves.map((leaf) => (isInput(leaf) ? 0 : keyOf(leaf)))]);
    let graph = this.graphs.get(key);
    if (!graph) this.graphs.set(key, graph = new Graph(this, structure, leaves));
    return { graph, leaves };
  }

  call(args) {
    requireContext();
    const { graph, leaves } = this.graph(args);
    const tensors = callFunction(graph.handle, graph.inputs(leaves), []);
    return graph.build(tensors);
  }

  trace(args) {
    requireContext();
    const { graph, leaves } = this.graph(args);
    const inputs = graph.inputs(leaves);
    const frame = enter();
    try {
      const out = alloc(4);
      const specs = putSpecs(inputs.map((input) => TensorSpec.of(input)), graph.inputNames());
      check(c.tenon_function_trace(scope, graph.handle, specs, inputs.length, 0, 0, out));
      refresh();
      return new Trace(u32[out >> 2], this.name, graph.result.structure);
    } finally {
      leave(frame);
    }
  }

  findTrace(args) {
    const { graph, leaves } = this.graph(args);
    return withHandles(graph.inputs(leaves), (handles) => {
      const frame = enter();
      try {
        const out = alloc(4);
        check(c.tenon_function_find_trace(scope, graph.handle, pointers(handles), handles.length, 0, 0, out));
        refresh();
        return new Trace(u32[out >> 2], this.name, graph.result.structure);
      } finally {
        leave(frame);
      }
    });
  }

  traces() {
    const found = [];
    for (const graph of this.graphs.values()) {
      found.push(...tracesOf(graph.handle, this.name, graph.result?.structure ?? null));
    }
    return found;
  }

  dispose() {
    for (const graph of this.graphs.values()) c.tenon_function_release(graph.handle);
    this.graphs.clear();
  }
}

function tracesOf(handle, name, structure) {
  const frame = enter();
  try {
    const out = alloc(4);
    return Array.from({ length: c.tenon_function_count_traces(handle) }, (_, i) => {
      check(c.tenon_function_get_trace(handle, i, out));
      refresh();
      return new Trace(u32[out >> 2], name, structure);
    });
  } finally {
    leave(frame);
  }
}

function explain(handle) {
  const frame = enter();
  try {
    const out = alloc(8);
    check(c.tenon_function_explain(handle, out));
    return takeText(out);
  } finally {
    leave(frame);
  }
}

/** Allocates an array of tenon_static from pairs [name, value]. */
function putStatics(entries) {
  const layout = abi.tenon_static;
  const at = alloc(Math.max(layout.$ * entries.length, layout.$));
  entries.forEach(([name, value], i) => {
    const entry = at + layout.$ * i;
    u8.fill(0, entry, entry + layout.$);
    putText(entry + layout.name, name);
    let kind = abi.TENON_STATIC_NONE;
    if (typeof value === 'boolean') {
      kind = abi.TENON_STATIC_BOOL;
      i64[(entry + layout.int_value) / 8] = value ? 1n : 0n;
    } else if (typeof value === 'bigint' || Number.isInteger(value)) {
      kind = abi.TENON_STATIC_INT;
      i64[(entry + layout.int_value) / 8] = BigInt(value);
    } else if (typeof value === 'number') {
      kind = abi.TENON_STATIC_FLOAT;
      f64[(entry + layout.float_value) / 8] = value;
    } else if (typeof value === 'string') {
      kind = abi.TENON_STATIC_STRING;
      putText(entry + layout.string_value, value);
    } else if (value !== null) {
      throw invalid(`the static argument ${name} must be a boolean, a number, a string or null`);
    }
    i32[(entry + layout.kind) >> 2] = kind;
  });
  return at;
}

/** Calls a C function. */
export function callFunction(handle, inputs, statics) {
  return withHandles(inputs, (handles) => {
    const frame = enter();
    try {
      const out = alloc(4 * MAX_OUTPUTS);
      const count = alloc(4);
      check(c.tenon_function_call(
          scope, handle, pointers(handles), handles.length, statics.length ? putStatics(statics) : 0, statics.length,
          out, MAX_OUTPUTS, count));
      refresh();
      return takeTensors(out, u32[count >> 2]);
    } finally {
      leave(frame);
    }
  });
}

/** Creates a traced function. Types: index.d.ts. */
export function tenonFunction(body, options = {}) {
  const owner = new TracedFunction(body, options);
  const call = (...args) => owner.call(args);
  Object.defineProperty(call, 'name', { value: owner.name });
  return Object.assign(call, {
    trace: (...args) => owner.trace(args.length === 0 && options.signature ? options.signature : args),
    findTrace: (...args) => owner.findTrace(args),
    traces: () => owner.traces(),
    traceCount: () => [...owner.graphs.values()].reduce((n, graph) => n + c.tenon_function_count_traces(graph.handle), 0),
    explain: () => [...owner.graphs.values()].map((graph) => explain(graph.handle)).join(''),
    gradient: (...args) => {
      const { graph } = owner.graph(args);
      return gradientOf(graph.handle, `gradient of ${owner.name}`);
    },
    dispose: () => owner.dispose(),
    [Symbol.dispose]: () => owner.dispose(),
  });
}

function gradientOf(handle, name) {
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_function_gradient(handle, out));
    refresh();
    return new NativeFunction(u32[out >> 2], name);
  } finally {
    leave(frame);
  }
}

/**
 * Wraps a C function that has no JavaScript body: a function of a program, or a gradient. It takes
 * tensors and returns an array of tensors.
 */
export class NativeFunction extends Disposable {
  constructor(handle, name) {
    super(handle);
    this.name = name;
  }

  call(inputs, statics = {}) {
    return callFunction(handleOf(this), inputs, Object.entries(statics));
  }

  gradient() {
    return gradientOf(handleOf(this), `gradient of ${this.name}`);
  }

  traces() {
    return tracesOf(handleOf(this), this.name, null);
  }

  explain() {
    return explain(handleOf(this));
  }

  _release(handle) {
    c.tenon_function_release(handle);
  }
}

/** One traced graph of a function. Types: index.d.ts. */
export class Trace extends Disposable {
  constructor(handle, name, structure) {
    super(handle);
    this.name = name;
    this._structure = structure;
  }

  call(...args) {
    const inputs = flattenTree(args).leaves.filter((leaf) => isInput(leaf) || typeof leaf === 'number');
    return withHandles(inputs, (handles) => {
      const frame = enter();
      try {
        const n = this.outputCount;
        const out = alloc(4 * Math.max(n, 1));
        check(c.tenon_trace_call(scope, handleOf(this), pointers(handles), handles.length, out, n));
        const tensors = takeTensors(out, n);
        return this._structure === null ? tensors : unflattenTree(this._structure, tensors);
      } finally {
        leave(frame);
      }
    });
  }

  _text(getter) {
    const frame = enter();
    try {
      const out = alloc(8);
      check(getter(handleOf(this), out));
      return takeText(out);
    } finally {
      leave(frame);
    }
  }

  get text() {
    return this._text(c.tenon_trace_text);
  }

  get stages() {
    return this._text(c.tenon_trace_stages);
  }

  get inputCount() {
    return c.tenon_trace_count_inputs(handleOf(this));
  }

  get outputCount() {
    return c.tenon_trace_count_outputs(handleOf(this));
  }

  get variables() {
    return Array.from({ length: c.tenon_trace_count_variables(handleOf(this)) },
        (_, i) => Variable._of(c.tenon_trace_variable(this._handle, i) >>> 0));
  }

  get effects() {
    return Array.from({ length: c.tenon_trace_count_effects(handleOf(this)) },
        (_, i) => textOf(c.tenon_trace_effect, this._handle, i));
  }

  _release(handle) {
    c.tenon_trace_release(handle);
  }
}

/** Sets whether functions run their JavaScript body in every call, for debugging. */
export function runFunctionsEagerly(eagerly) {
  c.tenon_context_run_functions_eagerly(requireContext(), eagerly ? 1 : 0);
}
