// Tensors. index.js adds the ops as methods.

import { tenon_format_options as format } from './abi_gen.js';
import { check, invalid } from './errors.js';
import { c, alloc, enter, f64, i32, i64, leave, readSizes, readText, refresh, struct, text, textOf, u32, u8 } from './native.js';
import { dtypeOf, dtypeOfCode, isFloating } from './dtypes.js';
import { copyOut, makeScalar, nest, readValues, tensorHandle } from './convert.js';
import { Disposable, adopt, discard, handleOf, scope, requireContext } from './scope.js';
import { runNowOrAsync } from './callbacks.js';

const inspect = Symbol.for('nodejs.util.inspect.custom');

/** An immutable tensor. Types: index.d.ts. */
export class Tensor extends Disposable {
  constructor(handle) {
    super(handle);
    this._shape = null;
    adopt(this);
  }

  get _isTensor() {
    return true;
  }

  dispose() {
    discard(this);
  }

  // ---- properties

  get dtype() {
    return dtypeOfCode(c.tenon_tensor_dtype(handleOf(this))).name;
  }

  get shape() {
    if (this._shape !== null) return [...this._shape];
    const frame = enter();
    try {
      const out = alloc(8);
      check(c.tenon_tensor_read_shape(handleOf(this), out, out + 4));
      refresh();
      this._shape = readSizes(u32[out >> 2], u32[(out >> 2) + 1]);
      return [...this._shape];
    } finally {
      leave(frame);
    }
  }

  get rank() {
    return c.tenon_tensor_rank(handleOf(this));
  }

  get size() {
    return this.shape.reduce((product, size) => product * size, 1);
  }

  get byteLength() {
    return c.tenon_tensor_bytes(handleOf(this)) >>> 0;
  }

  get device() {
    return textOf(c.tenon_tensor_device_name, handleOf(this));
  }

  get isList() {
    return c.tenon_tensor_is_list(handleOf(this)) !== 0;
  }

  /** Returns the size of one axis. Inside a function, specialises the trace to this size only. */
  sizeOf(axis) {
    const frame = enter();
    try {
      const out = alloc(8);
      check(c.tenon_tensor_size(handleOf(this), BigInt(axis), out));
      refresh();
      return Number(i64[out / 8]);
    } finally {
      leave(frame);
    }
  }

  // ---- reading the value

  /**
   * Returns the tensor to read from: this tensor, or a float32 copy of a float16 or bfloat16
   * tensor.
   */
  _readable() {
    return dtypeOf(this.dtype).array === null ? this.cast('float32') : this;
  }

  dataSync() {
    const source = this._readable();
    try {
      return readSync(source);
    } finally {
      if (source !== this) source.dispose();
    }
  }

  async data() {
    const source = this._readable();
    try {
      return await readAsync(source);
    } finally {
      if (source !== this) source.dispose();
    }
  }

  arraySync() {
    return nest(this.dataSync(), this.shape, this.dtype);
  }

  async array() {
    const { shape, dtype } = this;
    return nest(await this.data(), shape, dtype);
  }

  itemSync() {
    const frame = enter();
    try {
      const out = alloc(8);
      const { dtype } = this;
      if (isFloating(dtype)) {
        check(c.tenon_tensor_item_f64(scope, handleOf(this), out));
        refresh();
        return f64[out / 8];
      }
      check(c.tenon_tensor_item_i64(scope, handleOf(this), out));
      refresh();
      return nest([dtype === 'bool' ? Number(i64[out / 8]) : i64[out / 8]], [], dtype);
    } finally {
      leave(frame);
    }
  }

  async item() {
    const { size, dtype, shape } = this;
    if (size !== 1) throw invalid(`item: the tensor has the shape [${shape}], not one element`);
    return nest(await this.data(), [], dtype);
  }

  // ---- other methods

  /** Creates another handle of the same tensor. Each handle must be disposed. */
  clone() {
    c.tenon_tensor_retain(handleOf(this));
    return new Tensor(this._handle);
  }

  copyTo(device) {
    return withOutput((out) => c.tenon_tensor_copy_to(scope, handleOf(this), text(device), out));
  }

  /**
   * Donates the tensor: the next call that takes it may write to its memory. Later uses of the
   * tensor throw.
   */
  donate() {
    check(c.tenon_tensor_donate(handleOf(this)));
    return this;
  }

  toString({ precision = 8, threshold = 1000, edgeItems = 3, lineWidth = 75, longForm = false } = {}) {
    const frame = enter();
    try {
      const options = struct(format);
      i32[(options + format.precision) >> 2] = precision;
      i64[(options + format.threshold) / 8] = BigInt(threshold);
      i32[(options + format.edge_items) >> 2] = edgeItems;
      i32[(options + format.line_width) >> 2] = lineWidth;
      u8[options + format.long_form] = longForm ? 1 : 0;
      const out = alloc(8);
      check(c.tenon_tensor_format(scope, handleOf(this), options, out));
      return takeText(out);
    } finally {
      leave(frame);
    }
  }

  [inspect]() {
    if (this._handle === 0) return 'Tensor (disposed)';
    return `Tensor ${this.toString({ longForm: true })}`;
  }

  /**
   * Indexes the tensor. Each argument is a number, [start, end, step], or null for the whole axis.
   */
  at(...indices) {
    const { shape } = this;
    if (indices.length > shape.length) {
      throw invalid(`at: there are ${indices.length} indices, but the tensor has rank ${shape.length}`);
    }
    const starts = [];
    const ends = [];
    const steps = [];
    const squeezed = [];
    indices.forEach((index, axis) => {
      const size = shape[axis];
      const [start, end, step] = rangeOf(index, size, axis);
      starts.push(start);
      ends.push(end);
      steps.push(step);
      if (typeof index === 'number') squeezed.push(axis);
    });
    const axes = indices.map((_, axis) => axis);
    const part = this.slice({ starts, ends, axes, steps });
    if (squeezed.length === 0) return part;
    const result = part.squeeze(squeezed);
    part.dispose();
    return result;
  }
}

function rangeOf(index, size, axis) {
  if (index === null) return [0, size, 1];
  if (typeof index === 'number') {
    const at = index < 0 ? index + size : index;
    if (!(Number.isInteger(at) && at >= 0 && at < size)) {
      throw invalid(`at: index ${index} is outside [${-size}, ${size}) of axis ${axis}`);
    }
    return [at, at + 1, 1];
  }
  if (!Array.isArray(index) || index.length < 1 || index.length > 3) {
    throw invalid('at: an index is a number, [start, end, step] or null');
  }
  return [index[0] ?? 0, index[1] ?? size, index[2] ?? 1];
}

/** Calls a C function with the address of an output handle, and wraps the output as a tensor. */
export function withOutput(call) {
  requireContext();
  const frame = enter();
  try {
    const out = alloc(4);
    check(call(out));
    refresh();
    return new Tensor(u32[out >> 2]);
  } finally {
    leave(frame);
  }
}

/** Returns a string that C returned, and releases it. */
export function takeText(out) {
  const result = readText(out);
  c.tenon_string_release(out);
  return result;
}

function readSync(tensor) {
  const dtype = dtypeOf(tensor.dtype);
  const handle = handleOf(tensor);
  const bytes = tensor.size * dtype.bytes;
  const inPlace = c.tenon_tensor_data(handle) >>> 0;
  if (inPlace !== 0) return copyOut(inPlace, bytes, dtype);
  const block = c.malloc(Math.max(bytes, 1)) >>> 0;
  try {
    check(c.tenon_tensor_read(scope, handle, block, bytes));
    return copyOut(block, bytes, dtype);
  } finally {
    c.free(block);
  }
}

async function readAsync(tensor) {
  const dtype = dtypeOf(tensor.dtype);
  const handle = handleOf(tensor);
  const bytes = tensor.size * dtype.bytes;
  const inPlace = c.tenon_tensor_data(handle) >>> 0;
  if (inPlace !== 0) return copyOut(inPlace, bytes, dtype);
  const block = c.malloc(Math.max(bytes, 1)) >>> 0;
  try {
    await runNowOrAsync(
        () => c.tenon_tensor_read(scope, handle, block, bytes),
        (done) => c.tenon_tensor_read_async(scope, handle, block, bytes, done));
    return copyOut(block, bytes, dtype);
  } finally {
    c.free(block);
  }
}

// ---- creating tensors

/** Creates a tensor from numbers, nested arrays or typed arrays. Types: index.d.ts. */
export function tensor(values, { dtype, shape } = {}) {
  requireContext();
  const found = readValues(values, dtype, shape);
  const made = new Tensor(tensorHandle(found));
  if (dtype === undefined || found.dtype === dtype) return made;
  const cast = made.cast(dtype);
  made.dispose();
  return cast;
}

/** Creates an inline scalar, which adopts the dtype of the tensor operands. */
export function scalar(value) {
  requireContext();
  return new Tensor(makeScalar(value));
}
