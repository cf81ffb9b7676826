/* Edits of groups, copies, keys and combined shapes: only what changes is written, and what it leaves reads the same. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parse} from 'yaml';
import {insertEntry, moveEntry, nodeAt, parseText, removeAt, setNumbers, setValue} from '../../src/document/edit.ts';
import {keyedAt, keysOf, keyTimes} from '../../src/document/frames.ts';
import {addGroup, duplicate, putIntoGroup, remove, rename} from '../../src/document/make.ts';
import {readModel, type Item, type Model} from '../../src/document/model.ts';
import {handlesOf, moveInScene, moveTo, scaleBy} from '../../src/document/place.ts';

const TEXT = `firn: 1
variables: {width: 0.5} # of the cup
resolution: 0.02
groups:
  - name: stand # all of it
    translate: [0, 0.5, 0]
    rotate: [0, 90, 0]
    scale: 2
  - name: cup
    parent: stand
    keys: # it tilts
      0: {rotate: [0, 0, 0]}
      1: {rotate: [0, 0, 0]} # rests
      3: {rotate: [0, 0, 110]}
    interpolation: smooth
objects:
  - {name: sand, group: cup, shape: {box: {size: [$width, 0.3, $width * 2]}}}
  - name: hollow
    shape: {difference: [{cylinder: {radius: 0.2}}, {cylinder: {radius: 0.17}, translate: [0, 0.05, 0]}], offset: 1 cm}
    translate: [1, 0, 0]
colliders:
  - &wall # of five
    name: left
    group: cup
    shape: {box: {center: [-$width / 2, 0, 0], size: [0.06, 0.5, 0.5]}}
    friction: {keys: {0: 0.1, 1 s: 0.5}, interpolation: step}
  - {<<: *wall, name: right, translate: [$width, 0, 0]}
  - {name: floor, shape: &flat {box: {size: [1, 0.1, 1]}}, keys: {0: {at: [0, 0, 0]}, 2: {at: [0, 1, 0]}}}
  - {name: roof, shape: *flat}
`;
const NUMBERS = {'-$width / 2': -0.25, $width: 0.5, '$width * 2': 1, '1 cm': 0.01, '1 s': 1};

const modelOf = (text: string): Model => readModel(parseText(text), NUMBERS);
const named = (text: string, name: string): Item => modelOf(text).items.find(i => i.name === name)!;
const yaml = (text: string) => parse(text, {merge: true});

/* The lines of `after` that `before` does not have. */
function fresh(before: string, after: string): string[] {
  const a = new Set(before.split('\n'));
  return after.split('\n').filter(l => !a.has(l));
}

test('groups, members, parts and copies are read, through anchors and expressions', () => {
  const m = modelOf(TEXT);
  assert.deepEqual(m.items.filter(i => i.kind === 'group').map(i => [i.name, i.group]), [['stand', ''], ['cup', 'stand']]);
  assert.deepEqual(m.items.filter(i => i.group === 'cup').map(i => i.name), ['sand', 'left', 'right']);
  assert.deepEqual(m.items.filter(i => i.kind === 'part').map(i => [i.key, i.name, i.of!.name]), [
    ['objects.1.shape.difference.0', 'cylinder', 'hollow'],
    ['objects.1.shape.difference.1', 'minus cylinder', 'hollow'],
  ]);
  assert.deepEqual(named(TEXT, 'right').shape!.params.center, [-0.25, 0, 0]);
  assert.deepEqual(keyTimes(named(TEXT, 'left'), m), [0, 1]);
});

test('an edit of a value leaves expressions beside it, comments and anchors alone', () => {
  const moved = moveTo(TEXT, modelOf(TEXT), named(TEXT, 'left'), [-0.25, 0.1, 0]);
  assert.deepEqual(fresh(TEXT, moved), ['    shape: {box: {center: [-$width / 2, 0.1, 0], size: [0.06, 0.5, 0.5]}}']);
  const wide = setNumbers(TEXT, ['objects', 0, 'shape', 'box', 'size'], [0.5, 0.4, 1], [0.5, 0.3, 1]);
  assert.deepEqual(fresh(TEXT, wide), ['  - {name: sand, group: cup, shape: {box: {size: [$width, 0.4, $width * 2]}}}']);
});

test('what an alias or << brings in is written out where it is changed, and stays elsewhere', () => {
  const right = setValue(TEXT, ['colliders', 1, 'shape', 'box', 'size', 1], 0.7), r = yaml(right).colliders;
  assert.deepEqual([r[0].shape.box.size[1], r[1].shape.box.size[1]], [0.5, 0.7]);
  assert.equal(r[1].shape.box.center[0], '-$width / 2');
  const roof = setValue(TEXT, ['colliders', 3, 'shape', 'box', 'size', 0], 3), f = yaml(roof).colliders;
  assert.deepEqual([f[2].shape.box.size[0], f[3].shape.box.size[0]], [1, 3]);
  assert.deepEqual(fresh(TEXT, roof), ['  - {name: roof, shape: {box: {size: [3, 0.1, 1]}}}']);
  const friction = setValue(TEXT, ['colliders', 1, 'friction'], 0.2);
  assert.deepEqual(fresh(TEXT, friction), ['  - {<<: *wall, name: right, translate: [$width, 0, 0], friction: 0.2}']);
});

test('what is removed leaves its anchor to the first that needs it, and a copy has none', () => {
  const without = removeAt(TEXT, ['colliders', 2]), c = yaml(without).colliders;
  assert.deepEqual(c.map((x: {name: string}) => x.name), ['left', 'right', 'roof']);
  assert.deepEqual(c[2].shape, {box: {size: [1, 0.1, 1]}});
  const twice = duplicate(TEXT, modelOf(TEXT), named(TEXT, 'floor'));
  assert.equal(twice.text.match(/&flat/g)!.length, 1);
  assert.equal(yaml(twice.text).colliders[3].name, 'floor_2');
  const wall = yaml(removeAt(TEXT, ['colliders', 0])).colliders[0];
  assert.equal(wall.name, 'right');
  assert.deepEqual(wall.shape.box.size, [0.06, 0.5, 0.5]);
});

test('a thing that joins or leaves a group stays where it is in the scene', () => {
  for (const name of ['hollow', 'roof', 'floor', 'left', 'cup']) {
    for (const group of ['cup', 'stand', '']) {
      if (name === 'cup' && group === 'cup') continue;
      const before = handlesOf(modelOf(TEXT), named(TEXT, name), 0).pivot;
      const text = putIntoGroup(TEXT, modelOf(TEXT), named(TEXT, name), group), item = named(text, name);
      assert.equal(item.group, group);
      handlesOf(modelOf(text), item, 0).pivot.forEach((x, i) => assert.ok(Math.abs(x - before[i]!) < 5e-3, `${name} in ${group}`));
    }
  }
});

test('groups are added, moved, scaled, renamed and removed', () => {
  const made = addGroup(TEXT, modelOf(TEXT));
  assert.deepEqual([made.key, yaml(made.text).groups[2]], ['groups.2', {name: 'group', translate: [0, 0, 0]}]);
  const {frame} = handlesOf(modelOf(TEXT), named(TEXT, 'cup'), 0);
  const moved = moveInScene(TEXT, modelOf(TEXT), named(TEXT, 'cup'), frame, [0, 0.9, 0.4]);
  assert.deepEqual(yaml(moved).groups[1].translate, [-0.2, 0.2, 0]); /* turned by 90 degrees, half as large */
  assert.equal(yaml(scaleBy(TEXT, named(TEXT, 'stand'), [1.5, 1.5, 1.5])).groups[0].scale, 3);
  const called = yaml(rename(TEXT, modelOf(TEXT), named(TEXT, 'cup'), 'mug'));
  assert.deepEqual([called.groups[1].name, called.objects[0].group, called.colliders[0].group], ['mug', 'mug', 'mug']);
  const gone = yaml(remove(TEXT, modelOf(TEXT), named(TEXT, 'stand')));
  assert.deepEqual([gone.groups.length, gone.groups[0].parent], [1, undefined]);
});

test('keys are put in the order of their times, and moved', () => {
  const path = ['groups', 1, 'keys'], at = (text: string) => Object.keys(yaml(text).groups[1].keys);
  const two = insertEntry(TEXT, path, '2.5', {rotate: [0, 0, 50]}, '3');
  assert.deepEqual(fresh(TEXT, two), ['      2.5: {rotate: [0, 0, 50]}']);
  assert.ok(two.indexOf('2.5:') < two.indexOf('3: {rotate') && two.includes('# rests'));
  assert.ok(moveEntry(TEXT, path, '3', '4', null).includes('      4: {rotate: [0, 0, 110]}\n    interpolation'));
  assert.deepEqual(at(moveEntry(TEXT, path, '0', '2', '3')), ['1', '2', '3']);
  const flow = moveEntry(TEXT, ['colliders', 2, 'keys'], '2', '-1', '0');
  assert.ok(flow.includes('keys: {-1: {at: [0, 1, 0]}, 0: {at: [0, 0, 0]}}'), flow);
  assert.deepEqual(at(removeAt(TEXT, [...path, '1'])), ['0', '3']);
  const friction = insertEntry(TEXT, ['colliders', 0, 'friction', 'keys'], '0.5', 0.3, '1 s');
  assert.deepEqual(fresh(TEXT, friction), ['    friction: {keys: {0: 0.1, 0.5: 0.3, 1 s: 0.5}, interpolation: step}']);
});

test('keys say between their times what the engine makes of them', () => {
  const keys = keysOf(named(TEXT, 'cup').fields, NUMBERS);
  assert.deepEqual(keys.map(k => k.time), [0, 1, 3]);
  assert.equal(keyedAt(keys, 'linear', 2).rotate[2], 55);
  assert.equal(keyedAt(keys, 'smooth', 2).rotate[2], 55);
  assert.ok(keyedAt(keys, 'smooth', 1.5).rotate[2] < 20);
  assert.equal(keyedAt(keys, 'step', 2.9).rotate[2], 0);
  assert.equal(keyedAt(keys, 'step', 9).rotate[2], 110);
});

test('parts of a shape are edited in their own frame', () => {
  const part = modelOf(TEXT).items.find(i => i.name === 'minus cylinder')!, {frame, pivot} = handlesOf(modelOf(TEXT), part, 0);
  assert.deepEqual(pivot, [1, 0.05, 0]);
  const moved = yaml(moveInScene(TEXT, modelOf(TEXT), part, frame, [1.1, 0.1, 0])).objects[1];
  assert.deepEqual(moved.shape.difference[1], {cylinder: {radius: 0.17}, translate: [0.1, 0.1, 0]});
  assert.deepEqual(moved.translate, [1, 0, 0]);
  assert.equal(yaml(removeAt(TEXT, part.path)).objects[1].shape.difference.length, 1);
  assert.ok(nodeAt(TEXT, part.path));
});
