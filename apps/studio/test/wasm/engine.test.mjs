/* The engine in WebAssembly against build/firn with four lanes: the same bytes. Denormal numbers aside:
 * WebAssembly keeps them, native builds flush them to zero, so a scene in which some arise (the snowball, on
 * its first contact) ends with other bits, and is held to a tolerance. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'node:test';
import {createEngine, root, scratch} from './support.mjs';

const FRAMES = 3;
const sceneOf = name => readFileSync(join(root, 'scenes', `${name}.yaml`), 'utf8');

/* Of the scene at its first frames, by build/firn. */
function nativeHashes(name) {
  const said = execFileSync(join(root, 'build/firn'), ['run', join(root, 'scenes', `${name}.yaml`), '--isa', 'sse2',
    '--threads', '1', '--hash', '--quiet', '--set', `frames.end=${FRAMES + 1}`, '--set', 'output=[]',
    '--set', 'statistics=none'], {encoding: 'utf8', cwd: scratch});
  return [...said.matchAll(/^hash \d+ ([0-9a-f]{32})$/gm)].map(m => m[1]);
}

async function hashes(name, threads = 1) {
  const engine = await createEngine(threads);
  assert.equal(engine.ask({do: 'open', text: sceneOf(name)}, 'scene').event, 'scene');
  const found = [engine.hash()];
  for (let i = 0; i < FRAMES; i++) {
    assert.equal(engine.step().event, 'frame');
    found.push(engine.hash());
  }
  return found;
}

for (const name of ['chocolate_2d', 'creature_small', 'dam_break', 'sand_column']) {
  test(`${name} is the same to the last bit as with native SSE2`, async () => {
    assert.deepEqual(await hashes(name), nativeHashes(name));
  });
}
