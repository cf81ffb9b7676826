/* The page in a real browser: every claim here is one that a person would notice if it broke. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {get, openScene, pixels, placeOf, ready, root, SQUARE, step, studio, until, web} from './studio.mjs';

const s = studio(), {claim, press, button} = s;
const scene = text => openScene(s.page, text);

claim('the first scene is there and the engine says what it is', async page => {
  assert.ok((await get(page, 'scene')).objects.length > 0);
  assert.match(await page.locator('.badge').innerText(), /WebAssembly, \d+ threads?/);
});

claim('play moves things, pause stops them', async page => {
  await scene(SQUARE);
  const still = await pixels(page);
  await press('Space');
  await until(page, () => window.firn.app.state.get('shown').time > 0.15);
  await press('Space');
  await until(page, () => !window.firn.app.state.get('playing'));
  assert.notEqual(await pixels(page), still);
  const time = await get(page, 'time');
  await page.waitForTimeout(300);
  assert.equal(await get(page, 'time'), time);
});

claim('a step is one frame, a substep one step of the engine', async page => {
  await scene(SQUARE);
  const first = await get(page, 'frame');
  await press('ArrowRight');
  await until(page, f => window.firn.app.state.get('frame') === f + 1, first);
  assert.ok(Math.abs(await get(page, 'time') - 1 / 24) < 1e-9);
  await press('Shift+ArrowRight');
  await until(page, () => window.firn.app.state.get('shown').time > 1 / 24 + 1e-9);
  assert.equal((await get(page, 'shown')).steps, 1);
});

claim('stepped frames have the state that firn run has', async (page, t) => {
  const firn = process.env.FIRN ?? join(root, 'build/firn');
  if (!existsSync(firn)) return t.skip('no build/firn');
  await scene(SQUARE);
  await step(page, 5);
  const isa = await page.evaluate(() => window.firn.engine.hello.isa);
  const there = await page.evaluate(() => window.firn.engine.points(['P']).then(p => {
    const bytes = p.columns?.[0]?.data ?? p.column('P');
    return [...bytes];
  }));
  const folder = mkdtempSync(join(tmpdir(), 'firn_page.'));
  try {
    writeFileSync(join(folder, 'square.yaml'), `${SQUARE}output:\n  - {file: p.$F4.csv, attributes: [P]}\n`);
    execFileSync(firn, ['run', 'square.yaml', '--isa', 'scalar', '--frames', '1:6', '--quiet'], {cwd: folder});
    const rows = readFileSync(join(folder, 'p.0006.csv'), 'utf8').trim().split('\n').slice(1).map(r => r.split(',').map(Number));
    assert.equal(there.length, rows.length * 3, isa);
    let worst = 0;
    rows.forEach((r, i) => r.forEach((v, k) => { worst = Math.max(worst, Math.abs(v - there[3 * i + k])); }));
    assert.ok(worst < 1e-4, `differs by ${worst} m`);
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
});

claim('reset goes back to the first frame', async page => {
  await scene(SQUARE);
  await step(page);
  await press('r');
  await until(page, () => window.firn.app.state.get('time') === 0);
});

claim('a material slider acts at once, is marked, and undo takes it back', async page => {
  await scene(SQUARE);
  await step(page);
  await page.getByRole('treeitem', {name: /soft/}).last().click();
  const field = page.getByLabel(/^Young's modulus/).last();
  const before = await get(page, 'scene');
  await field.fill('50 kPa');
  await field.press('Enter');
  await until(page, () => window.firn.app.state.get('scene').materials[0].values.young === 50000);
  assert.notEqual(before.materials[0].values.young, 50000);
  assert.deepEqual(await get(page, 'waiting'), []);
  assert.equal(await page.locator('.row.changed').count(), 1);
  assert.match(await page.evaluate(() => window.firn.document.text), /young: (5e4|50000)/);
  await page.locator('canvas').first().click({position: {x: 450, y: 300}});
  await press('Control+z');
  await until(page, y => window.firn.app.state.get('scene').materials[0].values.young === y, before.materials[0].values.young);
  assert.equal(await page.locator('.row.changed').count(), 0);
});

claim('what cannot act at once waits for a restart', async page => {
  await scene(SQUARE);
  await step(page);
  const count = (await get(page, 'shown')).particles;
  await page.evaluate(t => window.firn.app.change(t, 'Resolution'), SQUARE.replace('0.02', '0.04'));
  await until(page, () => window.firn.app.state.get('waiting').length === 1);
  await page.getByRole('button', {name: 'Restart', exact: true}).last().click();
  await until(page, n => window.firn.app.state.get('shown')?.particles < n, count);
  assert.deepEqual(await get(page, 'waiting'), []);
});

claim('an object is added, dragged, duplicated and removed', async page => {
  await scene(SQUARE);
  const objects = () => page.evaluate(() => window.firn.app.state.get('scene').objects.map(o => o.name));
  await button('Add an object').click();
  await page.getByRole('menuitem', {name: /^Disc/}).first().click();
  await until(page, () => window.firn.app.state.get('scene').objects.length === 2);
  const added = (await objects())[1];
  const was = await page.evaluate(() => window.firn.document.text);
  /* A particle of it that no handle covers, once there is a picture with it. */
  const at = await until(page, name => {
    const {app, view} = window.firn, r = document.querySelector('canvas').getBoundingClientRect();
    for (let i = 0; app.pane.itemOf(i) !== null; i++) {
      const [x, y] = view.project(app.pane.placeOf(i));
      if (app.pane.itemOf(i) === app.doc.model.items.find(o => o.name === name)?.key && !view.pickHandle(x, y)) return {x: x + r.left, y: y + r.top};
    }
    return null;
  }, added).then(found => found.jsonValue());
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 30, at.y - 20, {steps: 4});
  await page.mouse.up();
  await until(page, t => window.firn.document.text !== t, was);
  await press('Control+d');
  await until(page, () => window.firn.app.state.get('scene').objects.length === 3);
  await press('Delete');
  await until(page, () => window.firn.app.state.get('scene').objects.length === 2);
  await press('Control+z');
  await until(page, () => window.firn.app.state.get('scene').objects.length === 3);
});

claim('an outline is drawn by hand, freely or by corners, and what it makes runs', async page => {
  await scene(SQUARE);
  const draw = async () => {
    await button('Add an object').click();
    await page.getByRole('menuitem', {name: 'Draw an outline'}).click();
    await until(page, () => window.firn.app.state.get('drawing') === 'object');
    await page.evaluate(() => {
      window.firn.view.frame('all');
      window.firn.view.zoom(2);
    });
    return Promise.all([[-0.2, 0.75], [0.2, 0.75], [0.2, 1.15], [-0.2, 1.15]].map(p => placeOf(page, [...p, 0])));
  };
  let corners = await draw();
  for (const c of [...corners, corners[0]]) await page.mouse.click(c.x, c.y);
  await until(page, () => window.firn.app.state.get('scene').objects.length === 2);
  await page.evaluate(() => window.firn.app.undo());
  await until(page, () => window.firn.app.state.get('scene').objects.length === 1);
  corners = await draw();
  await page.mouse.move(corners[0].x, corners[0].y);
  await page.mouse.down();
  for (const c of [...corners.slice(1), corners[0]]) await page.mouse.move(c.x, c.y, {steps: 10});
  await page.mouse.up();
  await until(page, () => window.firn.app.state.get('scene').objects.length === 2);
  const drawn = (await get(page, 'scene')).objects[1];
  assert.ok(Math.abs(drawn.count - 0.4 * 0.4 / 0.02 ** 2) < 60, `${drawn.count} particles`);
  const middle = () => page.evaluate(name => {
    const {app} = window.firn;
    let sum = 0, n = 0;
    for (let i = 0; app.pane.itemOf(i) !== null; i++) if (app.pane.itemOf(i) === app.doc.model.items.find(o => o.name === name)?.key && ++n) sum += app.pane.placeOf(i)[1];
    return sum / n;
  }, drawn.name);
  await until(page, n => window.firn.app.state.get('shown').particles > n, drawn.count);
  const high = await middle();
  await step(page, 4);
  assert.ok(await middle() < high - 0.05, 'it falls');
  await press('Escape');
});

claim('an error stands at its line, the scene stays, and mending it goes on', async page => {
  await scene(SQUARE);
  await page.evaluate(t => window.firn.app.change(t, 'Edit'), SQUARE.replace('0.4}', '-0.6}'));
  await until(page, () => window.firn.app.state.get('error'));
  assert.equal((await get(page, 'error')).line, 11);
  await page.evaluate(t => window.firn.app.change(t, 'Edit'), SQUARE);
  await until(page, () => !window.firn.app.state.get('error'));
});

claim('scene text that is no YAML is an error with a line', async page => {
  await scene(SQUARE);
  for (const [text, line] of [[`${SQUARE}x: [1, 2\n`, 13], [`${SQUARE}firn: 1\n`, 12], [`${SQUARE}seed: *b\n`, 12]]) {
    await page.evaluate(t => window.firn.app.change(t, 'Edit'), text);
    await until(page, () => window.firn.app.state.get('error'));
    assert.equal((await get(page, 'error')).line, line, text.slice(-20));
    await page.evaluate(t => window.firn.app.change(t, 'Edit'), SQUARE);
    await until(page, () => !window.firn.app.state.get('error'));
  }
});

claim('a text with a mistake that is opened shows the mistake', async page => {
  const empty = 'firn: 1\nname: nothing\n';
  for (const [text, line] of [[`${SQUARE}x: y: z\n`, 12], [`${empty}seed: *b\n`, 3], [`${empty}objekts: []\n`, 3]]) {
    await page.evaluate(t => window.firn.app.open(t, 'Test'), text);
    await until(page, () => window.firn.app.state.get('error'));
    assert.equal((await get(page, 'error')).line, line, text.slice(-20));
    assert.match(await page.locator('.note, [role=status]').allInnerTexts().then(t => t.join()), new RegExp(`Line ${line}`));
  }
  await page.evaluate(t => window.firn.app.open(t, 'Test'), empty);
  await until(page, () => !window.firn.app.state.get('error'));
  await page.locator('.empty').waitFor();
});

claim('seeking back and playing again gives the same state', async page => {
  await scene(SQUARE);
  await step(page, 6);
  const end = await page.evaluate(() => window.firn.engine.hash());
  await page.evaluate(() => window.firn.engine.send({do: 'seek', frame: 3}));
  await until(page, () => window.firn.app.state.get('frame') === 3);
  for (let f = 4; f <= 7; f++) {
    await page.evaluate(() => window.firn.engine.send({do: 'step', unit: 'frame'}));
    await until(page, n => window.firn.app.state.get('frame') === n, f);
  }
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), end);
});

claim('a shared link opens the same scene', async page => {
  await scene(SQUARE);
  await page.evaluate(() => window.firn.app.share());
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#s=/);
  const other = await s.browser.open(link);
  await ready(other);
  assert.equal(await other.evaluate(() => window.firn.document.text), SQUARE);
  assert.deepEqual(other.problems, []);
  await other.close();
});

claim('save gives the YAML that firn run accepts', async page => {
  await scene(SQUARE);
  const [download] = await Promise.all([page.waitForEvent('download'), press('Control+s')]);
  assert.match(download.suggestedFilename(), /\.yaml$/);
  assert.equal(readFileSync(await download.path(), 'utf8'), SQUARE);
});

claim('the tools grab, push, cut, emit and heat what is under the pointer', async page => {
  await scene(SQUARE.replace('frames', 'heat: {speed: 1}\nframes'));
  const count = () => page.evaluate(() => window.firn.app.state.get('shown').particles);
  const many = await count();
  const at = await placeOf(page, [0, 0.5, 0]);
  await page.evaluate(() => window.firn.app.state.set({radius: 0.08}));
  const hold = async key => {
    await press(key);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 6, at.y, {steps: 3});
    await page.waitForTimeout(200);
    await page.mouse.up();
  };
  await hold('x');
  await until(page, n => window.firn.app.state.get('shown').particles < n, many);
  const fewer = await count();
  await hold('e');
  await until(page, n => window.firn.app.state.get('shown').particles > n, fewer);
  await page.evaluate(() => window.firn.engine.send({do: 'want', color: 'speed', totals: true}));
  await press('Space');
  await hold('g');
  await hold('b');
  await press('Space');
  await press('Escape');
  await until(page, () => !window.firn.app.state.get('playing'));
});

claim('a scene that opens counts no picture of the one before as shown', async page => {
  await scene(SQUARE);
  await step(page, 1);
  const shown = await page.evaluate(text => new Promise(done => {
    const {app} = window.firn, stop = app.engine.on('scene', () => {
      stop();
      done(app.state.get('shown'));
    });
    app.open(text, 'Other');
  }), SQUARE.replace('0.02', '0.03'));
  assert.equal(shown, null);
});

claim('the probe reads a particle', async page => {
  await scene(SQUARE);
  await press('p');
  const at = await placeOf(page, [0, 0.5, 0]);
  await page.mouse.click(at.x, at.y);
  await until(page, () => window.firn.app.state.get('probe') !== null);
  await page.locator('.probe', {hasText: 'block'}).first().waitFor();
  await press('Escape');
  await press('Escape');
});

claim('overlays and colours change the picture', async page => {
  await scene(SQUARE);
  await step(page, 3);
  const seen = new Set([await pixels(page)]);
  const states = [{color: 'speed'}, {overlays: {velocity: true, force: false, grid: 'off', blocks: false, colliders: true}},
    {overlays: {velocity: false, force: true, grid: 'mass', blocks: true, colliders: false}}, {look: 'points'}];
  for (const s of states) {
    await page.evaluate(x => window.firn.app.state.set(x), s);
    await page.waitForTimeout(600);
    seen.add(await pixels(page));
  }
  assert.equal(seen.size, 1 + states.length);
  await page.evaluate(() => window.firn.app.state.set({color: '', look: 'surface', overlays: {velocity: false, force: false, grid: 'off', blocks: false, colliders: true}}));
});

claim('leaving an edited scene offers the way back, and one opened in haste is the one shown', async page => {
  await scene(SQUARE);
  await page.evaluate(t => window.firn.app.change(t, 'Edit'), SQUARE.replace('name: block', 'name: brick'));
  await page.evaluate(t => {
    window.firn.app.open(t.replace('name: block', 'name: first'), 'First');
    window.firn.app.open(t.replace('name: block', 'name: second'), 'Second');
  }, SQUARE);
  await until(page, () => window.firn.app.state.get('scene')?.objects[0].name === 'second');
  await button('Go back').click();
  await until(page, () => window.firn.app.state.get('scene')?.objects[0].name === 'brick');
});

claim('the gallery, the help card and the theme open and close by keys', async page => {
  for (const [key, name] of [['o', '.gallery'], ['?', '.scrim']]) {
    await press(key);
    await page.locator(name).first().waitFor();
    await press('Escape');
    await page.locator(name).first().waitFor({state: 'detached'});
  }
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.evaluate(() => window.firn.app.toggleTheme());
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), theme);
  await page.evaluate(() => window.firn.app.toggleTheme());
});

claim('nothing sticks out at any width', async page => {
  await scene(SQUARE);
  for (const [width, height] of [[390, 844], [720, 800], [1100, 800], [1440, 900]]) {
    await page.setViewportSize({width, height});
    await page.waitForTimeout(200);
    const wide = await page.evaluate(() => [...document.querySelectorAll('.app button, .app input, .app select')].filter(e => {
      const r = e.getBoundingClientRect();
      return r.width > 0 && getComputedStyle(e).visibility !== 'hidden' && !e.closest('.p-body, .graphs, .gallery, .code') && (r.right > innerWidth + 1 || r.left < -1);
    }).map(e => e.getAttribute('aria-label') ?? e.textContent));
    assert.deepEqual(wide, [], `at ${width}`);
  }
  await page.setViewportSize({width: 900, height: 640});
});

claim('every control has a name', async page => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select')]
    .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.type === 'file'))
    .map(e => e.outerHTML.slice(0, 120)));
  assert.deepEqual(nameless, []);
});

claim('a lost WebGL context comes back', async page => {
  await scene(SQUARE);
  const before = await pixels(page);
  await page.evaluate(() => {
    const gl = document.querySelector('canvas').getContext('webgl2');
    window.lost = gl.getExtension('WEBGL_lose_context');
    window.lost.loseContext();
  });
  await page.waitForTimeout(200);
  await page.evaluate(() => window.lost.restoreContext());
  await page.waitForTimeout(1500);
  assert.equal(await pixels(page), before);
});

test('the page in one file runs from a disk', async () => {
  const one = await s.browser.open(`file://${web}/studio.html`);
  await ready(one);
  await one.keyboard.press('ArrowRight');
  await until(one, () => window.firn.app.state.get('time') > 0);
  assert.deepEqual(one.problems, []);
  await one.close();
});
