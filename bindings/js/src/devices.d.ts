// The types of devices and of the profiler. index.d.ts exports them.

import type { Disposable } from './index.js';

// ---- devices

/** The properties of a device. */
export interface DeviceInfo {
  name: string;
  kind: 'cpu' | 'gpu' | 'accelerator';
  description: string;
  vendor: string;
  driver: string;
  plugin: string;
  memoryBytes: number;
  computeUnits: number;
  vectorBits: number;
}

/** Lists the available devices. */
export function devices(): DeviceInfo[];
/** Returns the name of the current device, which runs calls outside a Scope. */
export function currentDevice(): string;
/** Sets the current device for later calls outside a Scope. */
export function setDevice(name: string): void;
/** Returns a Promise that resolves when all calls so far have finished. */
export function synchronize(): Promise<void>;
/** Blocks until all calls so far have finished. Throws on a device that cannot block. */
export function synchronizeSync(): void;
/** Cancels the calls in progress. */
export function cancel(): void;
/** Lists the plugins in this package. */
export function plugins(): { name: string; version: string; state: 'not tried' | 'loaded' | 'refused'; reason: string }[];
/**
 * Loads a device plugin: a WebAssembly side module, which `emcc -sSIDE_MODULE` links. Returns the names of its devices.
 * A relative URL is relative to the page; Node needs an absolute one. Requires init({ variant: 'simd+plugins' }), and a
 * package that `./dev wasm plugins` has added this variant to.
 */
export function loadPlugin(url: string | URL): Promise<string[]>;
/** Lists the passes that optimise graphs, in execution order. */
export function passes(): { name: string; summary: string }[];
/** Enables or disables a pass. */
export function setPass(name: string, enabled: boolean): void;

/** Totals of all spans with the same name, input types and device. Times are in nanoseconds. */
export interface ProfilerRow {
  kind: 'op' | 'fused' | 'function' | 'tracing' | 'copy';
  name: string;
  inputs: string;
  device: string;
  count: number;
  hostTotal: number;
  ownTotal: number;
  launches: number;
  deviceTotal: number;
  bytes: number;
  flops: number;
}

/** Profiles calls from its construction until stop(). */
export class Profiler implements Disposable {
  constructor(options?: { maxEvents?: number });
  stop(): this;
  /** Formats the rows as a table. */
  table(): string;
  rows(): ProfilerRow[];
  /** Returns the events as JSON, for Perfetto and chrome://tracing. */
  traceText(): string;
  readonly droppedEvents: number;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}
