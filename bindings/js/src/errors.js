// Errors: what a failed call throws.

import * as abi from './abi_gen.js';
import { c, enter, leave, text, textOf } from './native.js';

const RULE = /(?:^|: )([A-Z]\d+): /;
const CODES = Object.fromEntries(
    ['OK', 'INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND', 'UNIMPLEMENTED', 'UNAVAILABLE', 'OUT_OF_MEMORY',
      'CANCELLED', 'FAILED_PRECONDITION', 'DATA_LOSS', 'DEVICE_LOST', 'INTERNAL',
    ].map((name) => [name, abi[`TENON_${name}`]]));

/** A failed call. Types: index.d.ts. */
export class TenonError extends Error {
  constructor(code, message, { op = '', argument = '', device = '', location = '', cause } = {}) {
    super(message, cause ? { cause } : undefined);
    this.name = 'TenonError';
    this.code = code;
    this.op = op;
    this.rule = RULE.exec(message)?.[1] ?? '';
    this.argument = argument;
    this.device = device;
    this.location = location;
  }
}

/** An error of this package's own checks. */
export function invalid(message, op = '') {
  return new TenonError('INVALID_ARGUMENT', op ? `${op}: ${message}` : message, { op });
}

// What a callback threw, until the call that ran the callback fails with the message.
let thrown = null;

/** Makes the C error for what a callback threw. The call that ran the callback throws the same object. */
export function errorOfCallback(exception) {
  const message = exception?.message ?? String(exception);
  const code = exception instanceof TenonError ? CODES[exception.code] ?? abi.TENON_INTERNAL : abi.TENON_INTERNAL;
  thrown = { exception, message };
  const frame = enter();
  const error = c.tenon_error_create(code, text(message));
  leave(frame);
  return error;
}

function describe(error) {
  const cause = c.tenon_error_cause(error);
  return new TenonError(
      textOf(c.tenon_code_name, c.tenon_error_code(error)), textOf(c.tenon_error_message, error), {
        op: textOf(c.tenon_error_op, error),
        argument: textOf(c.tenon_error_argument, error),
        device: textOf(c.tenon_error_device, error),
        location: textOf(c.tenon_error_location, error),
        cause: cause ? describe(cause) : undefined,
      });
}

/** Describes an error that the caller still owns. */
export function describeError(error) {
  return describe(error);
}

/** Throws for an error that C returned, and releases it. */
export function fail(error) {
  const found = describe(error);
  c.tenon_error_release(error);
  const before = thrown;
  thrown = null;
  for (let at = found; at && before; at = at.cause) {
    if (at.message.includes(before.message)) throw before.exception;
  }
  throw found;
}

/** Throws if C returned an error. */
export function check(error) {
  if (error !== 0) fail(error);
}
