/* Graphs, videos and the Worker that reads files, in Chromium. SHOTS=folder keeps screenshots. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {chromium} from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url)), studio = join(here, '../..');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const folder = mkdtempSync(join(tmpdir(), 'firn-browser-'));
const PAGE = `<!doctype html><html data-theme="dark"><meta charset="utf-8"><title>files</title><link rel="stylesheet" href="style.css">
<link rel="icon" href="data:,"><body style="margin:0;background:var(--surface,#1a1e25);color:var(--text,#eee);font:13px sans-serif">
<div id="graphs" style="width:100vw"></div><canvas id="c" width="321" height="180"></canvas><script src="entry.js"></script>`;
const TOKENS = `:root{--surface:#1a1e25;--line:#2c333d;--text:#eef2f6;--text-2:#bac3cf;--text-3:#97a2b1;--accent:#7cc8f4;--x:#ff8f86;--y:#8ed66f;
--z:#82b6ff;--c1:#7cc8f4;--c2:#ff9a85;--c3:#c9a2ff;--c4:#7fd8a4;--t-xs:11px;--t-s:12px;--s1:4px;--s2:8px;--s3:12px;--s4:16px}
[data-theme=light]{--surface:#fdfdfe;--line:#e1e6eb;--text:#14191f;--text-2:#3f4a57;--text-3:#5a6675;--accent:#09649c;--x:#b83227;--y:#35761a;
--z:#1f5fc0;--c1:#09649c;--c2:#a83a2e;--c3:#7340b8;--c4:#10704a}
.g{padding:8px 16px}.g+.g{border-left:1px solid var(--line)}.g h3{font-size:12px;line-height:16px;display:flex;gap:12px;margin:0 0 4px;white-space:nowrap;overflow:hidden}
.g h3 span{font-weight:400;color:var(--text-2);display:inline-flex;align-items:center;gap:4px}.g h3 i{width:10px;height:2px}`;
let server, browser, page;
const problems = [];

before(async () => {
  const bundle = async entry => (await build({entryPoints: [join(studio, entry)], bundle: true, write: false, format: 'iife'})).outputFiles[0].text;
  const files = {'/': ['text/html', PAGE], '/style.css': ['text/css', TOKENS],
    '/entry.js': ['text/javascript', await bundle('test/browser/files_entry.ts')], '/files.js': ['text/javascript', await bundle('src/files/worker.ts')]};
  server = createServer((q, a) => {
    const [type, text] = files[q.url] ?? [];
    a.writeHead(type ? 200 : 404, {'content-type': type ?? 'text/plain'}).end(text);
  }).listen(0, '127.0.0.1');
  await new Promise(done => server.once('listening', done));
  if (!executablePath) return;
  browser = await chromium.launch({executablePath, args: ['--headless', '--no-sandbox', '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
  page = await browser.newPage({viewport: {width: 1264, height: 400}});
  page.on('console', m => m.type() === 'error' && problems.push(m.text()));
  page.on('pageerror', e => problems.push(String(e)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});
after(async () => {
  await browser?.close();
  server.close();
  rmSync(folder, {recursive: true});
});
const skip = !executablePath;

test('a video has each frame that was shown, at its own pace', {skip}, async () => {
  const video = await page.evaluate(async () => {
    const canvas = document.getElementById('c'), gl = canvas.getContext('webgl2');
    const r = await window.firnFiles.startRecording(canvas, {fps: 24});
    for (let i = 0; i < 60; i++) {
      await new Promise(done => setTimeout(done, i % 3 ? 1 : 20)); /* an uneven clock */
      if (i === 30) canvas.width = 400;
      gl.clearColor(i / 60, 0.5, 1 - i / 60, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      r.frame();
    }
    const v = await r.stop();
    return {...v, blob: null, bytes: [...new Uint8Array(await v.blob.arrayBuffer())]};
  });
  assert.deepEqual([video.frames, video.seconds, video.exact], [60, 2.5, true]);
  const path = join(folder, 'v.webm');
  writeFileSync(path, Uint8Array.from(video.bytes));
  if (!existsSync('/usr/bin/ffprobe')) return;
  const said = JSON.parse(execFileSync('ffprobe', ['-v', 'error', '-count_frames', '-show_streams', '-show_format', '-of', 'json', path]));
  assert.deepEqual([said.streams[0].codec_name, said.streams[0].width, said.streams[0].height, said.streams[0].nb_read_frames], ['vp8', 320, 180, '60']);
  assert.ok(Math.abs(Number(said.format.duration) - 2.5) < 0.01, said.format.duration);
  const rgb = execFileSync('ffmpeg', ['-v', 'error', '-ss', '2.0', '-i', path, '-frames:v', '1', '-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']);
  assert.ok(Math.abs(rgb[0] - 255 * 48 / 60) < 40 && Math.abs(rgb[2] - 255 * 12 / 60) < 40, [...rgb].join());
});

test('the page can play the video', {skip}, async () => {
  const bytes = [...readFileSync(join(folder, 'v.webm'))];
  const duration = await page.evaluate(async data => {
    const v = document.createElement('video');
    v.src = URL.createObjectURL(new Blob([Uint8Array.from(data)], {type: 'video/webm'}));
    await new Promise((done, fail) => { v.onloadeddata = done; v.onerror = () => fail(new Error(v.error.message)); });
    v.currentTime = 1.5;
    await new Promise(done => { v.onseeked = done; });
    return v.duration;
  }, bytes);
  assert.ok(Math.abs(duration - 2.5) < 0.05);
});

test('without an encoder the clock is recorded', {skip}, async () => {
  const video = await page.evaluate(async () => {
    const encoder = window.VideoEncoder, canvas = document.createElement('canvas'), g = canvas.getContext('2d');
    delete window.VideoEncoder;
    try {
      const r = await window.firnFiles.startRecording(canvas, {fps: 24});
      for (let i = 0; i < 20; i++) {
        g.fillStyle = `rgb(${10 * i},0,0)`;
        g.fillRect(0, 0, 300, 150);
        r.frame();
        await new Promise(done => setTimeout(done, 40));
      }
      const v = await r.stop();
      return {frames: v.frames, exact: v.exact, type: v.blob.type, size: v.blob.size};
    } finally {
      window.VideoEncoder = encoder;
    }
  });
  assert.ok(video.frames === 20 && !video.exact && video.type.startsWith('video/webm') && video.size > 500, JSON.stringify(video));
});

test('pictures of a sequence are in a zip', {skip}, async () => {
  const bytes = await page.evaluate(async () => {
    let wait = 40; /* the first takes longest */
    const s = new window.firnFiles.FileSequence('ball', 'png', () => new Promise(done => setTimeout(() => done(new Uint8Array(9)), wait -= 20)));
    for (const n of [1, 2]) s.add(n);
    return [...new Uint8Array(await (await s.finish()).arrayBuffer())];
  });
  const text = Buffer.from(bytes).toString('latin1');
  assert.ok(text.startsWith('PK') && text.indexOf('ball.0001.png') > 0 && text.indexOf('ball.0001.png') < text.indexOf('ball.0002.png'));
});

test('a Worker reads files and does not block the page', {skip}, async () => {
  const result = await page.evaluate(async () => {
    const n = 200000, P = Float32Array.from({length: 3 * n}, (_, i) => Math.sin(i));
    const bytes = await window.firnFiles.writePrt({count: n, columns: [{name: 'P', type: 'f32', components: 3, data: P}]});
    const reader = new window.firnFiles.Reader();
    let longest = 0, last = performance.now();
    const timer = setInterval(() => { longest = Math.max(longest, performance.now() - last); last = performance.now(); }, 5);
    await new Promise(done => setTimeout(done, 50));
    longest = 0;
    const points = await reader.read('a.prt', new Blob([bytes]));
    const bad = await reader.read('b.prt', new Blob(['?'])).catch(e => e.message);
    clearInterval(timer);
    return {count: points.count, same: points.columns[0].data.every((x, i) => x === P[i]), worker: reader.worker !== null, bad, longest};
  });
  assert.equal(result.count, 200000);
  assert.ok(result.same && result.worker, JSON.stringify(result));
  assert.match(result.bad, /particle file/);
  assert.ok(result.longest < 200, `${result.longest} ms`); /* this machine is shared */
});

test('files are sorted by what they are for', {skip}, async () => {
  const sorted = await page.evaluate(async () => {
    const f = (name, text = '') => new File([text], name);
    const o = await window.firnFiles.sortFiles([f('a.YAML'), f('m.obj'), f('x.2.prt'), f('x.1.prt'), f('n.txt'),
      f('mesh.ply', 'ply\nelement vertex 3\nelement face 1\nend_header\n'), f('points.ply', 'ply\nelement vertex 3\nend_header\n')]);
    return [o.scenes, o.meshes, o.others].map(l => l.map(x => x.name)).concat([o.sequences.map(s => s.name)]);
  });
  assert.deepEqual(sorted, [['a.YAML'], ['m.obj', 'mesh.ply'], ['n.txt'], ['x', 'points']]);
});

function feed(count, side) {
  return page.evaluate(([n, s]) => {
    const g = window.graphs;
    for (let i = 0; i < n; i++) {
      const t = i / 60, k = s === 'B' ? 0.7 : 1, fall = Math.min(1, t / 0.4) ** 2;
      g.add({event: 'frame', picture: i, frame: i, part: 0, time: t, particles: 2000, steps: i ? 12 : 0, dt: (t < 0.4 ? 3.5e-3 : 1.2e-3 + 4e-4 * Math.sin(9 * t)) * k,
        limit: t < 0.4 ? 'frame' : t < 0.7 ? 'impact' : 'wave', integrator: 'explicit', blocks: 3, seconds: 0.002 + 0.0005 * Math.sin(i), simulated: 1 / 60, poses: [],
        totals: {mass: 70, momentum: [0.1 * t, -30 * fall + 25 * Math.max(0, t - 0.4), 0.02], kinetic: 60 * fall * Math.exp(-2 * Math.max(0, t - 0.4)) * k,
          elastic: 20 * Math.exp(-30 * (t - 0.45) ** 2), gravitational: 80 - 60 * fall, heat: 5e4 + 2e4 * t, liquid: 1, max_speed: 3}}, s);
    }
  }, [count, side]);
}

test('graphs draw curves, values and shares, follow the theme, and cost little', {skip}, async () => {
  await page.evaluate(() => {
    window.sought = [];
    window.graphs = new window.firnFiles.Graphs(document.getElementById('graphs'), {onSeek: t => window.sought.push(t)});
    window.graphs.reset(1.5, 3, false);
  });
  await feed(60, 'A');
  await page.waitForTimeout(400);
  const text = await page.textContent('#graphs');
  for (const part of ['Energy', 'kinetic', 'total', 'Momentum', 'Time step', 'limited by wave', '%', 'Particle-steps/s', '1.5 s']) assert.ok(text.includes(part), `${part}: ${text}`);
  const shot = name => process.env.SHOTS ? page.screenshot({path: join(process.env.SHOTS, name)}) : null;
  await shot('graphs-dark.png');
  const ink = () => page.evaluate(() => [...document.querySelectorAll('#graphs canvas')].map(c => {
    const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, colors = new Set();
    for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) colors.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
    return [...colors];
  }));
  const dark = await ink();
  assert.equal(dark.length, 4);
  assert.ok(dark[0].includes(0x7cc8f4) && dark[0].includes(0xff9a85) && dark[2].includes(0xc9a2ff), 'tokens');
  await page.evaluate(() => {
    document.documentElement.dataset.theme = 'light';
    window.graphs.setTheme();
    window.graphs.setCompare(true);
  });
  await feed(60, 'B');
  await page.waitForTimeout(400);
  assert.ok((await page.textContent('#graphs')).includes('B dashed'));
  assert.ok((await ink())[0].includes(0x09649c));
  await shot('graphs-light-compare.png');
  const box = await page.locator('#graphs .g-plot').first().boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 30);
  assert.ok(Math.abs((await page.evaluate(() => window.sought))[0] - 0.75) < 0.01);
  const milliseconds = await page.evaluate(() => {
    window.graphs.setCompare(false);
    const start = performance.now();
    for (const g of window.graphs.graphs) g.draw();
    return performance.now() - start;
  });
  assert.ok(milliseconds < 100, `${milliseconds} ms`);
  await page.evaluate(() => window.graphs.reset(1.5, 2, true));
  await feed(40, 'A');
  await page.waitForTimeout(300);
  assert.ok(/heat/.test(await page.textContent('#graphs')));
  await shot('graphs-heat-2d.png');
  await page.setViewportSize({width: 390, height: 700});
  await page.waitForTimeout(300);
  await shot('graphs-390.png');
});

test('nothing complained', {skip}, () => assert.deepEqual(problems, []));
