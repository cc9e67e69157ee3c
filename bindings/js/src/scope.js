// The scope in which calls run, and the lists of tensors that scopes dispose.
//
// A C scope has a device and tapes. The current scope changes only inside `run` of a Scope or a
// Tape, and inside callbacks from C. All of these are synchronous, so an asynchronous task that
// awaits between them never runs in the scope of another task.

import { invalid, check } from './errors.js';
import { c, alloc, enter, leave, onReady, pointers, refresh, text, textOf, u32 } from './native.js';
import { isDebugging, trackTensor, untrackTensor } from './debug.js';

/** The current tenon_scope. */
export let scope = 0;
/** The tenon_scope outside all `run` calls. */
export let root = 0;
/** The tenon_context; 0 before init(). */
export let context = 0;
/**
 * The tensors that the innermost `scope()`, Scope or callback will dispose; null outside all of
 * them.
 */
let made = null;
/** Number of `run` calls and C callbacks in progress, including callbacks in the root scope. */
export let nesting = 0;
/** The number of tensors that are not disposed. */
export let liveTensors = 0;

export function setContext(newContext, rootScope) {
  context = newContext;
  root = rootScope;
  scope = rootScope;
}

/** Returns the context. Throws before init(). */
export function requireContext() {
  if (context === 0) throw invalid('Tenon is not ready: call `await tenon.init()` first');
  return context;
}

let release;
onReady(() => { release = c.tenon_tensor_release; });

/** Owns a handle of C. dispose() releases it once. */
export class Disposable {
  constructor(handle) {
    this._handle = handle;
  }

  /** Whether dispose() has run. */
  get isDisposed() {
    return this._handle === 0;
  }

  dispose() {
    if (this._handle === 0) return;
    const handle = this._handle;
    this._handle = 0;
    this._release(handle);
  }

  [Symbol.dispose]() {
    this.dispose();
  }
}

/** Returns the handle of an object. Throws if the object is disposed. */
export function handleOf(object) {
  if (object._handle === 0) throw invalid(`this ${object.constructor.name} was disposed`);
  return object._handle;
}

// ---- tensors

/** Counts a new tensor, and adds it to the list that the innermost scope will dispose. */
export function adopt(tensor) {
  ++liveTensors;
  if (made !== null) made.push(tensor);
  if (isDebugging) trackTensor(tensor);
}

/** Disposes a tensor. Implements Tensor.dispose(). */
export function discard(tensor) {
  const handle = tensor._handle;
  if (handle === 0) return;
  tensor._handle = 0;
  --liveTensors;
  if (isDebugging) untrackTensor(tensor);
  release(handle);
}

/** Disposes tensors in one C call. Skips those that are already disposed. */
function discardAll(tensors) {
  const handles = [];
  for (const tensor of tensors) {
    if (tensor._handle === 0) continue;
    handles.push(tensor._handle);
    tensor._handle = 0;
    --liveTensors;
    if (isDebugging) untrackTensor(tensor);
  }
  if (handles.length === 0) return;
  const frame = enter();
  c.tenon_tensor_release_all(pointers(handles), handles.length);
  leave(frame);
}

function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function collect(value, into) {
  if (value === null || typeof value !== 'object') return;
  if (value._isTensor) {
    into.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, into);
  } else if (value instanceof Map) {
    for (const item of value.values()) collect(item, into);
  } else if (isPlain(value)) {
    for (const item of Object.values(value)) collect(item, into);
  }
}

/**
 * Ends a scope whose new tensors are in the list `mine`: moves those that are in `result` to
 * `outside`, the list of the outer scope, and disposes the others.
 */
function finish(mine, outside, result) {
  const kept = new Set();
  collect(result, kept);
  const rest = [];
  for (const tensor of mine) {
    if (!kept.has(tensor)) {
      rest.push(tensor);
    } else if (outside !== null && tensor._handle !== 0) {
      outside.push(tensor);
    }
  }
  discardAll(rest);
}

function throwIfPromise(result, where) {
  if (typeof result?.then === 'function') {
    result.then(undefined, () => {});
    throw invalid(`${where}: the function returned a Promise, but must be synchronous. ` +
                  'Code after an await would run outside the scope; ' +
                  'await between calls instead');
  }
}

/** Runs a function and disposes the tensors that it created, except those in its result. */
export function tidy(body) {
  const outside = made;
  const mine = made = [];
  let result;
  let succeeded = false;
  try {
    result = body();
    throwIfPromise(result, 'scope');
    succeeded = true;
  } finally {
    made = outside;
    if (!succeeded) discardAll(mine);
  }
  finish(mine, outside, result);
  return result;
}

/**
 * Removes a tensor from the list that the innermost scope will dispose. The caller must dispose it.
 */
export function keep(tensor) {
  for (let at = made === null ? -1 : made.lastIndexOf(tensor); at >= 0; at = -1) made.splice(at, 1);
  return tensor;
}

/**
 * Runs a callback in the C scope that C passed to it. Disposes the tensors that the callback
 * creates.
 */
export function inCallback(callbackScope, body) {
  const outerScope = scope;
  const outside = made;
  const mine = made = [];
  scope = callbackScope;
  ++nesting;
  try {
    return body();
  } finally {
    --nesting;
    scope = outerScope;
    made = outside;
    discardAll(mine);
  }
}

/**
 * Runs a function in a C scope. Adds new tensors to `list`, or to the current list if `list` is
 * null.
 */
export function inScope(handle, list, body, where) {
  const outerScope = scope;
  const outside = made;
  scope = handle;
  if (list !== null) made = list;
  ++nesting;
  try {
    const result = body();
    throwIfPromise(result, where);
    return result;
  } finally {
    --nesting;
    scope = outerScope;
    made = outside;
  }
}

// ---- scopes

/** Creates a C scope on `device`. Default: the device of the current scope. */
export function createScope(device) {
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_scope_create(requireContext(), text(device ?? currentDevice()), out));
    refresh();
    return u32[out >> 2];
  } finally {
    leave(frame);
  }
}

/** Returns the name of the current scope's device. */
export function currentDevice() {
  requireContext();
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_scope_get_device(scope, out));
    refresh();
    const device = u32[out >> 2];
    const name = textOf(c.tenon_device_name, device);
    c.tenon_device_release(device);
    return name;
  } finally {
    leave(frame);
  }
}

/**
 * A scope with its own device. It disposes the tensors that were created in it. Types: index.d.ts.
 */
export class Scope extends Disposable {
  constructor({ device } = {}) {
    super(createScope(device));
    this._made = [];
  }

  run(body) {
    return inScope(handleOf(this), this._made, body, 'Scope.run');
  }

  get device() {
    return this.run(currentDevice);
  }

  set device(name) {
    const frame = enter();
    const error = c.tenon_scope_set_device(handleOf(this), text(name));
    leave(frame);
    check(error);
  }

  /** The number of tensors that dispose() will dispose. */
  get size() {
    this._made = this._made.filter((tensor) => tensor._handle !== 0);
    return this._made.length;
  }

  cancel() {
    c.tenon_scope_cancel(handleOf(this));
  }

  _release(handle) {
    discardAll(this._made);
    this._made = [];
    c.tenon_scope_release(handle);
  }
}

export function setDevice(name) {
  requireContext();
  const frame = enter();
  const error = c.tenon_scope_set_device(scope, text(name));
  leave(frame);
  check(error);
}

/** Cancels the calls in progress in all scopes. */
export function cancel() {
  c.tenon_context_cancel(requireContext());
}
