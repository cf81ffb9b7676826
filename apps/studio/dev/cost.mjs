/* Processor time that a frame costs in software rendering, whatever else the machine does:
 *   node dev/cost.mjs [--csv FOLDER] [--only NAME] [--size WxH]
 * For each case: seconds of all threads of the process that renders, per frame; at full resolution and at the coarsest,
 * when the camera moves and when a new picture comes. */
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {chromium} from 'playwright-core';
import {readCache} from './cache.mjs';
import {cases} from './cases.mjs';

const here = dirname(fileURLToPath(import.meta.url)), args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : null);
const bundle = await build({entryPoints: [join(here, 'view.ts')], bundle: true, write: false, format: 'iife'});
const [width, height] = (option('--size') ?? '1280x800').split('x').map(Number);
const mark = `--view-cost=${process.pid}`;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [mark, '--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/* The rendering process of this browser: a child of the one that has our mark. */
function renderer() {
  const of = (pid, file) => { try { return readFileSync(`/proc/${pid}/${file}`, 'utf8'); } catch { return ''; } };
  const pids = readdirSync('/proc').filter((p) => /^\d+$/.test(p));
  const parents = new Set(pids.filter((p) => of(p, 'cmdline').split('\0').includes(mark)));
  const isOurs = (p) => { for (let at = p; at > 1; at = of(at, 'stat').split(') ')[1]?.split(' ')[1]) if (parents.has(at)) return true; return false; };
  return pids.find((p) => of(p, 'cmdline').includes('--type=gpu-process') && isOurs(p));
}
const seconds = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (+fields[11] + +fields[12]) / 100;
};

const FRAMES = 4;
for (const [name, c] of Object.entries(cases)) {
  if (option('--only') && !name.includes(option('--only'))) continue;
  const data = c.cache ? readCache(option('--csv'), ...c.cache) : null;
  if (c.cache && !data) continue;
  const page = await browser.newPage({viewport: {width: c.width ?? width, height: c.height ?? height}});
  await page.setContent(readFileSync(join(here, 'view.html'), 'utf8').replace(/<script.*<\/script>/, ''));
  await page.addScriptTag({content: bundle.outputFiles[0].text});
  await page.evaluate(async ([text, cache]) => {
    window.view = new window.View(document.querySelector('canvas'), {theme: 'dark'});
    await eval(`(${text})`)(window.view, cache);
  }, [c.set, data]);
  const frames = (n, scale, pictures) => page.evaluate(async ([count, part, fresh]) => {
    const gl = view.canvas.getContext('webgl2');
    for (let k = 0; k < count; k++) {
      if (fresh && view.shown) view.setPicture(view.shown);
      view.orbit(0.001, 0);
      view.drawNow(part);
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    }
  }, [n, scale, pictures]);
  const row = [];
  for (const [scale, pictures] of [[1, false], [1, true], [0.35, false], [0.35, true]]) {
    await frames(2, scale, pictures);
    const pid = renderer(), before = seconds(pid);
    await frames(FRAMES, scale, pictures);
    row.push(((1000 * (seconds(pid) - before)) / FRAMES).toFixed(0));
  }
  console.log(`${name}: full ${row[0]} ms, with a new picture ${row[1]}; coarsest ${row[2]}, ${row[3]}`);
  await page.close();
}
await browser.close();
