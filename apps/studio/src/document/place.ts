/* Where shapes are, and how moving, turning and scaling one changes the scene.
 *
 * A shape is scaled, turned about the origin (x, then y, then z) and translated. Its pivot is where its
 * middle comes to lie: handles sit there, and turning keeps it. */
import type {Vec3} from '../protocol.ts';
import {setNumbers, setValue} from './edit.ts';
import {isOperator, vector, type Item, type Model} from './model.ts';
import type {Path} from './path.ts';
import {add, length, scale, sub} from '../view/math.ts';
import {frameOf, inwards, outwards, shapeFrame, sizes, WORLD, type Frame} from './frames.ts';
import {apply, rotation} from './matrix.ts';

/* The middle of a shape in the frame of its item. */
export const middle = (item: Item): Vec3 => outwards(shapeFrame(item), ownMiddle(item));

function ownMiddle(item: Item): Vec3 {
  const p = item.shape?.params ?? {};
  switch (item.shape?.word) {
    case 'capsule':
      return scale(add(vector(p.from, [0, -0.5, 0]), vector(p.to, [0, 0.5, 0])), 0.5);
    case 'plane':
      return vector(p.point);
    case 'polygon': {
      const points = (Array.isArray(p.points) ? p.points : []).map(q => vector(q));
      return points.length ? scale(points.reduce(add, [0, 0, 0]), 1 / points.length) : [0, 0, 0];
    }
    default:
      return vector(p.center);
  }
}

/* In the frame that the item is in: its group's, and of a part that of the whole. */
export type Place = {translate: Vec3; rotate: Vec3; scale: Vec3; pivot: Vec3};

export function placeOf(item: Item): Place {
  const translate = vector(item.fields.translate),
    rotate = vector(item.fields.rotate),
    scale = sizes(item.fields.scale);
  const m = middle(item),
    scaled: Vec3 = [m[0] * scale[0], m[1] * scale[1], m[2] * scale[2]];
  return {
    translate,
    rotate,
    scale,
    pivot: add(translate, apply(rotation(rotate), scaled)),
  };
}

/* Whether the kind of item has translate and rotate; sinks have only their shape. */
const hasFrame = (item: Item): boolean => item.kind !== 'sink';

/* Where handles sit in the scene at a time, and the frame that drags are to be taken into. */
export function handlesOf(model: Model, item: Item, time: number): {pivot: Vec3; frame: Frame} {
  const frame = frameOf(model, item, time);
  return {frame, pivot: outwards(frame, placeOf(item).pivot)};
}

export const moveInScene = (text: string, model: Model, item: Item, frame: Frame, to: Vec3): string =>
  moveTo(text, model, item, inwards(frame, to));

/* As many digits as a tenth of the resolution needs. */
const stepOf = (model: Model): number => Math.pow(10, Math.floor(Math.log10(model.resolution / 10)));

function tidy(model: Model, v: Vec3, like: unknown): number[] {
  const digits = Math.max(0, -Math.log10(stepOf(model)));
  const rounded = v.map(x => +x.toFixed(Math.min(12, Math.round(digits))) + 0);
  const flat = model.dimension === 2 && !(Array.isArray(like) && like.length > 2);
  return flat ? rounded.slice(0, 2) : rounded;
}

/* Writes a point where it differs from what is there. */
const put = (text: string, model: Model, path: Path, v: Vec3, now: unknown): string =>
  setNumbers(text, path, tidy(model, v, now), vector(now), 0.5 * stepOf(model));

/* Moves the pivot. The shape's own centre changes if it alone says where the item is. */
export function moveTo(text: string, model: Model, item: Item, pivot: Vec3): string {
  const shape = item.shape,
    place = placeOf(item);
  const by = sub(pivot, place.pivot);
  const own = shape?.word === 'plane' ? 'point' : 'center';
  const framed =
    shapeFrame(item) !== WORLD || ['translate', 'rotate', 'scale'].some(k => item.fields[k] !== undefined);
  const hasOwn =
    !!shape && !isOperator(shape.word) && !['capsule', 'polygon', 'mesh', 'voxels', 'particles'].includes(shape.word);
  if (shape && hasOwn && !framed) {
    return put(text, model, [...shape.path, own], add(vector(shape.params[own]), by), shape.params[own]);
  }
  if (shape && !hasFrame(item)) {
    for (const key of ['from', 'to']) {
      if (shape.word === 'capsule')
        text = put(
          text,
          model,
          [...shape.path, key],
          add(vector(shape.params[key], [0, key === 'to' ? 0.5 : -0.5, 0]), by),
          shape.params[key],
        );
    }
    if (shape.word === 'polygon' && Array.isArray(shape.params.points)) {
      text = setValue(
        text,
        [...shape.path, 'points'],
        shape.params.points.map(p => tidy(model, add(vector(p), by), p)),
      );
    }
    return text;
  }
  return put(text, model, [...item.path, 'translate'], add(place.translate, by), item.fields.translate);
}

/* Turns about the pivot. */
export function turnTo(text: string, model: Model, item: Item, degrees: Vec3): string {
  if (!hasFrame(item)) return text;
  const place = placeOf(item),
    m = middle(item);
  const scaled: Vec3 = [m[0] * place.scale[0], m[1] * place.scale[1], m[2] * place.scale[2]];
  const rounded = degrees.map(d => +d.toFixed(1) + 0) as Vec3;
  text = setNumbers(text, [...item.path, 'rotate'], rounded, place.rotate, 0.05);
  if (length(m) === 0) return text;
  return put(
    text,
    model,
    [...item.path, 'translate'],
    sub(place.pivot, apply(rotation(rounded), scaled)),
    item.fields.translate,
  );
}

const LENGTHS: Record<string, Record<string, number>> = {
  sphere: {radius: 0.5},
  disc: {radius: 0.5},
  capsule: {radius: 0.5},
  cylinder: {radius: 0.5, height: 1},
  cone: {radius: 0.5, height: 1},
  torus: {radius: 0.5, tube: 0.2},
  ring: {radius: 0.5, inner: 0.25},
  mesh: {scale: 1},
};
const VECTORS: Record<string, Record<string, Vec3>> = {
  box: {size: [1, 1, 1]},
  rectangle: {size: [1, 1, 1]},
  inside: {size: [1, 1, 1]},
  ellipsoid: {radii: [0.5, 0.5, 0.5]},
};

export const canScale = (item: Item): boolean =>
  item.kind === 'group' ||
  (!!item.shape && (item.shape.word in LENGTHS ||
    item.shape.word in VECTORS ||
    ['polygon', 'particles', 'voxels'].includes(item.shape.word)));

/* Scales sizes by a factor for each axis; those that are one number take the geometric mean. `item` is as
 * it was when the drag began, and so are its sizes. */
export function scaleBy(text: string, item: Item, factor: Vec3): string {
  const shape = item.shape;
  const mean = Math.cbrt(Math.max(1e-9, factor[0] * factor[1] * factor[2])),
    round = (x: number) => +x.toPrecision(3);
  if (item.kind === 'group') return setValue(text, [...item.path, 'scale'], round(sizes(item.fields.scale)[0] * mean));
  if (!shape) return text;
  if (shape.word in LENGTHS && shape.path.length > item.path.length) {
    for (const [key, fallback] of Object.entries(LENGTHS[shape.word])) {
      const now = typeof shape.params[key] === 'number' ? (shape.params[key] as number) : fallback;
      text = setValue(text, [...shape.path, key], round(now * mean));
    }
    return text;
  }
  if (shape.word in VECTORS) {
    for (const [key, fallback] of Object.entries(VECTORS[shape.word])) {
      const given = shape.params[key],
        now = vector(given, fallback).map((x, i) => round(x * factor[i]));
      text = setValue(text, [...shape.path, key], Array.isArray(given) ? now.slice(0, given.length) : now);
    }
    return text;
  }
  if (shape.word === 'polygon' && Array.isArray(shape.params.points)) {
    const m = middle(item);
    return setValue(
      text,
      [...shape.path, 'points'],
      shape.params.points.map(p => {
        const v = vector(p);
        return [round(m[0] + (v[0] - m[0]) * factor[0]), round(m[1] + (v[1] - m[1]) * factor[1])];
      }),
    );
  }
  return setValue(
    text,
    [...item.path, 'scale'],
    sizes(item.fields.scale).map((x, i) => round(x * factor[i])),
  );
}
