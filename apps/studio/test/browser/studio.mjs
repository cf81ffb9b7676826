/* The studio in headless Chromium, for tests: serves build/web, opens pages, and fails on what a console shows.
 * WEB names another folder with the page. */
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../../../..');
export const web = process.env.WEB ?? join(root, 'build/web');
export const PATIENCE = 60_000; /* ms: software rendering on a busy machine */

const BROWSER = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];

/* Starts a program that prints an address, and gives the address. */
export async function startServer(command, args) {
  const child = spawn(command, args, {stdio: ['ignore', 'pipe', 'inherit']});
  let printed = '';
  for await (const piece of child.stdout) {
    printed += piece;
    const found = printed.match(/http:\/\/\S+/);
    if (found) {
      child.stdout.resume();
      return {address: found[0], child, stop: async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGINT');
        await once(child, 'exit');
      }};
    }
  }
  throw new Error(`${command} printed no address: ${printed}`);
}

export const servePage = () => startServer(process.execPath, [join(here, '../../serve.mjs'), web, '0']);

export class Browser {
  static async launch({touch = false} = {}) {
    const b = new Browser();
    b.folder = mkdtempSync(join(tmpdir(), 'firn_browser.'));
    b.context = await chromium.launchPersistentContext(b.folder, {
      executablePath: BROWSER, headless: true, args: FLAGS, viewport: {width: 900, height: 640}, acceptDownloads: true, hasTouch: touch,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    b.context.setDefaultTimeout(PATIENCE);
    return b;
  }

  /* A page whose `problems` collects errors, and requests that leave the address it came from. */
  async open(address, {width = 900, height = 640, theme = 'dark'} = {}) {
    const page = await this.context.newPage();
    page.problems = [];
    page.on('console', m => {
      if (m.type() === 'error') page.problems.push(`console: ${m.text()}`);
    });
    page.on('pageerror', e => page.problems.push(`page: ${e.message}`));
    page.on('request', r => {
      if (!/^(blob|data|file):/.test(r.url()) && new URL(r.url()).host !== new URL(address).host) page.problems.push(`asks ${r.url()}`);
    });
    await page.setViewportSize({width, height});
    await page.emulateMedia({colorScheme: theme, reducedMotion: 'reduce'});
    await page.goto(address);
    return page;
  }

  async close() {
    await this.context.close();
    rmSync(this.folder, {recursive: true, force: true});
  }
}

/* One page for all tests of a file. A `claim` is a test that also claims that nothing went wrong on the way. */
export function studio(options) {
  const s = {server: null, browser: null, page: null};
  before(async () => {
    s.server = await servePage();
    s.browser = await Browser.launch(options);
    s.page = await s.browser.open(s.server.address, options);
    await ready(s.page);
  });
  after(async () => {
    await s.browser?.close();
    await s.server?.stop();
  });
  s.claim = (name, body) => test(name, async t => {
    s.page.problems.length = 0;
    await body(s.page, t);
    assert.deepEqual(s.page.problems, []);
  });
  s.press = key => s.page.keyboard.press(key);
  s.button = name => s.page.getByRole('button', {name, exact: true}).first();
  return s;
}

/* A block of jelly over a floor. */
export const SQUARE = `firn: 1
name: square
dimension: 2
resolution: 0.02
frames: {end: 30}
materials:
  soft: {preset: jelly_soft}
objects:
  - {name: block, material: soft, shape: {rectangle: {center: [0, 0.5], size: [0.4, 0.4]}}}
colliders:
  - {name: ground, shape: {plane: {}}, friction: 0.4}
`;

/* ---- what tests ask of a page ---- */

/* Waits until `test`, which runs in the page with window.firn at hand, is true. */
export const until = (page, test, argument) => page.waitForFunction(test, argument, {timeout: PATIENCE, polling: 50});

export async function ready(page) {
  await until(page, () => window.firn?.app.state.get('scene') && window.firn.app.state.get('shown'));
}

/* Opens a scene by its text, and waits for its first picture. */
export async function openScene(page, text, title = 'Test') {
  await page.evaluate(([t, name]) => {
    window.firn.app.state.set({scene: null, shown: null});
    window.firn.app.open(t, name);
  }, [text, title]);
  await ready(page);
}

export const get = (page, key) => page.evaluate(k => window.firn.app.state.get(k), key);

/* Where a point of the scene is in the window. */
export const placeOf = (page, point) => page.evaluate(p => {
  const [x, y] = window.firn.view.project(p), r = document.querySelector('canvas').getBoundingClientRect();
  return {x: x + r.left, y: y + r.top};
}, point);

/* Goes on by whole frames, one at a time. */
export async function step(page, frames = 1) {
  for (let i = 0; i < frames; i++) {
    const next = Math.floor(await get(page, 'frame')) + 1;
    await page.keyboard.press('ArrowRight');
    await until(page, f => window.firn.app.state.get('shown')?.frame === f && window.firn.app.state.get('frame') === f, next);
  }
}

/* The view's pixels, as one number that changes with them. */
export async function pixels(page) {
  return page.evaluate(async () => {
    const {view} = window.firn;
    const blob = await view.screenshot(160, 120);
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let h = 2166136261;
    for (const b of bytes) h = Math.imul(h ^ b, 16777619);
    return h >>> 0;
  });
}
