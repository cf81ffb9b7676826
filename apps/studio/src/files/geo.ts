/* Houdini's points, .geo, .bgeo and .bgeo.sc. What a file holds is told by its first bytes, never by its name.
 * Reads the modern schema in text or binary, and what came before Houdini 12 (geo_classic.ts); writes modern text. */
import {unpack} from './bytes.ts';
import {isScf, unpackScf} from './blosc.ts';
import {isClassic, readClassic} from './geo_classic.ts';
import {isBinaryJson, parseBinaryJson, Tree} from './json_binary.ts';
import {addColumn, Column, ColumnType, FileError, isFloat, MOST_COMPONENTS, numberAt, numbersOf, Points,
  positionsOf} from './points.ts';

const STORAGE: Record<string, ColumnType> = {fpreal16: 'f32', fpreal32: 'f32', fpreal64: 'f64', int8: 'i8', uint8: 'u8',
  int16: 'i16', int32: 'i32', int64: 'i64'};
const PAGE = 1024; /* points */

function isModernText(bytes: Uint8Array): boolean {
  return /^\s*\[\s*"/.test(String.fromCharCode(...bytes.subarray(0, 256)));
}

export function isGeo(bytes: Uint8Array): boolean {
  return isModernText(bytes) || isBinaryJson(bytes) || isClassic(bytes) || isScf(bytes) || isGzip(bytes);
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/* ---- reading ---- */

type Numbers = ArrayLike<number | null | boolean>;

/* Maps are lists of keys and values in turn. */
function pairs(tree: Tree | undefined, what: string): Map<string, Tree> {
  const map = new Map<string, Tree>();
  if (!Array.isArray(tree)) throw new FileError(`${what} is not a list of names and values.`);
  for (let i = 0; i + 1 < tree.length; i += 2) {
    const key = tree[i];
    if (typeof key === 'string') map.set(key, tree[i + 1]!);
  }
  return map;
}

function isList(tree: Tree | undefined): tree is Tree & Numbers {
  return Array.isArray(tree) || ArrayBuffer.isView(tree);
}

function whole(tree: Tree | undefined, what: string, low: number, high: number): number {
  if (typeof tree !== 'number' || !Number.isInteger(tree) || tree < low || tree > high) {
    throw new FileError(`${what} is not a whole number from ${low} to ${high}.`);
  }
  return tree;
}

function put(column: Column, index: number, value: unknown): void {
  const number = value === null ? NaN : Number(value);
  if (column.data instanceof BigInt64Array) column.data[index] = BigInt(Math.trunc(number) || 0);
  else column.data[index] = number;
}

function few(name: string): never {
  throw new FileError(`The attribute ${name} has not one value for each point.`);
}

/* Pages of 1024 points; within a page, pack after pack of components; a pack may be constant over a page. */
function readPages(body: Map<string, Tree>, raw: Tree & Numbers, size: number, count: number, column: Column): void {
  const page = body.has('pagesize') ? whole(body.get('pagesize'), 'pagesize', 1, PAGE) : PAGE;
  const packing = body.get('packing'), flags = body.get('constantpageflags');
  const packs = isList(packing) ? Array.from(packing, Number) : [size];
  if (packs.some(p => !(p >= 1)) || packs.reduce((a, b) => a + b, 0) !== size) {
    throw new FileError(`The packing of ${column.name} does not add up.`);
  }
  const plain = packs.length === 1 && !flags && column.components === size;
  if (plain && ArrayBuffer.isView(raw) && !(column.data instanceof BigInt64Array)) {
    if (raw.length !== column.data.length) few(column.name);
    (column.data as Float32Array).set(raw); /* point after point */
    return;
  }
  let at = 0;
  for (let first = 0, g = 0; first < count; first += page, g++) {
    const elements = Math.min(page, count - first);
    let component = 0;
    packs.forEach((width, k) => {
      const flag = Array.isArray(flags) ? flags[k] : undefined;
      const constant = isList(flag) && flag.length > 0 && Boolean(flag[g]);
      if (at + (constant ? 1 : elements) * width > raw.length) few(column.name);
      for (let i = 0; i < elements; i++) {
        for (let a = 0; a < width; a++) {
          if (component + a >= column.components) continue;
          put(column, (first + i) * column.components + component + a, raw[at + (constant ? 0 : i * width) + a]);
        }
      }
      at += (constant ? 1 : elements) * width;
      component += width;
    });
  }
  if (at !== raw.length) few(column.name);
}

function readValues(tree: Tree | undefined, name: string, points: Points): Column | undefined {
  const body = pairs(tree, `The attribute ${name}`);
  const size = whole(body.get('size'), `The size of ${name}`, 1, 2 ** 31), storage = body.get('storage');
  const type = typeof storage === 'string' ? STORAGE[storage] : undefined;
  if (!type) throw new FileError(`The storage of ${name} is not known.`);
  if (size > MOST_COMPONENTS) return undefined;
  const kept = name === 'P' && size === 4 ? 3 : size;
  const tuples = body.get('tuples'), arrays = body.get('arrays'), raw = body.get('rawpagedata');
  const column = addColumn(points, name, type, kept);
  if (Array.isArray(tuples)) {
    if (tuples.length !== points.count) few(name);
    tuples.forEach((tuple, i) => {
      if (!isList(tuple) || tuple.length !== size) return few(name);
      for (let a = 0; a < kept; a++) put(column, i * kept + a, tuple[a]);
    });
  } else if (Array.isArray(arrays)) {
    if (arrays.length !== size) few(name);
    for (let a = 0; a < kept; a++) {
      const list = arrays[a];
      if (!isList(list) || list.length !== points.count) return few(name);
      for (let i = 0; i < points.count; i++) put(column, i * kept + a, list[i]);
    }
  } else if (isList(raw)) {
    readPages(body, raw, size, points.count, column);
  } else {
    throw new FileError(`The attribute ${name} has no values in a form that is known.`);
  }
  return column;
}

function readAttribute(tree: Tree, points: Points): void {
  if (!Array.isArray(tree)) throw new FileError('An attribute is not a list.');
  const about = pairs(tree[0], "An attribute's definition"), name = about.get('name'), type = about.get('type');
  if (about.get('scope') !== undefined && about.get('scope') !== 'public') return;
  if (typeof name !== 'string' || name === '' || name.length > 63) return;
  const body = pairs(tree[1], `The attribute ${name}`);
  if (type === 'numeric') readValues(body.get('values'), name, points);
  if (type === 'string') {
    const column = readValues(body.get('indices'), name, points), words = body.get('strings');
    if (column && Array.isArray(words)) column.words = words.map(String);
  }
}

function readModern(tree: Tree): Points {
  const top = pairs(tree, 'The file');
  const points: Points = {count: whole(top.get('pointcount'), 'pointcount', 0, 2 ** 31), columns: []};
  const attributes = pairs(top.get('attributes') ?? [], 'attributes').get('pointattributes');
  for (const attribute of Array.isArray(attributes) ? attributes : []) readAttribute(attribute, points);
  if (points.count > 0) positionsOf(points);
  return points;
}

/* Text may have numbers that JSON has no words for. */
function parseText(bytes: Uint8Array): Tree {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text) as Tree;
  } catch {
    try {
      return JSON.parse(text.replace(/([[,:]\s*)-?(?:nan|inf|NaN|Infinity)\b/g, '$1null')) as Tree;
    } catch (error) {
      throw new FileError(`The file is cut off, or not Houdini's: ${(error as Error).message}.`);
    }
  }
}

export async function readGeo(bytes: Uint8Array): Promise<Points> {
  if (isScf(bytes)) bytes = await unpackScf(bytes);
  else if (isGzip(bytes)) bytes = await unpack(bytes, 'gzip', 'The file');
  if (isClassic(bytes)) return readClassic(bytes);
  if (isBinaryJson(bytes)) return readModern(parseBinaryJson(bytes));
  if (isModernText(bytes)) return readModern(parseText(bytes));
  throw new FileError("The file does not begin as Houdini's do.");
}

/* ---- writing ---- */

/* How Houdini transforms an attribute that it knows by name: its type, components, whether they are real. */
const KNOWN: Record<string, [string, number, boolean]> = {P: ['point', 3, true], v: ['vector', 3, true],
  N: ['normal', 3, true], Cd: ['color', 3, true], orient: ['quaternion', 4, true],
  id: ['nonarithmetic_integer', 1, false], material: ['nonarithmetic_integer', 1, false],
  object: ['nonarithmetic_integer', 1, false]};

function options(column: Column): object {
  const known = KNOWN[column.name];
  const fits = known && known[1] === column.components && known[2] === isFloat(column.type);
  return fits ? {type: {type: 'string', value: known[0]}} : {};
}

/* Whole numbers are 32 bits wide where they fit, as Houdini's own are. */
function storage(column: Column): string {
  if (column.type === 'f32') return 'fpreal32';
  if (column.type === 'f64') return 'fpreal64';
  const numbers = numbersOf(column);
  for (let i = 0; i < numbers.length; i++) {
    if (Math.abs(numbers[i]!) > 2 ** 31 - 1) return 'int64';
  }
  return 'int32';
}

/* Nine digits give every float back. */
function digits(column: Column, index: number): string {
  if (!isFloat(column.type)) return String(column.data[index]);
  const value = numberAt(column, index);
  if (isNaN(value)) return 'nan';
  if (!isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0';
  return column.type === 'f32' ? String(+value.toPrecision(9)) : String(value);
}

function attribute(column: Column, count: number): string {
  const n = column.components, type = storage(column), lines: string[] = [];
  for (let i = 0; i < count; i++) {
    if (n === 1) lines.push(digits(column, i));
    else lines.push(`[${Array.from({length: n}, (_, a) => digits(column, i * n + a)).join(',')}]`);
  }
  const about = JSON.stringify(['scope', 'public', 'type', 'numeric', 'name', column.name, 'options', options(column)]);
  const values = n === 1 ? `"arrays",[[\n${lines.join(',\n')}]]` : `"tuples",[\n${lines.join(',\n')}]`;
  return `[${about},["size",${n},"storage","${type}","defaults",["size",1,"storage","fpreal64","values",[0]],` +
    `"values",["size",${n},"storage","${type}",${values}]]]`;
}

export function writeGeo(points: Points): Uint8Array<ArrayBuffer> {
  const P = positionsOf(points), rest = points.columns.filter(c => c !== P);
  const attributes = [P, ...rest].map(c => attribute(c, points.count)).join(',\n');
  return new TextEncoder().encode('["fileversion","18.5.408","hasindex",false,' +
    `"pointcount",${points.count},"vertexcount",0,"primitivecount",0,"info",{"software":"Firn"},` +
    `"topology",["pointref",["indices",[]]],"attributes",["pointattributes",[\n${attributes}]],"primitives",[]]\n`);
}
