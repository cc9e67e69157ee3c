// Programs and named tensors in files. Files are passed as bytes, so that pages can store them
// anywhere.

import * as abi from './abi_gen.js';
import { TenonError, check, invalid } from './errors.js';
import { c, alloc, bytes, enter, leave, pointers, putText, readSizes, readText, refresh, struct, text, textOf, texts, u32, u8 } from './native.js';
import { dtypeOfCode } from './dtypes.js';
import { Disposable, handleOf, scope, requireContext } from './scope.js';
import { Tensor, takeText, withOutput } from './tensor.js';
import { NativeFunction, TensorSpec } from './functions.js';
import { withHandles } from './tree.js';
import { Variable } from './variables.js';
import { Transfer, request } from './download.js';
import { loadPrograms } from './loader.js';
import { isStored, readStored } from './storage.js';

let fileSystem = null;
let folders = 0;

/**
 * Sets the in-memory file system of Emscripten, in which the C library reads and writes the files
 * of programs.
 */
export function useFileSystem(fs) {
  fileSystem = fs ?? new Proxy({}, {
    get() {
      throw new TenonError('UNIMPLEMENTED', 'this build of Tenon has no files; the variant simd of the full package has them');
    },
  });
}

/** Returns the bytes of a ByteSource. Reports the progress of downloads to `transfer`. */
async function readBytes(source, transfer = new Transfer()) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (typeof Blob !== 'undefined' && source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  if (isStored(source)) return readBytes(await readStored(source));
  if (isAddress(source)) return bodyOf(transfer.count(await request(source)));
  throw invalid('expected an ArrayBuffer, a typed array, a Blob, a File or a URL');
}

function isAddress(source) {
  return typeof source === 'string' || source instanceof URL;
}

async function bodyOf(response) {
  return new Uint8Array(await response.arrayBuffer());
}

// ---- named tensors

/** Returns the content of a safetensors file. Types: index.d.ts. */
export function saveSafetensors(tensors, metadata = {}) {
  requireContext();
  const names = Object.keys(tensors);
  const entries = Object.entries(metadata);
  return withHandles(Object.values(tensors), (handles) => {
    const frame = enter();
    try {
      const list = alloc(Math.max(abi.tenon_metadata.$ * entries.length, 4));
      entries.forEach(([key, value], i) => {
        putText(list + abi.tenon_metadata.$ * i + abi.tenon_metadata.key, key);
        putText(list + abi.tenon_metadata.$ * i + abi.tenon_metadata.value, value);
      });
      const out = alloc(8);
      check(c.tenon_safetensors_write(
          scope, texts(names), pointers(handles), handles.length, list, entries.length, out));
      refresh();
      const start = u32[out >> 2];
      const result = u8.slice(start, start + u32[(out >> 2) + 1]);
      c.tenon_string_release(out);
      return result.buffer instanceof ArrayBuffer ? result : new Uint8Array(result);
    } finally {
      leave(frame);
    }
  });
}

/** An open safetensors file. Types: index.d.ts. */
export class Safetensors extends Disposable {
  constructor(data) {
    super(openSafetensors(data));
  }

  get names() {
    return Array.from({ length: c.tenon_safetensors_count(handleOf(this)) },
        (_, i) => textOf(c.tenon_safetensors_name, this._handle, i));
  }

  /** Returns the { dtype, shape } of a tensor by name. */
  type(name) {
    const index = this.names.indexOf(name);
    if (index < 0) throw invalid(`there is no tensor '${name}'; the tensors are ${this.names.join(', ')}`);
    const rank = c.tenon_safetensors_rank(this._handle, index);
    return {
      dtype: dtypeOfCode(c.tenon_safetensors_dtype(this._handle, index)).name,
      shape: readSizes(c.tenon_safetensors_shape(this._handle, index) >>> 0, rank),
    };
  }

  load(name) {
    return withOutput((out) => c.tenon_safetensors_load(scope, handleOf(this), text(name), out));
  }

  get metadata() {
    const frame = enter();
    try {
      const at = alloc(abi.tenon_metadata.$);
      return Object.fromEntries(Array.from({ length: c.tenon_safetensors_count_metadata(handleOf(this)) }, (_, i) => {
        c.tenon_safetensors_metadata(at, this._handle, i);
        return [readText(at + abi.tenon_metadata.key), readText(at + abi.tenon_metadata.value)];
      }));
    } finally {
      leave(frame);
    }
  }

  _release(handle) {
    c.tenon_safetensors_release(handle);
  }
}

function openSafetensors(data) {
  requireContext();
  if (!(data instanceof Uint8Array)) throw invalid('Safetensors: expected a Uint8Array; loadSafetensors() reads other sources');
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_safetensors_open_memory(bytes(data), data.length, out));
    refresh();
    return u32[out >> 2];
  } finally {
    leave(frame);
  }
}

/** Loads all tensors of a safetensors file, by name. Types: index.d.ts. */
export async function loadSafetensors(source, { progress } = {}) {
  const file = new Safetensors(await readBytes(source, new Transfer(progress)));
  try {
    return Object.fromEntries(file.names.map((name) => [name, file.load(name)]));
  } finally {
    file.dispose();
  }
}

// ---- programs

/**
 * Calls `body` with a temporary folder of Emscripten's file system, and removes the folder
 * afterwards.
 */
export function withFolder(body) {
  const folder = `/tenon-${++folders}`;
  fileSystem.mkdir(folder);
  try {
    return body(folder);
  } finally {
    removeFolder(folder);
  }
}

function removeFolder(folder) {
  for (const name of fileSystem.readdir(folder)) {
    if (name !== '.' && name !== '..') fileSystem.unlink(`${folder}/${name}`);
  }
  fileSystem.rmdir(folder);
}

/** Reads a file of Emscripten's file system. */
export function readFile(path) {
  return Uint8Array.from(fileSystem.readFile(path));
}

function writeFile(folder, name, data) {
  if (name.includes('/') || name.startsWith('.')) {
    throw invalid(`'${name}' is not a valid file name: it must not contain '/' or begin with '.'`);
  }
  fileSystem.writeFile(`${folder}/${name}`, data);
}

/** Saves traces and resolves to the files of the program, by name. Types: index.d.ts. */
export async function saveProgram(traces) {
  requireContext();
  await loadPrograms();
  const entries = Object.entries(traces).flatMap(
      ([name, list]) => (Array.isArray(list) ? list : [list]).map((trace) => [name, handleOf(trace)]));
  return withFolder((folder) => {
    const frame = enter();
    try {
      check(c.tenon_program_save(scope, text(folder), texts(entries.map(([name]) => name)),
          pointers(entries.map(([, handle]) => handle)), entries.length));
    } finally {
      leave(frame);
    }
    refresh();
    return Object.fromEntries(fileSystem.readdir(folder).filter((name) => name !== '.' && name !== '..').sort()
        .map((name) => [name, readFile(`${folder}/${name}`)]));
  });
}

/** Returns whether a source is an object that maps file names to contents. */
function isFolder(source) {
  return Object.getPrototypeOf(source) === Object.prototype;
}

/** Downloads the files of a saved program from a folder on a server. */
async function fetchFolder(address, transfer) {
  const base = String(address).replace(/\/?$/, '/');
  const description = await readBytes(`${base}tenon.json`);
  const names = [...filesOf(JSON.parse(new TextDecoder().decode(description)))];
  const responses = await Promise.all(names.map((name) => request(base + name)));
  // The total is known before the first progress report, because all responses are counted here.
  const bodies = await Promise.all(responses.map((response) => transfer.count(response)).map(bodyOf));
  return { 'tenon.json': description, ...Object.fromEntries(names.map((name, i) => [name, bodies[i]])) };
}

/** Collects the names of the files that a tenon.json lists. */
function filesOf(value, found = new Set()) {
  if (typeof value === 'string' && /^[^/]+\.(onnx|safetensors)$/.test(value)) found.add(value);
  if (typeof value === 'object' && value !== null) Object.values(value).forEach((item) => filesOf(item, found));
  return found;
}

/** Returns which of several files to open: the program, or the ONNX model that the others belong to. */
function modelIn(files) {
  if ('tenon.json' in files) return '';
  const models = Object.keys(files).filter((name) => name.endsWith('.onnx'));
  if (models.length !== 1) {
    throw invalid('expected a file tenon.json, or one .onnx file with the files of its weights, but got ' +
                  (Object.keys(files).join(', ') || 'no files'));
  }
  return `/${models[0]}`;
}

/** Opens a program or an ONNX model. Types: files.d.ts. */
export async function openProgram(source, { strict = false, progress } = {}) {
  requireContext();
  if (isStored(source)) return openProgram(await readStored(source), { strict });
  await loadPrograms();
  const transfer = new Transfer(progress);
  if (isFolder(source)) {
    const files = {};
    for (const [name, data] of Object.entries(source)) files[name] = await readBytes(data, transfer);
    return openFiles(files, modelIn(files), strict);
  }
  if (isAddress(source) && !/\.onnx($|[?#])/.test(String(source))) {
    return openFiles(await fetchFolder(source, transfer), '', strict);
  }
  return openFiles({ 'model.onnx': await readBytes(source, transfer) }, '/model.onnx', strict);
}

function openFiles(files, within, strict) {
  return withFolder((folder) => {
    for (const [name, data] of Object.entries(files)) writeFile(folder, name, data);
    const frame = enter();
    try {
      const options = struct(abi.tenon_program_options);
      u8[options + abi.tenon_program_options.strict] = strict ? 1 : 0;
      const out = alloc(4);
      check(c.tenon_program_open(scope, text(folder + within), options, out));
      refresh();
      return new Program(u32[out >> 2]);
    } finally {
      leave(frame);
    }
  });
}

/** An open program. Types: index.d.ts. */
export class Program extends Disposable {
  get functionNames() {
    return Array.from({ length: c.tenon_program_count_functions(handleOf(this)) },
        (_, i) => textOf(c.tenon_program_function_name, this._handle, i));
  }

  function(name) {
    const wanted = name ?? this.functionNames[0];
    const frame = enter();
    try {
      const out = alloc(4);
      check(c.tenon_program_get_function(handleOf(this), text(wanted), out));
      refresh();
      return new NativeFunction(u32[out >> 2], wanted);
    } finally {
      leave(frame);
    }
  }

  /** Returns the signatures of a function: [{ inputs, outputs, statics }]. */
  signatures(name) {
    const at = name === undefined ? 0 : this.functionNames.indexOf(name);
    if (at < 0) throw invalid(`there is no function '${name}'; the functions are ${this.functionNames.join(', ')}`);
    const handle = handleOf(this);
    return Array.from({ length: c.tenon_program_count_signatures(handle, at) }, (_, i) => ({
      inputs: readSpecs(c.tenon_program_inputs(handle, at, i) >>> 0, c.tenon_program_count_inputs(handle, at, i)),
      outputs: readSpecs(c.tenon_program_outputs(handle, at, i) >>> 0, c.tenon_program_count_outputs(handle, at, i)),
      statics: readStatics(c.tenon_program_statics(handle, at, i) >>> 0, c.tenon_program_count_statics(handle, at, i)),
    }));
  }

  get variables() {
    return Array.from({ length: c.tenon_program_count_variables(handleOf(this)) },
        (_, i) => Variable._of(c.tenon_program_variable(this._handle, i) >>> 0));
  }

  describe() {
    const frame = enter();
    try {
      const out = alloc(8);
      check(c.tenon_program_describe(handleOf(this), out));
      return JSON.parse(takeText(out));
    } finally {
      leave(frame);
    }
  }

  _release(handle) {
    c.tenon_program_release(handle);
  }
}

function readSpecs(at, count) {
  refresh();
  const layout = abi.tenon_input_spec;
  return Array.from({ length: count }, (_, i) => {
    const entry = at + layout.$ * i;
    const rank = u32[(entry + layout.rank) >>> 2];
    const code = u32[(entry + layout.dtype) >>> 2];
    const name = readText(entry + layout.name);
    if (code === 0) return { name, dtype: null, shape: null, isScalar: false };
    const names = u32[(entry + layout.size_names) >>> 2];
    const sizes = readSizes(u32[(entry + layout.shape) >>> 2], rank);
    const shape = sizes.map((size, axis) => (size >= 0 ? size : (names && readText(names + 8 * axis)) || null));
    return new TensorSpec(shape, dtypeOfCode(code).name, { name, isScalar: u8[entry + layout.is_scalar] !== 0 });
  });
}

function readStatics(at, count) {
  refresh();
  const layout = abi.tenon_static;
  const view = new DataView(u8.buffer);
  return Object.fromEntries(Array.from({ length: count }, (_, i) => {
    const entry = at + layout.$ * i;
    const int = view.getBigInt64(entry + layout.int_value, true);
    const readers = {
      [abi.TENON_STATIC_BOOL]: () => int !== 0n,
      [abi.TENON_STATIC_INT]: () => Number(int),
      [abi.TENON_STATIC_FLOAT]: () => view.getFloat64(entry + layout.float_value, true),
      [abi.TENON_STATIC_STRING]: () => readText(entry + layout.string_value),
      [abi.TENON_STATIC_ENUM]: () => Number(int),
    };
    return [readText(entry + layout.name), readers[view.getInt32(entry + layout.kind, true)]?.() ?? null];
  }));
}
