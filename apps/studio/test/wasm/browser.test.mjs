/* The Worker in Chromium: with threads behind serve.mjs, alone without its headers, and in one file from a
 * disk; what happens when the engine breaks. Needs build/web. */
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {createServer} from 'node:http';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';
import {sceneText} from '../../gallery.mjs';
import {createEngine, root, studio} from './support.mjs';

const web = join(root, 'build/web');
let browser, server, address, plain;

before(async () => {
  browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox',
    '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync']});
  server = spawn(process.execPath, [join(studio, 'serve.mjs'), web], {stdio: ['ignore', 'pipe', 'inherit']});
  address = await new Promise(resolve => server.stdout.once('data', d => resolve(String(d).trim())));
  const types = {js: 'text/javascript', wasm: 'application/wasm'};
  plain = createServer((request, response) => {
    const type = /^\/[a-z_]+\.(js|wasm)$/.exec(request.url)?.[1];
    if (!type) return response.writeHead(404).end();
    response.writeHead(200, {'Content-Type': types[type]}).end(readFileSync(join(web, request.url)));
  });
  await new Promise(resolve => plain.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await browser?.close();
  server?.kill();
  plain?.close();
});

/* In a page: an engine that takes commands and answers with the first event of a kind. */
function inPage() {
  window.start = address => {
    const worker = window.worker = new Worker(address);
    const events = window.events = [];
    const waiting = [];
    worker.onmessage = m => {
      const e = m.data instanceof ArrayBuffer ? {event: 'bytes', size: m.data.byteLength} : JSON.parse(m.data);
      events.push(e);
      if (e.event === 'frame') worker.postMessage({do: 'shown', picture: e.picture});
      for (const w of waiting.splice(0)) w.kinds.includes(e.event) ? w.resolve(e) : waiting.push(w);
    };
    window.next = (...kinds) => new Promise(resolve => waiting.push({kinds, resolve}));
    window.ask = (command, ...kinds) => {
      const answer = window.next(...kinds, 'error');
      worker.postMessage(command);
      return answer;
    };
    return window.next('hello', 'error');
  };
}

async function blank(at) {
  const page = await browser.newPage();
  await page.goto(at);
  await page.evaluate(inPage);
  return page;
}

async function hashOf(page, text) {
  return page.evaluate(async text => {
    const opened = await window.ask({do: 'open', text}, 'scene');
    if (opened.event !== 'scene') return opened.text;
    const first = opened.scene.first;
    for (let i = 1; i <= 2; i++) {
      let shown = await window.ask({do: 'step', unit: 'frame'}, 'frame');
      while (shown.event === 'frame' && shown.frame < first + i) shown = await window.next('frame', 'error');
      if (shown.event !== 'frame') return shown.text;
    }
    return (await window.ask({do: 'hash', token: 1}, 'hash')).hash;
  }, text);
}

async function expected(text) {
  const engine = await createEngine();
  engine.ask({do: 'open', text}, 'scene');
  engine.step();
  engine.step();
  return engine.hash();
}

test('served with its headers the Worker has threads, and their number changes nothing', {timeout: 60000}, async () => {
  const page = await blank(`${address}gallery.json`);
  const hello = await page.evaluate(() => window.start('/worker.js'));
  assert.equal(hello.event, 'hello', hello.text);
  assert.equal(hello.threads, await page.evaluate(() => Math.min(navigator.hardwareConcurrency, 16)));
  const text = sceneText('creature_small');
  assert.equal(await hashOf(page, text), await expected(text));
  await page.close();
});

test('without the headers it has one', {timeout: 60000}, async () => {
  const page = await blank(`http://127.0.0.1:${plain.address().port}/worker.js`);
  const hello = await page.evaluate(() => window.start('/worker.js'));
  assert.equal(hello.threads, 1, hello.text);
  const text = sceneText('chocolate_2d');
  assert.equal(await hashOf(page, text), await expected(text));
  await page.close();
});

test('commands get through while it plays as fast as it can', {timeout: 60000}, async () => {
  const page = await blank(`${address}gallery.json`);
  await page.evaluate(() => window.start('/worker.js'));
  const waited = await page.evaluate(async text => {
    await window.ask({do: 'open', text}, 'scene');
    await window.ask({do: 'play', speed: 0}, 'frame');
    const begin = performance.now();
    const answer = await window.ask({do: 'hash', token: 2}, 'hash');
    const paused = new Promise(resolve => {
      const look = () => window.events.findLast(e => e.event === 'state')?.playing === false ? resolve(null) : setTimeout(look, 5);
      window.worker.postMessage({do: 'pause'});
      look();
    });
    await paused;
    return answer.event === 'hash' ? performance.now() - begin : answer.text;
  }, sceneText('snowball'));
  assert.ok(waited < 3000, `${waited} ms`);
  await page.close();
});

test('an engine that breaks is reported, and the next scene starts another', {timeout: 60000}, async () => {
  const page = await blank(`http://127.0.0.1:${plain.address().port}/worker.js`);
  await page.evaluate(() => {
    /* A Worker whose module fails on demand. */
    const text = `importScripts('${location.origin}/firn.js');
      const make = createFirn;
      self.createFirn = async options => {
        const module = await make({...options, locateFile: name => '${location.origin}/' + name});
        return Object.assign(Object.create(module), {_firn_web_receive(json, size) {
          const text = new TextDecoder().decode(module.HEAPU8.slice(json, json + size));
          if (text.includes('"break"')) throw new WebAssembly.RuntimeError('unreachable');
          module._firn_web_receive(json, size);
        }});
      };
      importScripts('${location.origin}/worker.js');`;
    return window.start(URL.createObjectURL(new Blob([text], {type: 'text/javascript'})));
  });
  const text = sceneText('chocolate_2d');
  const said = await page.evaluate(async text => {
    await window.ask({do: 'open', text}, 'scene');
    return window.ask({do: 'break'}, 'error');
  }, text);
  assert.equal(said.from, 'step');
  assert.match(said.text, /^The engine stopped: unreachable\. Reset the scene to start again\.$/);
  const refused = await page.evaluate(async text => {
    await window.ask({do: 'open', text}, 'scene');
    return window.ask({do: 'edit', text: 'break', why: 'break'}, 'error');
  }, text);
  assert.equal(refused.from, 'scene');
  const again = await page.evaluate(text => window.ask({do: 'edit', text}, 'scene'), text);
  assert.equal(again.event, 'scene');
  assert.equal(await hashOf(page, text), await expected(text));
  await page.close();
});

test('studio.html runs from a disk', {timeout: 60000}, async () => {
  const page = await browser.newPage();
  const wrong = [];
  page.on('pageerror', e => wrong.push(String(e)));
  page.on('request', r => { if (!/^(file|blob|data):/.test(r.url())) wrong.push(r.url()); });
  await page.goto(pathToFileURL(join(web, 'studio.html')).href);
  await page.evaluate(inPage);
  const hello = await page.evaluate(() => {
    const text = document.getElementById('worker-text').textContent;
    return window.start(URL.createObjectURL(new Blob([text], {type: 'text/javascript'})));
  });
  assert.equal(hello.threads, 1, hello.text);
  const text = sceneText('chocolate_2d');
  assert.equal(await hashOf(page, text), await expected(text));
  assert.deepEqual(wrong, []);
  await page.close();
});
