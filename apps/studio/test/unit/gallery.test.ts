/* The gallery's scenes: whole, with a picture, and as many particles as the card says. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {parse} from 'yaml';
import {findScenes, fullText, GALLERY_KINDS, type GalleryScene, speedOf} from '../../src/files/gallery.ts';

const root = process.env.FIRN_ROOT!, out = mkdtempSync(join(tmpdir(), 'firn-gallery-'));
execFileSync(process.execPath, [join(root, 'apps/studio/gallery.mjs'), out]);
const all = JSON.parse(readFileSync(join(out, 'gallery.json'), 'utf8')) as GalleryScene[];
const firn = [process.env.FIRN, join(root, 'build/firn')].find(f => f && existsSync(f));

test.after(() => rmSync(out, {recursive: true}));

test('every card has a scene in one piece, its numbers and a small picture', () => {
  assert.ok(all.length >= 40);
  for (const s of all) {
    const tree = parse(s.scene) as {include?: unknown; resolution: number; name: string};
    assert.equal(tree.include, undefined, s.id);
    assert.equal(tree.resolution, s.live.resolution, s.id);
    assert.ok((s.live.end ?? s.live.particles) > 0 && s.live.substeps > 0 && s.seconds > 0, s.id);
    assert.ok(statSync(join(out, s.picture)).size <= 12 << 10, s.id);
    assert.ok(s.kinds.length > 0 && s.kinds.every(k => GALLERY_KINDS.includes(k)), s.id);
    assert.doesNotMatch(s.scene, /^# .*(particles|--set)/m, s.id);
    if (s.full) assert.equal((parse(fullText(s)) as {resolution: number}).resolution, s.full.resolution);
  }
  for (const kind of GALLERY_KINDS) assert.ok(findScenes(all, '', kind).length > 0, kind);
  assert.deepEqual(findScenes(all, 'hot PLATE', 'melting').map(s => s.id), ['chocolate', 'chocolate_creature', 'chocolate_2d']);
  assert.equal(speedOf({resolution: 1, particles: 1000, substeps: 100}, 1, 1e6), 10);
});

test('the program reads every card and counts the same', {skip: !firn}, () => {
  for (const s of all) {
    const path = join(out, `${s.id}.yaml`);
    writeFileSync(path, s.scene);
    const said = execFileSync(firn!, ['run', path, '--plan'], {encoding: 'utf8', cwd: out, stdio: ['ignore', 'pipe', 'ignore']});
    assert.equal(said.match(/^particles +(\d+)/m)?.[1], String(s.live.particles), s.id);
  }
});
