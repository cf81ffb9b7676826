/* Links, zip files and names of files. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {encodeShared, makeLink, MOST_LINK, readLink, ShareError} from '../../src/files/share.ts';
import {fileName} from '../../src/files/yaml_file.ts';
import {crc32, ZipWriter} from '../../src/files/zip.ts';

const scenes = join(process.env.FIRN_ROOT!, 'scenes');

test('every scene survives as a link', async () => {
  let longest = 0;
  for (const name of readdirSync(scenes).filter(n => n.endsWith('.yaml'))) {
    const shared = {scene: readFileSync(join(scenes, name), 'utf8'), title: 'Überraschung', camera: {target: [1, 2, 3] as [number, number, number], azimuth: 4, elevation: 5, distance: 6}, base: 'x'};
    const link = await makeLink(shared, 'https://example.org/studio/#old');
    assert.deepEqual(await readLink(new URL(link).hash), shared);
    longest = Math.max(longest, link.length);
  }
  assert.ok(longest < 4000, `${longest}`);
});

test('a plain link is read, too, and other links hold no scene', async () => {
  const plain = Buffer.from(JSON.stringify({scene: 'firn: 1', camera: 7})).toString('base64url');
  assert.deepEqual(await readLink(`#s=p${plain}`), {scene: 'firn: 1'});
  assert.deepEqual(await readLink(`#t=1&s=p${plain}&x`), {scene: 'firn: 1'});
  assert.equal(await readLink('#help'), null);
  assert.equal(await readLink(''), null);
});

test('a camera or a look that is none is left out', async () => {
  const read = (shared: object) => readLink(`#s=p${Buffer.from(JSON.stringify({scene: 'firn: 1', ...shared})).toString('base64url')}`);
  const camera = {target: [0, 1, 2], azimuth: 30, elevation: 10, distance: 3};
  assert.deepEqual(await read({camera, view: {look: 'points', color: 'speed', x: 1}}), {scene: 'firn: 1', camera, view: {look: 'points', color: 'speed'}});
  for (const bad of [{}, {...camera, target: 1}, {...camera, target: [0, 1]}, {...camera, distance: 0}, {...camera, azimuth: '3'}, []]) {
    assert.deepEqual(await read({camera: bad, view: {look: 'toString', color: 7}}), {scene: 'firn: 1', view: {}});
  }
});

test('damaged links are refused with a reason', async () => {
  const good = `#${await encodeShared({scene: 'firn: 1\n'.repeat(50)})}`;
  for (const bad of [good.slice(0, -9), good.slice(0, 30), good.replace('s=d', 's=q'), '#s=', '#s=d', '#s=p', '#s=p!!', '#s=pe30', '#s=pbnVsbA', '#s=p_w', `${good}ä`]) {
    await assert.rejects(readLink(bad), ShareError, bad);
  }
  const bomb = `#${await encodeShared({scene: 'a'.repeat(5 << 20)})}`;
  assert.ok(bomb.length < MOST_LINK);
  await assert.rejects(readLink(bomb), ShareError);
});

test('a scene too long for a link is refused', async () => {
  const noise = Array.from({length: 60000}, (_, i) => (Math.imul(i, 2654435761) >>> 0).toString(36)).join('');
  await assert.rejects(makeLink({scene: noise}, 'http://x/'), /characters.*Save the scene as a file/);
});

test('titles become names of files', () => {
  assert.equal(fileName('Chocolate, flat', '.yaml'), 'chocolate_flat.yaml');
  assert.equal(fileName('../é', '.yaml'), 'scene.yaml');
});

test('zip files open elsewhere', async () => {
  assert.equal(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
  const zip = new ZipWriter();
  zip.add('a.0001.png', new Uint8Array([1, 2, 3]));
  zip.add('ä.txt', new TextEncoder().encode('hello'));
  const folder = mkdtempSync(join(tmpdir(), 'firn-zip-'));
  try {
    writeFileSync(join(folder, 'x.zip'), new Uint8Array(await zip.finish().arrayBuffer()));
    const said = execFileSync('python3', ['-c', 'import zipfile,sys; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), [(n, z.read(n)) for n in z.namelist()])',
      join(folder, 'x.zip')], {encoding: 'utf8', env: {...process.env, PYTHONIOENCODING: 'utf8'}});
    assert.equal(said.trim(), "None [('a.0001.png', b'\\x01\\x02\\x03'), ('ä.txt', b'hello')]");
  } finally {
    rmSync(folder, {recursive: true});
  }
});
