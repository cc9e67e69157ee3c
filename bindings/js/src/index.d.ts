// The types of tenon-runtime. The ops are declared in ops_gen.d.ts, which is generated from the registry.

import type { Progress } from './files.js';
import type { GeneratorOps, TensorOps } from './ops_gen.js';

export * from './ops_gen.js';
export * from './devices.js';
export * from './effects.js';
export * from './files.js';

// ---- values

/** The element types. */
export type DType = 'float32' | 'float64' | 'float16' | 'bfloat16' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' |
  'uint16' | 'uint32' | 'uint64' | 'bool';

/** The names of all element types. */
export const dtypes: DType[];

/** The typed arrays that hold elements. float16 and bfloat16 are read as float32. */
export type TypedArray = Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array |
  Uint8ClampedArray | Uint16Array | Uint32Array | BigUint64Array;

/** A number, or nested arrays of elements. */
export type NestedArray = number | boolean | bigint | TypedArray | NestedArray[];

/**
 * An input of an op. A number adopts the dtype of the tensor operands. If all inputs are numbers, they are float32.
 */
export type TensorLike = Tensor | Variable | NestedArray;

/** A size or an index: a number, or an int64 tensor if it differs from call to call of a function. */
export type Size = number | bigint | Tensor;

/** A list of sizes. A single size stands for a list of one. */
export type Sizes = Size | readonly Size[] | Int32Array;

/** A tree: a tensor, or an array or an object of trees. */
export type Tree<T> = T | Tree<T>[] | { [name: string]: Tree<T> };

/** An object that must be disposed. `using` disposes it at the end of a block. */
export interface Disposable {
  /** Whether dispose() has run. */
  readonly isDisposed: boolean;
  /** Releases the object. Later calls of dispose() do nothing; any other use throws. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** How a tensor is formatted. The defaults are those of NumPy. */
export interface FormatOptions {
  /** The maximum number of digits after the decimal point. Default: 8. */
  precision?: number;
  /** Tensors with more elements are summarised. Default: 1000. */
  threshold?: number;
  /** The number of elements that a summary shows at each end of an axis. Default: 3. */
  edgeItems?: number;
  /** The maximum number of columns in a line. Default: 75. */
  lineWidth?: number;
  /** Whether dtype, shape and device are appended. Default: false. */
  longForm?: boolean;
}

/** An immutable tensor. Its methods include all ops. */
export interface Tensor extends Disposable, TensorOps {
  /** The element type. */
  readonly dtype: DType;
  /** The sizes of the axes. Inside a function, reading a dynamic size specialises the trace to it. */
  readonly shape: number[];
  /** The number of axes. */
  readonly rank: number;
  /** The number of elements. */
  readonly size: number;
  /** The size of the elements in bytes. */
  readonly byteLength: number;
  /** The name of the device that holds the tensor, such as "ref:0"; empty for an inline scalar. */
  readonly device: string;
  /** Whether the value of the tensor is a list of tensors. */
  readonly isList: boolean;
  /** The size of one axis. A negative axis counts from the last. */
  sizeOf(axis: number): number;
  /** Copies the elements, in row-major order. */
  data(): Promise<TypedArray>;
  /** Like data(), but synchronous. Throws on a device that cannot block. */
  dataSync(): TypedArray;
  /** Converts the elements to nested arrays. Throws if a 64-bit integer is not exact as a number. */
  array(): Promise<any>;
  /** Like array(), but synchronous. Throws on a device that cannot block. */
  arraySync(): any;
  /** Returns the only element. Throws if the tensor does not have exactly one element. */
  item(): Promise<number | boolean>;
  /** Like item(), but synchronous. Throws on a device that cannot block. */
  itemSync(): number | boolean;
  /** Creates another handle of the same tensor. Each handle must be disposed. */
  clone(): Tensor;
  /** Copies the tensor to another device. */
  copyTo(device: string): Tensor;
  /** Donates the tensor: the next call that takes it may write to its memory. Later uses of the tensor throw. */
  donate(): this;
  /** Indexes the tensor. Each argument is an index, [start, end, step], or null for the whole axis. */
  at(...indices: (number | [number, number?, number?] | null)[]): Tensor;
  /** Formats the elements as NumPy does. */
  toString(options?: FormatOptions): string;
}

/** The class of tensors, for use with `instanceof`. */
export const Tensor: { readonly prototype: Tensor };

/** Options of tensor(). */
export interface TensorOptions {
  /** The element type. Default: that of a typed array; bool for booleans, int64 for bigints, float32 for numbers. */
  dtype?: DType;
  /** The shape. Default: that of the nested arrays. */
  shape?: number[];
}

/** Creates a tensor from a number, nested arrays, a typed array or an ArrayBuffer. */
export function tensor(values: NestedArray | ArrayBuffer, options?: TensorOptions): Tensor;

/** Creates an inline scalar. As an argument of a function it may differ from call to call without a new trace. */
export function scalar(value: number | boolean | bigint): Tensor;

// ---- set-up

/** Options of init(). */
export interface InitOptions {
  /** The device that runs calls: "wasm" or "ref". Default: the fastest one in this package. */
  device?: string;
  /** The number of threads, where threads are supported. Default: TENON_THREADS in Node, else one for each core. */
  threads?: number;
  /**
   * The variant of the module. Default: TENON_VARIANT in Node, else "simd+threads" where threads are supported. init()
   * fails if the environment does not support the variant. loadPlugin() needs "simd+plugins".
   */
  variant?: 'simd' | 'simd+threads' | 'simd+plugins';
  /**
   * The URL of the WebAssembly file. Default: the file next to this package's scripts. Programs, files and profiles need
   * a second file: with NAME.wasm, it is NAME_programs.wasm in the same folder.
   */
  wasmUrl?: string | URL;
  /** Whether init() also loads the second file. Otherwise, the first call that needs it does. */
  complete?: boolean;
  /** Receives the progress of the download of the WebAssembly file. */
  progress?: (progress: Progress) => void;
  /** The memory limit of each device in bytes; 0 for no limit. */
  memoryLimit?: number;
  /** "strict": results have the same bits on every machine. "fast": devices may use faster, inexact kernels. */
  numericPolicy?: 'strict' | 'fast';
  /** What happens if the device cannot run an op: run it on the CPU with a warning, throw, or run it silently. */
  fallbackPolicy?: 'warn' | 'strict' | 'auto';
  /** Whether results are repeatable to the bit from run to run, even with "fast". */
  deterministic?: boolean;
  /** The lowest severity that is logged. Default: "warning". */
  logLevel?: 'debug' | 'info' | 'warning' | 'error';
  /** Receives the log lines. Levels range from 0 (debug) to 3 (error). Default: the console. */
  log?: (level: number, message: string) => void;
}

/** Loads the module. Call it before any other function. Later calls return the same Promise. */
export function init(options?: InitOptions): Promise<void>;

/** The variant of the module that init() loads in this environment. */
export interface Environment {
  /** The variant of the module; null if there is none for this engine. */
  variant: 'simd' | 'simd+threads' | 'simd+plugins' | null;
  /** The number of compute threads. */
  threads: number;
  /** Why this variant was chosen. */
  reason: string;
  /** Whether the page is cross-origin isolated, which threads need for shared memory. */
  crossOriginIsolated: boolean;
  runtime: 'node' | 'browser';
  /** Whether init() has finished. */
  isReady: boolean;
}

/** Returns which variant of the module the environment supports, and why. */
export function environment(): Environment;

/** Returns the version of libtenon. */
export function version(): string;

// ---- errors

/** The error codes. */
export type Code = 'INVALID_ARGUMENT' | 'OUT_OF_RANGE' | 'NOT_FOUND' | 'UNIMPLEMENTED' | 'UNAVAILABLE' |
  'OUT_OF_MEMORY' | 'CANCELLED' | 'FAILED_PRECONDITION' | 'DATA_LOSS' | 'DEVICE_LOST' | 'INTERNAL';

/** The exception of a failed call. `cause` is the error that caused it, if any. */
export class TenonError extends Error {
  constructor(code: Code, message: string, details?: {
    op?: string; argument?: string; device?: string; location?: string; cause?: unknown;
  });
  readonly code: Code;
  /** The name of the op that failed; empty if no op was called. */
  readonly op: string;
  /** The rule of the op that the call violates, such as "C2"; empty if there is none. */
  readonly rule: string;
  /** The name of the invalid parameter; empty if the error does not concern a single one. */
  readonly argument: string;
  readonly device: string;
  readonly location: string;
}

// ---- memory

/** Runs a function and disposes the tensors that it created, except those in its result. Not for async functions. */
export function scope<T>(body: () => T): T;

/** Excludes a tensor from the scopes that would dispose it. The caller must dispose it. */
export function keep(tensor: Tensor): Tensor;

/**
 * Runs calls on its device and disposes the tensors that they create. For code that awaits between
 * calls or uses a second device.
 */
export class Scope implements Disposable {
  constructor(options?: { device?: string });
  /** Runs calls in this scope. May be called repeatedly; code may await between the calls. */
  run<T>(body: () => T): T;
  /** The name of the device that runs the calls. */
  device: string;
  /** The number of tensors that dispose() will dispose. */
  readonly size: number;
  /** Cancels the calls in progress in this scope. */
  cancel(): void;
  readonly isDisposed: boolean;
  /** Disposes the scope and all tensors that were created in it. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Turns the debug mode on or off. It reports tensors that are garbage-collected without being disposed. */
export function debug(on: boolean, onLeak?: (leak: { stack: string }) => void): void;

/** Returns the stacks of the calls that created the undisposed tensors. Needs the debug mode. */
export function leaks(): { stack: string }[];

/** Memory statistics. */
export interface MemoryInfo {
  /** Number of tensors that are not disposed. */
  tensors: number;
  /** Number of JavaScript functions that functions, tapes and custom ops keep alive. */
  callbacks: number;
  /** Bytes in use by tensors of the device. */
  liveBytes: number;
  peakBytes: number;
  /** Bytes allocated from the device: in use, or cached for later tensors. */
  heldBytes: number;
  liveBuffers: number;
  allocations: number;
  /** Size of WebAssembly memory in bytes. It never shrinks. */
  wasmBytes: number;
}

/** Returns the memory statistics of a device. Default: the first device. */
export function memory(device?: string): MemoryInfo;
/** Resets the peak statistics of a device to the current values. */
export function resetPeak(device: string): void;
/** Frees cached memory of a device, and returns the number of bytes freed. */
export function trim(device: string): number;

// ---- state

/** Options of a variable. */
export interface VariableOptions {
  /** Whether tapes watch the variable when it is read. Default: true. */
  trainable?: boolean;
  /** The name in files and gradients. Default: variable_1, variable_2 and so on. */
  name?: string;
}

/** A cell that holds a tensor, which can be replaced. Ops accept variables as inputs. */
export class Variable implements Disposable {
  constructor(initial: TensorLike, options?: VariableOptions);
  /** Returns the current value as a tensor. */
  read(): Tensor;
  /** Replaces the value with another one of the same dtype and shape. */
  assign(value: TensorLike): this;
  readonly dtype: DType;
  readonly shape: number[];
  readonly rank: number;
  readonly name: string;
  readonly device: string;
  trainable: boolean;
  /** Formats the current value. */
  toString(): string;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

export interface Generator extends GeneratorOps {}
/** A random number generator. The same seed gives the same numbers on every device. */
export class Generator implements Disposable {
  constructor(seed: number | bigint);
  /** Draws numbers that are uniformly distributed on [low, high). */
  uniform(shape: number[], options?: { low?: number; high?: number; dtype?: DType }): Tensor;
  /** Draws normally distributed numbers. */
  normal(shape: number[], options?: { mean?: number; scale?: number; dtype?: DType }): Tensor;
  /** Resets the state to that of a new generator with this seed. */
  seed(value: number | bigint): this;
  /** Returns the state, a uint32 tensor with 6 elements. Save it to resume from here. */
  read(): Tensor;
  /** Restores a state that read() returned. */
  assign(state: TensorLike): this;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

// ---- gradients

/** A source of gradients. */
export type Source = Tensor | Variable;

/** Options of a tape. */
export interface TapeOptions {
  /** Whether gradients can be computed more than once. Default: false. */
  persistent?: boolean;
  /** Whether the tape watches trainable variables when they are read. Default: true. */
  watchTrainable?: boolean;
}

/** The gradient with respect to a source that the target does not depend on: zeros or null. */
export type Unreached = 'zeros' | 'null';

/**
 * Records calls and computes gradients. A tape records only the calls inside run(). Tasks may therefore await between
 * their runs without recording each other's calls.
 */
export class Tape implements Disposable {
  constructor(options?: TapeOptions);
  /** Runs a function and records its calls. May be called repeatedly; code may await between the calls. */
  run<T>(body: () => T): T;
  /** Watches tensors or variables: later calls that depend on them are recorded. */
  watch(...values: (Source | Source[])[]): this;
  /** Computes the gradients of targets with respect to a source, or a tree of sources. */
  gradient(targets: Tensor | Tensor[], sources: Source,
    options?: { cotangents?: TensorLike | TensorLike[]; unreached?: Unreached }): Tensor;
  gradient(targets: Tensor | Tensor[], sources: Source[],
    options?: { cotangents?: TensorLike | TensorLike[]; unreached?: Unreached }): Tensor[];
  gradient(targets: Tensor | Tensor[], sources: Tree<Source>,
    options?: { cotangents?: TensorLike | TensorLike[]; unreached?: Unreached }): any;
  /** Computes the derivatives of all elements of a target with respect to all elements of the sources. */
  jacobian(target: Tensor, sources: Source, options?: { unreached?: Unreached }): Tensor;
  jacobian(target: Tensor, sources: Source[], options?: { unreached?: Unreached }): Tensor[];
  /** The tensors and variables that the tape watches. */
  readonly watched: Source[];
  readonly isRecording: boolean;
  /** Discards all recorded calls and watched values. The tape can be used again. */
  reset(): this;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Creates a tape, like `new Tape(options)`. */
export function tape(options?: TapeOptions): Tape;

/** Returns a function that computes the gradient of f: `grad(f)(x)`. */
export function grad(f: (x: Tensor) => Tensor): (x: TensorLike) => Tensor;
/** Returns a function that computes the gradients of f with respect to each argument: `grads(f)([x, y])`. */
export function grads(f: (...xs: Tensor[]) => Tensor): (xs: TensorLike[]) => Tensor[];
/** Like grad(), but the returned function also returns the value of f. */
export function valueAndGrad(f: (x: Tensor) => Tensor): (x: TensorLike) => { value: Tensor; grad: Tensor };
/** Like grads(), but the returned function also returns the value of f. */
export function valueAndGrads(f: (...xs: Tensor[]) => Tensor): (xs: TensorLike[]) => { value: Tensor; grads: Tensor[] };
/**
 * Computes f, and its gradients with respect to `variables` (default: all trainable variables that
 * f reads), by the names of the variables.
 */
export function variableGrads(f: () => Tensor, variables?: Variable[]): { value: Tensor; grads: Record<string, Tensor> };
/**
 * Returns a function that computes `forward`. Its gradient is computed by `backward` from the cotangent of the output.
 */
export function customGradient(
  forward: (...inputs: Tensor[]) => Tensor,
  backward: (cotangent: Tensor, inputs: Tensor[], output: Tensor) => Tensor | (Tensor | null)[],
): (...inputs: TensorLike[]) => Tensor;

// ---- control flow

/** How a loop inside a function stores residuals for its gradient: save them, recompute them, or preallocate memory. */
export type LoopPolicy = 'stack' | 'recompute' | 'bounded';

/** Runs `then` or `otherwise`. Inside a traced function, traces both. */
export function cond<T>(condition: TensorLike | boolean, then: () => T, otherwise: () => T): T;
/** Runs the branch at `index`. An index out of range selects the last branch. */
export function switchCase<T>(index: Tensor | Variable | number, branches: (() => T)[]): T;
/** Runs `body` while `condition` returns true. Returns the final values, in the structure of the initial ones. */
export function whileLoop(condition: (value: Tensor) => TensorLike, body: (value: Tensor) => TensorLike,
  initial: TensorLike, options?: { policy?: LoopPolicy; maxTrips?: number }): Tensor;
export function whileLoop(condition: (...values: any[]) => TensorLike, body: (...values: any[]) => any[],
  initial: Tree<TensorLike>[], options?: { policy?: LoopPolicy; maxTrips?: number }): any[];
/** Runs `body` for each slice of xs along the first axis. Returns the final carried values and the stacked outputs. */
export function scan(body: (carried: any, slice: any) => [any, any?], initial: Tree<TensorLike>, xs: Tree<TensorLike>,
  options?: { reverse?: boolean; policy?: LoopPolicy }): [any, any];
/** Returns the sizes of a tensor as an int64 tensor. */
export function shape(x: TensorLike): Tensor;
/** Returns whether calls are traced instead of executed, as inside a traced function. */
export function isTracing(): boolean;

// ---- functions

/** The type of an input. Each size is a number, null if it is unknown, or a name; sizes with equal names are equal. */
export class TensorSpec {
  constructor(shape: (number | string | null)[], dtype?: DType, options?: { name?: string; isScalar?: boolean });
  readonly shape: (number | string | null)[];
  readonly dtype: DType;
  readonly name: string;
  readonly isScalar: boolean;
  /** Returns the spec with the type of a tensor. */
  static of(value: Tensor | TensorSpec): TensorSpec;
}

/** Options of a traced function. */
export interface FunctionOptions {
  /** The name in messages. Default: the name of the JavaScript function. */
  name?: string;
  /**
   * The types of the arguments; calls with other types fail. Default: each new combination of types
   * is traced at its first call.
   */
  signature?: (TensorSpec | Tree<TensorSpec>)[];
  /** The maximum number of traces for each structure of arguments. Default: 64. */
  maxTraces?: number;
  /** Whether a size that changes repeatedly becomes dynamic. Default: true. */
  relax?: boolean;
  /**
   * Maximum number of bytes of residuals that a call under a tape saves. The backward pass
   * recomputes the other residuals.
   */
  memoryBudget?: number;
}

/** A function that is traced once per combination of argument types, and then runs as a graph. */
export interface TracedFunction<F extends (...args: any[]) => any> extends Omit<Disposable, 'isDisposed'> {
  (...args: Parameters<F>): ReturnType<F>;
  /**
   * Returns the trace for arguments of the types of these specs or tensors; without arguments, the
   * trace for the declared signature.
   */
  trace(...args: any[]): Trace;
  /** Returns the trace that a call with these arguments would run. */
  findTrace(...args: any[]): Trace;
  traces(): Trace[];
  traceCount(): number;
  /** Returns a text that lists the traces with their signatures, and why each was created. */
  explain(): string;
  /** Returns a function that computes the gradients of the sum of the outputs, for arguments of these types. */
  gradient(...args: any[]): NativeFunction;
}

declare function tenonFunction<F extends (...args: any[]) => any>(body: F, options?: FunctionOptions): TracedFunction<F>;
export { tenonFunction as function };

/** A function of a program, or a gradient. Takes an array of tensors and returns one. */
export interface NativeFunction extends Disposable {
  readonly name: string;
  /** Calls the function. `statics` are static arguments by name. */
  call(inputs: TensorLike[], statics?: Record<string, boolean | number | bigint | string | null>): Tensor[];
  gradient(): NativeFunction;
  traces(): Trace[];
  explain(): string;
}

/** One traced graph of a function. */
export interface Trace extends Disposable {
  readonly name: string;
  call(...args: any[]): any;
  /** The graph as text: inputs, captures, calls and outputs. */
  readonly text: string;
  /**
   * What executions have compiled so far, as text: optimised graph, segments and launch plans. The format may change.
   */
  readonly stages: string;
  readonly inputCount: number;
  readonly outputCount: number;
  /** The variables that the graph reads or assigns. */
  readonly variables: Variable[];
  /** The names of the calls with effects, such as print. */
  readonly effects: string[];
}
export const Trace: { readonly prototype: Trace };

/** Sets whether functions run their JavaScript body in every call, for debugging. */
export function runFunctionsEagerly(eagerly: boolean): void;
