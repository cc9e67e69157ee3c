// The types of programs and files, a part of index.d.ts.

import type { Disposable, NativeFunction, Tensor, TensorLike, TensorSpec, Trace, TensorType, Variable } from './index.js';

// ---- files

/** Where bytes come from: bytes, a Blob or File, or the address of a file. */
export type ByteSource = ArrayBuffer | ArrayBufferView | Blob | string | URL;

/** The bytes of a safetensors file with these tensors. */
export function saveSafetensors(tensors: Record<string, TensorLike>, metadata?: Record<string, string>): Uint8Array;
/** The tensors of a safetensors file by name. */
export function loadSafetensors(source: ByteSource): Promise<Record<string, Tensor>>;

/** An open safetensors file, which reads tensors one by one. */
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

/** The files of a program with these traces, by name; a name with several traces is a function with signatures. */
export function saveProgram(traces: Record<string, Trace | Trace[]>): Record<string, Uint8Array>;
/** Opens the files of a program, the address of its folder, or an ONNX model. */
export function openProgram(source: ByteSource | Record<string, ByteSource>): Promise<Program>;

/** An open program: functions and variables. */
export interface Program extends Disposable {
  readonly functionNames: string[];
  /** A function by name. Default: the first. */
  function(name?: string): NativeFunction;
  /** The signatures of a function as its files declare them. */
  signatures(name?: string): {
    inputs: (TensorSpec | { name: string; dtype: null; shape: null; isScalar: boolean })[];
    outputs: (TensorSpec | { name: string; dtype: null; shape: null; isScalar: boolean })[];
    statics: Record<string, boolean | number | string | null>;
  }[];
  readonly variables: Variable[];
  /** Its functions, ops and variables, for tools. */
  describe(): any;
}
export const Program: { readonly prototype: Program };
