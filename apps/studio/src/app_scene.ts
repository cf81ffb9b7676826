/* What the view needs of a scene's text: shapes to outline, a camera to begin with. */
import type {SceneInfo, Vec3} from './protocol.ts';
import {frameOf, groupsOf, placeFrame, shapeFrame, within, WORLD, type Frame} from './document/frames.ts';
import {isFields, vector, withParts, type Item, type Model} from './document/model.ts';
import {placeOf} from './document/place.ts';
import {affine, type Mat4} from './view/math.ts';
import type {DrawnShape} from './view/view.ts';

const KINDS: Partial<Record<Item['kind'], DrawnShape['kind']>> = {
  object: 'object',
  emitter: 'emitter',
  collider: 'collider',
  sink: 'sink',
  source: 'heat',
};

/* What the shapes of a scene are drawn by. */
export type Drawing = {
  model: Model;
  selection: string;
  hidden: ReadonlySet<string>;
  scene: SceneInfo | null; /* the engine's: it knows the copies */
  time: number; /* s */
};

/* One for each shape that the text describes, and one for each copy of a collider. What is selected is outlined: a
 * whole with its parts, a group with its members. */
export function drawnShapes(d: Drawing): DrawnShape[] {
  const {model} = d, {items} = model, selected = items.find(i => i.key === d.selection), shapes: DrawnShape[] = [];
  const marked = new Set(selected ? withParts(selected) : []);
  if (selected?.kind === 'group') for (const i of items) if (groupsOf(model, i).includes(selected)) marked.add(i);
  const copies = copiesOf(d.scene);
  for (const item of items) {
    const kind = KINDS[topOf(item).kind];
    if (item.kind === 'group' && item === selected) shapes.push(groupShape(d, item));
    if (!kind || !item.shape || (item.of && !marked.has(item) && !showsParts(model, topOf(item)))) continue;
    const shape = drawn(d, item, kind, marked.has(item)), made = item.kind === 'collider' ? (copies.get(item.key) ?? []) : [];
    /* What is copied stands elsewhere: its entry is there to be moved. */
    const apart = item.kind === 'collider' && isCopied(model, item);
    if (!apart) shapes.push(made.length ? posed(d.scene!, made[0], shape) : shape);
    else if (item === selected) shapes.push({...shape, kind: 'heat', visible: true});
    if (apart) for (const k of made) shapes.push(copied(d.scene!, k, shape));
  }
  return shapes;
}

/* Whether a shape of several parts is drawn by their outlines: without a mesh, unless particles show it. */
const showsParts = (model: Model, of: Item): boolean =>
  of.kind !== 'object' && (of.kind !== 'collider' || model.dimension === 2);

const topOf = (item: Item): Item => (item.of ? topOf(item.of) : item);

/* Whether instances of its own or of a group make copies of it. */
export const isCopied = (model: Model, item: Item): boolean =>
  [item, ...groupsOf(model, item)].some(i => i.fields.instances !== undefined);

/* How many the engine has made of an entry, and of how many particles. */
export function countsOf(scene: SceneInfo | null, item: Item): {copies: number; particles: number} {
  const none = {copies: 0, particles: 0}, [list, index] = item.path;
  if (!scene || item.path.length !== 2 || (list !== 'objects' && list !== 'colliders')) return none;
  const all: {entry?: number; count?: number}[] = scene[list];
  const made = all.filter((o, i) => (o.entry ?? i) === index);
  return {copies: made.length, particles: made.reduce((sum, o) => sum + (o.count ?? 0), 0)};
}

/* The engine's colliders by the key of their item. */
function copiesOf(scene: SceneInfo | null): Map<string, number[]> {
  const out = new Map<string, number[]>();
  scene?.colliders.forEach((c, k) => {
    const key = `colliders.${c.entry ?? k}`;
    out.set(key, [...(out.get(key) ?? []), k]);
  });
  return out;
}

function drawn(d: Drawing, item: Item, kind: DrawnShape['kind'], selected: boolean): DrawnShape {
  const place = placeOf(item), {color} = item.fields, own = shapeFrame(item);
  const around = frameOf(d.model, item, d.time, place.pivot);
  /* What a shape says of its place beside its word comes first. */
  const frame = own === WORLD ? around : within(within(around, placeFrame(item)), own);
  return {
    name: item.of || item.kind === 'sink' || item.kind === 'source' ? item.key : `${item.kind} ${item.name}`,
    item: item.key,
    kind: item.of ? 'heat' : kind,
    shape: item.shape!.word,
    params: item.shape!.params,
    position: own === WORLD ? place.translate : [0, 0, 0],
    rotation: own === WORLD ? place.rotate : [0, 0, 0],
    scale: own === WORLD ? place.scale : undefined,
    frame: frame === WORLD ? undefined : affineOf(frame),
    color: Array.isArray(color) ? vector(color) : undefined,
    selected,
    handled: item.key === d.selection,
    visible: item.of ? true : item.kind === 'collider' ? item.visible : !d.hidden.has(item.name),
  };
}

/* A collider that the engine has posed. Its meshes have their size. */
const posed = (scene: SceneInfo, k: number, of: DrawnShape): DrawnShape => ({
  ...of,
  collider: k,
  meshed: scene.colliders[k].mesh,
  size: scene.colliders[k].mesh ? 1 : (scene.colliders[k].scale ?? 1),
});

const copied = (scene: SceneInfo, k: number, of: DrawnShape): DrawnShape => ({
  ...posed(scene, k, of),
  name: `copy ${k}`,
  handled: false,
});

/* Without a form: it has handles alone. */
const groupShape = (d: Drawing, group: Item): DrawnShape => ({
  name: `group ${group.name}`,
  item: group.key,
  kind: 'heat',
  shape: 'group',
  params: {},
  position: placeOf(group).pivot,
  rotation: [0, 0, 0],
  frame: affineOf(frameOf(d.model, group, d.time)),
  selected: true,
  handled: true,
  visible: true,
});

function affineOf(f: Frame): Mat4 {
  const [x, y, z] = [0, 1, 2].map(i => f.linear.map(r => r[i]) as Vec3);
  return affine(x, y, z, f.position);
}

/* For a scene that has nothing to simulate yet. */
export function emptyScene(model: Model): SceneInfo {
  return {
    name: model.name,
    dimension: model.dimension,
    first: 1,
    last: 24,
    fps: 24,
    playback: 24,
    resolution: model.resolution,
    cell_size: 2 * model.resolution,
    heat: model.heat,
    up: model.up,
    materials: [],
    objects: [],
    colliders: [],
  };
}

/* A value, or that of its first key. */
const firstOf = (v: unknown): unknown => (isFields(v) && isFields(v.keys) ? Object.values(v.keys)[0] : v);

/* The direction that the scene's camera looks from, in degrees, and, if it names them, target and distance. */
export function cameraOf(model: Model): {azimuth: number; elevation: number; target?: Vec3; distance?: number} {
  const fallback = {azimuth: 25, elevation: 16},
    given = model.root.camera;
  if (!isFields(given)) return fallback;
  const camera = Object.fromEntries(Object.entries(given).map(([k, v]) => [k, firstOf(v)]));
  const number = (v: unknown, otherwise: number) => (typeof v === 'number' ? v : otherwise);
  if (!Array.isArray(camera.position))
    return {azimuth: number(camera.azimuth, fallback.azimuth), elevation: number(camera.elevation, fallback.elevation)};
  const p = vector(camera.position),
    t = vector(camera.target);
  let d: Vec3 = [p[0] - t[0], p[1] - t[1], p[2] - t[2]];
  if (model.up === 'z') d = [d[0], d[2], -d[1]];
  const length = Math.hypot(...d), half = (angle: number) => Math.tan((angle * Math.PI) / 360);
  const zoom = half(number(camera.field_of_view ?? camera.fov, 32)) / half(32); /* the page has one lens */
  if (length === 0) return fallback;
  return {
    azimuth: (Math.atan2(d[0], d[2]) * 180) / Math.PI, elevation: (Math.asin(d[1] / length) * 180) / Math.PI,
    ...(Array.isArray(camera.target) ? {target: t, distance: length * zoom} : {}),
  };
}
