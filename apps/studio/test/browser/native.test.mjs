/* The page on the native engine: `firn view` serves it, loses it and gets it back; others stay out. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Browser, get, pixels, ready, root, servePage, startServer, step, until, web} from './studio.mjs';

const firn = process.env.FIRN ?? join(root, 'build/firn');
const scene = join(root, 'scenes/flat_regular_fine.yaml');

const built = existsSync(firn);
let server, other, browser, page;
before(async () => {
  if (!built) return;
  server = await startServer(firn, ['view', scene, '--page', web]);
  other = await servePage();
  browser = await Browser.launch();
  page = await browser.open(server.address);
  await ready(page);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await other?.stop();
});

const claim = (name, body) => test(name, {skip: built ? false : 'there is no build/firn'}, body);

claim('the native engine brings its scene', async () => {
  assert.match(await page.locator('.badge').innerText(), /Native, \d+ threads?/);
  assert.equal((await get(page, 'scene')).name, 'flat_regular_fine');
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
});

claim('stepped frames have the hash of firn run', async () => {
  const first = await page.evaluate(() => window.firn.app.state.get('scene').first);
  for (let f = first + 1; f <= first + 3; f++) {
    await page.keyboard.press('ArrowRight');
    await until(page, n => window.firn.app.state.get('frame') === n, f);
  }
  const here = await page.evaluate(() => window.firn.engine.hash());
  const printed = execFileSync(firn, ['run', scene, '--frames', `${first}:${first + 3}`, '--hash', '--quiet', '--set', 'output=[]',
    '--set', 'checkpoint={every: 0}'], {encoding: 'utf8'});
  assert.ok(printed.includes(`hash ${first + 3} ${here}`), printed);
});

claim('a dropped connection comes back to the same frame', async () => {
  const frame = await get(page, 'frame'), before = await page.evaluate(() => window.firn.engine.hash());
  await page.evaluate(() => window.firn.engine.transport.socket.close());
  await until(page, () => window.firn.app.state.get('connection') === 'lost');
  await until(page, () => window.firn.app.state.get('connection') === 'ready');
  await until(page, f => window.firn.app.state.get('frame') === f, frame);
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), before);
});

claim('the half that is kept is the session that a dropped connection comes back to', async () => {
  await page.evaluate(() => window.firn.app.toggleCompare());
  await until(page, () => window.firn.app.compare.on && window.firn.app.compare.pane.history.count > 0);
  await page.keyboard.press('r');
  const both = f => until(page, n => [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.history.latest()?.frame.frame === n), f);
  const first = await page.evaluate(() => window.firn.app.state.get('scene').first);
  await both(first);
  for (let f = first + 1; f <= first + 3; f++) {
    await page.keyboard.press('ArrowRight');
    await both(f);
  }
  const kept = await page.evaluate(() => window.firn.app.compare.engine.hash());
  await page.evaluate(() => window.firn.app.compare.end('B'));
  await until(page, () => !window.firn.app.state.get('comparing'));
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), kept);
  await page.evaluate(() => window.firn.engine.transport.socket.close());
  await until(page, () => window.firn.app.state.get('connection') === 'lost');
  await until(page, () => window.firn.app.state.get('connection') === 'ready');
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), kept);
});

claim('a page that is loaded again has its text and its frame, and plays', async () => {
  await page.evaluate(() => {
    const {doc} = window.firn.app;
    doc.edit(`${doc.text}# unsaved\n`, 'Edit');
  });
  const frame0 = await get(page, 'frame'), hash = await page.evaluate(() => window.firn.engine.hash());
  assert.ok(frame0 > (await get(page, 'scene')).first);
  await page.reload();
  await ready(page);
  assert.match(await page.evaluate(() => window.firn.document.text), /# unsaved\n$/);
  assert.equal(await page.evaluate(() => window.firn.document.edited), true);
  await until(page, f => window.firn.app.state.get('frame') === f, frame0);
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), hash);
  const still = await pixels(page), frame = await get(page, 'frame');
  await page.keyboard.press('ArrowRight');
  await until(page, f => window.firn.app.state.get('shown').frame > f, frame);
  assert.notEqual(await pixels(page), still);
  assert.doesNotMatch(await page.evaluate(() => window.firn.document.openedText), /# unsaved/);
  await page.evaluate(() => window.firn.app.undo());
  assert.equal(await page.evaluate(() => window.firn.document.edited), false);
});

/* Starts a comparison of the scene as opened with one that is changed, and goes on by a frame. */
async function compare() {
  await page.evaluate(() => {
    const {app} = window.firn;
    app.change(app.doc.text.replace('center: [-0.3, 0.5]', 'center: [-0.3, 0.6]'), 'Edit');
    app.toggleCompare();
  });
  await until(page, () => window.firn.app.compare.on &&
    [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.scene && p.history.latest()?.frame.frame === p.scene.first));
  await stepBoth();
}

async function stepBoth() {
  const next = await page.evaluate(() => window.firn.app.compare.pane.history.latest().frame.frame + 1);
  await page.keyboard.press('ArrowRight');
  await until(page, f => [window.firn.app.pane, window.firn.app.compare.pane].every(p => p.history.latest()?.frame.frame === f), next);
}

const hashes = () => page.evaluate(() => Promise.all([window.firn.engine.hash(), window.firn.app.compare.engine.hash()]));

claim('both engines of a comparison survive a dropped connection', async () => {
  await compare();
  const before = await hashes();
  assert.notEqual(before[0], before[1]);
  await page.evaluate(() => {
    const engines = window.firn.engines = [window.firn.engine, window.firn.app.compare.engine];
    for (const e of engines) e.transport.socket.close();
  });
  await until(page, () => window.firn.engines.every(e => e.connection === 'lost'));
  await until(page, () => window.firn.engines.every(e => e.connection === 'ready'));
  assert.deepEqual(await hashes(), before);
  await stepBoth();
  const [, kept] = await hashes(), text = await page.evaluate(() => window.firn.document.text);
  await page.getByRole('button', {name: 'Keep B', exact: true}).click();
  await until(page, () => !window.firn.app.state.get('comparing'));
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), kept);
  assert.equal(await page.evaluate(() => window.firn.document.text), text);
});

claim('a page that is loaded again while it compares has its changes, and B goes on', async () => {
  await page.evaluate(() => window.firn.app.revert());
  await compare();
  const [, hash] = await hashes(), text = await page.evaluate(() => window.firn.document.text);
  const frame = await page.evaluate(() => window.firn.app.compare.pane.history.latest().frame.frame);
  await page.reload();
  await ready(page);
  assert.equal(await page.evaluate(() => window.firn.document.text), text);
  await until(page, f => window.firn.app.state.get('frame') === f, frame);
  assert.equal(await page.evaluate(() => window.firn.engine.hash()), hash);
  await page.evaluate(() => window.firn.app.toggleCompare());
  await until(page, () => window.firn.app.compare.on);
  assert.match(await page.locator('.compare .hint').first().innerText(), /^[1-9]\d* of \d+ values differ/);
  await page.getByRole('button', {name: 'Keep A', exact: true}).click();
  await until(page, () => !window.firn.app.state.get('comparing'));
  assert.equal(await page.evaluate(() => window.firn.document.edited), false);
});

claim('a page of another origin is refused', async () => {
  const pass = await page.evaluate(() => JSON.parse(sessionStorage.getItem('firn.pass')));
  const stranger = await browser.open(other.address);
  const answer = await stranger.evaluate(([address, secret]) => new Promise(done => {
    const socket = new WebSocket(`${address}live?secret=${secret}`);
    socket.onopen = () => done('open');
    socket.onerror = () => done('refused');
  }), [server.address.replace(/^http/, 'ws').replace(/#.*/, ''), pass.secret]);
  assert.equal(answer, 'refused');
  await stranger.close();
});
