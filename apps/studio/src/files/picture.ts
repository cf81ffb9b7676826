/* Particles of a file as the engine's binary messages, so that a view shows both alike (protocol.ts has the form). */
import {HEADER, Kind, MAGIC, type Totals, type Vec3} from '../protocol.ts';
import {type Column, findColumn, isFloat, numbersOf, type Points, positionsOf} from './points.ts';

const STEPS = 0x1fffff; /* 21 bits of a place */

function message(kind: Kind, number: number, count: number, bytes: number): {buffer: ArrayBuffer; head: DataView} {
  const buffer = new ArrayBuffer(HEADER + bytes), head = new DataView(buffer);
  [MAGIC, kind, number, count].forEach((v, i) => head.setUint32(4 * i, v, true));
  return {buffer, head};
}

/* What a picture can be coloured by: attributes of one number, and lengths of vectors; speed is that of v. */
export function colorsOf(points: Points): {name: string; components: number}[] {
  const fits = (c: Column): boolean => isFloat(c.type) && !['P', 'v'].includes(c.name) && [1, 3].includes(c.components);
  const colors = points.columns.filter(fits).map(c => ({name: c.name, components: c.components}));
  return findColumn(points, 'v') ? [{name: 'speed', components: 1}, ...colors] : colors;
}

function colorValues(points: Points, name: string): Float32Array | undefined {
  const column = findColumn(points, name === 'speed' ? 'v' : name);
  if (!column) return undefined;
  const numbers = numbersOf(column), n = column.components, values = new Float32Array(points.count);
  for (let i = 0; i < points.count; i++) {
    if (n === 1) {
      values[i] = numbers[i]!;
    } else {
      let sum = 0;
      for (let a = 0; a < n; a++) sum += numbers[i * n + a]! ** 2;
      values[i] = Math.sqrt(sum);
    }
  }
  return values;
}

function putColors(values: Float32Array, head: DataView, to: Uint16Array): void {
  let least = Infinity, most = -Infinity;
  for (const v of values) {
    if (v < least) least = v;
    if (v > most && v < Infinity) most = v;
  }
  if (!(least <= most)) least = most = 0;
  head.setFloat32(48, least, true);
  head.setFloat32(52, most, true);
  const scale = most > least ? 65535 / (most - least) : 0;
  for (let i = 0; i < values.length; i++) to[i] = Math.round(Math.min(1e5, (values[i]! - least) * scale || 0));
}

/* `time` in seconds; `color` "" for none. Places are exact to half a step, the longest side over 2 million. */
export function encodePicture(points: Points, number: number, time: number, dimension: 2 | 3, color = '',
                              velocity = false): ArrayBuffer {
  const P = numbersOf(positionsOf(points)), n = points.count, v = velocity ? findColumn(points, 'v') : undefined;
  const colors = color ? colorValues(points, color) : undefined;
  const colorBytes = colors ? Math.ceil(n / 2) * 4 : 0;
  const {buffer, head} = message(Kind.picture, number, n, 8 * n + colorBytes + (v ? 12 * n : 0));
  const low: Vec3 = [Infinity, Infinity, Infinity], high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < 3 * n; i++) {
    const x = P[i]!, a = i % 3 as 0 | 1 | 2;
    if (x < low[a]) low[a] = x;
    if (x > high[a]) high[a] = x;
  }
  for (const a of [0, 1, 2] as const) if (!(isFinite(low[a]) && isFinite(high[a]))) low[a] = high[a] = 0;
  /* As the receiver sees them: 32 bits wide. The origin must not lie above the least place. */
  const side = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-6);
  const origin = Float32Array.from(low), step = Math.fround(side / (STEPS - 1));
  head.setFloat64(16, time, true);
  origin.forEach((x, a) => head.setFloat32(24 + 4 * a, x, true));
  head.setFloat32(36, step, true);
  head.setUint32(40, dimension, true);
  head.setUint32(44, (colors ? 1 : 0) | (v ? 2 : 0), true);
  const places = new Uint32Array(buffer, HEADER, 2 * n);
  const place = (i: number, a: number): number =>
    Math.max(0, Math.min(STEPS, Math.round((P[3 * i + a]! - origin[a]!) / step))) || 0;
  for (let i = 0; i < n; i++) {
    const x = place(i, 0), y = place(i, 1), z = place(i, 2);
    places[2 * i] = x | y << 21;
    places[2 * i + 1] = y >>> 11 | z << 10;
  }
  if (colors) putColors(colors, head, new Uint16Array(buffer, HEADER + 8 * n, n));
  if (v) new Float32Array(buffer, HEADER + 8 * n + colorBytes, 3 * n).set(numbersOf(v));
  return buffer;
}

function whole(column: Column | undefined, index: number): number {
  return column ? Math.max(0, Number(column.data[index])) & 0xffff : 0;
}

export function encodeTags(points: Points, number: number): ArrayBuffer {
  const n = points.count, {buffer} = message(Kind.tags, number, n, 8 * n);
  const tags = new Uint32Array(buffer, HEADER, n), ids = new Uint32Array(buffer, HEADER + 4 * n, n);
  const object = findColumn(points, 'object'), material = findColumn(points, 'material'), id = findColumn(points, 'id');
  for (let i = 0; i < n; i++) {
    tags[i] = (whole(object, i) << 16 | whole(material, i)) >>> 0;
    ids[i] = id ? Number(id.data[i]) : i;
  }
  return buffer;
}

/* Energies that particles tell of alone; those that need the law or the ground's height are 0. */
export function totalsOf(points: Points): Totals {
  const v = findColumn(points, 'v'), mass = findColumn(points, 'mass'), liquid = findColumn(points, 'liquid');
  const totals: Totals = {mass: 0, momentum: [0, 0, 0], kinetic: 0, elastic: 0, gravitational: 0, heat: 0, liquid: 0,
    max_speed: 0};
  for (let i = 0; i < points.count; i++) {
    const m = mass ? Number(mass.data[i]) : 0;
    totals.mass += m;
    if (liquid) totals.liquid += m * Number(liquid.data[i]);
    if (!v) continue;
    let square = 0;
    for (const a of [0, 1, 2] as const) {
      const u = Number(v.data[3 * i + a]);
      square += u * u;
      totals.momentum[a] += m * u;
    }
    totals.kinetic += m * square / 2;
    totals.max_speed = Math.max(totals.max_speed, Math.sqrt(square));
  }
  return totals;
}

/* The answer to `points`. */
export function encodePoints(points: Points, token: number, attributes?: string[]): ArrayBuffer {
  const columns = points.columns.filter(c => !attributes || attributes.includes(c.name));
  const text = new TextEncoder().encode(JSON.stringify({count: points.count,
    columns: columns.map(c => ({name: c.name, type: 'f32', components: c.components, words: c.words}))}));
  let at = HEADER + text.length;
  const starts = columns.map(c => {
    const start = Math.ceil(at / 8) * 8;
    at = start + 4 * c.data.length;
    return start;
  });
  const {buffer} = message(Kind.points, token, text.length, at - HEADER);
  new Uint8Array(buffer, HEADER).set(text);
  columns.forEach((c, i) => new Float32Array(buffer, starts[i], c.data.length).set(numbersOf(c)));
  return buffer;
}

/* By id, as pictures have them. */
export function sortById(points: Points): Points {
  const id = findColumn(points, 'id');
  if (!id) return points;
  const ids = numbersOf(id);
  let sorted = true;
  for (let i = 1; i < points.count && sorted; i++) sorted = ids[i - 1]! <= ids[i]!;
  if (sorted) return points;
  const order = Uint32Array.from({length: points.count}, (_, i) => i).sort((a, b) => ids[a]! - ids[b]!);
  return {count: points.count, columns: points.columns.map(c => {
    const data = c.data.slice();
    for (let i = 0; i < points.count; i++) {
      for (let a = 0; a < c.components; a++) data[i * c.components + a] = c.data[order[i]! * c.components + a]!;
    }
    return {...c, data};
  })};
}
