/* Every scene of the gallery opens, runs and changes the picture. SHOTS names a folder for a screenshot of each. */
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {openScene, pixels, step, studio, web} from './studio.mjs';

const scenes = JSON.parse(readFileSync(join(web, 'gallery.json'), 'utf8'));
const s = studio();

for (const scene of scenes) {
  s.claim(scene.id, async page => {
    await openScene(page, scene.scene, scene.title);
    const still = await pixels(page);
    await step(page, 2);
    assert.notEqual(await pixels(page), still);
    if (process.env.SHOTS) {
      mkdirSync(process.env.SHOTS, {recursive: true});
      await page.screenshot({path: join(process.env.SHOTS, `${scene.id}.png`)});
    }
  });
}
