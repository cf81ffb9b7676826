/* The page's YAML parser and libyaml read the same from every scene, and refuse the same lines. Needs
 * build/test/test_encoded. */
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'node:test';
import {load, root, scenesOf, scratch} from './support.mjs';

const {encode} = load('encode');
const read = text => new TextDecoder().decode(encode(new TextEncoder().encode(text)));

function compare(paths) {
  const pairs = paths.flatMap((path, i) => {
    let bytes = readFileSync(path);
    if (bytes.subarray(0, 3).toString('latin1') === '\xef\xbb\xbf') bytes = bytes.subarray(3); /* as the engine does */
    const to = join(scratch, `${i}.encoded`);
    writeFileSync(to, encode(bytes));
    return [path, to];
  });
  return spawnSync(join(root, 'build/test/test_encoded'), pairs, {encoding: 'utf8'});
}

test('scenes give the tree that libyaml makes, places included', () => {
  const paths = [...scenesOf('scenes'), ...scenesOf('test/scenes'), ...scenesOf('test/torture/found')];
  assert.ok(paths.length > 60);
  const {status, stdout} = compare(paths);
  assert.equal(stdout, '');
  assert.equal(status, 0);
});

test('bad and made-up scenes are refused where libyaml refuses them, at the same line', () => {
  const corpus = join(root, 'test/fuzz/corpus/fuzz_scene');
  const {status, stdout} = compare([...scenesOf('test/scenes/bad'), ...readdirSync(corpus).map(n => join(corpus, n))]);
  assert.equal(status, 0, stdout);
  for (const line of stdout.trim().split('\n')) {
    const places = [...line.matchAll(/file:(\d+):\d+:/g)].map(m => m[1]);
    assert.equal(places[0], places[1], line);
  }
});

test('columns count characters, and sizes bytes', () => {
  assert.equal(read('é𝄞: "é𝄞"'), '{ 1 1 0:\nk 1 1 6:é𝄞\nq 1 5 6:é𝄞\n} 1 1 0:\n');
});

test('text that is too deep for the parser is refused', () => {
  assert.match(read('['.repeat(100000)), /^! 1 \d+ 37:more than 64 levels; write it flatter\n$/);
});

test('wrong YAML has a line and words', () => {
  assert.match(read('a: 1\n\tb: 2\n'), /^! 2 1 \d+:a value cannot begin like this: indent with spaces/);
  assert.match(read('a: {b: 1\nc: 2\n'), /^! 2 1 \d+:/);
  assert.match(read('a: 1\nb\u0007: 2\n'), /^! 2 2 \d+:control characters are not allowed/);
});
