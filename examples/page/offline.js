// Registers the service worker, which isolates the page and stores it for offline use.

const PATIENCE = 5000; // Milliseconds to wait for the service worker before the page starts without it.

/** Resolves when the service worker of a registration is active. */
function becomesActive(registration) {
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  if (worker.state === 'activated') return Promise.resolve();
  return new Promise((resolve) => {
    worker.addEventListener('statechange', () => worker.state === 'activated' && resolve());
    setTimeout(resolve, PATIENCE);
  });
}

/**
 * Registers the service worker, and returns its registration; null if that fails. If the server does
 * not isolate the page, which threads need, reloads the page once, so that the service worker can do
 * it.
 */
export async function isolatePage() {
  if (!navigator.serviceWorker) return null;
  const registration = await navigator.serviceWorker.register('service_worker.js').catch((error) => {
    console.warn(`The page will not work offline: ${error.message}`);
  });
  if (!registration) return null;
  if (crossOriginIsolated || sessionStorage.getItem('reloaded')) return registration;
  await becomesActive(registration);
  sessionStorage.setItem('reloaded', 'yes');
  location.reload();
  return new Promise(() => {}); // The reload ends this page.
}

/** Lets the service worker store the files of the page. Returns whether it has stored all of them. */
export async function storePage(registration) {
  if (!registration) return false;
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    active.postMessage('store', [port2]);
  });
}
