// Assembles the page of examples/page in a folder, for any file server.
//
//   node page.mjs SOURCE PACKAGE DATA PEERS FOLDER
//
// SOURCE is examples/page, PACKAGE the npm package, and DATA the folder of Fashion-MNIST. If PEERS,
// where ./dev setup --web-peers installs other libraries, exists, the page can compare Tenon with
// these.

import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

const [, , source, packageFolder, data, peers, folder] = process.argv;

/** The files of each library. */
const LIBRARIES = {
  tfjs: {
    package: '@tensorflow/tfjs',
    files: ['@tensorflow/tfjs/dist/tf.min.js', '@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js',
      '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm',
      '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-threaded-simd.wasm',
      '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm'],
  },
  jax: { package: '@jax-js/jax', files: readIfThere('@jax-js/jax/dist').filter((name) => name.endsWith('.js')) },
  onnxruntime: {
    package: 'onnxruntime-web',
    files: ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm']
        .map((name) => `onnxruntime-web/dist/${name}`),
  },
};

function readIfThere(name) {
  const path = join(peers, 'node_modules', name);
  return existsSync(path) ? readdirSync(path).map((file) => `${name}/${file}`) : [];
}

/** Copies the installed libraries, and writes peers.json with their versions. */
function copyPeers() {
  const versions = {};
  mkdirSync(join(folder, 'peers'));
  for (const [name, library] of Object.entries(LIBRARIES)) {
    const description = join(peers, 'node_modules', library.package, 'package.json');
    if (!existsSync(description)) continue;
    versions[name] = JSON.parse(readFileSync(description, 'utf8')).version;
    for (const file of library.files) cpSync(join(peers, 'node_modules', file), join(folder, 'peers', name, basename(file)));
  }
  writeFileSync(join(folder, 'peers', 'peers.json'), JSON.stringify(versions));
}

function filesIn(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    (entry.isDirectory() ? filesIn(join(path, entry.name)) : [join(path, entry.name)]));
}

rmSync(folder, { recursive: true, force: true });
cpSync(source, folder, { recursive: true });
for (const part of ['src', 'dist']) {
  cpSync(join(packageFolder, part), join(folder, 'tenon', part), { recursive: true, filter: (path) => !/\.(d\.ts|map)$/.test(path) });
}
for (const file of readdirSync(data)) {
  if (file.endsWith('.gz')) cpSync(join(data, file), join(folder, 'data', file), { dereference: true });
}
copyPeers();
// The service worker stores these files when it is installed. It stores the others when the page
// requests them, because they are large.
const files = filesIn(folder).map((path) => relative(folder, path)).filter((path) => !/^data\/train|^peers\/.*\//.test(path));
writeFileSync(join(folder, 'files.json'), JSON.stringify(['./', ...files.sort()]));
