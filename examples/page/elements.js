// Helpers for the elements of the page.

export const $ = (id) => document.getElementById(id);

/** Creates an element with properties and children. */
export function element(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

export function formatBytes(bytes) {
  if (bytes < 1e3) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export function formatTime(milliseconds) {
  if (milliseconds >= 100) return `${milliseconds.toFixed(0)} ms`;
  return milliseconds >= 1 ? `${milliseconds.toFixed(1)} ms` : `${(1000 * milliseconds).toFixed(0)} µs`;
}

/** Runs `body`. Shows its error, if any, in a status element. */
export async function guarded(status, body) {
  try {
    return await body();
  } catch (error) {
    status.classList.add('failed');
    status.textContent = `Failed: ${error.message}`;
    return undefined;
  }
}

/** Shows a message in a status element. */
export function show(status, text) {
  status.classList.remove('failed');
  status.textContent = text;
}

/** Shows numbers in a description list: [[name, value], ...]. */
export function showNumbers(list, rows) {
  list.replaceChildren(...rows.map(([name, value]) => element('div', {},
      element('dt', { textContent: name }), element('dd', { textContent: value }))));
}

/** Shows bars: [[name, fraction of the width, label, class], ...]. The class may be absent. */
export function showBars(list, rows) {
  list.replaceChildren(...rows.map(([name, fraction, label, className = '']) => {
    const bar = element('span', { className: 'bar' });
    bar.style.setProperty('--fraction', fraction);
    return element('li', { className }, element('span', { textContent: name }), element('span', { className: 'track' }, bar),
        element('span', { className: 'number', textContent: label }));
  }));
}
