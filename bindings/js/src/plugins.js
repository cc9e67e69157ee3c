// Loads device plugins at run time, into the variant of the module that links WebAssembly dynamically.
// Read first: loader.js.

import { TenonError, check } from './errors.js';
import { c, enter, leave, text } from './native.js';
import { devices } from './devices.js';
import { request } from './download.js';
import { linker } from './loader.js';
import { requireContext } from './scope.js';

const ENTRY = 'tenon_plugin_query_v1';
// Imports that Emscripten's loader provides for each plugin.
const PROVIDED = ['memory', '__indirect_function_table', '__memory_base', '__table_base', '__stack_pointer'];

function unavailable(address, reason) {
  return new TenonError('UNAVAILABLE', `loadPlugin: ${address}: ${reason}`);
}

// Returns the compiled plugin, after checks whose failure would otherwise appear in a later call.
async function compile(address, bytes) {
  let module;
  try {
    module = await WebAssembly.compile(bytes);
  } catch (error) {
    throw unavailable(address, `is not a WebAssembly module: ${error.message}`);
  }
  if (WebAssembly.Module.customSections(module, 'dylink.0').length === 0) {
    throw unavailable(address, 'is not a side module; emcc links one with -sSIDE_MODULE');
  }
  const exports = WebAssembly.Module.exports(module).map(({ name }) => name);
  if (!exports.includes(ENTRY)) {
    const other = exports.find((name) => /^tenon_plugin_query_v\d+$/.test(name));
    throw unavailable(address, other ? `has another ABI epoch: it exports ${other}, but this host requires ${ENTRY}` :
        `is not a plugin: it does not export ${ENTRY}`);
  }
  const missing = WebAssembly.Module.imports(module).filter(({ module: group, name, kind }) => group === 'env' &&
      kind === 'function' && !PROVIDED.includes(name) && !(name in c) && !exports.includes(name)).map(({ name }) => name);
  if (missing.length > 0) throw unavailable(address, `imports functions that this module does not have: ${missing.join(', ')}`);
  return module;
}

async function read(address) {
  if (address.protocol !== 'file:') return (await request(address)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(address);
}

/** Loads a plugin. Types: devices.d.ts. */
export async function loadPlugin(url) {
  const context = requireContext();
  if (!linker) {
    throw new TenonError('UNIMPLEMENTED', "loadPlugin: the loaded variant cannot load plugins; call init({ variant: 'simd+plugins' })");
  }
  const address = new URL(url, globalThis.location?.href);
  const module = await compile(address, await read(address));
  const exports = await linker.loadWebAssemblyModule(module, { loadAsync: true, nodelete: true });
  const query = linker.addFunction(exports[ENTRY]);
  const before = devices().map(({ name }) => name);
  const frame = enter();
  try {
    check(c.tenon_context_add_plugin(context, text(String(address)), query));
  } finally {
    leave(frame);
  }
  return devices().map(({ name }) => name).filter((name) => !before.includes(name));
}
