// The files of a model that a visitor chose or dropped.

/** Returns a Promise of the files in a drop, including those of a folder. */
export async function filesOfDrop(transfer) {
  // The items must be read before the event ends.
  const items = [...transfer.items].filter((item) => item.kind === 'file')
      .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  return (await Promise.all(items.map(({ entry, file }) => (entry?.isDirectory ? filesOf(entry) : [file])))).flat();
}

async function filesOf(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => { entry.file(resolve, reject); })];
  const reader = entry.createReader();
  const found = [];
  for (;;) { // A call of readEntries() returns at most 100 entries.
    const next = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (next.length === 0) return found;
    found.push(...(await Promise.all(next.filter(({ isFile }) => isFile).map(filesOf))).flat());
  }
}

/** Returns the name of a model, and what openProgram() takes. */
export function toSource(files) {
  const used = files.filter(({ name }) => /\.(onnx|onnx_data|data|bin|safetensors)$/.test(name) || name === 'tenon.json');
  if (used.length === 0) throw new Error('there is no ONNX file and no tenon.json among these files');
  const folder = files[0].webkitRelativePath?.split('/')[0];
  if (used.length === 1) return { name: used[0].name, source: used[0] };
  return { name: folder || used.find(({ name }) => name.endsWith('.onnx'))?.name || 'program',
    source: Object.fromEntries(used.map((file) => [file.name, file])) };
}
