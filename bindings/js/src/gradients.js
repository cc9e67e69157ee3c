// Tapes, and gradients of functions.

import * as abi from './abi_gen.js';
import { check, invalid } from './errors.js';
import { c, alloc, enter, i32, leave, pointers, refresh, struct, text, u32, u8 } from './native.js';
import {
  Disposable, createScope, currentDevice, handleOf, inCallback, inScope, nesting, scope, requireContext,
} from './scope.js';
import { Tensor } from './tensor.js';
import { takeTensors } from './call.js';
import { callback } from './callbacks.js';
import { borrow, flattenTree, handOver, unflattenTree, withHandles } from './tree.js';
import { Variable, fromValue, valueOf } from './variables.js';

const UNREACHED = { zeros: abi.TENON_UNREACHED_ZEROS, null: abi.TENON_UNREACHED_NULL };

function gradientOptions(unreached) {
  if (!(unreached in UNREACHED)) throw invalid(`unreached must be 'zeros' or 'null', but is '${unreached}'`);
  const at = struct(abi.tenon_gradient_options);
  i32[(at + abi.tenon_gradient_options.unreached) >> 2] = UNREACHED[unreached];
  return at;
}

// ---- scopes for tapes
// Idle scopes of disposed tapes, by device. They are reused, because scopes have caches.
const idle = new Map();

function takeScope() {
  const device = currentDevice();
  const free = idle.get(device);
  if (!free?.length) return { device, handle: createScope(device) };
  const handle = free.pop();
  const frame = enter();
  const error = c.tenon_scope_set_device(handle, text(device));
  leave(frame);
  check(error);
  return { device, handle };
}

function returnScope({ device, handle }) {
  if (!idle.has(device)) idle.set(device, []);
  const free = idle.get(device);
  if (free.length < 8) free.push(handle);
  else c.tenon_scope_release(handle);
}

// ---- tapes

/** Records calls and computes gradients. Types: index.d.ts. */
export class Tape extends Disposable {
  constructor({ persistent = false, watchTrainable = true } = {}) {
    requireContext();
    // A tape that is created inside another tape's run() or inside a callback uses the current
    // scope. Otherwise it gets a scope of its own.
    const own = nesting === 0 ? takeScope() : null;
    const where = own === null ? scope : own.handle;
    const frame = enter();
    let handle;
    try {
      const options = struct(abi.tenon_tape_options);
      u8[options + abi.tenon_tape_options.persistent] = persistent ? 1 : 0;
      u8[options + abi.tenon_tape_options.watch_trainable] = watchTrainable ? 1 : 0;
      const out = alloc(4);
      check(c.tenon_tape_create(where, options, out));
      refresh();
      handle = u32[out >> 2];
      check(c.tenon_tape_pause(handle));
    } catch (exception) {
      if (own !== null) returnScope(own);
      throw exception;
    } finally {
      leave(frame);
    }
    super(handle);
    this._own = own;
    this._scope = where;
    if (own === null) c.tenon_scope_retain(where);
    this._runs = 0;
  }

  /** Runs a function and records its calls. May be called several times. */
  run(body) {
    if (this._runs === 0) check(c.tenon_tape_resume(handleOf(this)));
    ++this._runs;
    try {
      return inScope(this._scope, null, body, 'Tape.run');
    } finally {
      if (--this._runs === 0 && this._handle !== 0) check(c.tenon_tape_pause(this._handle));
    }
  }

  watch(...values) {
    for (const value of values.flat()) check(c.tenon_tape_watch(handleOf(this), valueOf(value)));
    return this;
  }

  gradient(targets, sources, { cotangents, unreached = 'zeros' } = {}) {
    const list = Array.isArray(targets) ? targets : [targets];
    const given = cotangents === undefined ? null : Array.isArray(cotangents) ? cotangents : [cotangents];
    if (given !== null && given.length !== list.length) {
      throw invalid(`gradient: there are ${list.length} targets and ${given.length} cotangents`);
    }
    return withHandles([...list, ...(given ?? [])], (handles) => this._grads(sources, unreached, (values, n, out, options) =>
      c.tenon_tape_gradient(
          this._scope, handleOf(this), pointers(handles.slice(0, list.length)), list.length,
          given === null ? 0 : pointers(handles.slice(list.length)), values, n, options, out)));
  }

  jacobian(target, sources, { unreached = 'zeros' } = {}) {
    return this._grads(sources, unreached, (values, n, out, options) => c.tenon_tape_jacobian(
        this._scope, handleOf(this), handleOf(target), values, n, options, out));
  }

  _grads(sources, unreached, call) {
    const { leaves, structure } = flattenTree(sources);
    const frame = enter();
    try {
      const out = alloc(4 * Math.max(leaves.length, 1));
      check(call(pointers(leaves.map(valueOf)), leaves.length, out, gradientOptions(unreached)));
      return unflattenTree(structure, takeTensors(out, leaves.length));
    } finally {
      leave(frame);
    }
  }

  /** The tensors and variables that the tape watches. */
  get watched() {
    const count = c.tenon_tape_count_watched(handleOf(this));
    const frame = enter();
    try {
      const out = alloc(4);
      return Array.from({ length: count }, (_, i) => {
        check(c.tenon_tape_get_watched(this._handle, i, out));
        refresh();
        return fromValue(u32[out >> 2]);
      });
    } finally {
      leave(frame);
    }
  }

  get isRecording() {
    return c.tenon_tape_is_recording(handleOf(this)) !== 0;
  }

  reset() {
    check(c.tenon_tape_reset(handleOf(this)));
    if (this._runs === 0) check(c.tenon_tape_pause(this._handle));
    return this;
  }

  _release(handle) {
    c.tenon_tape_release(handle);
    if (this._own !== null) returnScope(this._own);
    else c.tenon_scope_release(this._scope);
  }
}

/** Creates a tape, like `new Tape(options)`. */
export function tape(options) {
  return new Tape(options);
}

// ---- gradients of functions

/** Wraps a JavaScript function of tensors as a C tensor function. */
export function tensorFunction(body) {
  return callback('tensors', (callbackScope, inputs, n) => inCallback(callbackScope, () => {
    const result = body(borrow(inputs), n);
    if (result.length !== n) throw invalid(`a callback returned ${result.length} tensors instead of ${n}`);
    return handOver(result);
  }));
}

function gradients(name, body, inputs, wantsGrads, wantsVariables) {
  requireContext();
  return withHandles(inputs, (handles) => {
    const frame = enter();
    try {
      const call = tensorFunction((tensors) => {
        const result = body(...tensors);
        if (typeof result?.then === 'function') throw invalid(`${name}: the function returned a Promise; use a tape`);
        return [result];
      });
      const out = alloc(4);
      const grads = alloc(4 * Math.max(handles.length, 1));
      const variables = alloc(4);
      check(c.tenon_gradients(scope, call, pointers(handles), handles.length, 0, out, 1, wantsGrads ? grads : 0,
          wantsVariables ? variables : 0));
      const [value] = takeTensors(out, 1);
      return {
        value,
        grads: wantsGrads ? takeTensors(grads, handles.length) : [],
        variables: wantsVariables ? takeVariables(u32[variables >> 2]) : [],
      };
    } finally {
      leave(frame);
    }
  });
}

function takeVariables(list) {
  const result = [];
  for (let i = 0; i < c.tenon_variable_gradients_count(list); ++i) {
    const gradient = c.tenon_variable_gradients_gradient(list, i) >>> 0;
    c.tenon_tensor_retain(gradient);
    result.push([c.tenon_variable_gradients_variable(list, i) >>> 0, new Tensor(gradient)]);
  }
  return { list, entries: result };
}

function requireGrads(name, grads) {
  if (grads.includes(null)) throw invalid(`${name}: argument ${grads.indexOf(null)} is not floating`);
  return grads;
}

/** Returns a function that computes the gradient of f, a function of one tensor: `grad(f)(x)`. */
export function grad(f) {
  return (x) => {
    const { value, grads } = gradients('grad', f, [x], true, false);
    value.dispose();
    return requireGrads('grad', grads)[0];
  };
}

/**
 * Returns a function that computes the gradients of f, a function of several tensors:
 * `grads(f)([x, y])`.
 */
export function grads(f) {
  return (xs) => {
    const found = gradients('grads', f, xs, true, false);
    found.value.dispose();
    return requireGrads('grads', found.grads);
  };
}

/** Like grad(), but the returned function computes { value, grad }. */
export function valueAndGrad(f) {
  return (x) => {
    const found = gradients('valueAndGrad', f, [x], true, false);
    return { value: found.value, grad: requireGrads('valueAndGrad', found.grads)[0] };
  };
}

/** Like grads(), but the returned function computes { value, grads }. */
export function valueAndGrads(f) {
  return (xs) => {
    const found = gradients('valueAndGrads', f, xs, true, false);
    return { value: found.value, grads: requireGrads('valueAndGrads', found.grads) };
  };
}

/** Computes { value, grads }: the result of f, and its gradients by the names of the variables. */
export function variableGrads(f, variables) {
  const found = gradients('variableGrads', () => f(), [], false, true);
  const { list, entries } = found.variables;
  const wanted = variables && new Set(variables.map((variable) => handleOf(variable)));
  const result = {};
  try {
    for (const [handle, gradient] of entries) {
      if (wanted && !wanted.has(handle)) {
        gradient.dispose();
        continue;
      }
      const variable = Variable._of(handle);
      const { name } = variable;
      variable.dispose();
      if (name in result) throw invalid(`variableGrads: two variables are called '${name}'`);
      result[name] = gradient;
    }
  } finally {
    c.tenon_variable_gradients_release(list);
  }
  return { value: found.value, grads: result };
}

/** Calls `forward`, whose gradient `backward` computes. Types: index.d.ts. */
export function customGradient(forward, backward) {
  return (...inputs) => withHandles(inputs, (handles) => {
    requireContext();
    const frame = enter();
    try {
      const out = alloc(4);
      const forwards = tensorFunction((tensors) => [forward(...tensors)]);
      const backwards = callback('backward', (callbackScope, args, n) => inCallback(callbackScope, () => {
        const result = backward(borrow(args.cotangents)[0], borrow(args.inputs), borrow(args.outputs)[0]);
        const list = Array.isArray(result) ? result : [result];
        if (list.length !== n) throw invalid(`customGradient: backward returned ${list.length} gradients instead of ${n}`);
        return handOver(list);
      }));
      check(c.tenon_custom_gradient(scope, forwards, pointers(handles), handles.length, backwards, out, 1));
      return takeTensors(out, 1)[0];
    } finally {
      leave(frame);
    }
  });
}
