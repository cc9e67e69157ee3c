// Opens a model, describes it and runs it. page.js loads this module in a worker.

import * as tenon from './tenon/src/index.js';

const IMAGE = 784;
const SECONDS = 0.5; // Time for repeated runs.

let program = null;

/** Returns whether an input takes images of 28 by 28 pixels. */
function takesImages({ shape, dtype }) {
  if (shape === null || shape.length < 2 || !(dtype === 'uint8' || dtype.startsWith('float'))) return false;
  const sizes = shape.slice(1);
  return sizes.every((size) => typeof size === 'number') && sizes.reduce((a, b) => a * b, 1) === IMAGE;
}

/** Returns the name of a dynamic size. */
function nameOf(size) {
  return size ?? '?';
}

/** Opens a model from its files, an address or bytes, in place of the previous one, and describes it. */
export async function open(source) {
  const next = await tenon.openProgram(source);
  program?.dispose();
  program = next;
  const description = program.describe();
  const signatures = description.functions.flatMap((described) => program.signatures(described.name)
      .map(({ inputs }, i) => ({
        ...described.signatures[i], name: described.name, index: i, image: inputs.find(takesImages)?.dtype ?? null,
        sizes: [...new Set(inputs.flatMap(({ shape }) => shape ?? []).filter((size) => typeof size !== 'number').map(nameOf))],
      })));
  return {
    signatures,
    tensors: description.variables.length,
    bytes: description.variables.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function inputFor(spec, { sizes, pixels, scale }, generator) {
  if (spec.dtype === null) throw new Error(`the input ${spec.name} declares no type`);
  const shape = spec.shape.map((axis) => (typeof axis === 'number' ? axis : sizes[nameOf(axis)]));
  if (pixels && takesImages(spec)) {
    const image = tenon.tensor(pixels, { shape: [1, ...shape.slice(1)] });
    const images = image.broadcast_to([shape[0], ...shape.slice(1)]);
    return spec.dtype === 'uint8' ? images : images.cast(spec.dtype).mul(scale);
  }
  const numbers = generator.uniform(shape);
  if (spec.dtype === 'bool') return numbers.less(0.5);
  return spec.dtype.startsWith('float') || spec.dtype === 'bfloat16' ? numbers.cast(spec.dtype) : numbers.mul(10).cast(spec.dtype);
}

function describe(tensor, name) {
  const { dtype, shape, size } = tensor;
  const text = tensor.toString({ threshold: 40, precision: 4 });
  const probabilities = size % 10 === 0 && shape.at(-1) === 10 && dtype === 'float32' ? firstProbabilities(tensor) : null;
  return { name, dtype, shape, text, probabilities };
}

function firstProbabilities(tensor) {
  return [...tenon.scope(() => tensor.reshape([-1, 10]).softmax(1)).dataSync().slice(0, 10)];
}

/**
 * Calls a function once, and then again for half a second. Times are in milliseconds. `sizes` has the
 * dynamic sizes by name. An input that takes images is `pixels`, bytes that are multiplied by `scale`
 * if the input is floating point. Other inputs, and all if `pixels` is null, are random.
 */
export function run({ name, index, statics, sizes, pixels, scale }) {
  const { inputs, outputs } = program.signatures(name)[index];
  const scope = new tenon.Scope();
  const called = program.function(name);
  const time = (body) => {
    const start = performance.now();
    const result = body();
    tenon.synchronizeSync();
    return [performance.now() - start, result];
  };
  try {
    return scope.run(() => {
      const generator = new tenon.Generator(1);
      const values = inputs.map((spec) => inputFor(spec, { sizes, pixels, scale }, generator));
      generator.dispose();
      const [first, results] = time(() => called.call(values, statics));
      let runs = 0;
      const [total] = time(() => {
        const end = performance.now() + 1000 * SECONDS;
        for (; performance.now() < end; ++runs) tenon.scope(() => { called.call(values, statics); });
      });
      return {
        first, mean: total / runs, runs, graph: graphOf(called),
        outputs: results.map((tensor, i) => describe(tensor, outputs[i]?.name ?? `output ${i}`)),
      };
    });
  } finally {
    called.dispose();
    scope.dispose();
  }
}

/** Returns the lines of the graph that ran last. */
function graphOf(called) {
  const traces = called.traces();
  const text = traces.at(-1)?.text ?? '';
  for (const trace of traces) trace.dispose();
  return text.split('\n').slice(1).map((line) => line.replace(/^ {2}/, '')).filter((line) => line && line !== '}');
}
