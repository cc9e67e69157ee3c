// The WebAssembly module: its exported functions, its memory, and scratch memory for the arguments of
// calls. Read next: errors.js.
//
// Addresses are numbers below 2^32. When memory grows, views of it are detached: their length
// becomes 0, reads return undefined and writes have no effect. A view of shared memory is not
// detached, but keeps its old length. `enter` and `alloc` replace outdated views before arguments
// are written, and `refresh` does so before results are read.

/** The exported C functions, by name. */
export const c = {
  malloc() {
    throw new Error('Tenon is not ready: call `await tenon.init()` first');
  },
};

export let memory = null;
let isShared = false;
export let u8 = new Uint8Array(1);
export let i32 = null;
export let u32 = new Uint32Array(1);
export let i64 = null;
export let f64 = null;

const SCRATCH = 1 << 18;
let top = 0;
let limit = 0;
// Blocks for arguments that exceed the scratch memory: pairs of a frame and an address. `leave`
// frees them.
const extra = [];
const whenReady = [];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Runs `hook` after the module is loaded. */
export function onReady(hook) {
  whenReady.push(hook);
}

/** Stores the exports and the memory of a WebAssembly instance, and runs the hooks of onReady(). */
export function attach(exports, instanceMemory) {
  Object.assign(c, exports);
  memory = instanceMemory;
  isShared = !(memory.buffer instanceof ArrayBuffer);
  views();
  top = c.malloc(SCRATCH) >>> 0;
  limit = top + SCRATCH - 4096;
  for (const hook of whenReady) hook();
}

function views() {
  const { buffer } = memory;
  u8 = new Uint8Array(buffer);
  i32 = new Int32Array(buffer);
  u32 = new Uint32Array(buffer);
  i64 = new BigInt64Array(buffer);
  f64 = new Float64Array(buffer);
}

/** Replaces the views if memory has grown. */
export function refresh() {
  if (u8.buffer !== memory.buffer) views();
}

// ---- scratch memory

/** Begins a frame of scratch memory. `leave` frees all allocations of the frame. */
export function enter() {
  if (u8.length === 0 || isShared) refresh();
  return top;
}

export function leave(frame) {
  top = frame;
  while (extra.length > 0 && extra[extra.length - 1][0] >= frame) c.free(extra.pop()[1]);
}

/** Allocates `size` bytes, aligned to 8, in the current frame. Their content is undefined. */
export function alloc(size) {
  // A C call since the last allocation may have grown the memory.
  if (u8.length === 0 || isShared) refresh();
  const at = top;
  const next = (at + size + 7) & ~7;
  if (next <= limit) {
    top = next;
    return at;
  }
  const block = c.malloc(size) >>> 0;
  if (block === 0) throw new RangeError(`tenon: cannot allocate ${size} bytes for arguments`);
  extra.push([at, block]);
  top += 8;
  refresh();
  return block;
}

/** Allocates a zeroed struct. Sets `struct_size` if the struct has that member. */
export function struct(layout) {
  const at = alloc(layout.$);
  u8.fill(0, at, at + layout.$);
  if (layout.struct_size === 0) u32[at >> 2] = layout.$;
  return at;
}

/** Allocates an array of addresses. */
export function pointers(values) {
  const at = alloc(Math.max(4 * values.length, 4));
  for (let i = 0; i < values.length; ++i) u32[(at >>> 2) + i] = values[i];
  return at;
}

/** Allocates an array of int64 values. */
export function int64s(values) {
  const at = alloc(Math.max(8 * values.length, 8));
  for (let i = 0; i < values.length; ++i) i64[at / 8 + i] = BigInt(values[i]);
  return at;
}

/** Allocates a copy of `data`, a typed array of bytes. */
export function bytes(data) {
  const at = alloc(Math.max(data.length, 1));
  u8.set(data, at);
  return at;
}

/** Writes a string to the tenon_string at `at`. */
export function putText(at, text) {
  const encoded = encoder.encode(text);
  u32[at >>> 2] = encoded.length === 0 ? 0 : bytes(encoded);
  u32[(at >>> 2) + 1] = encoded.length;
}

/** Allocates a tenon_string. */
export function text(value) {
  const at = alloc(8);
  putText(at, value);
  return at;
}

/** Allocates an array of tenon_string. */
export function texts(values) {
  const at = alloc(Math.max(8 * values.length, 8));
  for (let i = 0; i < values.length; ++i) putText(at + 8 * i, values[i]);
  return at;
}

// ---- reading

/** Reads the tenon_string at `at`. */
export function readText(at) {
  refresh();
  const start = u32[at >>> 2];
  return decoder.decode(u8.slice(start, start + u32[(at >>> 2) + 1]));
}

/**
 * Calls a C function that returns a tenon_string, and returns the string. The first argument in C
 * is the address of the result.
 */
export function textOf(getter, ...args) {
  const frame = enter();
  const at = alloc(8);
  getter(at, ...args);
  const value = readText(at);
  leave(frame);
  return value;
}

/** Reads an array of int64 sizes, as numbers. */
export function readSizes(at, rank) {
  refresh();
  const sizes = new Array(rank);
  for (let i = 0; i < rank; ++i) sizes[i] = Number(i64[at / 8 + i]);
  return sizes;
}

/** Reads an array of addresses. */
export function readPointers(at, count) {
  refresh();
  return Array.from(u32.subarray(at >>> 2, (at >>> 2) + count));
}
