// Calls from C to JavaScript. native/callbacks.c has a C function for each kind of callback. Its
// payload is a number that identifies the JavaScript function.

import * as abi from './abi_gen.js';
import { lastOp, ops } from './call.js';
import { TenonError, describeError, errorOfCallback, fail } from './errors.js';
import { c, alloc, enter, leave, readPointers, readText, refresh, u32 } from './native.js';

const functions = new Map();
let last = 0;

// The kinds of callbacks, in the order of `kind` in native/callbacks.c.
const kinds = ['block', 'tensors', 'body', 'backward', 'done', 'text', 'log', 'infer', 'compute', 'decompose',
  'custom_backward', 'destroy'];

/** Returns the address of the C function for a kind of callback. */
export function cFunction(kind) {
  return c.tenon_js_callback(kinds.indexOf(kind));
}

/** Registers a JavaScript function, and returns its payload for C. */
export function register(call) {
  functions.set(++last, call);
  return last;
}

/** Unregisters a function. The destructor in C calls it. */
export function forget(payload) {
  functions.delete(payload);
}

/** Returns the number of registered functions. */
export function countCallbacks() {
  return functions.size;
}

/** Stores {function, payload} at `at`, for the duration of a C call. */
export function putBlock(at, payload) {
  u32[(at + abi.tenon_block.function) >> 2] = cFunction('block');
  u32[(at + abi.tenon_block.payload) >> 2] = payload;
}

/** Allocates {function, payload, destroy} for a function that C will own. */
export function callback(kind, call) {
  const at = alloc(abi.tenon_done_callback.$);
  putCallback(at, kind, call);
  return at;
}

/** Stores {function, payload, destroy} at `at`, for a function that C will own. */
export function putCallback(at, kind, call) {
  const layout = abi.tenon_done_callback;
  u32[(at + layout.function) >> 2] = cFunction(kind);
  u32[(at + layout.payload) >> 2] = register(call);
  u32[(at + layout.destroy) >> 2] = cFunction('destroy');
}

/** Returns a Promise for a C call that takes a tenon_done_callback. */
function promise(start) {
  return new Promise((resolve, reject) => {
    const frame = enter();
    const error = start(callback('done', (failure) => (failure === null ? resolve() : reject(failure))));
    leave(frame);
    if (error !== 0) {
      try {
        fail(error);
      } catch (exception) {
        reject(exception);
      }
    }
  });
}

/**
 * Reads or waits: calls the blocking C function in `atOnce`. If that fails with UNIMPLEMENTED,
 * because the device cannot block, calls the asynchronous C function in `later` and awaits its
 * callback.
 */
export async function runNowOrAsync(atOnce, later) {
  const error = atOnce();
  if (error === 0) return;
  if (c.tenon_error_code(error) !== abi.TENON_UNIMPLEMENTED) fail(error);
  c.tenon_error_release(error);
  await promise(later);
}

/** Runs the body of a callback. Converts an exception to a C error. */
function guarded(body) {
  try {
    body();
    return 0;
  } catch (exception) {
    return errorOfCallback(exception);
  }
}

/** Writes the handles that a callback returned to the C array `out`. */
function give(handles, out) {
  refresh();
  for (let i = 0; i < handles.length; ++i) u32[(out >>> 2) + i] = handles[i];
}

/** The functions that native/callbacks.c calls, each with the payload and the other C arguments. */
export const entries = {
  block: (payload, scope, inputs, n, out, max) => guarded(() => {
    give(functions.get(payload)(scope, readPointers(inputs, n), max), out);
  }),
  tensors: (payload, scope, inputs, n, out, max) => guarded(() => {
    give(functions.get(payload)(scope, readPointers(inputs, n), max), out);
  }),
  body: (payload, scope, inputs, n, statics, nStatics, out, max) => guarded(() => {
    give(functions.get(payload)(scope, readPointers(inputs, n), max), out);
  }),
  backward: (payload, scope, args, out, n) => guarded(() => {
    give(functions.get(payload)(scope, readBackward(args), n), out);
  }),
  done: (payload, error) => functions.get(payload)(error === 0 ? null : describeError(error)),
  text: (payload, text) => functions.get(payload)(readText(text)),
  log: (payload, level, text) => functions.get(payload)(level, readText(text)),
  infer: (payload, attrs, inputs, n, out, nOut) => guarded(() => functions.get(payload).infer(inputs, n, out, nOut)),
  compute: (payload, attrs, inputs, n, outputs, nOut) => guarded(
      () => functions.get(payload).compute(inputs, n, outputs, nOut)),
  decompose: (payload, scope, attrs, inputs, n, out, max) => guarded(() => {
    give(functions.get(payload).decompose(scope, readPointers(inputs, n), max), out);
  }),
  custom_backward: (payload, scope, attrs, args, out, n) => guarded(() => {
    give(functions.get(payload).backward(scope, readBackward(args), n), out);
  }),
  destroy: (payload) => forget(payload),
  left_out: () => {
    const op = ops.find(({ number }) => number === lastOp)?.name ?? '';
    throw new TenonError('UNIMPLEMENTED', `this build of Tenon leaves out the code of this call (the last op is ${op || 'none'}); ` +
                         'the variant simd of the full package has it', { op });
  },
};

function readBackward(at) {
  refresh();
  const word = (name) => u32[(at + abi.tenon_backward_args[name]) >> 2];
  const nInputs = word('n_inputs');
  const nOutputs = word('n_outputs');
  return {
    inputs: readPointers(word('inputs'), nInputs),
    outputs: readPointers(word('outputs'), nOutputs),
    cotangents: readPointers(word('cotangents'), nOutputs),
  };
}
