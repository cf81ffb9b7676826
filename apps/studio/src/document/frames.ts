/* Where groups, keys and spin take things: the frames that places are in, as the engine has them
 * (collider/pose.c). A frame takes a point p to linear p + position, and a direction by `turn`. */
import type {Vec3} from '../protocol.ts';
import {add, DEGREE, length, scale, sub} from '../view/math.ts';
import {readNumber} from '../ui/units.ts';
import {isFields, vector, type Fields, type Item, type Model} from './model.ts';
import {apply, multiply, rotation, transposed, type Matrix} from './matrix.ts';

export type Frame = {linear: Matrix; turn: Matrix; position: Vec3};

const SAME: Matrix = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
export const WORLD: Frame = {linear: SAME, turn: SAME, position: [0, 0, 0]};

export const outwards = (f: Frame, p: Vec3): Vec3 => add(apply(f.linear, p), f.position);

/* The point that is taken there. `turn` leaves only even scales and those along the axes. */
export function inwards(f: Frame, p: Vec3): Vec3 {
  const q = apply(transposed(f.turn), sub(p, f.position)), s = multiply(transposed(f.turn), f.linear);
  return [q[0] / s[0][0], q[1] / s[1][1], q[2] / s[2][2]];
}

export const within = (outer: Frame, inner: Frame): Frame => ({
  linear: multiply(outer.linear, inner.linear),
  turn: multiply(outer.turn, inner.turn),
  position: outwards(outer, inner.position),
});

/* ---- keys ---- */

/* An entry of keys, by its text in the scene. */
export type Key = {text: string; time: number; at: Vec3; rotate: Vec3};

/* In the order of the text; those without a time that is known are left out. */
export function keysOf(of: Fields, numbers: Model['numbers']): Key[] {
  if (!isFields(of.keys)) return [];
  return Object.entries(of.keys)
    .map(([text, v]) => ({text, time: timeOf(text, numbers), at: vector(isFields(v) ? v.at : undefined), rotate: vector(isFields(v) ? v.rotate : undefined)}))
    .filter(k => Number.isFinite(k.time))
    .sort((a, b) => a.time - b.time);
}

/* NaN: not known. */
export const timeOf = (text: string, numbers: Model['numbers']): number => numbers[text] ?? readNumber(text) ?? NaN;

/* Fritsch and Carlson (1980), as the engine: 0 at the ends and where the number turns back. */
function slopeAt(keys: Key[], k: number, of: (k: Key) => number): number {
  if (k === 0 || k === keys.length - 1) return 0;
  const [a, b, c] = [keys[k - 1], keys[k], keys[k + 1]];
  const before = (of(b) - of(a)) / (b.time - a.time), after = (of(c) - of(b)) / (c.time - b.time);
  if (before * after <= 0) return 0;
  const slope = (of(c) - of(a)) / (c.time - a.time), most = 3 * Math.min(Math.abs(before), Math.abs(after));
  return Math.max(-most, Math.min(most, slope));
}

/* What keys say of a time. */
export function keyedAt(keys: Key[], interpolation: unknown, time: number): {at: Vec3; rotate: Vec3} {
  if (!keys.length) return {at: [0, 0, 0], rotate: [0, 0, 0]};
  let k = -1;
  while (k + 1 < keys.length && keys[k + 1].time <= time) k++;
  const from = keys[Math.max(k, 0)], to = keys[k + 1];
  if (k < 0 || !to || interpolation === 'step') return {at: [...from.at], rotate: [...from.rotate]};
  const span = to.time - from.time, s = (time - from.time) / span;
  const number = (of: (k: Key) => number): number => {
    const way = of(to) - of(from);
    if (interpolation !== 'smooth') return of(from) + s * way;
    const m = span * slopeAt(keys, k, of), n = span * slopeAt(keys, k + 1, of);
    return of(from) + s * (m + s * (3 * way - 2 * m - n + s * (m + n - 2 * way)));
  };
  return {
    at: [0, 1, 2].map(a => number(key => key.at[a])) as Vec3,
    rotate: [0, 1, 2].map(a => number(key => key.rotate[a])) as Vec3,
  };
}

/* When it has keys of any kind. */
export function keyTimes(item: Item, model: Model): number[] {
  const maps = [item.fields.keys, ...Object.values(item.fields).map(v => (isFields(v) ? v.keys : undefined))];
  const texts = maps.flatMap(m => (isFields(m) ? Object.keys(m) : []));
  return [...new Set(texts.map(t => timeOf(t, model.numbers)))].filter(Number.isFinite).sort((a, b) => a - b);
}

/* Whether it has keys: of its place, or in place of any of its values. */
export const isKeyed = (item: Item): boolean =>
  item.fields.keys !== undefined || Object.values(item.fields).some(v => isFields(v) && isFields(v.keys));

/* Whether keys or spin of its own move it. */
export const movesItself = (item: Item): boolean => item.fields.keys !== undefined || length(vector(item.fields.spin)) > 0;

/* Whether its own keys and spin move it, or those of a group that it is in. */
export const moves = (model: Model, item: Item): boolean =>
  (item.kind !== 'object' && item.kind !== 'emitter' && movesItself(item)) || groupsOf(model, item).some(movesItself);

/* By an angle about an axis as long as it is, in radians. */
function turnBy(axis: Vec3): Matrix {
  const angle = length(axis);
  if (angle === 0) return SAME;
  const [x, y, z] = scale(axis, 1 / angle), c = Math.cos(angle), s = Math.sin(angle), t = 1 - c;
  return [
    [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
    [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
    [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
  ];
}

/* Where its own keys and spin take what stands where the text says. Groups, and what spins, turn about `middle` without a pivot;
 * without that either, only directions turn, as it is wherever it is moved. */
function ownMotion(model: Model, item: Item, time: number, middle?: Vec3): Frame {
  const keys = keysOf(item.fields, model.numbers), flat = model.dimension === 2;
  if (!movesItself(item)) return WORLD;
  const {at, rotate} = keyedAt(keys, item.fields.interpolation, time);
  const only = (v: Vec3): Vec3 => (flat ? [0, 0, v[2]] : v);
  const turn = multiply(rotation(only(rotate)), turnBy(scale(only(vector(item.fields.spin)), time * DEGREE)));
  if (flat) at[2] = 0;
  const given = item.fields.pivot !== undefined || (item.kind !== 'group' && keys.some(k => length(k.rotate) > 0));
  const pivot = given ? vector(item.fields.pivot) : middle;
  if (!pivot) return {linear: SAME, turn, position: at};
  return {linear: turn, turn, position: add(at, sub(pivot, apply(turn, pivot)))};
}

/* ---- groups ---- */

const MOST_PARENTS = 64;

/* The groups that a thing is in, the nearest first. */
export function groupsOf(model: Model, item: Item): Item[] {
  const out: Item[] = [];
  let top = item;
  while (top.of) top = top.of;
  for (let name = top.group; name !== '' && out.length < MOST_PARENTS; ) {
    const found = model.items.find(i => i.kind === 'group' && i.name === name);
    if (!found || out.includes(found)) break;
    out.push(found);
    name = found.group;
  }
  return out;
}

/* Of what is in a group, as far as its entry goes: copies are elsewhere. */
function membersFrame(model: Model, group: Item, time: number): Frame {
  const turn = rotation(vector(group.fields.rotate)), size = readNumber(group.fields.scale) ?? 1;
  const position = vector(group.fields.translate);
  return within(ownMotion(model, group, time, position), {
    linear: multiply(turn, scaledBy([size, size, size])),
    turn,
    position,
  });
}

const scaledBy = (s: Vec3): Matrix => [
  [s[0], 0, 0],
  [0, s[1], 0],
  [0, 0, s[2]],
];

/* The frame that the place of a thing is in at a time. Objects begin in their groups, and are then on their own.
 * `middle`: see ownMotion. */
export function frameOf(model: Model, item: Item, time: number, middle?: Vec3): Frame {
  if (item.of) return within(within(frameOf(model, item.of, time), placeFrame(item.of)), shapeFrame(item.of));
  const begins = item.kind === 'object' || item.kind === 'emitter', at = begins ? 0 : time;
  let frame = begins ? WORLD : ownMotion(model, item, at, middle);
  for (const g of groupsOf(model, item)) frame = within(membersFrame(model, g, at), frame);
  return frame;
}

/* The frame that a shape is in by the item's own place... */
export function placeFrame(item: Item): Frame {
  const turn = rotation(vector(item.fields.rotate)), s = sizes(item.fields.scale);
  return {linear: multiply(turn, scaledBy(s)), turn, position: vector(item.fields.translate)};
}

/* ... and by what the shape says beside its word, which of a part is its place. */
export function shapeFrame(item: Item): Frame {
  const {shape} = item.fields;
  if (item.kind === 'part' || !isFields(shape) || (shape.translate === undefined && shape.rotate === undefined)) return WORLD;
  const turn = rotation(vector(shape.rotate));
  return {linear: turn, turn, position: vector(shape.translate)};
}

/* A scale is three numbers, or one for all axes. */
export function sizes(v: unknown): Vec3 {
  const all = readNumber(v);
  return all !== null ? [all, all, all] : vector(v, [1, 1, 1]);
}
