// Answers the requests of the page: from the server, or from a cache if the server cannot be
// reached. Adds the headers for cross-origin isolation, for servers that cannot set them.

const CACHE = 'tenon-page';

/** Stores the files that the page needs offline. */
async function store() {
  const cache = await caches.open(CACHE);
  const files = await (await fetch('files.json')).json();
  await Promise.all(files.map(async (file) => {
    const response = await fetch(file);
    if (response.ok) await cache.put(file, isolated(response));
    else throw new Error(`${file} cannot be read: ${response.status}`);
  }));
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => {
  const [port] = event.ports;
  event.waitUntil(store().then(() => port.postMessage(true), () => port.postMessage(false)));
});

function isolated(response) {
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  headers.set('Cross-Origin-Resource-Policy', 'same-origin');
  if (headers.has('Content-Encoding')) { // The body is already decompressed.
    headers.delete('Content-Encoding');
    headers.delete('Content-Length');
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

async function answer(event) {
  const { request } = event;
  const cache = await caches.open(CACHE);
  let response;
  try {
    response = await fetch(request);
  } catch (error) {
    const cached = await cache.match(request);
    if (!cached) throw error;
    return cached;
  }
  if (response.type !== 'basic') return response;
  const result = isolated(response);
  if (response.status === 200) event.waitUntil(cache.put(request, result.clone()));
  return result;
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'GET' && new URL(request.url).origin === location.origin) event.respondWith(answer(event));
});
