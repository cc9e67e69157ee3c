// The types of lists, effects and custom ops. index.d.ts exports them.

import type { DType, Tensor, TensorLike } from './index.js';

// ---- lists, effects, custom ops

/** An immutable list of tensors of one type, for loops that collect results. */
export class TensorList {
  constructor(tensor: Tensor);
  /** Creates an empty list for tensors of a shape and dtype. */
  static create(shape: number[], options?: { dtype?: DType; capacity?: number }): TensorList;
  /** Creates an empty list for tensors with the type of `entry`. */
  static like(entry: TensorLike, options?: { capacity?: number }): TensorList;
  /** Creates a list of the slices of a tensor along its first axis. */
  static unstack(tensor: TensorLike): TensorList;
  /** The tensor that represents the list, which loops can carry. */
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

/** Wraps a tensor whose value is a list, such as an output of a loop. */
export function asList(tensor: Tensor): TensorList;

/** Prints a line. Each {} is replaced by the next value. Inside a traced function, each call prints. */
export function print(format: string | TensorLike, ...values: TensorLike[]): void;
/** Sets the function that receives printed lines; null for the console. */
export function setPrint(write: ((line: string) => void) | null): void;
/** Throws unless all elements of `condition` are true. Each {} of the message is replaced by the next value. */
export function assert(condition: TensorLike, message?: string, ...values: TensorLike[]): void;
/**
 * Calls a JavaScript function on concrete values, even inside a traced function. The outputs have the types of `like`.
 */
export function hostCall(body: (...inputs: Tensor[]) => Tensor, inputs: TensorLike[], like: TensorLike): Tensor;
export function hostCall(body: (...inputs: Tensor[]) => Tensor[], inputs: TensorLike[], like: TensorLike[]): Tensor[];

/** The type of a tensor: a dtype and a shape. */
export interface TensorType {
  dtype: DType;
  shape: number[];
}

/** A custom op, which is written in JavaScript. */
export interface CustomOp {
  /** The name: lower-case letters, digits, underscores and dots. */
  name: string;
  /** The number of inputs. */
  inputs: number;
  /** The number of outputs. Default: 1. */
  outputs?: number;
  /** Returns the types of the outputs. */
  infer(...inputs: TensorType[]): TensorType | TensorType[];
  /** Computes the outputs: writes the elements of their `data`. */
  compute?(inputs: (TensorType & { data: any })[], outputs: (TensorType & { data: any })[]): void;
  /** Computes the outputs by calling other ops, instead of `compute`. */
  decompose?(...inputs: Tensor[]): Tensor | Tensor[];
  /** Computes the gradients with respect to the inputs. `null` means none. */
  backward?(cotangents: Tensor[], inputs: Tensor[], outputs: Tensor[]): Tensor | (Tensor | null)[];
}

/** Registers a custom op, and returns the function that calls it. */
export function customOp(op: CustomOp): (...inputs: TensorLike[]) => any;
/** Returns the number of an op by name. */
export function findOp(name: string): number;
/** Returns the name of an op by number; empty if there is none. */
export function opName(number: number): string;
