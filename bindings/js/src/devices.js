// Devices, memory, plugins, passes and the profiler.

import * as abi from './abi_gen.js';
import { check } from './errors.js';
import { c, alloc, enter, i32, i64, leave, memory, readText, refresh, struct, text, textOf, u32 } from './native.js';
import { readFile, withFolder } from './files.js';
import { runNowOrAsync, countCallbacks } from './callbacks.js';
import { Disposable, handleOf, liveTensors, scope, requireContext } from './scope.js';
import { takeText } from './tensor.js';

function withDevice(name, body) {
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_context_find_device(requireContext(), text(name), out));
    refresh();
    const device = u32[out >> 2];
    try {
      return body(device);
    } finally {
      c.tenon_device_release(device);
    }
  } finally {
    leave(frame);
  }
}

function readInfo(device) {
  const layout = abi.tenon_device_info;
  const at = struct(layout);
  check(c.tenon_device_describe(device, at));
  refresh();
  const kinds = ['cpu', 'gpu', 'accelerator'];
  return {
    name: readText(at + layout.name),
    kind: kinds[i32[(at + layout.kind) >> 2]] ?? 'accelerator',
    description: readText(at + layout.description),
    vendor: readText(at + layout.vendor),
    driver: readText(at + layout.driver),
    plugin: readText(at + layout.plugin),
    memoryBytes: Number(i64[(at + layout.memory_bytes) / 8]),
    computeUnits: u32[(at + layout.compute_units) >> 2],
    vectorBits: u32[(at + layout.vector_bits) >> 2],
  };
}

/** Lists the available devices. */
export function devices() {
  const frame = enter();
  try {
    const out = alloc(4);
    check(c.tenon_context_count_devices(requireContext(), out));
    refresh();
    return Array.from({ length: u32[out >> 2] }, (_, i) => {
      check(c.tenon_context_get_device(requireContext(), i, out));
      refresh();
      const device = u32[out >> 2];
      try {
        return readInfo(device);
      } finally {
        c.tenon_device_release(device);
      }
    });
  } finally {
    leave(frame);
  }
}

/** Counts live tensors and callbacks, and the bytes in use by a device and by WebAssembly. */
export function memoryInfo(device) {
  return withDevice(device ?? devices()[0].name, (handle) => {
    const layout = abi.tenon_memory_info;
    const at = struct(layout);
    check(c.tenon_device_describe_memory(handle, at));
    refresh();
    const number = (name) => Number(i64[(at + layout[name]) / 8]);
    return {
      tensors: liveTensors,
      callbacks: countCallbacks(),
      liveBytes: number('live_bytes'),
      peakBytes: number('peak_bytes'),
      heldBytes: number('held_bytes'),
      liveBuffers: number('live_buffers'),
      allocations: number('allocations'),
      wasmBytes: memory.buffer.byteLength,
    };
  });
}

/** Resets the peak statistics of a device to the current values. */
export function resetPeak(device) {
  withDevice(device, (handle) => c.tenon_device_reset_peak(handle));
}

/** Frees cached memory of a device. Returns the number of bytes freed. */
export function trim(device) {
  return withDevice(device, (handle) => {
    const out = alloc(8);
    check(c.tenon_device_trim(handle, out));
    refresh();
    return Number(i64[out / 8]);
  });
}

/** Returns a Promise that resolves when all calls so far have finished. */
export function synchronize() {
  requireContext();
  return runNowOrAsync(() => c.tenon_scope_wait(scope), (done) => c.tenon_scope_wait_async(scope, done));
}

/** Blocks until all calls so far have finished. Throws on a device that cannot block. */
export function synchronizeSync() {
  requireContext();
  check(c.tenon_scope_wait(scope));
}

/** Lists the plugins that were found. */
export function plugins() {
  const layout = abi.tenon_plugin_candidate;
  const states = ['not tried', 'loaded', 'refused'];
  return Array.from({ length: c.tenon_context_count_candidates(requireContext()) }, (_, i) => {
    const frame = enter();
    try {
      const at = struct(layout);
      check(c.tenon_context_get_candidate(requireContext(), i, at));
      refresh();
      return {
        name: readText(at + layout.name),
        version: readText(at + layout.version),
        state: states[i32[(at + layout.state) >> 2]],
        reason: readText(at + layout.reason),
      };
    } finally {
      leave(frame);
    }
  });
}

// ---- passes

/** Lists the passes that optimise graphs, in execution order: [{ name, summary }]. */
export function passes() {
  requireContext();
  return Array.from({ length: c.tenon_count_passes() }, (_, i) => ({
    name: textOf(c.tenon_pass_name, i), summary: textOf(c.tenon_pass_summary, i),
  }));
}

/** Enables or disables a pass. */
export function setPass(name, enabled) {
  const frame = enter();
  const error = c.tenon_context_set_pass(requireContext(), text(name), enabled ? 1 : 0);
  leave(frame);
  check(error);
}

/** Returns the version of libtenon. */
export function version() {
  requireContext();
  return textOf(c.tenon_version);
}

// ---- the profiler

/** Profiles calls. Types: index.d.ts. */
export class Profiler extends Disposable {
  constructor({ maxEvents = 1000000 } = {}) {
    super(startProfiler(maxEvents));
  }

  stop() {
    check(c.tenon_profiler_stop(handleOf(this)));
    return this;
  }

  table() {
    const frame = enter();
    try {
      const out = alloc(8);
      check(c.tenon_profiler_table(handleOf(this), out));
      return takeText(out);
    } finally {
      leave(frame);
    }
  }

  /** Returns the rows of the table. Times are in nanoseconds. */
  rows() {
    const layout = abi.tenon_profiler_row;
    const kinds = ['op', 'fused', 'function', 'tracing', 'copy'];
    return Array.from({ length: c.tenon_profiler_count_rows(handleOf(this)) }, (_, i) => {
      const frame = enter();
      try {
        const at = struct(layout);
        check(c.tenon_profiler_describe_row(this._handle, i, at));
        refresh();
        const number = (name) => Number(i64[(at + layout[name]) / 8]);
        return {
          kind: kinds[i32[(at + layout.kind) >> 2]],
          name: readText(at + layout.name),
          inputs: readText(at + layout.inputs),
          device: readText(at + layout.device),
          count: number('count'),
          hostTotal: number('host_total'),
          ownTotal: number('own_total'),
          launches: number('launches'),
          deviceTotal: number('device_total'),
          bytes: number('bytes'),
          flops: number('flops'),
        };
      } finally {
        leave(frame);
      }
    });
  }

  /** Returns the events as JSON, for Perfetto and chrome://tracing. */
  traceText() {
    return withFolder((folder) => {
      const path = `${folder}/trace.json`;
      const frame = enter();
      const error = c.tenon_profiler_write_trace(handleOf(this), text(path));
      leave(frame);
      check(error);
      return new TextDecoder().decode(readFile(path));
    });
  }

  get droppedEvents() {
    return Number(c.tenon_profiler_count_dropped_events(handleOf(this)));
  }

  _release(handle) {
    c.tenon_profiler_release(handle);
  }
}

function startProfiler(maxEvents) {
  const frame = enter();
  try {
    const options = struct(abi.tenon_profiler_options);
    i64[(options + abi.tenon_profiler_options.max_events) / 8] = BigInt(maxEvents);
    const out = alloc(4);
    check(c.tenon_profiler_start(requireContext(), options, out));
    refresh();
    return u32[out >> 2];
  } finally {
    leave(frame);
  }
}
