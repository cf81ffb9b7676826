/* Sequences of files as pictures; particles as an object. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import type {Event, Schema} from '../../src/protocol.ts';
import {HEADER, Kind} from '../../src/protocol.ts';
import {readPoints} from '../../src/files/formats.ts';
import {Cache, type CacheFile, findSequences, splitName} from '../../src/files/cache.ts';
import {CacheTransport} from '../../src/files/cache_transport.ts';
import {encodePicture, encodePoints, encodeTags, sortById} from '../../src/files/picture.ts';
import {writePrt} from '../../src/files/prt.ts';
import {readPly} from '../../src/files/ply.ts';
import {findColumn, type Points, pointsOfMessage} from '../../src/files/points.ts';
import {addParticleObject} from '../../src/files/state_object.ts';

function sample(count: number, shift = 0): Points {
  const P = Float32Array.from({length: 3 * count}, (_, i) => Math.sin(7 * i) * (i % 3 + 1) + shift);
  const v = Float32Array.from({length: 3 * count}, (_, i) => i % 3 ? 0 : i / 3);
  return {count, columns: [
    {name: 'P', type: 'f32', components: 3, data: P}, {name: 'v', type: 'f32', components: 3, data: v},
    {name: 'id', type: 'i32', components: 1, data: Int32Array.from({length: count}, (_, i) => i)},
    {name: 'mass', type: 'f32', components: 1, data: new Float32Array(count).fill(0.5)},
    {name: 'material', type: 'i32', components: 1, data: Int32Array.from({length: count}, (_, i) => i % 2)}]};
}

function file(name: string, data: BlobPart): CacheFile {
  return Object.assign(new Blob([data]), {name});
}

test('a picture has every place within half a step', () => {
  const points = sample(1000, 3), b = encodePicture(points, 7, 0.5, 3, 'speed', true), h = new DataView(b);
  assert.deepEqual([h.getUint32(4, true), h.getUint32(8, true), h.getUint32(12, true)], [Kind.picture, 7, 1000]);
  const origin = [24, 28, 32].map(at => h.getFloat32(at, true)), step = h.getFloat32(36, true);
  const places = new Uint32Array(b, HEADER, 2000), P = findColumn(points, 'P')!.data;
  for (let i = 0; i < 1000; i++) {
    const a = places[2 * i]!, c = places[2 * i + 1]!;
    const x = [a & 0x1fffff, a >>> 21 | (c & 0x3ff) << 11, c >>> 10 & 0x1fffff];
    x.forEach((place, k) => assert.ok(Math.abs(origin[k]! + step * place - Number(P[3 * i + k])) <= 0.5001 * step, `${i} ${k}`));
  }
  const color = new Uint16Array(b, HEADER + 8000, 1000);
  assert.deepEqual([h.getFloat32(48, true), h.getFloat32(52, true), color[0], color[999]], [0, 999, 0, 65535]);
  assert.deepEqual([...new Float32Array(b, HEADER + 10000, 3000)], [...findColumn(points, 'v')!.data as Float32Array]);
  const tags = new Uint32Array(encodeTags(points, 7), HEADER);
  assert.deepEqual([tags[0], tags[1], tags[1003]], [0, 1, 3]);
  assert.equal(encodePicture({count: 0, columns: [{name: 'P', type: 'f32', components: 3, data: new Float32Array(0)}]}, 1, 0, 3).byteLength, HEADER);
});

test('a points message reads back', () => {
  const points = sample(5), back = pointsOfMessage(encodePoints(points, 3), HEADER);
  assert.deepEqual(back.columns.map(c => [c.name, c.type]), [['P', 'f32'], ['v', 'f32'], ['id', 'i32'], ['mass', 'f32'], ['material', 'i32']]);
  assert.deepEqual([...findColumn(back, 'P')!.data as Float32Array], [...findColumn(points, 'P')!.data as Float32Array]);
});

test('particles come in the order of their ids', () => {
  const points = sample(4);
  findColumn(points, 'id')!.data = Int32Array.of(3, 1, 2, 0);
  const sorted = sortById(points), P = findColumn(points, 'P')!.data;
  assert.deepEqual([...findColumn(sorted, 'id')!.data as Int32Array], [0, 1, 2, 3]);
  assert.equal(findColumn(sorted, 'P')!.data[0], P[9]);
});

test('names tell frames', () => {
  assert.deepEqual(splitName('snow.0012.bgeo.sc'), {base: 'snow', frame: 12, extension: '.bgeo.sc'});
  assert.deepEqual(splitName('a_7.prt'), {base: 'a', frame: 7, extension: '.prt'});
  assert.deepEqual(splitName('points.ply'), {base: 'points', frame: null, extension: '.ply'});
  const found = findSequences(['b.1.prt', 'a.10.prt', 'a.9.prt', 'x.txt', 'a.11.prt'].map(n => file(n, '')));
  assert.deepEqual(found.map(s => [s.name, ...s.frames.map(f => f.frame)]), [['a', 9, 10, 11], ['b', 1]]);
});

const schema: Schema = {sections: [], laws: [], presets: [], attributes: [], colors: [], looks: [], limits: []};
const until = async (test: () => boolean): Promise<void> => {
  for (let i = 0; i < 500 && !test(); i++) await new Promise(done => setTimeout(done, 4));
  assert.ok(test());
};

test('a cache plays, seeks and reports a broken file without stopping', async () => {
  const files = await Promise.all([1, 2, 3, 5].map(async n =>
    file(`s.000${n}.prt`, n === 3 ? 'not a prt' : await writePrt(sample(n === 5 ? 40 : 30, n)))));
  const events: Event[] = [], kinds: number[] = [];
  const cache = new Cache(findSequences(files)[0]!);
  const t = new CacheTransport(cache, schema, {event: e => events.push(e), up() {}, down() {}, bytes: b => {
    const h = new DataView(b);
    kinds.push(h.getUint32(4, true));
    if (kinds.at(-1) === Kind.picture) setTimeout(() => t.send({do: 'shown', picture: h.getUint32(8, true)}), 1);
  }});
  const frames = (): number[] => events.flatMap(e => e.event === 'frame' ? [e.frame] : []);
  await until(() => frames().length === 1);
  const hello = events[0]!, scene = events[1]!;
  assert.ok(hello.event === 'hello' && hello.mode === 'cache' && hello.schema.colors.some(c => c.name === 'speed'));
  assert.ok(scene.event === 'scene' && scene.scene.dimension === 3 && scene.scene.last === 5 && scene.scene.materials.length === 2);
  t.send({do: 'play', speed: 0});
  await until(() => frames().at(-1) === 5);
  const error = events.find(e => e.event === 'error');
  assert.ok(error?.event === 'error' && error.from === 'step' && error.text.startsWith('s.0003.prt: '));
  assert.equal(kinds.filter(k => k === Kind.tags).length, 2); /* other particles in frame 5 */
  t.send({do: 'want', totals: true});
  t.send({do: 'probe', id: 4});
  t.send({do: 'seek', frame: 2});
  await until(() => events.some(e => e.event === 'frame' && e.frame === 2 && e.totals !== undefined && e.probe?.id === 4));
  const f = events.findLast(e => e.event === 'frame');
  assert.ok(f?.event === 'frame' && f.totals!.mass === 15 && Math.abs(f.time - 1 / 24) < 1e-9 && (f.probe!.v as number[])[0] === 4);
  t.send({do: 'edit', text: ''});
  assert.equal(events.at(-1)!.event, 'error');
  t.close();
});

test('particles of a file become an object of the scene', () => {
  const text = '# mine\nfirn: 1\nmaterials:\n  snow: {preset: snow} # cold\nobjects:\n  - {name: block, shape: {box: {}}}\n';
  const made = addParticleObject(text, sample(3), 'block');
  assert.equal(made.object, 'block_2');
  assert.match(made.text, /^# mine\n[^]*# cold\n[^]*- \{name: block_2, material: snow, particles: block_2\.ply\}/);
  const points = readPly(made.file.bytes);
  assert.deepEqual(points.columns.map(c => c.name), ['P', 'v', 'mass']); /* material 1 is none of the scene's */
  assert.doesNotMatch(addParticleObject(text, sample(3), 'block', {alone: true}).text, /box/);
  assert.match(addParticleObject('firn: 1\n', sample(1), 'x').text, /objects:\n {2}- \{name: x, particles: x\.ply\}/);
});

const root = process.env.FIRN_ROOT!, firn = [process.env.FIRN, join(root, 'build/firn')].find(f => f && existsSync(f));

test('a scene goes on from a state that the page hands over', {skip: !firn}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firn-state-')), text = readFileSync(join(root, 'scenes/chocolate.yaml'), 'utf8');
  const run = (file: string): void => {
    execFileSync(firn!, ['run', file, '--frames', '1:2', '--set', 'resolution=0.01', '--set', 'statistics=a.csv', '--set', 'output=[{file: a.$F4.prt}]'],
      {cwd: folder, stdio: 'ignore'});
  };
  try {
    writeFileSync(join(folder, 'first.yaml'), text);
    run('first.yaml');
    const state = await readPoints('a.0002.prt', readFileSync(join(folder, 'a.0002.prt')));
    const made = addParticleObject(text, state, 'state', {alone: true});
    writeFileSync(join(folder, 'second.yaml'), made.text);
    writeFileSync(join(folder, made.file.name), made.file.bytes);
    run('second.yaml');
    const start = await readPoints('a.0001.prt', readFileSync(join(folder, 'a.0001.prt')));
    for (const name of ['P', 'v', 'temperature']) {
      const a = findColumn(state, name)!.data, b = findColumn(start, name)!.data;
      for (let i = 0; i < a.length; i++) assert.ok(Math.abs(Number(a[i]) - Number(b[i])) < 1e-5 * (1 + Math.abs(Number(a[i]))), `${name} ${i} ${a[i]} ${b[i]}`);
    }
  } finally {
    rmSync(folder, {recursive: true});
  }
});
