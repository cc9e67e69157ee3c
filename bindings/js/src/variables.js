// Variables and random number generators: state that outlives calls.

import { tenon_variable_options as options } from './abi_gen.js';
import { check, invalid } from './errors.js';
import { c, alloc, enter, int64s, leave, putText, readSizes, refresh, struct, textOf, u32, u8 } from './native.js';
import { dtypeOf, dtypeOfCode } from './dtypes.js';
import { Disposable, handleOf, scope, requireContext } from './scope.js';
import { Tensor, withOutput } from './tensor.js';
import { ops } from './call.js';
import { withHandles } from './tree.js';

let named = 0;

/** A cell that holds a tensor. Types: index.d.ts. */
export class Variable extends Disposable {
  constructor(initial, { trainable = true, name } = {}) {
    super(initial?._variableHandle ?? create(initial, trainable, name));
  }

  get _isVariable() {
    return true;
  }

  /** Wraps a C variable, and adds a reference to it. */
  static _of(handle) {
    c.tenon_variable_retain(handle);
    return new Variable({ _variableHandle: handle });
  }

  /** Returns the handle of a new tensor with the current value. */
  _readHandle() {
    const frame = enter();
    try {
      const out = alloc(4);
      check(c.tenon_variable_read(scope, handleOf(this), out));
      refresh();
      return u32[out >> 2];
    } finally {
      leave(frame);
    }
  }

  read() {
    return new Tensor(this._readHandle());
  }

  assign(value) {
    withHandles([value], ([handle]) => check(c.tenon_variable_assign(scope, handleOf(this), handle)));
    return this;
  }

  get dtype() {
    return dtypeOfCode(c.tenon_variable_dtype(handleOf(this))).name;
  }

  get shape() {
    return readSizes(c.tenon_variable_shape(handleOf(this)) >>> 0, c.tenon_variable_rank(handleOf(this)));
  }

  get rank() {
    return c.tenon_variable_rank(handleOf(this));
  }

  get name() {
    return textOf(c.tenon_variable_name, handleOf(this));
  }

  get device() {
    return textOf(c.tenon_variable_device_name, handleOf(this));
  }

  get trainable() {
    return c.tenon_variable_is_trainable(handleOf(this)) !== 0;
  }

  set trainable(value) {
    c.tenon_variable_set_trainable(handleOf(this), value ? 1 : 0);
  }

  toString() {
    const value = this.read();
    try {
      return value.toString();
    } finally {
      value.dispose();
    }
  }

  _release(handle) {
    c.tenon_variable_release(handle);
  }
}

function create(initial, trainable, name = `variable_${++named}`) {
  requireContext();
  if (initial === undefined) throw invalid('Variable: the initial value is missing');
  return withHandles([initial], ([handle]) => {
    const frame = enter();
    try {
      const at = struct(options);
      u8[at + options.trainable] = trainable ? 1 : 0;
      putText(at + options.name, name);
      const out = alloc(4);
      check(c.tenon_variable_create(scope, handle, at, out));
      refresh();
      return u32[out >> 2];
    } finally {
      leave(frame);
    }
  });
}

/** Returns the tenon_value of a tensor or a variable. */
export function valueOf(source) {
  if (source?._isVariable) return c.tenon_variable_as_value(handleOf(source)) >>> 0;
  if (source instanceof Tensor) return c.tenon_tensor_as_value(handleOf(source)) >>> 0;
  throw invalid('expected a Tensor or a Variable');
}

/** Converts a tenon_value that the caller owns to a Tensor or a Variable. */
export function fromValue(value) {
  const variable = c.tenon_value_as_variable(value) >>> 0;
  const tensor = c.tenon_value_as_tensor(value) >>> 0;
  let result;
  if (variable !== 0) {
    result = Variable._of(variable);
  } else {
    c.tenon_tensor_retain(tensor);
    result = new Tensor(tensor);
  }
  c.tenon_value_release(value);
  return result;
}

// ---- generators

function asSeed(seed) {
  if (typeof seed !== 'bigint' && !(Number.isSafeInteger(seed) && seed >= 0)) {
    throw invalid(`Generator: the seed must be an integer of 0 or more, but is ${seed}`);
  }
  return BigInt.asUintN(64, BigInt(seed));
}

/** A random number generator. index.js adds the random ops as methods. Types: index.d.ts. */
export class Generator extends Disposable {
  constructor(seed) {
    super(createGenerator(asSeed(seed)));
  }

  seed(value) {
    check(c.tenon_generator_seed(scope, handleOf(this), asSeed(value)));
    return this;
  }

  read() {
    return withOutput((out) => c.tenon_generator_read(scope, handleOf(this), out));
  }

  assign(state) {
    withHandles([state], ([handle]) => check(c.tenon_generator_assign(scope, handleOf(this), handle)));
    return this;
  }

  uniform(shape, { low = 0, high = 1, dtype = 'float32' } = {}) {
    return withOutput((out) => c.tenon_generator_uniform(
        scope, handleOf(this), dtypeOf(dtype).code, int64s(shape), shape.length, low, high, out));
  }

  normal(shape, { mean = 0, scale = 1, dtype = 'float32' } = {}) {
    return withOutput((out) => c.tenon_generator_normal(
        scope, handleOf(this), dtypeOf(dtype).code, int64s(shape), shape.length, mean, scale, out));
  }

  _release(handle) {
    c.tenon_generator_release(handle);
  }
}

function createGenerator(seed) {
  requireContext();
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_generator_create(scope, seed, out));
    refresh();
    return u32[out >> 2];
  } finally {
    leave(frame);
  }
}

/** Adds the random ops to Generator as methods. */
export function addDraws() {
  for (const { name, drawn } of ops) {
    if (drawn === null) continue;
    Object.defineProperty(Generator.prototype, name, {
      value(...args) {
        return drawn(handleOf(this), args);
      },
      writable: true, configurable: true,
    });
  }
}
