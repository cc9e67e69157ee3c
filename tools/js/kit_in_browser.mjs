// Runs the conformance kit in Chromium.
//
//   node kit_in_browser.mjs FOLDER PLAYWRIGHT CHROMIUM [ARGUMENTS OF tenon-conformance]...
//
// FOLDER contains tenon-conformance-browser.js and its WebAssembly module. The kit runs in a worker.
// Its output is printed line by line, its files are copied from and to this machine, and this script
// exits with its status.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import { serve } from './serve.mjs';

const [, , folder, playwright, executablePath, ...args] = process.argv;
const { chromium } = createRequire(pathToFileURL(`${playwright}/`))('playwright-core');

const filesAfter = (options) => args.filter((_, i) => options.includes(args[i - 1]));
const inputs = filesAfter(['--expected', '--resume']).filter((path) => existsSync(path))
    .map((path) => [path, readFileSync(path, 'utf8')]);
const outputs = filesAfter(['--json', '--junit', '--html']);

// The worker. Files have the names of this machine, in the memory of the worker.
function work({ base, args, inputs, outputs }) {
  const makeFolder = (path) => FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '.');
  self.Module = {
    arguments: args,
    locateFile: (file) => `${base}/${file}`,
    print: (line) => postMessage({ line }),
    printErr: (line) => postMessage({ line, isError: true }),
    preRun: () => {
      for (const path of outputs) makeFolder(path);
      for (const [path, text] of inputs) {
        makeFolder(path);
        FS.writeFile(path, text);
      }
    },
    onExit: (status) => {
      const files = outputs.filter((path) => FS.analyzePath(path).exists)
          .map((path) => [path, FS.readFile(path, { encoding: 'utf8' })]);
      postMessage({ status, files });
    },
    onAbort: (reason) => postMessage({ line: `aborted: ${reason}`, isError: true, status: 70, files: [] }),
  };
  importScripts(`${base}/tenon-conformance-browser.js`);
}

const server = await serve(folder);
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage();
const finished = new Promise((resolve, reject) => {
  page.on('crash', () => reject(new Error('the page ended without a result')));
  page.exposeFunction('receive', ({ line, isError, status, files }) => {
    if (line !== undefined) (isError ? process.stderr : process.stdout).write(`${line}\n`);
    if (status === undefined) return;
    for (const [path, text] of files) writeFileSync(path, text);
    resolve(status);
  }).then(() => page.goto(`${base}/`)).then(() => page.evaluate((source) => {
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    worker.onmessage = ({ data }) => window.receive(data);
    worker.onerror = ({ message }) => window.receive({ line: message, isError: true, status: 70, files: [] });
  }, `(${work})(${JSON.stringify({ base, args, inputs, outputs })})`)).catch(reject);
});
try {
  process.exitCode = await finished;
} finally {
  await browser.close();
  server.close();
}
