/* What the view promises beyond its looks, in headless Chromium: node dev/check.mjs */
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {chromium} from 'playwright-core';
import {cases} from './cases.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const bundle = await build({entryPoints: [join(here, 'view.ts')], bundle: true, write: false, format: 'iife'});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let wrong = 0;
async function run(name, set, body, size = {width: 480, height: 360}) {
  const page = await browser.newPage({viewport: size});
  page.on('pageerror', (e) => { wrong++; console.log(`${name}: ${e.message}`); });
  page.on('console', (m) => { if (m.type() !== 'log') { wrong++; console.log(`${name}: ${m.text()}`); } });
  await page.setContent(readFileSync(join(here, 'view.html'), 'utf8').replace(/<script.*<\/script>/, ''));
  await page.addScriptTag({content: bundle.outputFiles[0].text});
  const results = await page.evaluate(async ([make, text]) => {
    const view = new window.View(document.querySelector('canvas'), {theme: 'dark'});
    const claims = [], claim = (what, ok, got) => claims.push([what, !!ok, String(got)]);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const draw = async () => {
      for (let i = 0; i < 600 && view.needsDraw; i++) {
        view.draw();
        await frame();
      }
    };
    const pixels = async () => {
      const blob = await view.screenshot(160, 120), bitmap = await createImageBitmap(blob);
      const c = new OffscreenCanvas(160, 120).getContext('2d');
      c.drawImage(bitmap, 0, 0);
      return c.getImageData(0, 0, 160, 120).data;
    };
    const far = (a, b) => {
      let n = 0;
      for (let i = 0; i < a.length; i++) n += Math.abs(a[i] - b[i]) > 8;
      return n;
    };
    await eval(`(${make})`)(view, null);
    await draw();
    await eval(`(async () => { ${text} })()`);
    return claims;
  }, [set, body]);
  for (const [what, ok, got] of results) {
    if (!ok) wrong++;
    console.log(`${ok ? 'ok   ' : 'WRONG'} ${name}: ${what}${ok ? '' : ` (${got})`}`);
  }
  await page.close();
}

await run('3D', cases['ball-dark'].set, `
  const [x, y] = view.project([0, 0.6, 0]);
  const i = view.pick(x, y), at = view.pointAt(x, y), r = Math.hypot(at[0], at[1] - 0.6, at[2]);
  claim('a particle is picked in the ball', i >= 0, i);
  claim('the point under the cursor is on its surface', Math.abs(r - 0.25) < 0.03, r);
  claim('the object is named', view.pickShape(x, y) === 'objects.0', view.pickShape(x, y));
  claim('nothing is picked beside it', view.pick(2, 2) === -1, view.pick(2, 2));
  const g = view.pointAt(240, 350);
  claim('the ground is found', Math.abs(g[1]) < 1e-6, g);
  const {origin, direction} = view.ray(100, 200), far_ = origin.map((o, a) => o + 2 * direction[a]), back = view.project(far_);
  claim('ray and project agree', Math.hypot(back[0] - 100, back[1] - 200) < 1e-3, back);
  const before = await pixels();
  view.orbit(60, 20);
  claim('moving the camera changes pixels', far(before, await pixels()) > 1000, '');
  view.orbit(-60, -20);
  claim('and moving it back restores them', far(before, await pixels()) < 400, far(before, await pixels()));
  const kept = view.camera;
  view.camera = {target: [1, 2, 3], azimuth: 10, elevation: 5, distance: 4};
  view.camera = {target: [1, 2, NaN], azimuth: 10, elevation: 5, distance: 4};
  claim('a broken camera is refused', view.camera.target[2] === 3, view.camera.target);
  view.camera = kept;
  for (const look of ['points', 'mesh', 'surface']) {
    view.look = look;
    const now = await pixels();
    if (look === 'points') claim('points look otherwise', far(now, before) > 300, far(now, before));
    else claim('jelly is a ' + look, far(now, before) < 400, far(now, before));
  }
  const lose = view.canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
  lose.loseContext();
  await new Promise((done) => setTimeout(done, 100));
  claim('without a context nothing is asked for', !view.needsDraw, view.needsDraw);
  lose.restoreContext();
  await new Promise((done) => setTimeout(done, 300));
  claim('after it, a drawing is', view.needsDraw, view.needsDraw);
  const after = await pixels();
  claim('a lost context comes back with the same picture', far(before, after) < 400, far(before, after));
  view.setTheme('light');
  claim('the light theme is another picture', far(before, await pixels()) > 10000, '');
  await draw();
  await new Promise((done) => setTimeout(done, 400));
  await draw();
  claim('at rest nothing is drawn', !view.needsDraw, view.needsDraw);
`);
await run('2D', cases['flat-surface'].set, `
  const [x, y] = view.project([0.3, 0.22, 0]);
  const h = view.pickHandle(x, y), turn = view.pickHandle(x - 41, y - 41), away = view.pickHandle(5, 5);
  claim('the middle moves the shape', h && h.do === 'move' && h.axis === -1, JSON.stringify(h));
  claim('the ring turns it', turn && turn.do === 'turn' && turn.axis === 2, JSON.stringify(turn));
  claim('elsewhere is no handle', away === null, JSON.stringify(away));
  const p = view.pointAt(x, y);
  claim('points are in the plane', Math.hypot(p[0] - 0.3, p[1] - 0.22, p[2]) < 1e-6, p);
  const q = view.project([0, 0.1, 0]);
  claim('a collider is named', view.pickShape(q[0], q[1]) === 'colliders.1', view.pickShape(q[0], q[1]));
  claim('there is a scale bar', view.scaleBar.pixels > 20 && view.scaleBar.pixels <= 101 && / (mm|cm|m)$/.test(view.scaleBar.text), JSON.stringify(view.scaleBar));
  view.carried = {name: 'speed', unit: 'm/s'};
  view.colorBy = 'speed';
  const l = view.legend;
  claim('the legend spans the values', l.lo === 0 && l.hi > 0.5 && l.hi < 2 && l.stops.length === 17, JSON.stringify(l));
  view.range = [0, 5];
  claim('a given range is kept', view.legend.hi === 5, view.legend.hi);
  const shown = await pixels();
  view.setShapes([{name: 'disc', kind: 'object', shape: 'disc', params: {}, position: [0, 0, 0], rotation: [0, 0, 0], visible: false, selected: false}]);
  claim('a hidden object is not drawn', far(shown, await pixels()) > 300, '');
  claim('nor picked', view.pick(x, y) === -1, view.pick(x, y));
`);
await run('z up', cases['ball-dark'].set.replace("shapes: [ground], cloud});", `shapes: [{...ground, params: {normal: [0, 0, 1]}}],
  cloud: {...cloud, places: cloud.places.map((_, i) => i % 3 === 0 ? cloud.places[i] : i % 3 === 1 ? -cloud.places[i + 1] : cloud.places[i - 1])}});`)
  .replace("['ball'])", "['ball']), up: 'z'").replace('scene: W.sceneOf', 'scene: {...W.sceneOf').replace("up: 'z'", "up: 'z'}"), `
  const [x, y] = view.project([0, 0, 0.6]), at = view.pointAt(x, y);
  claim('the ball is where z says', view.pick(x, y) >= 0 && Math.abs(Math.hypot(at[0], at[1], at[2] - 0.6) - 0.25) < 0.03, at);
  const g = view.pointAt(240, 350);
  claim('the ground is level in z', Math.abs(g[2]) < 1e-6, g);
  claim('up is up', view.project([0, 0, 1])[1] < view.project([0, 0, 0])[1], '');
`);
await browser.close();
console.log(wrong ? `${wrong} wrong` : 'all right');
process.exit(wrong ? 1 : 0);
