// Loads the variant of the WebAssembly module that the environment supports, and creates the
// context.

import * as abi from './abi_gen.js';
import { TenonError, check, invalid } from './errors.js';
import { c, alloc, attach, enter, i32, i64, leave, refresh, struct, u32, u8 } from './native.js';
import { entries, putCallback } from './callbacks.js';
import { context, setContext, setDevice } from './scope.js';
import { plugins } from './devices.js';
import { useFileSystem } from './files.js';
import { Transfer, request } from './download.js';
import { variants } from '../dist/variants.js';

const LEVELS = { debug: abi.TENON_LOG_DEBUG, info: abi.TENON_LOG_INFO, warning: abi.TENON_LOG_WARNING, error: abi.TENON_LOG_ERROR };
const POLICIES = { strict: abi.TENON_NUMERIC_STRICT, fast: abi.TENON_NUMERIC_FAST };
const FALLBACKS = { warn: abi.TENON_FALLBACK_WARN, strict: abi.TENON_FALLBACK_STRICT, auto: abi.TENON_FALLBACK_AUTO };
// Plugins in order of preference. init() uses the first one that has a device.
const PREFERRED = ['wasm', 'cpu', 'ref'];
// A WebAssembly module that is valid only with SIMD: its function returns i8x16.popcnt of a splat.
const SIMD = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0,
    253, 15, 253, 98, 11);

const isNode = typeof process === 'object' && Boolean(process.versions?.node);
let chosen = null;
let starting = null;
let programs = null; // The address of the second part of the module; undefined if the first part is complete.
let loading = null;
let functions = null; // The function table.
let fileSystem = null; // Node's module fs.
/** Emscripten's functions for dynamic linking; null in variants that cannot load plugins. */
export let linker = null;

let cores = globalThis.navigator?.hardwareConcurrency ?? 1;
// Node before version 21 has no `navigator`.
const countingCores = isNode && import('node:os').then((os) => { cores = os.availableParallelism?.() ?? os.cpus().length; });

// Reads a default from the environment variables of Node.
function variable(name) {
  return isNode ? process.env[name] || undefined : undefined;
}

// Returns why there are no threads here; empty if there are.
function whyNoThreads() {
  if (!('simd+threads' in variants)) return 'this package has no variant with threads';
  if (isNode || globalThis.crossOriginIsolated) return '';
  return 'the page is not cross-origin isolated, so there is no shared memory: the server must send ' +
      'Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp';
}

/** Returns the variant that the environment supports, and why. Types: InitOptions in index.d.ts. */
function choose(options = {}) {
  const wanted = options.variant ?? variable('TENON_VARIANT');
  const threads = options.threads ?? (Number(variable('TENON_THREADS') ?? 0) || undefined);
  const result = (variant, reason) => ({
    variant, threads: variant === 'simd+threads' ? threads ?? cores : 1, reason,
    crossOriginIsolated: Boolean(globalThis.crossOriginIsolated), runtime: isNode ? 'node' : 'browser',
  });
  if (!WebAssembly.validate(SIMD)) return result(null, 'WebAssembly has no SIMD here; Tenon needs it');
  if (wanted !== undefined) pick({ simd: 0, 'simd+threads': 0, 'simd+plugins': 0 }, wanted, 'variant');
  if (wanted === 'simd') return result('simd', 'the variant without threads was requested');
  if (wanted === 'simd+plugins') {
    if (wanted in variants) return result(wanted, 'the variant that loads plugins was requested; it has no threads');
    throw new TenonError('UNAVAILABLE', "init: this package has no variant 'simd+plugins'");
  }
  const lack = whyNoThreads();
  if (wanted && lack) throw new TenonError('UNAVAILABLE', `init: the variant 'simd+threads' cannot be used: ${lack}`);
  if (lack) return result('simd', lack);
  if (wanted) return result(wanted, 'the variant with threads was requested');
  if (threads === 1) return result('simd', 'init() was called with threads: 1');
  if (threads === undefined && cores === 1) return result('simd', 'there is one processor core, so threads would not help');
  return result('simd+threads', 'shared memory is available');
}

/** Returns which variant was or would be loaded, and why. Types: index.d.ts. */
export function environment() {
  return { ...(chosen ?? choose()), isReady: context !== 0 };
}

async function compile(address, imports, transfer) {
  if (isNode && address.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    const bytes = await readFile(address);
    transfer.expect(bytes.length);
    transfer.add(bytes.length);
    return WebAssembly.instantiate(bytes, imports);
  }
  const response = transfer.count(await request(address));
  if (/^application\/wasm/.test(response.headers.get('Content-Type') ?? '')) {
    return WebAssembly.instantiateStreaming(response, imports);
  }
  return WebAssembly.instantiate(await response.arrayBuffer(), imports);
}

// Returns the settings that Emscripten's script of the variant with threads reads. It starts the workers
// before init() resolves, and requires at least one.
async function threadSettings(threads) {
  const settings = { cores, poolSize: Math.max(threads - 1, 1) };
  if (isNode) settings.Worker = (await import('./node_threads.js')).WebWorker;
  return settings;
}

async function load({ variant, threads }, { wasmUrl, progress }) {
  const { script, wasm, programs: rest } = variants[variant];
  const settings = variant === 'simd+threads' ? await threadSettings(threads) : {};
  const { default: create } = await script();
  const address = wasmUrl ? new URL(wasmUrl, globalThis.location?.href) : wasm;
  programs = rest && wasmUrl ? new URL(address.href.replace(/\.wasm(?=$|[?#])/, '_programs.wasm')) : rest;
  let exports, imported;
  const module = await new Promise((resolve, reject) => {
    create({
      ...settings,
      tenon: entries,
      instantiateWasm(imports, receive) {
        // In some variants, Emscripten's script creates the memory and imports it into the module. The
        // groups GOT.* are proxies, which must not be enumerated.
        imported = Object.entries(imports).filter(([group]) => !group.startsWith('GOT.'))
            .flatMap(([, group]) => Object.values(group)).find((value) => value instanceof WebAssembly.Memory);
        compile(address, { ...imports, placeholder: absent }, new Transfer(progress)).then(({ instance, module: compiled }) => {
          ({ exports } = instance);
          receive(instance, compiled);
        }).catch(reject);
        return {};
      },
    }).then(resolve, reject);
  });
  functions = Object.values(exports).find((value) => value instanceof WebAssembly.Table);
  if (isNode) ({ default: fileSystem } = await import('node:fs'));
  attach(exports, exports.memory ?? imported);
  useFileSystem(module.FS);
  if (variant === 'simd+plugins') linker = module;
}

// The functions of the second part, until it is loaded. The name of each is its index in the function
// table. A call loads the second part synchronously.
const absent = new Proxy({}, {
  get: (_, index) => (...args) => {
    loadProgramsNow();
    return functions.get(Number(index))(...args);
  },
});

// Returns the bytes of a file. Blocks.
function readNow(address) {
  if (isNode && address.protocol === 'file:') return fileSystem.readFileSync(address);
  if (typeof XMLHttpRequest === 'undefined') {
    throw new TenonError('UNAVAILABLE', 'this call needs the second part of the WebAssembly module, which ' +
                         'init({ complete: true }) loads');
  }
  const call = new XMLHttpRequest();
  call.open('GET', address, false);
  call.overrideMimeType('text/plain; charset=x-user-defined'); // Each character holds a byte.
  call.send();
  if (call.status !== 200) throw new TenonError('NOT_FOUND', `cannot load ${address}: HTTP status ${call.status}`);
  return Uint8Array.from(call.responseText, (character) => character.charCodeAt(0) & 255);
}

function loadProgramsNow() {
  new WebAssembly.Instance(new WebAssembly.Module(readNow(programs)), { primary: c });
}

/** Loads the second part of the module, once, if the module has one. */
export async function loadPrograms() {
  if (!programs) return;
  loading ??= compile(programs, { primary: c }, new Transfer()).catch((exception) => {
    loading = null;
    throw exception;
  });
  await loading;
}

function pick(table, name, option) {
  if (!(name in table)) throw invalid(`init: ${option} must be one of ${Object.keys(table).join(', ')}, but is '${name}'`);
  return table[name];
}

function logLine(level, message) {
  const methods = ['debug', 'info', 'warn', 'error'];
  console[methods[level] ?? 'warn'](`tenon: ${message}`);
}

function createContext(options, threads) {
  const frame = enter();
  try {
    const layout = abi.tenon_context_options;
    const at = struct(layout);
    i32[(at + layout.log_level) >> 2] = pick(LEVELS, options.logLevel ?? 'warning', 'logLevel');
    putCallback(at + layout.log, 'log', options.log ?? logLine);
    i64[(at + layout.memory_limit_bytes) / 8] = BigInt(options.memoryLimit ?? 0);
    u32[(at + layout.threads) >> 2] = threads;
    i32[(at + layout.numeric_policy) >> 2] = pick(POLICIES, options.numericPolicy ?? 'strict', 'numericPolicy');
    i32[(at + layout.fallback_policy) >> 2] = pick(FALLBACKS, options.fallbackPolicy ?? 'warn', 'fallbackPolicy');
    u8[at + layout.deterministic] = options.deterministic ? 1 : 0;
    const out = alloc(4);
    check(c.tenon_context_create(at, out));
    refresh();
    const handle = u32[out >> 2];
    setContext(handle, c.tenon_context_default_scope(handle) >>> 0);
  } finally {
    leave(frame);
  }
}

async function start(options) {
  await countingCores;
  chosen = choose(options);
  if (chosen.variant === null) throw new TenonError('UNAVAILABLE', chosen.reason);
  await load(chosen, options);
  if (options.complete) await loadPrograms();
  createContext(options, chosen.threads);
  const names = plugins().map((plugin) => plugin.name);
  setDevice(options.device ?? PREFERRED.find((name) => names.includes(name)) ?? names[0]);
}

/** Loads the module and creates the context, once. Types: index.d.ts. */
export function init(options = {}) {
  starting ??= start(options).catch((exception) => {
    starting = null;
    throw exception;
  });
  return starting;
}
