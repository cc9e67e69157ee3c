// The types of devices and of the profiler, a part of index.d.ts.

import type { Disposable } from './index.js';

// ---- devices

/** A device. */
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

/** The available devices. */
export function devices(): DeviceInfo[];
/** The device of calls outside a Scope. */
export function currentDevice(): string;
/** Sets the device of the calls that follow. */
export function setDevice(name: string): void;
/** Is fulfilled when all calls so far have finished. */
export function synchronize(): Promise<void>;
/** Waits until all calls so far have finished. Fails on a device that cannot block. */
export function synchronizeSync(): void;
/** Cancels running calls. */
export function cancel(): void;
/** The plugins in this package. */
export function plugins(): { name: string; version: string; state: 'not tried' | 'loaded' | 'refused'; reason: string }[];
/** The passes over graphs. */
export function passes(): { name: string; summary: string }[];
/** Turns a pass on or off. */
export function setPass(name: string, enabled: boolean): void;

/** A row of a profile; times are in nanoseconds. */
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

/** Measures the calls from its construction to stop(). */
export class Profiler implements Disposable {
  constructor(options?: { maxEvents?: number });
  stop(): this;
  /** The rows as text. */
  table(): string;
  rows(): ProfilerRow[];
  /** The events as JSON, for Perfetto and chrome://tracing. */
  traceText(): string;
  readonly droppedEvents: number;
  readonly isDisposed: boolean;
  dispose(): void;
  [Symbol.dispose](): void;
}
