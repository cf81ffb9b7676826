/* Particles with their attributes, as files hold them. */

export type ColumnType = 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';
export type ColumnData = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array |
  BigInt64Array | BigUint64Array | Float32Array | Float64Array;

/* `components` numbers for each particle, side by side. With words, the numbers are their indices, -1 for none. */
export type Column = {name: string; type: ColumnType; components: number; data: ColumnData; words?: string[]};
export type Points = {count: number; columns: Column[]};

export const MOST_COLUMNS = 256, MOST_COMPONENTS = 16; /* as the library has them */
export const MOST_BYTES = 1 << 30; /* of a file once unpacked: more would not fit into a page */

export const SIZES: Record<ColumnType, number> =
  {i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8, f32: 4, f64: 8};

/* What is wrong with a file, in words for its reader; no stack is needed. */
export class FileError extends Error {}

export function makeData(type: ColumnType, length: number): ColumnData {
  switch (type) {
  case 'i8': return new Int8Array(length);
  case 'u8': return new Uint8Array(length);
  case 'i16': return new Int16Array(length);
  case 'u16': return new Uint16Array(length);
  case 'i32': return new Int32Array(length);
  case 'u32': return new Uint32Array(length);
  case 'i64': return new BigInt64Array(length);
  case 'u64': return new BigUint64Array(length);
  case 'f32': return new Float32Array(length);
  case 'f64': return new Float64Array(length);
  }
}

export function isFloat(type: ColumnType): boolean {
  return type === 'f32' || type === 'f64';
}

export function findColumn(points: Points, name: string): Column | undefined {
  return points.columns.find(c => c.name === name);
}

export function addColumn(points: Points, name: string, type: ColumnType, components: number): Column {
  if (findColumn(points, name)) throw new FileError(`The attribute ${name} is there twice.`);
  if (points.columns.length === MOST_COLUMNS) throw new FileError(`There are more than ${MOST_COLUMNS} attributes.`);
  if (points.count * components * SIZES[type] > MOST_BYTES) {
    throw new FileError(`${points.count} particles with ${components} numbers of ${name} are too many for a page.`);
  }
  const column = {name, type, components, data: makeData(type, points.count * components)};
  points.columns.push(column);
  return column;
}

/* One number, whatever the type. */
export function numberAt(column: Column, index: number): number {
  return Number(column.data[index]);
}

/* All numbers; without copying if they are floats or short. */
export function numbersOf(column: Column): ArrayLike<number> {
  const data = column.data;
  return data instanceof BigInt64Array || data instanceof BigUint64Array ? Float64Array.from(data, Number) : data;
}

/* Positions, three floats each, or an error. */
export function positionsOf(points: Points): Column {
  const P = findColumn(points, 'P');
  if (!P || P.components !== 3 || !isFloat(P.type)) throw new FileError('There is no attribute P of three floats.');
  return P;
}

/* A column with its numbers in another type. */
export function withType(column: Column, type: ColumnType): Column {
  if (column.type === type) return column;
  const data = makeData(type, column.data.length);
  for (let i = 0; i < data.length; i++) {
    if (data instanceof BigInt64Array || data instanceof BigUint64Array) data[i] = BigInt(column.data[i]!);
    else data[i] = Number(column.data[i]);
  }
  return {...column, type, data};
}

/* The engine sends all attributes as floats; numbers of things are whole again in files. */
const WHOLE = ['id', 'material', 'object', 'source_id'];

export function restoreWhole(points: Points): Points {
  const whole = (c: Column): boolean => WHOLE.includes(c.name) && c.data instanceof Float32Array &&
    c.data.every(v => Number.isInteger(v) && Math.abs(v) < 2 ** 31);
  return {count: points.count, columns: points.columns.map(c => whole(c) ? withType(c, 'i32') : c)};
}

/* The particles of a `points` message of protocol.ts, which has been checked to be one. */
export function pointsOfMessage(message: ArrayBuffer, header: number): Points {
  const bytes = new DataView(message).getUint32(12, true);
  const text = new TextDecoder().decode(new Uint8Array(message, header, bytes));
  const about = JSON.parse(text) as {count: number; columns: {name: string; components: number; words?: string[]}[]};
  let at = header + bytes;
  const columns = about.columns.map((c): Column => {
    at = Math.ceil(at / 8) * 8;
    const data = new Float32Array(message, at, about.count * c.components);
    at += data.byteLength;
    return {name: c.name, type: 'f32', components: c.components, data, words: c.words};
  });
  return restoreWhole({count: about.count, columns});
}
