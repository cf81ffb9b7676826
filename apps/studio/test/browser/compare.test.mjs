/* Two sets of values side by side. */
import assert from 'node:assert/strict';
import {get, openScene, placeOf, SQUARE, studio, until} from './studio.mjs';

const s = studio({width: 1200, height: 760}), {claim, press, button} = s;
const SOFT = SQUARE.replace('preset: jelly_soft', 'preset: jelly_soft, young: 2e3');

let young; /* Pa, of the scene as opened */

/* The page compares a scene as opened with a softer one. */
async function compare() {
  const {page} = s;
  await openScene(page, SQUARE);
  young = (await get(page, 'scene')).materials[0].values.young;
  assert.ok(young > 2000);
  await page.evaluate(t => window.firn.app.change(t, 'Edit'), SOFT);
  await until(page, () => window.firn.app.state.get('scene').materials[0].values.young === 2000);
  await button('Compare two sets of values').click();
  await until(page, () => window.firn.app.compare.on && window.firn.app.compare.pane.history.count === 1 && window.firn.app.pane.history.count === 1);
}

/* Both to a frame; each engine has the same number of pictures. */
async function go(frames) {
  for (let i = 0; i < frames; i++) {
    const next = await s.page.evaluate(() => window.firn.app.compare.pane.history.latest().frame.frame + 1);
    await press('ArrowRight');
    await until(s.page, f => [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.history.latest()?.frame.frame === f), next);
  }
}

const hash = async side => s.page.evaluate(x => (x === 'B' ? window.firn.app.compare.engine : window.firn.engine).hash(), side);
const pixelsOf = side => s.page.evaluate(async x => {
  const {app} = window.firn, blob = await (x === 'B' ? app.compare.pane.view : app.view).screenshot(160, 120);
  return new Uint8Array(await blob.arrayBuffer()).reduce((h, b) => Math.imul(h ^ b, 16777619) >>> 0, 2166136261);
}, side);
const drawn = () => s.page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

claim('A is as opened, B has the changes, and they part', async page => {
  await compare();
  assert.match(await page.locator('.compare .hint').first().innerText(), /^1 of \d+ values differ/);
  assert.equal(await hash('A'), await hash('B'));
  await go(12);
  assert.notEqual(await hash('A'), await hash('B'));
  assert.notEqual(await pixelsOf('A'), await pixelsOf('B'));
  await press('Space');
  await until(page, () => window.firn.app.pane.history.latest().frame.frame >= 15 && window.firn.app.state.get('playing'));
  await press('Space');
  await until(page, () => !window.firn.app.state.get('playing'));
  await press('r');
  await until(page, () => [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.history.latest()?.frame.frame === 1));
});

claim('looks, overlays and one range of colours are for both', async page => {
  await go(8);
  const seen = {A: new Set(), B: new Set()};
  const states = [{look: 'points'}, {look: 'surface', color: 'speed'}, {range: [0, 9]},
    {range: null, overlays: {velocity: false, force: false, flow: false, grid: 'off', blocks: false, colliders: false}}, {theme: 'light'}];
  for (const state of states) {
    await page.evaluate(x => window.firn.app.state.set(x), state);
    await until(page, () => (c => c === '' || [window.firn.view, window.firn.app.compare.pane.view].every(v => v.legend?.name === c && v.automaticRange))(window.firn.app.state.get('color')));
    await drawn();
    const ends = await page.evaluate(() => [window.firn.view, window.firn.app.compare.pane.view].map(v => v.legend && [v.legend.lo, v.legend.hi]));
    assert.deepEqual(ends[0], ends[1]);
    if (state.range) assert.deepEqual(ends[0], state.range);
    for (const side of ['A', 'B']) seen[side].add(await pixelsOf(side));
  }
  assert.deepEqual([seen.A.size, seen.B.size], [states.length, states.length]);
  await page.evaluate(() => window.firn.app.state.set({theme: 'dark', color: '', overlays: {velocity: false, force: false, flow: false, grid: 'off', blocks: false, colliders: true}}));
});

claim('a tool that is held in either half acts on both; a probe reads the half it was set in', async page => {
  await press('r');
  await until(page, () => [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.history.latest()?.frame.frame === 1));
  const counts = () => page.evaluate(() => [window.firn.app.pane, window.firn.app.compare.pane].map(p => p.history.latest().frame.particles));
  const placeInB = point => page.evaluate(p => {
    const [x, y] = window.firn.app.compare.pane.view.project(p), r = document.querySelector('canvas').getBoundingClientRect();
    return {x: x + r.left, y: y + r.top};
  }, point);
  const inB = await placeInB([0, 0.5, 0]), inA = await placeOf(page, [0, 0.5, 0]);
  assert.ok(inB.x - inA.x > 100);
  let before = await counts();
  assert.equal(before[0], before[1]);
  for (const at of [inB, inA]) {
    await press('x');
    await page.mouse.move(at.x + (at === inA ? 20 : 0), at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + (at === inA ? 26 : 6), at.y, {steps: 3});
    await until(page, n => [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.history.latest().frame.particles < n), before[0]);
    await page.mouse.up();
    await page.waitForTimeout(200);
    before = await counts();
  }
  await press('p');
  const one = await placeInB(await page.evaluate(() => window.firn.app.compare.pane.placeOf(0)));
  await page.mouse.click(one.x, one.y);
  await until(page, () => window.firn.app.state.get('probe') !== null);
  assert.equal(await page.evaluate(() => window.firn.app.probe.pane === window.firn.app.compare.pane), true);
  await go(1);
  await page.locator('.probe dd').first().waitFor();
  await press('Escape');
  await press('Escape');
});

for (const side of ['A', 'B']) {
  claim(`Keep ${side} ends it, and ${side} goes on from where it is`, async page => {
    await page.evaluate(() => window.firn.app.compare.end());
    await compare();
    await go(5);
    const [kept, frame] = [await hash(side), await page.evaluate(() => window.firn.app.pane.history.latest().frame.frame)];
    await button(`Keep ${side}`).click();
    await until(page, () => !window.firn.app.state.get('comparing') && window.firn.app.state.get('error') === null);
    assert.equal(await page.locator('canvas.second').count(), 0);
    assert.equal(await page.evaluate(() => window.firn.document.text), side === 'A' ? SQUARE : SOFT);
    await until(page, y => window.firn.app.state.get('scene')?.materials[0].values.young === y, side === 'A' ? young : 2000);
    assert.equal(await hash('A'), kept);
    assert.equal(await get(page, 'frame'), frame);
    assert.equal((await get(page, 'shown')).frame, frame);
    await press('ArrowRight');
    await until(page, f => window.firn.app.state.get('shown').frame === f + 1, frame);
    assert.notEqual(await hash('A'), kept);
    /* Its own past can be shown, and it is what a restart begins with. */
    await press('ArrowLeft');
    await press('ArrowLeft');
    await until(page, f => window.firn.app.state.get('shown').frame === f - 1, frame);
    await press('r');
    await until(page, () => window.firn.app.state.get('time') === 0);
    assert.deepEqual(await get(page, 'waiting'), []);
  });
}
