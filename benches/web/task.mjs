// One measurement in its own process of Node or in its own page.
//
//   node task.mjs TASK ARGUMENT WHERE
//
// TASK is first_result, whose argument is a library, or product, whose argument is the number of
// threads. WHERE is a JSON object: see measure.mjs. Prints the result in milliseconds.

/** Runs a task, and returns its result in milliseconds. */
export async function run(task, argument, where) {
  if (task === 'product') {
    const { product } = await import('./product.mjs');
    return product(Number(argument), where);
  }
  const { firstResult } = await import('./first_result.mjs');
  await firstResult(argument, where);
  return performance.now(); // Counted from the start of the process or page.
}

if (typeof process === 'object') {
  const [, , task, argument, where] = process.argv;
  console.log(await run(task, argument, JSON.parse(where)));
  process.exit(0);
}
