/* PLY: a header in text that lists elements and their properties, then the values, as text or binary. The particles
 * are the element `vertex`. Vectors are properties side by side: x y z is P, vx vy vz is v, nx ny nz is N, red green
 * blue is Cd, and name_0, name_1... is any other. Writes little-endian binary, for handing particles to the engine. */
import {Writer} from './bytes.ts';
import {addColumn, Column, ColumnType, FileError, isFloat, MOST_COMPONENTS, numberAt, Points, positionsOf,
  SIZES} from './points.ts';

const TYPES: Record<string, ColumnType> = {char: 'i8', int8: 'i8', uchar: 'u8', uint8: 'u8', short: 'i16', int16: 'i16',
  ushort: 'u16', uint16: 'u16', int: 'i32', int32: 'i32', uint: 'u32', uint32: 'u32', float: 'f32', float32: 'f32',
  double: 'f64', float64: 'f64'};
const VECTORS: [string, [string, string, string]][] =
  [['P', ['x', 'y', 'z']], ['v', ['vx', 'vy', 'vz']], ['N', ['nx', 'ny', 'nz']], ['Cd', ['red', 'green', 'blue']]];

export function isPly(bytes: Uint8Array): boolean {
  return /^ply\r?\n/.test(String.fromCharCode(...bytes.subarray(0, 5)));
}

/* ---- reading ---- */

type Property = {name: string; type: ColumnType; list?: ColumnType; column?: Column; component: number; whole: number};
type Element = {name: string; count: number; properties: Property[]};
type Encoding = 'ascii' | 'little' | 'big';
const ENCODINGS: Record<string, Encoding> =
  {ascii: 'ascii', binary_little_endian: 'little', binary_big_endian: 'big'};
type Header = {encoding: Encoding; elements: Element[]; end: number};

function readHeader(bytes: Uint8Array): Header {
  const elements: Element[] = [];
  let encoding: Encoding | undefined;
  for (let at = bytes.indexOf(10) + 1, line = 2; ; line++) {
    const end = bytes.indexOf(10, at);
    if (end < 0) throw new FileError('The header has no line "end_header".');
    const words = new TextDecoder('latin1').decode(bytes.subarray(at, end)).trim().split(/\s+/);
    const bad = (what: string): never => { throw new FileError(`Line ${line} of the header is not "${what}".`); };
    at = end + 1;
    if (words[0] === 'format') {
      encoding = ENCODINGS[words[1]!] ?? bad('format ascii|binary_little_endian|binary_big_endian 1.0');
    } else if (words[0] === 'element') {
      if (words.length !== 3 || !/^\d{1,15}$/.test(words[2]!)) bad('element NAME COUNT');
      elements.push({name: words[1]!, count: Number(words[2]), properties: []});
    } else if (words[0] === 'property') {
      const list = words.length === 5 && words[1] === 'list', type = TYPES[words[list ? 3 : 1]!];
      const counted = list ? TYPES[words[2]!] : undefined;
      if (!type || list && (!counted || isFloat(counted)) || words.length !== (list ? 5 : 3) || !elements.length) {
        bad('property TYPE NAME or property list TYPE TYPE NAME');
      }
      const name = words[words.length - 1]!;
      elements[elements.length - 1]!.properties.push({name, type: type!, list: counted, component: 0, whole: 1});
    } else if (words[0] === 'end_header') {
      if (!encoding) throw new FileError('The header has no line "format".');
      return {encoding, elements, end: at};
    } else if (words[0] && words[0] !== 'comment' && words[0] !== 'obj_info') {
      bad('format, element, property, comment or end_header');
    }
  }
}

function addColumns(e: Element, points: Points): void {
  const find = (name: string): Property | undefined => e.properties.find(p => !p.list && p.name === name);
  const add = (name: string, type: ColumnType, parts: Property[]): void => {
    const column = addColumn(points, name, type, parts.length);
    parts.forEach((p, i) => { p.column = column; p.component = i; });
  };
  for (const p of e.properties) {
    if (p.list || p.column) continue;
    const vector = VECTORS.find(v => v[1].includes(p.name) && v[1].every(find));
    if (vector) {
      const parts = vector[1].map(n => find(n)!), wide = parts.some(q => ['f64', 'i32', 'u32'].includes(q.type));
      if (vector[0] === 'Cd') for (const q of parts) q.whole = q.type === 'u8' ? 255 : q.type === 'u16' ? 65535 : 1;
      add(vector[0], wide && vector[0] !== 'Cd' ? 'f64' : 'f32', parts);
      continue;
    }
    const base = p.name.match(/^(.+)_\d+$/)?.[1], parts: Property[] = [];
    for (let n = 0; base && !find(base); n++) {
      const next = find(`${base}_${n}`);
      if (!next || next.type !== (parts[0] ?? next).type) break;
      parts.push(next);
    }
    const group = parts.includes(p) && parts.length >= 2 && parts.length <= MOST_COMPONENTS;
    if (group && !points.columns.some(c => c.name === base)) add(base!, p.type, parts);
    else add(p.name, p.type, [p]);
  }
}

type Next = (type: ColumnType) => number;

function textValues(bytes: Uint8Array, at: number): Next {
  const words = new TextDecoder('latin1').decode(bytes.subarray(at)).match(/\S+/g) ?? [];
  let i = 0;
  return type => {
    const word = words[i++], value = Number(word);
    if (word === undefined) throw new FileError('The file ends within the values.');
    const odd = isFloat(type) && /^[-+]?(nan|inf)/i.test(word);
    if (isNaN(value) && !odd) throw new FileError(`"${word}" is not a number.`);
    return /^[-+]?inf/i.test(word) ? (word[0] === '-' ? -Infinity : Infinity) : value;
  };
}

function binaryValues(bytes: Uint8Array, at: number, little: boolean): Next {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return type => {
    const from = at;
    at += SIZES[type];
    if (at > bytes.length) throw new FileError('The file ends within the values.');
    switch (type) {
    case 'i8': return view.getInt8(from);
    case 'u8': return view.getUint8(from);
    case 'i16': return view.getInt16(from, little);
    case 'u16': return view.getUint16(from, little);
    case 'i32': return view.getInt32(from, little);
    case 'u32': return view.getUint32(from, little);
    case 'f64': return view.getFloat64(from, little);
    default: return view.getFloat32(from, little);
    }
  };
}

export function readPly(bytes: Uint8Array): Points {
  const {encoding, elements, end} = readHeader(bytes);
  const vertices = elements.find(e => e.name === 'vertex');
  if (!vertices) throw new FileError('There is no element vertex.');
  const least = encoding === 'ascii' ? 2 : 1;
  if (vertices.count * Math.max(1, vertices.properties.length) * least > bytes.length - end + 1) {
    throw new FileError(`The header says ${vertices.count} points; the file is too short for them.`);
  }
  const points: Points = {count: vertices.count, columns: []};
  addColumns(vertices, points);
  positionsOf(points);
  const next = encoding === 'ascii' ? textValues(bytes, end) : binaryValues(bytes, end, encoding === 'little');
  for (const e of elements) {
    for (let row = 0; row < e.count; row++) {
      for (const p of e.properties) {
        for (let n = p.list ? next(p.list) : 0; n > 0; n--) next(p.type);
        if (p.list) continue;
        const value = next(p.type), to = p.column;
        if (to) to.data[row * to.components + p.component] = p.whole === 1 ? value : value / p.whole;
      }
    }
    if (e === vertices) break;
  }
  return points;
}

/* ---- writing ---- */

/* There are no 64-bit integers in PLY. */
function written(type: ColumnType): ColumnType {
  return type === 'i64' || type === 'u64' ? 'f64' : type;
}

export function writePly(points: Points): Uint8Array<ArrayBuffer> {
  positionsOf(points);
  const names: Record<ColumnType, string> = {i8: 'char', u8: 'uchar', i16: 'short', u16: 'ushort', i32: 'int',
    u32: 'uint', i64: 'double', u64: 'double', f32: 'float', f64: 'double'};
  const lines = ['ply', 'format binary_little_endian 1.0', 'comment Firn', `element vertex ${points.count}`];
  let record = 0;
  for (const c of points.columns) {
    const parts = VECTORS.find(v => v[0] === c.name && c.components === 3)?.[1];
    for (let a = 0; a < c.components; a++) {
      lines.push(`property ${names[c.type]} ${parts?.[a] ?? (c.components === 1 ? c.name : `${c.name}_${a}`)}`);
    }
    record += c.components * SIZES[written(c.type)];
  }
  const body = new Uint8Array(points.count * record), view = new DataView(body.buffer);
  let offset = 0;
  for (const c of points.columns) {
    const type = written(c.type), size = SIZES[type];
    for (let i = 0; i < points.count; i++) {
      for (let a = 0, at = i * record + offset; a < c.components; a++, at += size) {
        const value = numberAt(c, i * c.components + a);
        switch (type) {
        case 'i8': view.setInt8(at, value); break;
        case 'u8': view.setUint8(at, value); break;
        case 'i16': view.setInt16(at, value, true); break;
        case 'u16': view.setUint16(at, value, true); break;
        case 'i32': view.setInt32(at, value, true); break;
        case 'u32': view.setUint32(at, value, true); break;
        case 'f64': view.setFloat64(at, value, true); break;
        default: view.setFloat32(at, value, true);
        }
      }
    }
    offset += c.components * size;
  }
  return new Writer().text([...lines, 'end_header', ''].join('\n')).bytes(body).join();
}
