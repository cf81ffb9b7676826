/* What a scene's text says, as the page needs it: lists of things with their shape, place and material. */
import type {Document} from 'yaml';
import type {Vec3} from '../protocol.ts';
import type {Path} from './path.ts';

export type ItemKind = 'scene' | 'group' | 'object' | 'emitter' | 'collider' | 'sink' | 'source' | 'material' | 'part';
export type Fields = Record<string, unknown>;

/* A shape that is made of others: its parts are items of their own. */
export const OPERATORS = ['union', 'difference', 'intersection'] as const;
export type Operator = (typeof OPERATORS)[number];
export const isOperator = (word: string): word is Operator => (OPERATORS as readonly string[]).includes(word);

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
  group: string; /* that it is in; of a group, its parent; "" for none */
  parts: Item[]; /* of its shape */
  of: Item | null; /* of a part, what it is a part of */
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
  group: '',
  parts: [],
  of: null,
};
export type Model = {
  name: string;
  dimension: 2 | 3;
  up: 'y' | 'z';
  resolution: number;
  heat: boolean;
  items: Item[]; /* the scene first */
  root: Fields; /* expressions that the engine has computed are numbers */
  numbers: Numbers;
};

/* What comes out of expressions, by their text. */
export type Numbers = Readonly<Record<string, number>>;

const MOST_ALIASES = 1000; /* of values within each other: what more of them would make is not unfolded */

export const isFields = (v: unknown): v is Fields => typeof v === 'object' && v !== null && !Array.isArray(v);
const fields = (v: unknown): Fields => (isFields(v) ? v : {});
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);

export function vector(v: unknown, fallback: Vec3 = [0, 0, 0]): Vec3 {
  if (!Array.isArray(v)) return [...fallback];
  return [0, 1, 2].map(i => (typeof v[i] === 'number' ? v[i] : i < v.length ? fallback[i] : 0)) as Vec3;
}

/* What a shape says beside its word. */
const BESIDE = ['translate', 'rotate', 'round', 'offset', 'shell'];

function wordOf(shape: unknown, path: Path): Shape | null {
  if (typeof shape === 'string') return {word: shape, params: {}, path};
  if (!isFields(shape)) return null;
  const word = Object.keys(shape).find(w => !BESIDE.includes(w));
  return word === undefined ? null : {word, params: fields(shape[word]), path: [...path, word]};
}

function shapeOf(of: Fields, path: Path): Shape | null {
  const shape = wordOf(of.shape, [...path, 'shape']);
  if (shape) return shape;
  for (const word of ['mesh', 'voxels', 'particles']) {
    if (typeof of[word] === 'string') return {word, params: {file: of[word]}, path};
  }
  return null;
}

/* The parts of a shape, and theirs. */
function addParts(item: Item): void {
  const shape = item.shape, at = shape?.path;
  if (!shape || !at || !isOperator(shape.word)) return;
  const holder = item.kind === 'part' ? item.fields : fields(item.fields.shape);
  list(holder[shape.word]).forEach((value, i) => {
    const path = [...at, i], own = wordOf(value, path);
    const sign = shape.word === 'difference' && i > 0 ? 'minus ' : shape.word === 'intersection' && i > 0 ? 'within ' : '';
    const part: Item = {
      ...itemOf('part', path, value, `${sign}${own?.word ?? 'shape'}`),
      shape: own,
      of: item,
    };
    addParts(part);
    item.parts.push(part);
  });
}

/* An item with all its parts, each before its own. */
export const withParts = (item: Item): Item[] => [item, ...item.parts.flatMap(withParts)];

function itemOf(kind: ItemKind, path: Path, value: unknown, fallback: string): Item {
  const of = fields(value);
  const item: Item = {
    kind,
    key: path.join('.'),
    path,
    fields: of,
    name: typeof of.name === 'string' || typeof of.name === 'number' ? String(of.name) : fallback,
    shape: ['material', 'scene', 'group', 'part'].includes(kind) ? null : shapeOf(of, path),
    material: typeof of.material === 'string' ? of.material : '',
    visible: of.visible !== false,
    group: String((kind === 'group' ? of.parent : of.group) ?? ''),
    parts: [],
    of: null,
  };
  addParts(item);
  return item;
}

/* The same with numbers in place of expressions. */
function computed(value: unknown, numbers: Numbers): unknown {
  if (typeof value === 'string') return Object.hasOwn(numbers, value) ? numbers[value] : value;
  if (Array.isArray(value)) return value.map(v => computed(v, numbers));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, computed(v, numbers)]));
}

export function readModel(doc: Document, numbers: Numbers = {}): Model {
  const root = fields(computed(doc.toJS({maxAliasCount: MOST_ALIASES}), numbers));
  const name = typeof root.name === 'string' || typeof root.name === 'number' ? String(root.name) : 'scene';
  const items: Item[] = [itemOf('scene', [], {}, 'Scene')];
  list(root.groups).forEach((g, i) => items.push(itemOf('group', ['groups', i], g, `group_${i + 1}`)));
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
    numbers,
    items: items.flatMap(withParts),
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
