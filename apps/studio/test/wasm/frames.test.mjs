/* Where the page's handles sit, and where a drag takes a thing, against the engine's own poses. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {createEngine, load} from './support.mjs';

const {readModel} = load('document/model'), {parseText} = load('document/edit');
const {handlesOf, moveInScene, turnTo, placeOf} = load('document/place'), {frameOf} = load('document/frames');
const matrix = load('document/matrix');

const TEXT = `firn: 1
resolution: 0.1
frames: {end: 24}
variables: {lift: 20 cm}
materials: {soft: {preset: jelly}}
groups:
  - name: arm
    translate: [0.1, $lift, 0]
    rotate: [10, 20, 30]
    scale: 1.5
    pivot: [0.5, 0, 0]
    interpolation: smooth
    keys: {0: {}, 250 ms: {at: [0, 0.3, 0], rotate: [0, 0, 50]}, 0.6: {at: [0.1, 0.4, 0], rotate: [0, 200, 90]}}
  - {name: hand, parent: arm, translate: [0.4, 0, 0.1], rotate: [0, 45 deg, 0], spin: [0, 120, 0]}
  - {name: tip, parent: hand, scale: 0.5, translate: [0, 0.3, 0], interpolation: step, keys: {0: {}, 0.4: {at: [0, 1, 0]}}}
objects:
  - {name: ball, group: hand, shape: {sphere: {center: [0, 4, 0], radius: 0.2}}}
colliders:
  - {name: a, group: arm, shape: {box: {center: [0.2, 0.1, 0], size: [0.1, 0.2, 0.3]}}, translate: [0.3, 0, 0], rotate: [0, 0, 20]}
  - {name: b, group: hand, shape: {sphere: {center: [0.1, 0.1, 0], radius: 0.1}}}
  - {name: c, group: tip, shape: {box: {size: [0.1, 0.2, 0.3]}}, translate: [0.2, 0, 0], spin: [0, 0, 90]}
  - {name: d, shape: {box: {center: [1, 0, 0]}}, keys: {0: {}, 1: {at: [0, 1, 0], rotate: [0, 0, 360]}}, pivot: [1, 1, 0]}
  - {name: e, group: arm, shape: {box: {center: [1, 0, 0]}}, keys: {0: {}, 1: {at: [0, 1, 0]}}, interpolation: smooth}
`;

const near = (a, b, what) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 2e-5, `${what}: ${a} is not ${b}`));
const turnOf = ([w, x, y, z]) => [
  [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
];
const colliders = model => model.items.filter(i => i.kind === 'collider');

test('colliders in groups stand where the engine has them, at every time', async () => {
  const engine = await createEngine();
  const {scene} = engine.ask({do: 'open', text: TEXT}, 'scene');
  const model = readModel(parseText(TEXT), scene.numbers);
  for (let i = 0; i < 20; i++) {
    const frame = engine.step();
    for (const item of colliders(model)) {
      const pose = frame.poses[item.path[1]], what = `${item.name} at ${frame.time}`;
      near(pose.position, handlesOf(model, item, frame.time).pivot, what);
      const turn = matrix.multiply(frameOf(model, item, frame.time).turn, matrix.rotation(placeOf(item).rotate));
      turnOf(pose.rotation).forEach((row, r) => near(row, turn[r], what));
    }
  }
});

test('what is dragged and turned in a group goes where the pointer takes it', async () => {
  const engine = await createEngine();
  let text = TEXT, {numbers} = engine.ask({do: 'open', text}, 'scene').scene;
  const to = [0.31, 0.72, -0.43], turn = matrix.rotation([15, 25, 35]);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'hand', 'tip', 'ball']) {
    let model = readModel(parseText(text), numbers), item = model.items.find(i => i.name === name);
    text = moveInScene(text, model, item, handlesOf(model, item, 0).frame, to);
    model = readModel(parseText(text), numbers);
    item = model.items.find(i => i.name === name);
    const {frame, pivot} = handlesOf(model, item, 0);
    pivot.forEach((x, i) => assert.ok(Math.abs(x - to[i]) < 0.02, `${name} is at ${pivot}`)); /* a tenth of the resolution */
    text = turnTo(text, model, item, matrix.anglesOf(matrix.multiply(matrix.transposed(frame.turn), turn)));
    if (!name.match(/^[a-e]$/)) continue;
    const {event, ...rest} = engine.ask({do: 'edit', text}, 'scene');
    assert.equal(event, 'scene', rest.text);
    const before = engine.events.length;
    for (const e of engine.events) if (e.event === 'frame') engine.send({do: 'shown', picture: e.picture});
    engine.send({do: 'want', totals: true}); /* a picture comes again */
    for (let i = 0; i < 100 && !engine.events.slice(before).some(e => e.event === 'frame'); i++) engine.turn(1);
    const pose = engine.last('frame').poses[item.path[1]];
    pose.position.forEach((x, i) => assert.ok(Math.abs(x - to[i]) < 0.05, `${name} is at ${pose.position}`));
    turnOf(pose.rotation).forEach((row, r) => row.forEach((x, c) => assert.ok(Math.abs(x - turn[r][c]) < 2e-3, name)));
  }
  assert.ok(text.includes('250 ms: {at: [0, 0.3, 0], rotate: [0, 0, 50]}'));
});
