/* Fingers, on a page as wide as a phone's. */
import assert from 'node:assert/strict';
import {get, openScene, placeOf, SQUARE, studio, until} from './studio.mjs';

const BALL = `firn: 1
name: ball
resolution: 0.04
materials: {soft: {preset: jelly_soft}}
objects:
  - {name: ball, material: soft, shape: {sphere: {center: [0, 0.5, 0], radius: 0.3}}}
`;
const s = studio({width: 390, height: 844, touch: true}), {claim, press} = s;

/* Playwright has a tap, and no more. */
let devtools;
async function touch(type, points) {
  devtools ??= await s.browser.context.newCDPSession(s.page);
  await devtools.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))});
}
/* Each finger from one place to another. */
async function drag(fingers, steps = 5) {
  await touch('touchStart', fingers.map(([from]) => from));
  for (let i = 1; i <= steps; i++)
    await touch('touchMove', fingers.map(([a, b]) => [0, 1].map(k => a[k] + (b[k] - a[k]) * i / steps)));
  await touch('touchEnd', []);
}
const camera = () => s.page.evaluate(() => window.firn.view.camera);

claim('a tap selects what it hits, and nothing beside it', async page => {
  await openScene(page, BALL);
  const {x, y} = await placeOf(page, [0, 0.5, 0]);
  await page.touchscreen.tap(x, y);
  await until(page, () => window.firn.app.selected().name === 'ball');
  const corner = await page.evaluate(() => document.querySelector('canvas').getBoundingClientRect().top + 80);
  await page.touchscreen.tap(20, corner);
  await until(page, () => window.firn.app.state.get('selection') === '');
});

claim('one finger turns the view, two move it and zoom', async page => {
  await openScene(page, BALL);
  const start = await camera(), {x, y} = await placeOf(page, [0, 0.5, 0]);
  await drag([[[x - 60, y], [x + 20, y + 10]]]);
  const turned = await camera();
  assert.notEqual(turned.azimuth, start.azimuth);
  assert.equal(turned.distance, start.distance);
  await drag([[[x - 40, y], [x - 100, y]], [[x + 40, y], [x + 100, y]]]);
  const near = await camera();
  assert.ok(near.distance < 0.6 * turned.distance, `${turned.distance} to ${near.distance}`);
  assert.equal(near.azimuth, turned.azimuth);
  await drag([[[x - 80, y], [x - 80, y + 60]], [[x + 80, y], [x + 80, y + 60]]]);
  assert.notDeepEqual((await camera()).target, near.target);
});

claim('one finger uses the tool that is chosen', async page => {
  await openScene(page, SQUARE);
  const still = await camera(), many = (await get(page, 'shown')).particles, {x, y} = await placeOf(page, [0, 0.5, 0]);
  await page.locator('[data-do=tool-cut]').tap();
  await until(page, () => window.firn.app.state.get('tool') === 'cut');
  await drag([[[x - 20, y], [x + 20, y]]]);
  await until(page, n => window.firn.app.state.get('shown').particles < n, many);
  assert.deepEqual(await camera(), still);
  await press('Escape');
});

claim('tabs, play and the menu work by taps', async page => {
  await openScene(page, SQUARE);
  for (const tab of ['Objects', 'Properties', 'Transport']) {
    await page.getByRole('tab', {name: tab}).tap();
    await until(page, t => window.firn.app.state.get('tab') === t, tab.toLowerCase());
  }
  await page.locator('.tabs .play').tap();
  await until(page, () => window.firn.app.state.get('time') > 0.05);
  await page.locator('.tabs .play').tap();
  await until(page, () => !window.firn.app.state.get('playing'));
  await page.locator('[data-do=more]').tap();
  const theme = await get(page, 'theme');
  await page.getByRole('menuitem', {name: 'Light or dark'}).tap();
  assert.notEqual(await get(page, 'theme'), theme);
  const height = () => page.evaluate(() => document.querySelector('.sheet').offsetHeight), before = await height();
  await page.getByRole('button', {name: 'Size of the panels'}).tap();
  assert.notEqual(await height(), before);
});
