/* The engine in WebAssembly against build/firn with four lanes: the same bytes. Denormal numbers aside:
 * WebAssembly keeps them, native builds flush them to zero, so a scene in which some arise (the snowball, on
 * its first contact) ends with other bits, and is held to a tolerance: after three frames its particles are at
 * most 0.0024 cells apart. A native build that does not flush them has the hashes of WebAssembly there, too. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'node:test';
import {sceneText} from '../../gallery.mjs';
import {createEngine, root, scratch} from './support.mjs';

const FRAMES = 3;
/* What build/firn says of the scene's first frames. */
function runNative(name, ...options) {
  return execFileSync(join(root, 'build/firn'), ['run', join(root, 'scenes', `${name}.yaml`), '--isa', 'sse2',
    '--threads', '1', '--hash', '--quiet', '--set', `frames.end=${FRAMES + 1}`, '--set', 'checkpoint.every=0',
    ...options], {encoding: 'utf8', cwd: scratch});
}

function nativeHashes(name) {
  return [...runNative(name, '--set', 'output=[]').matchAll(/^hash \d+ ([0-9a-f]{32})$/gm)].map(m => m[1]);
}

function hashes(engine, name) {
  assert.equal(engine.ask({do: 'open', text: sceneText(name)}, 'scene').event, 'scene');
  const found = [engine.hash()];
  for (let i = 0; i < FRAMES; i++) {
    assert.equal(engine.step().event, 'frame');
    found.push(engine.hash());
  }
  return found;
}

for (const name of ['chocolate_2d', 'creature_small', 'dam_break', 'sand_column']) {
  test(`${name} is the same to the last bit as with native SSE2`, async () => {
    assert.deepEqual(hashes(await createEngine(), name), nativeHashes(name));
  });
}

/* Positions by id from a message `points`. */
function positions(bytes) {
  const view = new DataView(bytes), size = view.getUint32(12, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 64, size)));
  let at = 64 + size;
  const columns = {};
  for (const c of about.columns) {
    at = Math.ceil(at / 8) * 8;
    columns[c.name] = new Float32Array(bytes, at, about.count * c.components);
    at += 4 * about.count * c.components;
  }
  return new Map(Array.from(columns.id, (id, i) => [id, columns.P.subarray(3 * i, 3 * i + 3)]));
}

test('a snowball, whose denormal numbers native builds flush, stays within a hundredth of a cell', async () => {
  runNative('snowball', '--set', `output=[{file: ${scratch}/ball.$F4.csv, attributes: [id, P]}]`);
  const engine = await createEngine();
  const {scene} = engine.ask({do: 'open', text: sceneText('snowball')}, 'scene');
  for (let i = 0; i < FRAMES; i++) engine.step();
  const before = engine.bytes.length;
  engine.send({do: 'points', token: 7, attributes: ['id', 'P']});
  for (let i = 0; i < 100 && engine.bytes.length === before; i++) engine.turn(1);
  const here = positions(engine.bytes.findLast(b => new DataView(b).getUint32(4, true) === 4));
  const [head, ...rows] = readFileSync(join(scratch, `ball.000${FRAMES + 1}.csv`), 'utf8').trim().split('\n');
  const names = head.split(','), id = names.indexOf('id'), x = names.findIndex(n => n.startsWith('P'));
  let most = 0;
  for (const row of rows) {
    const numbers = row.split(',').map(Number), mine = here.get(numbers[id]);
    for (let a = 0; a < 3; a++) most = Math.max(most, Math.abs(mine[a] - numbers[x + a]));
  }
  assert.equal(here.size, rows.length);
  assert.ok(most < 1e-2 * scene.cell_size, `${most} m of ${scene.cell_size}`);
  console.log(`snowball: ${(most / scene.cell_size).toExponential(2)} cells apart at most`);
});

const TINY = `firn: 1
dimension: 2
resolution: 0.05
frames: {end: 5}
materials: {soft: {preset: jelly}}
objects:
  - {name: ball, material: soft, shape: {disc: {radius: 0.3}}}
`;

test('wrong scenes are refused at their line, and the engine goes on', async () => {
  const engine = await createEngine();
  const open = text => engine.ask({do: 'open', text}, 'scene');
  const cases = [
    [TINY.replace('resolution: 0.05', 'resolution: 0.05: 1'), 3, /./],
    [TINY.replace('materials', '\tmaterials'), 5, /indent with spaces, not tabs/],
    [TINY.replace('radius', 'radios'), 7, /did you mean radius|radius/],
    [TINY + 'resolution: 1\n', 8, /"resolution" is given twice/],
    [TINY.replace('jelly}', '*a }'), 5, /there is no anchor &a before this/],
    [TINY + 'include: other.yaml\n', 8, /include works in files only/],
  ];
  for (const [text, line, words] of cases) {
    const said = open(text);
    assert.equal(said.event, 'error', text);
    assert.equal(said.from, 'scene');
    assert.equal(said.line, line, said.text);
    assert.match(said.text, words);
  }
  assert.equal(open(TINY).event, 'scene');
});

test('scenes may write what the page cannot, and read the files it was given', async () => {
  const engine = await createEngine();
  const withFile = name => TINY.replace('shape: {disc: {radius: 0.3}}', `particles: ${name}`);
  assert.equal(engine.ask({do: 'open', text: TINY + 'output: [{file: out/x.$F4.prt}, {file: out/x.$F4.vdb}]\n'}, 'scene').event, 'scene');
  const csv = 'P.x,P.y,P.z\n' + Array.from({length: 100}, (_, i) => `${0.03 * (i % 10)},${0.03 * Math.floor(i / 10)},0`).join('\n') + '\n';
  assert.equal(engine.put('caches/dots.csv', new TextEncoder().encode(csv)), 1);
  const there = engine.ask({do: 'open', text: withFile('caches/dots.csv')}, 'scene');
  assert.equal(there.event, 'scene', there.text);
  assert.equal(there.scene.objects[0].count, 100);
  engine.put('dots.prt', new TextEncoder().encode('anything'));
  const refused = engine.ask({do: 'open', text: withFile('dots.prt')}, 'scene');
  assert.equal(refused.event, 'error');
  assert.match(refused.text, /PRT files are not supported in the browser; convert the file/);
  assert.match(engine.ask({do: 'open', text: withFile('gone.csv')}, 'scene').text, /gone\.csv/);
});

test('a scene that does not fit is refused', async () => {
  const engine = await createEngine();
  const said = engine.ask({do: 'open', text: TINY.replace('dimension: 2\n', '').replace('resolution: 0.05', 'resolution: 1e-4')
    .replace('disc: {radius: 0.3}', 'sphere: {radius: 0.3}')}, 'scene');
  assert.equal(said.event, 'error');
  assert.match(said.text, /GB|memory/);
  assert.equal(engine.ask({do: 'open', text: TINY}, 'scene').event, 'scene');
});

test('threads change nothing', async () => {
  const engine = await createEngine(2);
  assert.equal(engine.last('hello').threads, 2);
  assert.deepEqual(hashes(engine, 'creature_small'), nativeHashes('creature_small'));
  assert.equal(engine.module.PThread.runningWorkers.length, 1);
  engine.module.PThread.terminateAllThreads();
});
