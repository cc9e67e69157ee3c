// The types of tenon-runtime/worker, which runs the package in a worker so that the page stays
// responsive.

import type { InitOptions } from './index.js';

type Package = typeof import('./index.js');
type Plain = string | number | bigint | boolean | null | undefined | void | ArrayBuffer | ArrayBufferView | Date;
type IsAny<T> = 0 extends 1 & T ? true : false;

/** A proxy of a value in the worker. */
export interface Handle {
  /** Disposes the value in the worker. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** An argument of a call: a value that is copied to the worker, or a proxy of a value there. */
export type Argument<T> = T | Handle | (T extends readonly (infer Item)[] ? (Item | Handle)[] : never);
type Arguments<A> = { [I in keyof A]: Argument<A[I]> };
type Method<A extends any[], R> = (...args: Arguments<A>) => Remote<Awaited<R>>;
/** A function with one signature or two overloads. */
type Callable<T> =
  T extends { (...args: infer A): infer R; (...args: infer B): infer S } ?
    (unknown[] extends A ? Method<B, S> : Method<A, R> & Method<B, S>) :
  T extends (...args: infer A) => infer R ? Method<A, R> : unknown;
type Constructor<T> = T extends new (...args: infer A) => infer R ? new (...args: Arguments<A>) => Remote<R> : unknown;
type Members<T> = { readonly [K in Exclude<keyof T, keyof Handle | symbol>]: Remote<Awaited<T[K]>> };
type Items<T> = T extends readonly (infer Item)[] ? Iterable<Remote<Item>> : unknown;
type Proxied<T> = Handle & Members<T> & Items<T> & Callable<T> & Constructor<T>;

/** What `await` returns for a proxy: a copy of plain data, otherwise a proxy. */
export type Settled<T> = IsAny<T> extends true ? any : T extends Plain | readonly Plain[] ? T : Proxied<T>;

/**
 * The result of a call, before it is there: a proxy that can be awaited. Its properties and methods
 * are those of the value in the worker.
 */
export type Remote<T> = IsAny<T> extends true ? any : Promise<Settled<T>> & Proxied<T>;

/** The proxy of the package. Its calls run in the worker. */
export type RemotePackage = Omit<Settled<Package>, 'init' | 'scope' | 'dispose'> & {
  /**
   * Loads a module in the worker, and returns a proxy of its exports. Functions and training loops that
   * run JavaScript belong in such a module. It imports the same copy of tenon-runtime. Its functions may
   * be called with functions of the page: calling these posts their arguments to the page, returns
   * undefined, and is possible until the call has finished.
   */
  import<Module = any>(address: string | URL): Remote<Module>;
  /**
   * Runs a function of the page. When it returns, disposes the tensors that its calls created in the worker,
   * except those in its result. Not for asynchronous functions.
   */
  scope<T>(body: () => T): T;
  /**
   * Stops the worker and frees all of its memory. Pending awaits fail with a TenonError CANCELLED. In Node, the process
   * does not end before.
   */
  close(): void;
};

/** Options of connect(): those of init(), and one more. */
export interface ConnectOptions extends InitOptions {
  /** Receives the errors of calls on which nothing waits. Default: they are reported like uncaught exceptions. */
  onError?: (error: Error) => void;
}

/**
 * Starts a worker, runs init() there, and returns a proxy of the package. A call of the proxy posts a message to
 * the worker and returns a proxy of its result at once; awaiting it returns the value. Tensors, variables,
 * functions and programs stay in the worker.
 */
export function connect(options?: ConnectOptions): Promise<RemotePackage>;
