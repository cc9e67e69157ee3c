// The page. It runs Tenon in a worker through the package's proxy, with two modules there:
// trainer.js and models.js. Each section of the page has a script of its own.

import { connect } from './tenon/src/worker.js';
import { $, formatBytes, guarded } from './elements.js';
import { TrainSection } from './train_section.js';
import { ClassifySection } from './classify_section.js';
import { ModelSection } from './model_section.js';
import { CompareSection } from './compare_section.js';
import { isolatePage, storePage } from './offline.js';

function showProgress({ loaded, total }) {
  const bar = $('loading');
  if (total !== null) [bar.value, bar.max] = [loaded, total];
  $('environment').textContent = `Loading Tenon: ${formatBytes(loaded)}${total === null ? '' : ` of ${formatBytes(total)}`}`;
}

async function start() {
  const registration = await isolatePage();
  const tenon = await connect({ progress: showProgress });
  const trainer = await tenon.import(new URL('./trainer.js', import.meta.url));
  const models = await tenon.import(new URL('./models.js', import.meta.url));
  const classify = new ClassifySection(trainer);
  const model = new ModelSection(models, trainer);
  const train = new TrainSection(trainer, { classify, model });
  const compare = new CompareSection(trainer);
  await trainer.load();
  const { variant, threads, reason } = await tenon.environment();
  $('environment').textContent = `Variant ${variant}, device ${await tenon.currentDevice()}, ` +
      `${threads} thread${threads === 1 ? '' : 's'}: ${reason}.`;
  $('loading').hidden = true;
  train.enable();
  classify.enable();
  await compare.enable();
  await model.showStored();
  if (await storePage(registration)) $('offline').textContent = 'It works offline now.';
}

guarded($('environment'), start);
