/* Pictures of the view in headless Chromium, without an engine:
 *   node dev/shoot.mjs OUT-FOLDER [--csv FOLDER] [--only NAME] [--size WxH]
 * FOLDER holds `firn run` caches as CSV, named scene.0001.csv, for pictures of real runs. */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {chromium} from 'playwright-core';
import {readCache} from './cache.mjs';
import {cases} from './cases.mjs';

const here = dirname(fileURLToPath(import.meta.url)), args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : null);
const out = args[0], csv = option('--csv'), only = option('--only');
const [width, height] = (option('--size') ?? '1280x800').split('x').map(Number);

const bundle = await build({entryPoints: [join(here, 'view.ts')], bundle: true, write: false, format: 'iife'});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
mkdirSync(out, {recursive: true});
let failed = false;
const html = readFileSync(join(here, 'view.html'), 'utf8').replace(/<script.*<\/script>/, '');
for (const [name, c] of Object.entries(cases)) {
  if (only && !name.includes(only)) continue;
  const data = c.cache ? readCache(csv, ...c.cache) : null;
  if (c.cache && !data) continue;
  const page = await browser.newPage({viewport: {width: c.width ?? width, height: c.height ?? height}});
  page.on('console', (m) => console.log(`  ${name}: ${m.text()}`));
  page.on('pageerror', (e) => { failed = true; console.log(`  ${name}: ${e.message}`); });
  await page.setContent(html);
  await page.addScriptTag({content: bundle.outputFiles[0].text});
  const ms = await page.evaluate(async ([text, cache, profile]) => {
    const view = new window.View(document.querySelector('canvas'), {theme: 'dark'});
    window.view = view;
    await eval(`(${text})`)(view, cache);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const draw = async () => {
      for (let i = 0; i < 400 && view.needsDraw; i++) {
        view.draw();
        await frame();
      }
    };
    await draw();
    /* At the resolution for motion, from the call to the last pixel. */
    const times = [], gl = view.canvas.getContext('webgl2');
    for (let k = 0; k < 8; k++) {
      view.orbit(0.001, 0);
      while (view.busy) await frame();
      const start = performance.now();
      view.draw();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      times.push(performance.now() - start);
    }
    await new Promise((done) => setTimeout(done, 250));
    await draw();
    await frame();
    await frame();
    if (profile) {
      const tiny = gl.createFramebuffer(), t = gl.createTexture(), sums = {};
      gl.bindTexture(gl.TEXTURE_2D, t);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
      gl.bindFramebuffer(gl.FRAMEBUFFER, tiny);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, t, 0);
      let n = 0, last = 0;
      const wait = () => {
        const bound = gl.getParameter(gl.FRAMEBUFFER_BINDING);
        gl.bindFramebuffer(gl.FRAMEBUFFER, tiny);
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        gl.bindFramebuffer(gl.FRAMEBUFFER, bound);
      };
      const own = ['drawArrays', 'drawElements', 'drawArraysInstanced', 'blitFramebuffer', 'clear'];
      for (const f of own) {
        const call = gl[f].bind(gl);
        gl[f] = (...a) => {
          call(...a);
          wait();
          const now = performance.now(), key = `${n++} ${f}`;
          sums[key] = Math.min(sums[key] ?? 1e9, now - last);
          last = now;
        };
      }
      for (let k = 0; k < 6; k++) {
        while (view.busy) await frame();
        if (profile === 'picture') view.setPicture(view.shown);
        view.orbit(0.001, 0);
        n = 0;
        last = performance.now();
        view.draw();
      }
      for (const f of own) delete gl[f];
      console.log(Object.entries(sums).map(([k, v]) => `${k} ${v.toFixed(1)}`).join(', '));
      await new Promise((done) => setTimeout(done, 250));
      await draw();
    }
    return `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms at scale ${view.movingScale}`;
  }, [c.set, data, option('--profile')]);
  writeFileSync(join(out, `${name}.png`), await page.screenshot());
  console.log(`${name}: ${ms}`);
  await page.close();
}
await browser.close();
process.exit(failed ? 1 : 0);
