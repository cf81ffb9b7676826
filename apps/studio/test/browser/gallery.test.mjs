/* Every scene of the gallery opens, runs and changes the picture. SHOTS names a folder for a screenshot of each. */
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Browser, openScene, pixels, ready, servePage, until, web} from './studio.mjs';

const scenes = JSON.parse(readFileSync(join(web, 'gallery.json'), 'utf8'));
let server, browser, page;
before(async () => {
  server = await servePage();
  browser = await Browser.launch();
  page = await browser.open(server.address);
  await ready(page);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const scene of scenes) {
  test(scene.id, async () => {
    page.problems.length = 0;
    await openScene(page, scene.scene, scene.title);
    const still = await pixels(page);
    const first = await page.evaluate(() => window.firn.app.state.get('scene').first);
    for (let frame = first + 1; frame <= first + 2; frame++) {
      await page.keyboard.press('ArrowRight');
      await until(page, f => window.firn.app.state.get('shown').frame >= f, frame);
    }
    assert.notEqual(await pixels(page), still);
    if (process.env.SHOTS) {
      mkdirSync(process.env.SHOTS, {recursive: true});
      await page.screenshot({path: join(process.env.SHOTS, `${scene.id}.png`)});
    }
    assert.deepEqual(page.problems, []);
  });
}
