/* What a scene's text says, as the page needs it: lists of things with their shape, place and material. */
import type {Document} from 'yaml';
import type {Vec3} from '../protocol.ts';
import type {Path} from './path.ts';

export type ItemKind = 'scene' | 'object' | 'emitter' | 'collider' | 'sink' | 'source' | 'material';
export type Fields = Record<string, unknown>;

export type Shape = {word: string; params: Fields; path: Path};
export type Item = {
  kind: ItemKind;
  key: string; /* stays the same while the scene is edited elsewhere: objects.0 */
  path: Path;
  name: string; /* given, or made from its kind and place */
  shape: Shape | null;
  material: string;
  visible: boolean;
  fields: Fields;
};

/* The scene itself, where a text has none to show. */
export const SCENE: Item = {
  kind: 'scene',
  key: '',
  path: [],
  name: 'Scene',
  shape: null,
  material: '',
  visible: true,
  fields: {},
};
export type Model = {
  name: string;
  dimension: 2 | 3;
  up: 'y' | 'z';
  resolution: number;
  heat: boolean;
  items: Item[]; /* the scene first */
  root: Fields;
};

export const isFields = (v: unknown): v is Fields => typeof v === 'object' && v !== null && !Array.isArray(v);
const fields = (v: unknown): Fields => (isFields(v) ? v : {});
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);

export function vector(v: unknown, fallback: Vec3 = [0, 0, 0]): Vec3 {
  if (!Array.isArray(v)) return [...fallback];
  return [0, 1, 2].map(i => (typeof v[i] === 'number' ? v[i] : i < v.length ? fallback[i] : 0)) as Vec3;
}

function shapeOf(of: Fields, path: Path): Shape | null {
  const shape = of.shape;
  if (typeof shape === 'string') return {word: shape, params: {}, path: [...path, 'shape']};
  if (isFields(shape)) {
    const word = Object.keys(shape)[0];
    if (word) return {word, params: fields(shape[word]), path: [...path, 'shape', word]};
  }
  for (const word of ['mesh', 'voxels', 'particles']) {
    if (typeof of[word] === 'string') return {word, params: {file: of[word]}, path};
  }
  return null;
}

function itemOf(kind: ItemKind, path: Path, value: unknown, fallback: string): Item {
  const of = fields(value);
  return {
    kind,
    key: path.join('.'),
    path,
    fields: of,
    name: typeof of.name === 'string' || typeof of.name === 'number' ? String(of.name) : fallback,
    shape: kind === 'material' || kind === 'scene' ? null : shapeOf(of, path),
    material: typeof of.material === 'string' ? of.material : '',
    visible: of.visible !== false,
  };
}

export function readModel(doc: Document): Model {
  const root = fields(doc.toJS({maxAliasCount: 0}));
  const name = typeof root.name === 'string' || typeof root.name === 'number' ? String(root.name) : 'scene';
  const items: Item[] = [itemOf('scene', [], {}, 'Scene')];
  list(root.objects).forEach((o, i) => {
    items.push(itemOf(fields(o).emit !== undefined ? 'emitter' : 'object', ['objects', i], o, `object_${i + 1}`));
  });
  list(root.colliders).forEach((c, i) => items.push(itemOf('collider', ['colliders', i], c, `collider_${i + 1}`)));
  list(root.sinks).forEach((s, i) => items.push(itemOf('sink', ['sinks', i], s, `sink_${i + 1}`)));
  list(fields(root.heat).sources).forEach((s, i) =>
    items.push(itemOf('source', ['heat', 'sources', i], s, `source_${i + 1}`)),
  );
  for (const [key, value] of Object.entries(fields(root.materials))) {
    items.push({...itemOf('material', ['materials', key], value, key), name: key});
  }
  return {
    name,
    root,
    items,
    dimension: root.dimension === 2 ? 2 : 3,
    up: root.up === 'z' ? 'z' : 'y',
    resolution: typeof root.resolution === 'number' ? root.resolution : 0.02,
    heat: root.heat !== undefined,
  };
}

/* Whether a scene has nothing to simulate yet. One with a key that no scene has is left to the engine, which names
 * the mistake; so is one that includes others. */
export function isEmptyModel(model: Model, keys: readonly string[] | null): boolean {
  const {objects, include} = model.root;
  if (include !== undefined || !(objects === undefined || objects === null || (Array.isArray(objects) && !objects.length)))
    return false;
  return Object.keys(model.root).length > 0 && Object.keys(model.root).every(k => keys === null || keys.includes(k));
}

/* The value at a path, undefined if the scene gives none. */
export function valueAt(root: Fields, path: Path): unknown {
  let at: unknown = root;
  for (const step of path) {
    if (Array.isArray(at) && typeof step === 'number') at = at[step];
    else if (isFields(at)) at = at[String(step)];
    else return undefined;
  }
  return at;
}

/* Names not yet taken: ball, ball_2, ball_3. */
export function freeName(model: Model, wish: string): string {
  const taken = new Set(model.items.map(i => i.name));
  if (!taken.has(wish)) return wish;
  const stem = wish.replace(/_\d+$/, '');
  for (let n = 2; ; n++) if (!taken.has(`${stem}_${n}`)) return `${stem}_${n}`;
}
