// Serves the files of a folder over HTTP on the loopback interface.
//
//   node serve.mjs FOLDER [PORT] [--isolated]
//
// With --isolated, the response headers allow pages to share memory between threads.

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css',
  '.wasm': 'application/wasm', '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png',
};

/** Starts a server, and resolves to it when it accepts connections. Port 0 selects a free port. */
export function serve(folder, port = 0, isolated = false) {
  const root = resolve(folder);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    let path = normalize(join(root, decodeURIComponent(pathname)));
    if (path !== root && !path.startsWith(`${root}/`)) path = root;
    if (existsSync(path) && statSync(path).isDirectory()) path = join(path, 'index.html');
    if (!existsSync(path)) {
      response.writeHead(404).end('not found');
      return;
    }
    response.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream');
    response.setHeader('Content-Length', statSync(path).size);
    response.setHeader('Cache-Control', 'no-cache');
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    createReadStream(path).pipe(response);
  });
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', () => done(server));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const server = await serve(words[0], Number(words[1] ?? 8000), process.argv.includes('--isolated'));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
