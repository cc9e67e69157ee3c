// The types of tenon-runtime. The ops are in ops_gen.d.ts, which is generated from the registry.

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

/** The typed arrays in which elements are read. Half types are read as float32. */
export type TypedArray = Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array |
  Uint8ClampedArray | Uint16Array | Uint32Array | BigUint64Array;

/** Nested arrays of elements. */
export type NestedArray = number | boolean | bigint | TypedArray | NestedArray[];

/**
 * What an op takes as an input. A number adopts the dtype of the tensor that it is combined with; numbers
 * alone are float32.
 */
export type TensorLike = Tensor | Variable | NestedArray;

/** A size or an index: a number, or an int64 tensor in a function whose sizes vary. */
export type Size = number | bigint | Tensor;

/** A list of sizes; a single one may stand for a list of one. */
export type Sizes = Size | readonly Size[] | Int32Array;

/** A tree: a tensor, or an array or an object of trees. */
export type Tree<T> = T | Tree<T>[] | { [name: string]: Tree<T> };

/** What is disposed once. `using` disposes it at the end of a block. */
export interface Disposable {
  /** Whether dispose() has run. */
  readonly isDisposed: boolean;
  /** Releases the object. Disposing it again does nothing; any other use is an error. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** How a tensor is printed. The defaults are NumPy's. */
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

/** A tensor: its value never changes. The ops are methods of it. */
export interface Tensor extends Disposable, TensorOps {
  /** The element type. */
  readonly dtype: DType;
  /** The sizes of the axes. In a function, reading a varying size specialises the trace to it. */
  readonly shape: number[];
  /** The number of axes. */
  readonly rank: number;
  /** The number of elements. */
  readonly size: number;
  /** The number of bytes of the elements. */
  readonly byteLength: number;
  /** The device that holds it, such as "ref:0"; empty for an inline scalar. */
  readonly device: string;
  /** Whether its value is a list of tensors. */
  readonly isList: boolean;
  /** The size of one axis; a negative one counts from the end. */
  sizeOf(axis: number): number;
  /** Reads a copy of the elements, in row-major order. */
  data(): Promise<TypedArray>;
  /** As data(), at once. Fails on a device that cannot block. */
  dataSync(): TypedArray;
  /** Reads nested arrays of numbers or booleans. 64-bit integers must be exact as numbers. */
  array(): Promise<any>;
  /** As array(), at once. */
  arraySync(): any;
  /** Reads the only element. */
  item(): Promise<number | boolean>;
  /** As item(), at once. */
  itemSync(): number | boolean;
  /** Another handle of the same value, to be disposed on its own. */
  clone(): Tensor;
  /** The same value on another device. */
  copyTo(device: string): Tensor;
  /** Lets the next call that takes this tensor write to its memory. The tensor cannot be used after that call. */
  donate(): this;
  /** Part of the tensor: for each axis an index, [start, end, step], or null for all of it. */
  at(...indices: (number | [number, number?, number?] | null)[]): Tensor;
  /** Prints the elements as NumPy does. */
  toString(options?: FormatOptions): string;
}

/** The class of tensors, for `instanceof`. */
export const Tensor: { readonly prototype: Tensor };

/** How a tensor is made. */
export interface TensorOptions {
  /** The element type. Default: that of a typed array; bool for booleans, int64 for bigints, float32 for numbers. */
  dtype?: DType;
  /** The sizes. Default: those of the nested arrays. */
  shape?: number[];
}

/** Makes a tensor from a number, nested arrays, a typed array or an ArrayBuffer. */
export function tensor(values: NestedArray | ArrayBuffer, options?: TensorOptions): Tensor;

/** Makes an inline scalar: an input of functions that may change from call to call. */
export function scalar(value: number | boolean | bigint): Tensor;

// ---- set-up

/** Options of init(). */
export interface InitOptions {
  /** The device of calls: "wasm", "ref". Default: the fastest in this package. */
  device?: string;
  /** The number of threads, where the page may have several. Default: one for each core. */
  threads?: number;
  /** The address of the WebAssembly file. Default: beside this package's scripts. */
  wasmUrl?: string | URL;
  /** The maximum number of bytes on each device; 0 for no limit. */
  memoryLimit?: number;
  /** "strict": bitwise the same results on every machine. "fast": a device may trade that for speed. */
  numericPolicy?: 'strict' | 'fast';
  /** What happens to an op that the device cannot run. */
  fallbackPolicy?: 'warn' | 'strict' | 'auto';
  /** Whether two runs give bitwise equal results even with "fast". */
  deterministic?: boolean;
  /** The least important lines that are logged. Default: "warning". */
  logLevel?: 'debug' | 'info' | 'warning' | 'error';
  /** Receives log lines; level 0 is debug and 3 error. Default: the console. */
  log?: (level: number, message: string) => void;
}

/** Loads the module. Call it once, before anything else; later calls return the same Promise. */
export function init(options?: InitOptions): Promise<void>;

/** What init() loads here. */
export interface Environment {
  /** The variant of the module; null if there is none for this engine. */
  variant: 'simd' | 'simd+threads' | null;
  /** The number of threads that compute. */
  threads: number;
  /** Why this variant. */
  reason: string;
  /** Whether the page may share memory between threads. */
  crossOriginIsolated: boolean;
  runtime: 'node' | 'browser';
  /** Whether init() has finished. */
  isReady: boolean;
}

/** Tells which variant of the module the environment allows, and why. */
export function environment(): Environment;

/** The version of the core. */
export function version(): string;

// ---- errors

/** The codes of errors. */
export type Code = 'INVALID_ARGUMENT' | 'OUT_OF_RANGE' | 'NOT_FOUND' | 'UNIMPLEMENTED' | 'UNAVAILABLE' |
  'OUT_OF_MEMORY' | 'CANCELLED' | 'FAILED_PRECONDITION' | 'DATA_LOSS' | 'DEVICE_LOST' | 'INTERNAL';

/** A failed call. Its `cause` is the error that caused it. */
export class TenonError extends Error {
  constructor(code: Code, message: string, details?: {
    op?: string; argument?: string; device?: string; location?: string; cause?: unknown;
  });
  readonly code: Code;
  /** The op that failed; empty if no op was called. */
  readonly op: string;
  /** The rule of the op that was broken, such as "C2"; empty if there is none. */
  readonly rule: string;
  /** The parameter that is invalid; empty if the error does not concern a single one. */
  readonly argument: string;
  readonly device: string;
  readonly location: string;
}

// ---- memory

/** Runs a function and disposes the tensors that it made, except those in its result. Not for async functions. */
export function scope<T>(body: () => T): T;

/** Takes a tensor out of the scopes that would dispose it. */
export function keep(tensor: Tensor): Tensor;

/** A device and the tensors that were made with it: for work that awaits, or on another device. */
export class Scope implements Disposable {
  constructor(options?: { device?: string });
  /** Runs calls in this scope. May be called many times, with awaits between the calls. */
  run<T>(body: () => T): T;
  /** The device of its calls. */
  device: string;
  /** The number of tensors that dispose() would dispose. */
  readonly size: number;
  /** Cancels running calls. */
  cancel(): void;
  readonly isDisposed: boolean;
  /** Disposes the scope and the tensors that were made in it. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Turns the debug mode on or off. It reports tensors that are collected as garbage without being disposed. */
export function debug(on: boolean, onLeak?: (leak: { stack: string }) => void): void;

/** Where the tensors that are not disposed were made; for the debug mode. */
export function leaks(): { stack: string }[];

/** What is alive. */
export interface MemoryInfo {
  /** Tensors that are not disposed. */
  tensors: number;
  /** JavaScript functions that functions, tapes and ops keep. */
  callbacks: number;
  /** Bytes that tensors of the device use. */
  liveBytes: number;
  peakBytes: number;
  /** Bytes that the device holds for later tensors. */
  heldBytes: number;
  liveBuffers: number;
  allocations: number;
  /** The size of WebAssembly's memory, which never shrinks. */
  wasmBytes: number;
}

/** Counts what is alive on a device. Default: the first device. */
export function memory(device?: string): MemoryInfo;
/** Sets the peak of a device to what is alive. */
export function resetPeak(device: string): void;
/** Frees memory that a device holds for later tensors, and returns the number of bytes. */
export function trim(device: string): number;

// ---- state

/** Options of a variable. */
export interface VariableOptions {
  /** Whether tapes watch it. Default: true. */
  trainable?: boolean;
  /** Its name in files and gradients. Default: variable_1 and so on. */
  name?: string;
}

/** A value that can be replaced. Ops take it in place of a tensor. */
export class Variable implements Disposable {
  constructor(initial: TensorLike, options?: VariableOptions);
  /** A tensor with the current value. */
  read(): Tensor;
  /** Replaces the value by one of the same type. */
  assign(value: TensorLike): this;
  readonly dtype: DType;
  readonly shape: number[];
  readonly rank: number;
  readonly name: string;
  readonly device: string;
  trainable: boolean;
  /** Prints the current value. */
  toString(): string;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

export interface Generator extends GeneratorOps {}
/** A generator of random numbers. The same seed gives the same numbers on every device. */
export class Generator implements Disposable {
  constructor(seed: number | bigint);
  /** Numbers that are uniform in [low, high). */
  uniform(shape: number[], options?: { low?: number; high?: number; dtype?: DType }): Tensor;
  /** Numbers of a normal distribution. */
  normal(shape: number[], options?: { mean?: number; scale?: number; dtype?: DType }): Tensor;
  /** Starts again with another seed. */
  seed(value: number | bigint): this;
  /** The state, uint32[6], for example to save it. */
  read(): Tensor;
  /** Sets the state. */
  assign(state: TensorLike): this;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

// ---- gradients

/** A possible source of a gradient. */
export type Source = Tensor | Variable;

/** Options of a tape. */
export interface TapeOptions {
  /** Whether gradients can be computed more than once. Default: false. */
  persistent?: boolean;
  /** Whether it watches trainable variables that are read. Default: true. */
  watchTrainable?: boolean;
}

/** What a gradient is where the target does not depend on the source. */
export type Unreached = 'zeros' | 'null';

/**
 * Records calls to compute gradients. It records what runs inside run(), and nothing else; so tasks that
 * await between their runs do not disturb each other.
 */
export class Tape implements Disposable {
  constructor(options?: TapeOptions);
  /** Runs calls that are recorded. May be called many times, with awaits between the calls. */
  run<T>(body: () => T): T;
  /** Watches tensors or variables. */
  watch(...values: (Source | Source[])[]): this;
  /** The gradients of targets with respect to a source, or a tree of sources. */
  gradient(targets: Tensor | Tensor[], sources: Source,
    options?: { cotangents?: TensorLike | TensorLike[]; unreached?: Unreached }): Tensor;
  gradient(targets: Tensor | Tensor[], sources: Source[],
    options?: { cotangents?: TensorLike | TensorLike[]; unreached?: Unreached }): Tensor[];
  gradient(targets: Tensor | Tensor[], sources: Tree<Source>,
    options?: { cotangents?: TensorLike | TensorLike[]; unreached?: Unreached }): any;
  /** The derivatives of each element of a target with respect to each element of sources. */
  jacobian(target: Tensor, sources: Source, options?: { unreached?: Unreached }): Tensor;
  jacobian(target: Tensor, sources: Source[], options?: { unreached?: Unreached }): Tensor[];
  /** The values that it watches. */
  readonly watched: Source[];
  readonly isRecording: boolean;
  /** Forgets everything, and can be used again. */
  reset(): this;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** `new Tape(options)`. */
export function tape(options?: TapeOptions): Tape;

/** `grad(f)(x)` is the gradient of f at x. */
export function grad(f: (x: Tensor) => Tensor): (x: TensorLike) => Tensor;
/** `grads(f)([x, y])` are the gradients of f with respect to each argument. */
export function grads(f: (...xs: Tensor[]) => Tensor): (xs: TensorLike[]) => Tensor[];
/** As grad(), with the value. */
export function valueAndGrad(f: (x: Tensor) => Tensor): (x: TensorLike) => { value: Tensor; grad: Tensor };
/** As grads(), with the value. */
export function valueAndGrads(f: (...xs: Tensor[]) => Tensor): (xs: TensorLike[]) => { value: Tensor; grads: Tensor[] };
/** The value of f, and its gradients by the names of the trainable variables that it reads, or of some of them. */
export function variableGrads(f: () => Tensor, variables?: Variable[]): { value: Tensor; grads: Record<string, Tensor> };
/** A function whose derivative is computed by `backward`, from the cotangent of the output. */
export function customGradient(
  forward: (...inputs: Tensor[]) => Tensor,
  backward: (cotangent: Tensor, inputs: Tensor[], output: Tensor) => Tensor | (Tensor | null)[],
): (...inputs: TensorLike[]) => Tensor;

// ---- control flow

/** How the gradient of a loop obtains the residuals of each iteration. */
export type LoopPolicy = 'stack' | 'recompute' | 'bounded';

/** Runs one of two functions; in a traced function, both are traced. */
export function cond<T>(condition: TensorLike | boolean, then: () => T, otherwise: () => T): T;
/** Runs one of several functions. An index out of range selects the last one. */
export function switchCase<T>(index: Tensor | Variable | number, branches: (() => T)[]): T;
/** Runs body while condition holds. Returns the last values, in the structure of the initial ones. */
export function whileLoop(condition: (value: Tensor) => TensorLike, body: (value: Tensor) => TensorLike,
  initial: TensorLike, options?: { policy?: LoopPolicy; maxTrips?: number }): Tensor;
export function whileLoop(condition: (...values: any[]) => TensorLike, body: (...values: any[]) => any[],
  initial: Tree<TensorLike>[], options?: { policy?: LoopPolicy; maxTrips?: number }): any[];
/** Runs body for each slice of xs along the first axis. Returns the last carried values, and the stacked outputs. */
export function scan(body: (carried: any, slice: any) => [any, any?], initial: Tree<TensorLike>, xs: Tree<TensorLike>,
  options?: { reverse?: boolean; policy?: LoopPolicy }): [any, any];
/** The sizes of a tensor as an int64 tensor. */
export function shape(x: TensorLike): Tensor;
/** Whether calls are recorded and compute nothing, as in a traced function. */
export function isTracing(): boolean;

// ---- functions

/** The type of an input: sizes are numbers, null for any, or names for sizes that are equal to each other. */
export class TensorSpec {
  constructor(shape: (number | string | null)[], dtype?: DType, options?: { name?: string; isScalar?: boolean });
  readonly shape: (number | string | null)[];
  readonly dtype: DType;
  readonly name: string;
  readonly isScalar: boolean;
  /** The spec of a tensor. */
  static of(value: Tensor | TensorSpec): TensorSpec;
}

/** Options of a traced function. */
export interface FunctionOptions {
  /** Its name in messages. Default: the name of the JavaScript function. */
  name?: string;
  /** The types of the arguments; others are errors. Default: any, each traced on demand. */
  signature?: (TensorSpec | Tree<TensorSpec>)[];
  /** How many traces are kept for each structure of arguments. Default: 64. */
  maxTraces?: number;
  /** Whether a size that keeps changing becomes dynamic. Default: true. */
  relax?: boolean;
  /** The maximum number of bytes that a call under a tape saves for the backward pass. */
  memoryBudget?: number;
}

/** A function that is traced for each kind of arguments, and then runs as a graph. */
export interface TracedFunction<F extends (...args: any[]) => any> extends Omit<Disposable, 'isDisposed'> {
  (...args: Parameters<F>): ReturnType<F>;
  /** Traces it for specs or tensors; without arguments, for the signature. */
  trace(...args: any[]): Trace;
  /** The trace that a call with these arguments runs. */
  findTrace(...args: any[]): Trace;
  traces(): Trace[];
  traceCount(): number;
  /** The traces with their signatures, and why each was made. */
  explain(): string;
  /** The gradients of the sum of its outputs, for arguments of this kind. */
  gradient(...args: any[]): NativeFunction;
}

declare function tenonFunction<F extends (...args: any[]) => any>(body: F, options?: FunctionOptions): TracedFunction<F>;
export { tenonFunction as function };

/** A function of a program, or a gradient: from tensors to tensors. */
export interface NativeFunction extends Disposable {
  readonly name: string;
  /** Calls it with static arguments by name. */
  call(inputs: TensorLike[], statics?: Record<string, boolean | number | bigint | string | null>): Tensor[];
  gradient(): NativeFunction;
  traces(): Trace[];
  explain(): string;
}

/** One graph of a function. */
export interface Trace extends Disposable {
  readonly name: string;
  call(...args: any[]): any;
  /** The graph: inputs, captures, calls and outputs. */
  readonly text: string;
  /** What executions have made of it so far. The format may change. */
  readonly stages: string;
  readonly inputCount: number;
  readonly outputCount: number;
  /** The variables that it reads or assigns. */
  readonly variables: Variable[];
  /** The names of its calls with effects. */
  readonly effects: string[];
}
export const Trace: { readonly prototype: Trace };

/** Whether functions run their JavaScript in every call, for debugging. */
export function runFunctionsEagerly(eagerly: boolean): void;
