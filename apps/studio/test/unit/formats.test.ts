/* Particle files: ours are read by the program with equal values, and the program's by us; broken ones are refused. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {readPoints, SavedFormat, writePoints} from '../../src/files/formats.ts';
import {Column, FileError, findColumn, numbersOf, Points} from '../../src/files/points.ts';

const root = process.env.FIRN_ROOT!;
const firn = [process.env.FIRN, join(root, 'build/firn')].find(f => f && existsSync(f));
const folder = mkdtempSync(join(tmpdir(), 'firn-formats-'));
after(() => rmSync(folder, {recursive: true}));

const load = (path: string): Promise<Points> => readPoints(path, readFileSync(path));

function sample(count: number): Points {
  const P = new Float32Array(3 * count), v = new Float32Array(3 * count), F = new Float32Array(9 * count);
  const id = new BigInt64Array(count), mass = new Float64Array(count), material = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    P.set([Math.sin(i) * 3, i / 7, -i * 1e-3], 3 * i);
    v.set([i, 1 / (i + 1), -2.5e-8 * i], 3 * i);
    F.set(Array.from({length: 9}, (_, k) => k % 4 ? i * k * 1e-4 : 1 + i / 3), 9 * i);
    id[i] = BigInt(1000 + i);
    mass[i] = 0.1 + i * Math.PI;
    material[i] = i % 3;
  }
  const column = (name: string, type: Column['type'], components: number, data: Column['data']): Column => ({name, type, components, data});
  return {count, columns: [column('P', 'f32', 3, P), column('v', 'f32', 3, v), column('id', 'i64', 1, id),
    column('mass', 'f64', 1, mass), column('F', 'f32', 9, F), column('material', 'i32', 1, material)]};
}

function assertEqual(a: Points, b: Points, names = a.columns.map(c => c.name)): void {
  assert.equal(a.count, b.count);
  for (const name of names) {
    const x = findColumn(a, name), y = findColumn(b, name);
    assert.ok(x && y, `attribute ${name}`);
    assert.equal(x.components, y.components, name);
    assert.deepEqual(Array.from(numbersOf(x)), Array.from(numbersOf(y)), name);
  }
}

for (const format of ['prt', 'geo', 'ply'] as SavedFormat[]) {
  test(`${format} reads back as it was written`, async () => {
    for (const count of [0, 1, 2500]) {
      const points = sample(count), back = await readPoints(`a.${format}`, await writePoints(format, points, 24));
      assertEqual(points, back, count ? undefined : []);
    }
  });
  test(`${format} of ours is read by the program`, {skip: !firn}, async () => {
    const points = sample(1500), mine = join(folder, `mine.${format}`);
    writeFileSync(mine, await writePoints(format, points, 24));
    for (const other of ['prt', 'geo', 'bgeo', 'bgeo.sc', 'ply']) {
      const theirs = join(folder, `theirs.${other}`);
      execFileSync(firn!, ['convert', mine, theirs]);
      assertEqual(points, await load(theirs));
    }
    execFileSync(firn!, ['convert', mine, join(folder, 'theirs.csv')]);
    assertEqual(points, await load(join(folder, 'theirs.csv')), ['P', 'v', 'id', 'F', 'material']);
  });
}

test('ids and materials of an engine are whole numbers in files', async () => {
  const f32 = (name: string, components: number, ...data: number[]): Column => ({name, type: 'f32', components, data: Float32Array.from(data)});
  const points: Points = {count: 2, columns: [f32('P', 3, 0, 1, 2, 3, 4, 5), f32('id', 1, 7, 9), f32('material', 1, 0, 1.5), f32('mass', 1, 1, 2)]};
  for (const format of ['prt', 'geo', 'ply'] as SavedFormat[]) {
    const back = await readPoints(`a.${format}`, await writePoints(format, points));
    assert.deepEqual(['id', 'material', 'mass'].map(n => findColumn(back, n)!.type), ['i32', 'f32', 'f32'], format);
  }
});

test('files in old forms and half precision are read', {skip: !firn}, async () => {
  const points = sample(1200), mine = join(folder, 'mine.prt');
  writeFileSync(mine, await writePoints('prt', points));
  for (const other of ['classic.geo', 'classic.bgeo']) {
    execFileSync(firn!, ['convert', mine, join(folder, other), '--classic']);
    assertEqual(points, await load(join(folder, other)), ['P', 'v', 'id', 'F', 'material']);
  }
  for (const other of ['half.prt', 'half.bgeo', 'half.geo']) {
    execFileSync(firn!, ['convert', mine, join(folder, other), '--half']);
    const half = await load(join(folder, other)), v = numbersOf(findColumn(half, 'v')!), full = numbersOf(findColumn(points, 'v')!);
    assertEqual(points, half, ['P', 'id']);
    for (let i = 0; i < v.length; i++) assert.ok(Math.abs(v[i]! - full[i]!) <= Math.abs(full[i]!) / 1024 + 1e-7, `v ${i}`);
  }
});

test('units and axes of other programs become ours', async () => {
  const corpus = join(root, 'test/fuzz/corpus/fuzz_points');
  const a = await load(join(corpus, 'points_v1.prt')), b = await load(join(corpus, 'points_v2.prt'));
  assert.deepEqual(Array.from(numbersOf(findColumn(a, 'id')!)), [1000, 1001, 1002, 1003, 1004]);
  assertEqual(a, b, ['v', 'id', 'density'].filter(n => findColumn(b, n)));
});

/* xorshift: the same files at every run */
let state = 12345;
const random = (n: number): number => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
};

async function survives(name: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await readPoints(name, bytes);
    return true;
  } catch (error) {
    assert.ok(error instanceof FileError, `${name}: ${(error as Error).stack}`);
    return false;
  }
}

test('the corpus of odd files is read or refused', async () => {
  const corpus = join(root, 'test/fuzz/corpus/fuzz_points');
  for (const name of readdirSync(corpus)) {
    if (statSync(join(corpus, name)).isFile()) await survives(name, readFileSync(join(corpus, name)));
  }
});

test('damaged files are refused, never worse', async () => {
  const points = sample(60);
  for (const format of ['prt', 'geo', 'ply'] as SavedFormat[]) {
    const good = await writePoints(format, points);
    for (let i = 0; i < 300; i++) {
      const bad = good.slice(0, random(3) ? good.length : random(good.length));
      for (let k = random(4); k >= 0 && bad.length; k--) bad[random(random(2) ? bad.length : Math.min(bad.length, 300))] = random(256);
      await survives(`bad.${format}`, bad);
    }
  }
});
