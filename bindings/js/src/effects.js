// Printing, assertions and host calls, eagerly and inside functions.

import { check, invalid } from './errors.js';
import { c, alloc, enter, leave, pointers, text } from './native.js';
import { callback } from './callbacks.js';
import { inCallback, scope, requireContext } from './scope.js';
import { takeTensors } from './call.js';
import { borrow, handOver, withHandles } from './tree.js';

/** Prints a line. Each {} is replaced by the next value. Types: index.d.ts. */
export function print(format, ...values) {
  requireContext();
  const isFormat = typeof format === 'string';
  withHandles(isFormat ? values : [format, ...values], (handles) => {
    const frame = enter();
    const error = c.tenon_print(scope, text(isFormat ? format : ''), pointers(handles), handles.length, 0);
    leave(frame);
    check(error);
  });
}

/** Sets the function that receives printed lines; null for the console. */
export function setPrint(write) {
  const line = write ?? ((printed) => console.log(printed.replace(/\n$/, '')));
  const frame = enter();
  const error = c.tenon_context_set_print(requireContext(), callback('text', line));
  leave(frame);
  check(error);
}

/** Throws unless all elements of `condition` are true. Types: index.d.ts. */
export function assert(condition, message = '', ...values) {
  requireContext();
  withHandles([condition, ...values], ([handle, ...rest]) => {
    const frame = enter();
    const error = c.tenon_assert(scope, handle, text(message), pointers(rest), rest.length);
    leave(frame);
    check(error);
  });
}

/**
 * Calls a JavaScript function on concrete values, even inside a traced function. Types: index.d.ts.
 */
export function hostCall(body, inputs, like) {
  requireContext();
  const isSingle = !Array.isArray(like);
  const models = isSingle ? [like] : like;
  return withHandles([...inputs, ...models], (handles) => {
    const frame = enter();
    try {
      const call = callback('tensors', (callbackScope, lent, n) => inCallback(callbackScope, () => {
        const result = body(...borrow(lent));
        if (typeof result?.then === 'function') throw invalid('hostCall: the function returned a Promise');
        const list = Array.isArray(result) ? result : [result];
        if (list.length !== n) throw invalid(`hostCall: the function returned ${list.length} tensors instead of ${n}`);
        return handOver(list);
      }));
      const n = inputs.length;
      const out = alloc(4 * Math.max(models.length, 1));
      check(c.tenon_host_call(scope, call, pointers(handles.slice(0, n)), n, pointers(handles.slice(n)), out,
          models.length));
      const tensors = takeTensors(out, models.length);
      return isSingle ? tensors[0] : tensors;
    } finally {
      leave(frame);
    }
  });
}
