/* What the page saves: videos, pictures and particles arrive as files, and hold what was shown. */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {get, openScene, SQUARE, step, studio, until} from './studio.mjs';

const s = studio(), {claim, button} = s;

/* The file that an action downloads. */
async function saved(action) {
  const [download] = await Promise.all([s.page.waitForEvent('download'), action()]);
  return {name: download.suggestedFilename(), bytes: readFileSync(await download.path())};
}

async function choose(text) {
  await s.page.locator('[data-do=scene-menu]').click();
  await s.page.getByRole('menuitem', {name: text}).click();
}

/* Files of a zip whose parts are stored as they are, from its directory. */
function unzip(bytes) {
  const end = bytes.length - 22, files = new Map();
  assert.equal(bytes.readUInt32LE(end), 0x06054b50);
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < bytes.readUInt16LE(end + 10); i++) {
    const size = bytes.readUInt32LE(at + 20), length = bytes.readUInt16LE(at + 28), head = bytes.readUInt32LE(at + 42);
    const from = head + 30 + bytes.readUInt16LE(head + 26);
    files.set(bytes.toString('utf8', at + 46, at + 46 + length), bytes.subarray(from, from + size));
    at += 46 + length;
  }
  return files;
}

const isPng = bytes => bytes.readUInt32BE(0) === 0x89504e47;
const sizeOfPng = bytes => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];

claim('a video has the frames that were shown while it was recorded', async page => {
  await openScene(page, SQUARE);
  await page.evaluate(() => window.firn.app.time.setSpeed('0')); /* whole frames */
  await page.locator('[data-do=record]').click(); /* plays, too */
  await until(page, () => window.firn.app.state.get('done') && window.firn.app.state.get('shown').frame === 30);
  const {name, bytes} = await saved(() => page.locator('[data-do=record]').click());
  assert.equal(name, 'test.webm');
  assert.equal(bytes.readUInt32BE(0), 0x1a45dfa3);
  const video = await page.evaluate(async data => {
    const v = document.createElement('video');
    v.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(data), c => c.charCodeAt(0))], {type: 'video/webm'}));
    await new Promise((done, fail) => { v.onloadeddata = done; v.onerror = () => fail(new Error(v.error.message)); });
    const look = async t => {
      v.currentTime = t;
      await new Promise(done => { v.onseeked = done; });
      const c = new OffscreenCanvas(64, 64), g = c.getContext('2d');
      g.drawImage(v, 0, 0, 64, 64);
      return g.getImageData(0, 0, 64, 64).data.reduce((n, x) => n + x, 0);
    };
    return {width: v.videoWidth, height: v.videoHeight, seconds: v.duration, looks: [await look(0), await look(0.6)]};
  }, bytes.toString('base64'));
  const [width, height] = await page.evaluate(() => [window.firn.view.canvas.width, window.firn.view.canvas.height]);
  assert.deepEqual([video.width, video.height], [width & ~1, height & ~1]);
  assert.ok(Math.abs(video.seconds - 30 / 24) < 0.5 / 24, `${video.seconds} s`);
  assert.notEqual(video.looks[0], video.looks[1]);
  await page.evaluate(() => window.firn.app.time.setSpeed('1'));
});

claim('a picture is a PNG of twice the size', async page => {
  await openScene(page, SQUARE);
  const {name, bytes} = await saved(() => choose('Save a picture (PNG)'));
  assert.equal(name, 'test.png');
  assert.ok(isPng(bytes));
  assert.deepEqual(sizeOfPng(bytes), await page.evaluate(() => [2 * window.firn.view.canvas.clientWidth, 2 * window.firn.view.canvas.clientHeight]));
});

for (const [of, text, extension, begins] of [['picture', 'Record a picture sequence', 'png', '89504e47'],
  ['particle', 'Record a particle sequence (PRT)', 'prt', 'c0505254']]) {
  claim(`a ${of} sequence has one file for each frame`, async page => {
    await openScene(page, SQUARE);
    await page.evaluate(() => window.firn.app.time.setSpeed('0'));
    await choose(text);
    await until(page, () => window.firn.app.state.get('shown').frame >= 9);
    const {name, bytes} = await saved(() => choose(`Stop the ${of} sequence`));
    assert.equal(name, 'test.zip');
    const files = unzip(bytes), names = [...files.keys()];
    assert.ok(names.length >= 8);
    names.forEach((n, i) => assert.equal(n, `test.${String(1 + i).padStart(4, '0')}.${extension}`));
    for (const file of files.values()) assert.equal(file.toString('hex', 0, 4), begins);
    assert.notDeepEqual(files.get(names[1]), files.get(names[7]));
    await page.keyboard.press('Space');
    await until(page, () => !window.firn.app.state.get('playing'));
    await page.evaluate(() => window.firn.app.time.setSpeed('1'));
  });
}

claim('a sequence holds the particles of its frames: from the end again, from the past, and from play', async page => {
  await openScene(page, SQUARE.replace('end: 30', 'end: 9').replace('0.02', '0.01'));
  const own = [];
  for (let f = 1; f <= 9; f++) {
    if (f > 1) await step(page);
    own.push((await saved(() => choose('Save particles (PRT)'))).bytes);
  }
  const back = async to => {
    while ((await get(page, 'shown')).frame > to) {
      const {frame} = await get(page, 'shown');
      await page.keyboard.press('ArrowLeft');
      await until(page, f => window.firn.app.state.get('shown').frame < f, frame);
    }
  };
  const record = async (first, begin = () => choose('Record a particle sequence (PRT)')) => {
    await begin();
    await until(page, () => window.firn.app.state.get('shown').frame === 9 && !window.firn.app.state.get('playing'));
    const {bytes} = await saved(() => choose('Stop the particle sequence'));
    const files = [...unzip(bytes)], from = (first ?? Number(files[0][0].match(/\d+/))) - 1;
    assert.deepEqual(files.map(f => f[0]), own.slice(from).map((_, i) => `test.${String(from + 1 + i).padStart(4, '0')}.prt`));
    for (const [i, [name, file]] of files.entries()) assert.ok(file.equals(own[from + i]), `${name} is of another frame`);
  };
  await record(1);
  await back(4);
  await record(4);
  await page.keyboard.press('r');
  await until(page, () => window.firn.app.state.get('shown').frame === 1);
  await page.evaluate(() => window.firn.app.time.setSpeed('0')); /* whole frames, as stepped */
  await record(null, () => page.evaluate(() => new Promise(done => {
    const {app} = window.firn, stop = app.engine.on('state', ({playing}) => {
      if (!playing) return;
      stop();
      void app.files.toggleSequence('particle');
      done();
    });
    app.time.toggle();
  })));
  await page.evaluate(() => window.firn.app.time.setSpeed('1'));
});

claim('particles are saved as PRT and geo, and PRT comes back as an object', async page => {
  await openScene(page, SQUARE);
  await step(page, 2);
  const prt = await saved(() => choose('Save particles (PRT)')), geo = await saved(() => choose('Save particles (geo)'));
  assert.equal(prt.bytes.readBigUInt64BE(0), 0xc05052540d0a1a0an);
  assert.equal(Number(prt.bytes.readBigInt64LE(16 + 32)), (await get(page, 'shown')).particles);
  assert.match(geo.name, /\.geo$/);
  assert.match(geo.bytes.toString('utf8', 0, 200), /pointcount/);
  await page.evaluate(([name, data]) => window.firn.app.files.take(
    [new File([Uint8Array.from(atob(data), c => c.charCodeAt(0))], name)]), [prt.name, prt.bytes.toString('base64')]);
  await button('Add it to the scene').click();
  await until(page, () => window.firn.app.state.get('scene')?.objects.length === 2);
});
