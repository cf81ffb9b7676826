/* Every state of the page, in headless Chromium, beside the same state of a mock:
 *   node dev/states.mjs OUT-FOLDER [--mock FOLDER] [--only NAME] [--theme dark|light] [--size 1280|1920|390]
 * OUT has NAME-THEME-SIZE.png each: mock, page. Serves build/web; `make web` first. `native` needs build/firn. */
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {resolve, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser, openScene, ready, root, servePage, startServer, until} from '../test/browser/studio.mjs';

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : null);
const out = resolve(args[0]), mock = option('--mock'), only = option('--only');
const SIZES = {1280: [1280, 800], 1920: [1920, 1080], 390: [390, 844]};

/* ---- what is done to the page; `app` is window.firn.app ---- */

const set = (page, state) => page.evaluate((s) => window.firn.app.state.set(s), state);
const press = (page, key) => page.keyboard.press(key);
const named = (page, name) => page.evaluate((n) => {
  const {app} = window.firn;
  app.select(app.doc.model.items.find((i) => i.name === n)?.key ?? '');
}, name);

async function fromGallery(page, id, resolution) {
  const g = await page.evaluate(async (name) => {
    const all = await (await fetch('gallery.json')).json();
    return (all.scenes ?? all).find((s) => s.id === name);
  }, id);
  const text = resolution ? g.scene.replace(/^resolution: .*$/m, `resolution: ${resolution}`) : g.scene;
  await openScene(page, text, g.title);
}

/* Runs to a frame. */
async function run(page, frame) {
  await set(page, {speed: '0'});
  await page.evaluate(() => window.firn.app.time.toggle());
  await page.waitForFunction((f) => window.firn.app.state.get('frame') >= f, frame, {timeout: 300_000, polling: 50});
  await page.evaluate(() => window.firn.app.state.get('playing') && window.firn.app.time.toggle());
  await until(page, () => !window.firn.app.state.get('playing'));
}

async function edit(page, from, to, label) {
  await page.evaluate(([a, b, l]) => {
    const {app} = window.firn;
    if (!app.doc.text.includes(a)) throw new Error(`the scene has no ${a}`);
    app.change(app.doc.text.replace(a, b), l);
  }, [from, to, label]);
  await page.waitForTimeout(600);
}

const center = (page, dx = 0, dy = 0) => page.evaluate(([x, y]) => {
  const s = document.querySelector('.stage').getBoundingClientRect();
  return [s.left + s.width / 2 + x, s.top + s.height / 2 + y];
}, [dx, dy]);

async function wall(page, frame = 20) {
  await fromGallery(page, 'snow_wall');
  await run(page, frame);
  await named(page, 'ball');
}

async function flat(page) {
  await fromGallery(page, 'flat_regular_fine');
  await run(page, 12);
  await named(page, 'disc');
}

async function probeAt(page, object) {
  await page.evaluate((name) => {
    const {app} = window.firn;
    let last = 0;
    for (let i = 0; app.pane.itemOf(i) !== null; i++) if (app.pane.itemOf(i) === app.doc.model.items.find(o => o.name === name)?.key) last = i;
    app.setTool('probe');
    app.setProbe(last);
  }, object);
  await page.waitForTimeout(800);
}

const overlays = {velocity: true, force: false, flow: false, grid: 'mass', blocks: true, colliders: true};

export const states = {
  default: {sizes: [1280, 1920, 390], async make(page) {
    await wall(page);
    await edit(page, 'radius: 0.13', 'radius: 0.12', 'Radius');
    await press(page, 'b');
    const [x, y] = await center(page, -40, -20);
    await page.mouse.move(x, y);
  }},
  '2d': {make: async (page) => { await flat(page); await set(page, {color: 'speed', graphs: true}); await probeAt(page, 'disc'); }},
  overlays: {make: async (page) => {
    await flat(page);
    await set(page, {color: 'speed', look: 'points', overlays});
    await page.waitForTimeout(800);
    await press(page, 'l');
  }},
  melting: {make: async (page) => {
    await fromGallery(page, 'chocolate');
    await run(page, 40);
    await named(page, 'chocolate');
    await set(page, {tab: 'properties'});
    await press(page, 'h');
    const [x, y] = await center(page, 60, -30);
    await page.mouse.move(x, y);
  }},
  compare: {make: async (page) => {
    await wall(page, 4);
    await edit(page, 'hardening_cap: 5', 'hardening_cap: 20', 'Hardening limit');
    await set(page, {graphs: true, tab: 'properties'});
    await page.evaluate(() => window.firn.app.toggleCompare());
    await until(page, () => window.firn.app.compare.on);
    await page.waitForTimeout(1500);
    for (let i = 0; i < 8; i++) { await page.evaluate(() => window.firn.app.time.step('frame')); await page.waitForTimeout(500); }
  }},
  gallery: {make: async (page) => { await wall(page, 3); await press(page, 'o'); await page.waitForTimeout(1500); }},
  error: {make: async (page) => {
    await wall(page);
    await set(page, {left: 'text', tab: 'objects'});
    await edit(page, 'friction: 0.6', 'friction: -0.6', 'Friction');
    await until(page, () => window.firn.app.state.get('error'));
  }},
  empty: {make: async (page) => { await page.evaluate(() => window.firn.app.newScene(3)); await page.waitForTimeout(500); }},
  share: {make: (page) => wall(page, 12), last: async (page) => { await page.evaluate(() => void window.firn.app.share()); await page.waitForTimeout(400); }},
  help: {make: async (page) => { await wall(page, 12); await press(page, '?'); await page.waitForTimeout(300); }},
  folded: {mock: 'state=default&fold', sizes: [1280], make: async (page) => { await wall(page, 12); await set(page, {foldLeft: true, foldRight: true}); }},
  graphs: {mock: 'state=default&graphs=1', sizes: [1280], make: async (page) => { await wall(page); await set(page, {graphs: true}); }},
  tip: {mock: 'state=melting&tip=young', sizes: [1280], make: async (page) => {
    await fromGallery(page, 'chocolate');
    await named(page, 'chocolate');
    await page.locator('.row > label', {hasText: "Young's modulus"}).first().hover();
    await page.waitForTimeout(900);
  }},
  mesh: {mock: 'state=default', sizes: [1280], make: async (page) => { await wall(page); await set(page, {look: 'mesh'}); }},
  water: {mock: 'state=default', sizes: [1280], make: async (page) => { await fromGallery(page, 'dam_break'); await run(page, 22); }},
  jelly: {mock: 'state=default', sizes: [1280], make: async (page) => { await fromGallery(page, 'tumble'); await run(page, 20); }},
  readme: {sizes: [1280], make: async (page) => {
    await fromGallery(page, 'chocolate', 0.005);
    await run(page, 44);
    await named(page, 'chocolate');
    await set(page, {graphs: true});
    await page.waitForTimeout(500);
    await press(page, 'f');
    await press(page, 'h');
    const [x, y] = await center(page, 100, -40);
    await page.mouse.move(x, y);
  }},
  transport: {mock: 'state=phone&tab=transport', sizes: [390], make: async (page) => { await wall(page); await set(page, {tab: 'transport'}); }},
  objects: {mock: 'state=phone&tab=objects', sizes: [390], make: async (page) => { await wall(page); await set(page, {tab: 'objects'}); }},
  properties: {mock: 'state=phone&tab=properties', sizes: [390], make: async (page) => { await wall(page); await set(page, {tab: 'properties'}); }},
  native: {mock: 'state=default&engine=native', sizes: [1280], native: true, make: async (page) => { await run(page, 8); await named(page, 'ball'); }},
};

/* ---- one command ---- */

/* Until the last drawing is fine and done. */
async function settle(page) {
  await page.waitForTimeout(400);
  await until(page, () => !window.firn.view.needsDraw && !window.firn.view.busy);
  await page.waitForTimeout(150);
}

async function beside(browser, a, b, [width, height]) {
  const page = await browser.context.newPage();
  await page.setViewportSize({width: 2 * width + 16, height});
  const src = (png) => `data:image/png;base64,${png.toString('base64')}`;
  await page.setContent(`<body style="margin:0;display:flex;gap:16px;background:#888"><img src="${src(a)}"><img src="${src(b)}">`);
  const png = await page.screenshot();
  await page.close();
  return png;
}

mkdirSync(out, {recursive: true});
const server = await servePage(), browser = await Browser.launch();
let wrong = 0;
for (const [name, s] of Object.entries(states)) {
  if (only && !only.split(',').includes(name)) continue;
  for (const theme of option('--theme') ? [option('--theme')] : ['dark', 'light']) {
    for (const size of s.sizes ?? [1280, 390]) {
      if (option('--size') && size !== +option('--size')) continue;
      const [width, height] = SIZES[size], file = join(out, `${name}-${theme}-${size}.png`);
      const firn = join(root, 'build/firn');
      if (s.native && !existsSync(firn)) continue;
      const own = s.native ? await startServer(firn, ['view', join(root, 'scenes/snow_wall.yaml'), '--set', 'resolution=0.025']) : server;
      const page = await browser.open(own.address, {width, height, theme});
      try {
        await ready(page);
        await s.make(page);
        await settle(page);
        await s.last?.(page);
      } catch (e) {
        page.problems.push(e.message);
      }
      let png = await page.screenshot();
      for (const p of page.problems) console.log(`  ${name}-${theme}-${size}: ${p}`);
      wrong += page.problems.length;
      await page.close();
      if (own !== server) await own.stop();
      if (mock) {
        const m = await browser.context.newPage();
        await m.setViewportSize({width, height});
        await m.goto(`${pathToFileURL(join(resolve(mock), 'index.html'))}?${s.mock ?? `state=${name}`}&theme=${theme}&bare`);
        await m.waitForTimeout(400);
        png = await beside(browser, await m.screenshot(), png, [width, height]);
        await m.close();
      }
      writeFileSync(file, png);
      console.log(file);
    }
  }
}
await browser.close();
await server.stop();
process.exit(wrong ? 1 : 0);
