// The types of lists, effects and custom ops, a part of index.d.ts.

import type { DType, Tensor, TensorLike } from './index.js';

// ---- lists, effects, custom ops

/** A list of tensors of one type, for loops that collect results. It never changes. */
export class TensorList {
  constructor(tensor: Tensor);
  /** An empty list of tensors of a shape and dtype. */
  static create(shape: number[], options?: { dtype?: DType; capacity?: number }): TensorList;
  /** An empty list of tensors of the type of `entry`. */
  static like(entry: TensorLike, options?: { capacity?: number }): TensorList;
  /** The slices of a tensor along its first axis. */
  static unstack(tensor: TensorLike): TensorList;
  /** Its value as a tensor, which loops carry. */
  readonly tensor: Tensor;
  push(entry: TensorLike): TensorList;
  set(index: number | Tensor, entry: TensorLike): TensorList;
  get(index: number | Tensor): Tensor;
  length(): Tensor;
  stack(length?: number | Tensor | null): Tensor;
  concat(length?: number | Tensor | null): Tensor;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** The list of a tensor whose value is a list, such as an output of a loop. */
export function asList(tensor: Tensor): TensorList;

/** Prints a line in which {} stands for the next value. In a traced function, each run prints. */
export function print(format: string | TensorLike, ...values: TensorLike[]): void;
/** Sets where print() writes; null for the console. */
export function setPrint(write: ((line: string) => void) | null): void;
/** Fails unless all elements of a condition are true. */
export function assert(condition: TensorLike, message?: string, ...values: TensorLike[]): void;
/** Calls a JavaScript function on values, also in a traced function. The outputs have the types of `like`. */
export function hostCall(body: (...inputs: Tensor[]) => Tensor, inputs: TensorLike[], like: TensorLike): Tensor;
export function hostCall(body: (...inputs: Tensor[]) => Tensor[], inputs: TensorLike[], like: TensorLike[]): Tensor[];

/** A dtype and a shape. */
export interface TensorType {
  dtype: DType;
  shape: number[];
}

/** An op that is written in JavaScript. */
export interface CustomOp {
  /** Its name: lower-case letters, digits, _ and dots. */
  name: string;
  /** The number of inputs. */
  inputs: number;
  /** The number of outputs. Default: 1. */
  outputs?: number;
  /** The types of the outputs. */
  infer(...inputs: TensorType[]): TensorType | TensorType[];
  /** Writes the elements of the outputs. */
  compute?(inputs: (TensorType & { data: any })[], outputs: (TensorType & { data: any })[]): void;
  /** Computes the outputs with other ops, in place of `compute`. */
  decompose?(...inputs: Tensor[]): Tensor | Tensor[];
  /** The cotangents of the inputs. */
  backward?(cotangents: Tensor[], inputs: Tensor[], outputs: Tensor[]): Tensor | (Tensor | null)[];
}

/** Registers an op, and returns the function that calls it. */
export function customOp(op: CustomOp): (...inputs: TensorLike[]) => any;
/** The number of an op by its name. */
export function findOp(name: string): number;
/** The name of an op by its number; empty if there is none. */
export function opName(number: number): string;
