/* Edits of a scene's text: they say what they should, and leave the rest as it was. */
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {parse} from 'yaml';
import {
  addEntry,
  addItem,
  duplicateEntry,
  duplicateItem,
  parseText,
  Raw,
  removeAt,
  renameKey,
  setValue,
} from '../../src/document/edit.ts';
import {SceneDocument} from '../../src/document/document.ts';
import {addShape, duplicate, followPreset, newScene, remove, rename, setPreset} from '../../src/document/make.ts';
import {readModel, type Item, type Model} from '../../src/document/model.ts';
import {anglesOf, rotation} from '../../src/document/matrix.ts';
import {moveTo, placeOf, scaleBy, turnTo} from '../../src/document/place.ts';
import {parse as parseUnits, readNumber, show, writeNumber} from '../../src/ui/units.ts';

const TEXT = `# A
firn: 1
name: x # nm
frames: {end: 44, fps: 72} # third
materials:
  snow:
    preset: snow
    hardening_cap: 5
    noise: # same
      - {parameter: young, amount: 0.6}
  packed: {preset: snow_packed, hardening_cap: 5}
objects:
  - name: ball # b
    material: packed
    shape: {sphere: {radius: 0.13}}
    # why
    velocity: [-10, 0.6, 0]
  - {name: brick, material: snow, shape: {box: {}}}

colliders:
  - {name: ground, shape: {plane: {}}, friction: 0.6} # g
# end
`;

const lines = (text: string): Set<string> => new Set(text.split('\n'));
/* The lines of `after` that `before` does not have, and the other way round. */
function changes(before: string, after: string): [string[], string[]] {
  const a = lines(before),
    b = lines(after);
  return [[...b].filter(l => !a.has(l)), [...a].filter(l => !b.has(l))];
}
const modelOf = (text: string): Model => readModel(parseText(text));
const named = (m: Model, name: string): Item => m.items.find(i => i.name === name)!;

test('a value is set in its place, and nothing else changes', () => {
  assert.deepEqual(changes(TEXT, setValue(TEXT, ['materials', 'snow', 'hardening_cap'], 7)), [
    ['    hardening_cap: 7'],
    ['    hardening_cap: 5'],
  ]);
  assert.deepEqual(changes(TEXT, setValue(TEXT, ['materials', 'snow', 'young'], new Raw('2e5'))), [
    ['    young: 2e5'],
    [],
  ]);
  assert.deepEqual(changes(TEXT, setValue(TEXT, ['materials', 'packed', 'young'], 3)), [
    ['  packed: {preset: snow_packed, hardening_cap: 5, young: 3}'],
    ['  packed: {preset: snow_packed, hardening_cap: 5}'],
  ]);
  assert.deepEqual(changes(TEXT, setValue(TEXT, ['colliders', 0, 'shape', 'plane', 'point'], [0, 1, 0]))[0], [
    '  - {name: ground, shape: {plane: {point: [0, 1, 0]}}, friction: 0.6} # g',
  ]);
  assert.deepEqual(changes(TEXT, setValue(TEXT, ['simulation', 'gravity'], [0, -1, 0])), [
    ['simulation: {gravity: [0, -1, 0]}'],
    [],
  ]);
  assert.deepEqual(changes(TEXT, setValue(TEXT, ['objects', 0, 'temperature'], new Raw('20C'))), [
    ['    temperature: 20C'],
    [],
  ]);
});

test('things are added, removed, duplicated and renamed', () => {
  assert.deepEqual(changes(TEXT, addItem(TEXT, ['objects'], {name: 'b', shape: {box: {}}})), [
    ['  - {name: b, shape: {box: {}}}'],
    [],
  ]);
  assert.deepEqual(parse(addItem(TEXT, ['heat', 'sources'], {power: 1})).heat, {sources: [{power: 1}]});
  assert.deepEqual(changes(TEXT, addEntry(TEXT, 'materials', 'jelly', {preset: 'jelly'})), [
    ['  jelly: {preset: jelly}'],
    [],
  ]);
  assert.deepEqual(changes(TEXT, removeAt(TEXT, ['objects', 1]))[0], []);
  assert.equal(parse(removeAt(TEXT, ['objects', 0])).objects.length, 1);
  const none = removeAt(TEXT, ['colliders', 0]);
  assert.deepEqual(parse(none).colliders, []);
  assert.deepEqual(parse(addItem(none, ['colliders'], {name: 'g'})).colliders, [{name: 'g'}]);
  assert.equal(parse(removeAt(TEXT, ['objects', 0, 'name'])).objects[0].material, 'packed');
  const twice = parse(duplicateItem(TEXT, ['objects', 0])).objects;
  assert.deepEqual(twice[0], twice[1]);
  assert.deepEqual(
    parse(duplicateEntry(TEXT, ['materials', 'snow'], 'other')).materials.other,
    parse(TEXT).materials.snow,
  );
  assert.ok(parse(renameKey(TEXT, ['materials', 'snow'], 'powder')).materials.powder);
});

test('every scene survives an edit of each of its values', () => {
  const folder = join(process.env.FIRN_ROOT!, 'scenes');
  for (const file of readdirSync(folder).filter(f => f.endsWith('.yaml'))) {
    const text = readFileSync(join(folder, file), 'utf8'),
      before = parse(text, {merge: true}),
      shares = /[&*]\w+/.test(text.replace(/#.*$/gm, '')); /* what has an anchor changes in several places */
    const walk = (value: unknown, path: (string | number)[]): void => {
      if (value !== null && typeof value === 'object') {
        for (const [k, v] of Object.entries(value)) walk(v, [...path, Array.isArray(value) ? Number(k) : k]);
        return;
      }
      const after = setValue(text, path, 12345),
        expected = structuredClone(before);
      let at = expected;
      for (const step of path.slice(0, -1)) at = at[step];
      at[path[path.length - 1]!] = 12345;
      const read = parse(after, {merge: true});
      if (!shares) assert.deepEqual(read, expected, `${file}: ${path.join('.')}`);
      assert.equal(path.reduce((v, step) => v[step], read), 12345, `${file}: ${path.join('.')}`);
      assert.equal(text.match(/#.*$/gm)?.length, after.match(/#.*$/gm)?.length, `${file}: comments`);
    };
    walk(before, []);
  }
});

test('names that others use follow', () => {
  const model = modelOf(TEXT),
    after = parse(rename(TEXT, model, named(model, 'snow'), 'powder'));
  assert.equal(after.objects[1].material, 'powder');
  const jelly =
      'firn: 1\nmaterials:\n  snow: {preset: snow}\nobjects:\n  - {name: a, material: snow, shape: {sphere: {}}}\n',
    m = modelOf(jelly),
    item = named(m, 'snow');
  const made = followPreset(setPreset(jelly, m, item, 'snow_melting', true), m, item, 'snow_melting');
  assert.equal(made.key, 'materials.snow_melting');
  assert.deepEqual(parse(made.text).materials, {snow_melting: {preset: 'snow_melting'}});
  assert.equal(parse(made.text).objects[0].material, 'snow_melting');
  assert.ok(parse(made.text).heat);
});

test('shapes move, turn about their middle and scale', () => {
  let text = newScene(3);
  const added = addShape(text, modelOf(text), 'object', 'box');
  text = added.text;
  const box = (): Item => named(modelOf(text), 'box');
  text = moveTo(text, modelOf(text), box(), [1, 2, 3]);
  assert.deepEqual(placeOf(box()).pivot, [1, 2, 3]);
  text = turnTo(text, modelOf(text), box(), [0, 30, 0]);
  placeOf(box()).pivot.forEach((x, i) => assert.ok(Math.abs(x - [1, 2, 3][i]!) < 2e-3));
  text = moveTo(text, modelOf(text), box(), [0, 1, 0]);
  placeOf(box()).pivot.forEach((x, i) => assert.ok(Math.abs(x - [0, 1, 0][i]!) < 2e-3));
  const size = box().shape!.params.size as number[];
  text = scaleBy(text, box(), [2, 1, 1]);
  assert.deepEqual(box().shape!.params.size, [size[0]! * 2, size[1], size[2]]);
  const copy = duplicate(text, modelOf(text), box());
  assert.equal(copy.key, 'objects.1');
  assert.notDeepEqual(placeOf(named(modelOf(copy.text), 'box_2')).pivot, placeOf(box()).pivot);
  assert.equal(parse(remove(text, modelOf(text), box())).objects.length, 0);
  for (const angles of [
    [10, 20, 30],
    [0, 90, 0],
    [-170, 5, 60],
  ] as [number, number, number][]) {
    const again = rotation(anglesOf(rotation(angles)));
    rotation(angles).forEach((r, i) => r.forEach((x, k) => assert.ok(Math.abs(x - again[i]![k]!) < 1e-6)));
  }
});

test('a drag is one step of undo', () => {
  const d = new SceneDocument();
  d.open(TEXT, 'x');
  for (const v of [6, 7, 8])
    d.edit(setValue(d.text, ['materials', 'snow', 'hardening_cap'], v), 'Change hardening_cap', 'row');
  d.settle();
  d.edit(setValue(d.text, ['materials', 'snow', 'hardening_cap'], 9), 'Change hardening_cap', 'row');
  assert.equal(d.undo(), 'Change hardening_cap');
  assert.equal(parse(d.text).materials.snow.hardening_cap, 8);
  d.undo();
  assert.equal(d.text, TEXT);
  assert.equal(d.edited, false);
  d.redo();
  assert.equal(parse(d.text).materials.snow.hardening_cap, 8);
  d.edit('firn: [', 'Break it');
  assert.equal(d.model.name, 'x');
});

test('units are read and written', () => {
  const pascal = show(5000, 'Pa');
  assert.deepEqual([pascal.text, pascal.unit], ['5', 'kPa']);
  assert.equal(parseUnits('7', 'Pa', 'real', pascal), 7000);
  assert.equal(parseUnits('5 MPa', 'Pa', 'real', pascal), 5e6);
  assert.equal(parseUnits('80 cm', 'm', 'real', show(1, 'm')), 0.8);
  assert.equal(parseUnits('20 C', 'K', 'temperature', show(300, 'K', 'temperature')), 293.15);
  assert.equal(parseUnits('300 K', 'K', 'temperature', show(300, 'K', 'temperature')), 300);
  assert.equal(parseUnits('−3', '', 'real', show(0, '')), -3);
  assert.equal(parseUnits('1,300', 'kg/m3', 'real', show(1, 'kg/m3')), 1300);
  assert.equal(parseUnits('five', 'Pa', 'real', pascal), null);
  assert.equal(writeNumber(307.15, 'temperature'), '34C');
  assert.equal(readNumber('34C'), 307.15);
  assert.equal(writeNumber(1.4e5), '1.4e5');
});
