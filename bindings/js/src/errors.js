// Errors of failed calls.

import * as abi from './abi_gen.js';
import { c, enter, leave, text, textOf } from './native.js';

const RULE = /(?:^|: )([A-Z]\d+): /;
const CODES = Object.fromEntries(
    ['OK', 'INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND', 'UNIMPLEMENTED', 'UNAVAILABLE', 'OUT_OF_MEMORY',
      'CANCELLED', 'FAILED_PRECONDITION', 'DATA_LOSS', 'DEVICE_LOST', 'INTERNAL',
    ].map((name) => [name, abi[`TENON_${name}`]]));

/** The exception of a failed call. Types: index.d.ts. */
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

/** Creates an error for invalid arguments that this package detects itself. */
export function invalid(message, op = '') {
  return new TenonError('INVALID_ARGUMENT', op ? `${op}: ${message}` : message, { op });
}

// The last exception of a callback, until the C call that ran the callback returns its error.
let thrown = null;

/**
 * Creates the C error for an exception of a callback. The outer call then throws the same
 * exception.
 */
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

/** Converts a C error, which the caller still owns, to an exception. */
export function describeError(error) {
  return describe(error);
}

/** Throws the exception for a C error, and releases the error. */
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

/** Throws if a C call returned an error. */
export function check(error) {
  if (error !== 0) fail(error);
}
