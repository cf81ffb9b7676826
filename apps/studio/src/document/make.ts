/* New scenes, and new things in a scene. Sizes suit the scene's resolution; what falls starts above the
 * ground. */
import type {Vec3} from '../protocol.ts';
import {
  addEntry,
  addItem,
  duplicateEntry,
  duplicateItem,
  parseText,
  removeAt,
  renameKey,
  setValue,
  Raw,
  type Value,
} from './edit.ts';
import {frameOf} from './frames.ts';
import {anglesOf, multiply, rotation, transposed} from './matrix.ts';
import {freeName, isFields, readModel, type Item, type ItemKind, type Model} from './model.ts';
import type {Path} from './path.ts';
import {handlesOf, moveInScene, moveTo, placeOf, turnTo} from './place.ts';
import {add, length, sub} from '../view/math.ts';

export function newScene(dimension: 2 | 3): string {
  return `firn: 1
name: untitled
${dimension === 2 ? 'dimension: 2\nresolution: 0.01\n' : 'resolution: 0.02\n'}frames: {end: 120}
colliders:
  - {name: ground, shape: {plane: {}}, friction: 0.4}
`;
}

export type Made = {text: string; key: string};

export const SHAPE_NAMES: Record<string, string> = {
  sphere: 'Ball',
  box: 'Box',
  capsule: 'Capsule',
  cylinder: 'Cylinder',
  cone: 'Cone',
  torus: 'Torus',
  ellipsoid: 'Ellipsoid',
  inside: 'Walls of a box',
  plane: 'Plane',
  mesh: 'Mesh file',
  rectangle: 'Rectangle',
  disc: 'Disc',
  ring: 'Ring',
  polygon: 'Polygon',
  tube: 'Tube',
  frustum: 'Frustum',
  rounded_box: 'Rounded box',
  rounded_rectangle: 'Rounded rectangle',
  heightfield: 'Heightfield',
  union: 'Union of shapes',
  difference: 'Difference of shapes',
  intersection: 'Intersection of shapes',
};

const round = (x: number): number => +x.toPrecision(2) + 0;

/* A size of about a dozen to twenty particles across. */
const sizeOf = (model: Model): number => round(model.resolution * (model.dimension === 2 ? 30 : 16));

function shapeValue(model: Model, word: string, at: Vec3, size: number): Value {
  const flat = model.dimension === 2;
  const center = (flat ? at.slice(0, 2) : at).map(round);
  const half = round(size / 2);
  switch (word) {
    case 'plane':
      return {plane: {}};
    case 'box':
      return {box: {center, size: [size, size, size]}};
    case 'rectangle':
      return {rectangle: {center, size: [size, size]}};
    case 'capsule':
      return {
        capsule: {
          from: flat ? [round(at[0] - half), center[1]] : [round(at[0] - half), center[1], center[2]],
          to: flat ? [round(at[0] + half), center[1]] : [round(at[0] + half), center[1], center[2]],
          radius: round(size / 4),
        },
      };
    case 'cylinder':
    case 'cone':
      return {[word]: {center, radius: half, height: size}};
    case 'tube':
      return {tube: {center, radius: half, inner: round(size * 0.35), height: size}};
    case 'frustum':
      return {frustum: {center, radius: half, top: round(size / 4), height: size}};
    case 'rounded_box':
    case 'rounded_rectangle':
      return {[word]: {center, size: flat ? [size, size] : [size, size, size], radius: round(size / 8)}};
    case 'heightfield':
      return {
        heightfield: {
          height: flat ? '0.05 * sin(6 * $x)' : '0.05 * sin(6 * $x + $z)',
          size: flat ? [size * 10, size] : [size * 10, size, size * 10],
        },
      };
    case 'union':
    case 'difference':
    case 'intersection': {
      const beside: Vec3 = [at[0] + size / 3, at[1] + size / 3, at[2]];
      return {[word]: [shapeValue(model, flat ? 'disc' : 'sphere', at, size), shapeValue(model, flat ? 'rectangle' : 'box', beside, size * 0.7)]};
    }
    case 'torus':
      return {torus: {center, radius: half, tube: round(size / 5)}};
    case 'ring':
      return {ring: {center, radius: half, inner: round(size / 4)}};
    case 'ellipsoid':
      return {ellipsoid: {center, radii: [half, round(size / 3), round(size / 3)]}};
    case 'inside':
      return {
        inside: {
          center: flat ? [0, size * 2] : [0, size * 2, 0],
          size: flat ? [size * 5, size * 4] : [size * 5, size * 4, size * 5],
        },
      };
    case 'polygon': {
      const points: Value[] = [];
      for (let i = 0; i < 5; i++) {
        const a = Math.PI * (0.5 + 0.4 * i);
        points.push([round(at[0] + half * Math.cos(a)), round(at[1] + half * Math.sin(a))]);
      }
      return {polygon: {points}};
    }
    default:
      return {[word]: {center, radius: half}};
  }
}

/* A part of another shape, half the size of new things. */
export const shapeFor = (model: Model, word: string, at: Vec3): Value => shapeValue(model, word, at, round(sizeOf(model) / 2));

/* Above what is there, so that it does not overlap. */
function freePlace(model: Model, size: number): Vec3 {
  let top = 0;
  for (const item of model.items) {
    if ((item.kind !== 'object' && item.kind !== 'emitter') || !item.shape) continue;
    const c = item.shape.params.center,
      t = item.fields.translate;
    const y = (Array.isArray(c) ? Number(c[1]) || 0 : 0) + (Array.isArray(t) ? Number(t[1]) || 0 : 0);
    const r = Number(item.shape.params.radius) || 0,
      s = item.shape.params.size;
    top = Math.max(top, y + (r || (Array.isArray(s) ? Number(s[1]) / 2 || 0 : size / 2)));
  }
  const height = top + size * (top > 0 ? 0.6 : 1);
  return model.up === 'z' ? [0, 0, height] : [0, height, 0];
}

/* Presets that melt need heat. */
function withHeat(text: string, model: Model, melts: boolean): string {
  return melts && !model.heat ? setValue(text, ['heat'], {speed: new Raw('1000')}) : text;
}

/* The material for new objects: the last one, or a new one. */
function materialFor(text: string, model: Model, preset: string): {text: string; name: string} {
  const known = model.items.filter(i => i.kind === 'material');
  if (known.length) return {text, name: known[known.length - 1].name};
  return {text: addEntry(text, 'materials', preset, {preset}), name: preset};
}

const lastKey = (model: Model, list: string, path: Path = [list]): string => {
  let n = 0;
  for (const i of model.items) if (i.path.length === path.length + 1 && path.every((p, k) => i.path[k] === p)) n++;
  return [...path, n].join('.');
};

export function addShape(
  text: string,
  model: Model,
  kind: ItemKind,
  word: string,
  at?: Vec3,
  size = sizeOf(model),
): Made {
  const place: Vec3 =
    at ??
    (kind === 'collider'
      ? model.up === 'z'
        ? [size * 2, 0, size / 2]
        : [size * 2, size / 2, 0]
      : kind === 'sink' || kind === 'source'
        ? model.up === 'z'
          ? [0, 0, size / 2]
          : [0, size / 2, 0]
        : freePlace(model, size));
  const shape = shapeValue(model, word, place, size);
  const base = {sphere: 'ball', inside: 'walls', union: 'body', difference: 'body', intersection: 'body'}[word] ?? word;
  if (kind === 'collider') {
    return {
      key: lastKey(model, 'colliders'),
      text: addItem(text, ['colliders'], {name: freeName(model, base), shape, friction: 0.4}),
    };
  }
  if (kind === 'sink') return {key: lastKey(model, 'sinks'), text: addItem(text, ['sinks'], {shape})};
  if (kind === 'source') {
    return {
      key: lastKey(model, '', ['heat', 'sources']),
      text: addItem(text, ['heat', 'sources'], {shape, power: new Raw('1e6')}),
    };
  }
  const made = materialFor(text, model, 'jelly_soft');
  const value: Record<string, Value> = {
    name: freeName(model, kind === 'emitter' ? 'emitter' : base),
    material: made.name,
    shape,
  };
  if (kind === 'emitter') {
    value.velocity = model.dimension === 2 ? [0, -1] : model.up === 'z' ? [0, 0, -1] : [0, -1, 0];
    value.emit = {start: 0, end: 2};
  }
  return {key: lastKey(model, 'objects'), text: addItem(made.text, ['objects'], value)};
}

export function addGroup(text: string, model: Model): Made {
  const translate = model.dimension === 2 ? [0, 0] : [0, 0, 0];
  return {key: lastKey(model, 'groups'), text: addItem(text, ['groups'], {name: freeName(model, 'group'), translate})};
}

/* Puts a thing into a group, or with "" out of its own, and leaves it where it is in the scene. */
export function putIntoGroup(text: string, model: Model, item: Item, group: string): string {
  const path: Path = [...item.path, item.kind === 'group' ? 'parent' : 'group'];
  const {pivot} = handlesOf(model, item, 0), turn = multiply(frameOf(model, item, 0).turn, rotation(placeOf(item).rotate));
  text = group === '' ? removeAt(text, path) : setValue(text, path, group);
  const moved = {...item, group}, frame = frameOf(model, moved, 0);
  const angles = anglesOf(multiply(transposed(frame.turn), turn));
  text = moveInScene(text, model, moved, frame, pivot);
  if (item.kind === 'sink') return text;
  const {items} = readModel(parseText(text), model.numbers), now = items.find(i => i.key === item.key);
  return now && length(sub(angles, placeOf(now).rotate)) > 0.1 ? turnTo(text, model, now, angles) : text;
}

/* An outline drawn by hand. */
export function addOutline(text: string, model: Model, kind: ItemKind, points: [number, number][]): Made {
  const shape = {polygon: {points: points.map(p => p.map(x => +x.toFixed(4) + 0))}};
  if (kind === 'collider')
    return {
      key: lastKey(model, 'colliders'),
      text: addItem(text, ['colliders'], {name: freeName(model, 'outline'), shape, friction: 0.4}),
    };
  const made = materialFor(text, model, 'jelly_soft');
  return {
    key: lastKey(model, 'objects'),
    text: addItem(made.text, ['objects'], {name: freeName(model, 'outline'), material: made.name, shape}),
  };
}

export function addFileObject(text: string, model: Model, file: string, word: 'mesh' | 'particles'): Made {
  const made = materialFor(text, model, 'jelly_soft');
  const name = freeName(model, file.replace(/\.[^.]*$/, '').replace(/\W+/g, '_') || word);
  const value: Value =
    word === 'mesh' ? {name, material: made.name, shape: {mesh: {file}}} : {name, material: made.name, particles: file};
  return {key: lastKey(model, 'objects'), text: addItem(made.text, ['objects'], value)};
}

export function addMaterial(text: string, model: Model, preset: string, melts: boolean): Made {
  const name = freeName(model, preset);
  return {key: `materials.${name}`, text: withHeat(addEntry(text, 'materials', name, {preset}), model, melts)};
}

/* Another preset for a material: values of its own that were given go, its look and noise stay. */
export function setPreset(text: string, model: Model, item: Item, preset: string, melts: boolean): string {
  for (const key of Object.keys(item.fields)) {
    if (!['preset', 'look', 'noise'].includes(key)) text = removeAt(text, [...item.path, key]);
  }
  return withHeat(setValue(text, [...item.path, 'preset'], preset), model, melts);
}

/* A material that is called like its preset takes the name of the next. Gives its key, too. */
export function followPreset(text: string, model: Model, item: Item, preset: string): Made {
  const called = item.name === item.fields.preset || item.name.replace(/_\d+$/, '') === item.fields.preset;
  if (!called) return {text, key: item.key};
  const name = freeName(model, preset);
  return {text: rename(text, model, item, name), key: `materials.${name}`};
}

/* Of a group, its members stay, and are in none. */
export function remove(text: string, model: Model, item: Item): string {
  if (item.kind === 'group') {
    for (const i of model.items) {
      if (i.group === item.name && !i.of) text = removeAt(text, [...i.path, i.kind === 'group' ? 'parent' : 'group']);
    }
  }
  return removeAt(text, item.path);
}

export function duplicate(text: string, model: Model, item: Item): Made {
  const name = freeName(model, item.name);
  if (item.kind === 'material') return {key: `materials.${name}`, text: duplicateEntry(text, item.path, name)};
  const at = item.path[item.path.length - 1] as number,
    copy: Path = [...item.path.slice(0, -1), at + 1];
  text = moveTo(
    duplicateItem(text, item.path),
    model,
    {
      ...item,
      path: copy,
      shape: item.shape && {...item.shape, path: [...copy, ...item.shape.path.slice(item.path.length)]},
    },
    add(placeOf(item).pivot, [extent(model, item) * 1.1, 0, 0]),
  );
  if (item.fields.name !== undefined || !['sink', 'source', 'part'].includes(item.kind))
    text = setValue(text, [...copy, 'name'], name);
  return {key: copy.join('.'), text};
}

/* How wide a thing is, about. */
function extent(model: Model, item: Item): number {
  const p = item.shape?.params ?? {},
    of = (v: unknown): number => (Array.isArray(v) ? Number(v[0]) || 0 : Number(v) || 0);
  return 2 * (of(p.radius) + of(p.tube)) || of(p.size) || 2 * of(p.radii) || sizeOf(model);
}

/* Objects, pairs of contacts and materials refer to each other by name. */
export function rename(text: string, model: Model, item: Item, name: string): string {
  if (item.kind === 'material') {
    text = renameKey(text, item.path, name);
    for (const other of model.items) {
      if (other.material === item.name && other.kind !== 'material')
        text = setValue(text, [...other.path, 'material'], name);
    }
    return text;
  }
  text = setValue(text, [...item.path, 'name'], name);
  if (item.kind === 'group') {
    for (const i of model.items) {
      if (i.group === item.name && !i.of)
        text = setValue(text, [...i.path, i.kind === 'group' ? 'parent' : 'group'], name);
    }
    return text;
  }
  const contacts = Array.isArray(model.root.contacts) ? model.root.contacts : [];
  contacts.forEach((c, i) => {
    if (!isFields(c) || !Array.isArray(c.objects)) return;
    c.objects.forEach((o, k) => {
      if (o === item.name) text = setValue(text, ['contacts', i, 'objects', k], name);
    });
  });
  return text;
}
