// The types of programs and files. index.d.ts exports them.

import type { Disposable, NativeFunction, Tensor, TensorLike, TensorSpec, Trace, TensorType, Variable } from './index.js';

// ---- files

/** A source of bytes: a buffer, a Blob or File, the URL of a file, or an address `indexeddb://NAME`. */
export type ByteSource = ArrayBuffer | ArrayBufferView | Blob | string | URL;

/** How much of a download has arrived. */
export interface Progress {
  /** Number of bytes that have arrived, after decompression. */
  loaded: number;
  /** Number of bytes to expect; null if a server does not report it, for example because it compresses the file. */
  total: number | null;
}

/** Returns the content of a safetensors file with these tensors. */
export function saveSafetensors(tensors: Record<string, TensorLike>, metadata?: Record<string, string>): Uint8Array;
/** Loads all tensors of a safetensors file, by name. */
export function loadSafetensors(source: ByteSource, options?: { progress?: (progress: Progress) => void }):
    Promise<Record<string, Tensor>>;

/** An open safetensors file, which loads tensors one by one. */
export class Safetensors implements Disposable {
  constructor(data: Uint8Array);
  readonly names: string[];
  readonly metadata: Record<string, string>;
  type(name: string): TensorType;
  load(name: string): Tensor;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}

/**
 * Resolves to the files of a program, by name. Several traces under one name become signatures of
 * one function. The first call of this function or of `openProgram` loads the part of the
 * WebAssembly module that only programs need.
 */
export function saveProgram(traces: Record<string, Trace | Trace[]>): Promise<Record<string, Uint8Array>>;
/**
 * Opens a program from its files, the URL of its folder, an ONNX model, or an address
 * `indexeddb://NAME`. If weights of an ONNX model are in other files, pass all of its files by name.
 * With `strict`, a value whose shape contradicts its declaration in an ONNX model is an error,
 * instead of a warning. `progress` receives the progress of the downloads, except that
 * of tenon.json.
 */
export function openProgram(source: ByteSource | Record<string, ByteSource>,
    options?: { strict?: boolean; progress?: (progress: Progress) => void }): Promise<Program>;

/** An open program, with its functions and variables. */
export interface Program extends Disposable {
  readonly functionNames: string[];
  /** Returns a function by name. Default: the first one. */
  function(name?: string): NativeFunction;
  /** Lists the signatures of a function, as declared in its files. */
  signatures(name?: string): {
    inputs: (TensorSpec | { name: string; dtype: null; shape: null; isScalar: boolean })[];
    outputs: (TensorSpec | { name: string; dtype: null; shape: null; isScalar: boolean })[];
    statics: Record<string, boolean | number | string | null>;
  }[];
  readonly variables: Variable[];
  /** Describes the functions, ops and variables, for tools. */
  describe(): any;
}
export const Program: { readonly prototype: Program };

// ---- files that the browser stores

/**
 * Stores files in the browser's database IndexedDB, in place of those that the address had: the files
 * of a program, or the content of a single file. openProgram() and loadSafetensors() accept the
 * address.
 *
 * @param address An address `indexeddb://NAME`. Addresses are shared by all pages of one origin.
 * @throws TenonError UNAVAILABLE in environments without IndexedDB, such as Node.
 */
export function storeFiles(address: string | URL, files: Uint8Array | Record<string, Uint8Array>): Promise<void>;
/** Returns the files of an address. Throws a TenonError NOT_FOUND if there are none. */
export function readStored(address: string | URL): Promise<Uint8Array | Record<string, Uint8Array>>;
/** Lists the addresses with the sizes of their contents and the times at which they were stored. */
export function listStored(): Promise<{
  address: string;
  bytes: number;
  /** The names of a program's files; empty if a single file is stored. */
  files: string[];
  stored: Date;
}[]>;
/** Deletes the files of an address. Returns whether there were any. */
export function removeStored(address: string | URL): Promise<boolean>;
