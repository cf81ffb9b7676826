/* Krakatoa's PRT: a header, chunks of metadata (version 2), a table of channels, and one zlib stream of packed
 * records, one per particle, all little-endian. Reading gives metres and Y up, as src/io/prt.c does; what is
 * written is version 2 in those units. */
import {halfToFloat, pack, unpack, Writer} from './bytes.ts';
import {addColumn, Column, ColumnType, FileError, isFloat, MOST_BYTES, MOST_COLUMNS, MOST_COMPONENTS,
  numberAt, Points, positionsOf, SIZES} from './points.ts';

const MAGIC = [0xc0, 0x50, 0x52, 0x54, 0x0d, 0x0a, 0x1a, 0x0a];
const SIGNATURE = 'Extensible Particle Format';
const HEADER = 56, CHANNEL = 44;

/* By the numbers the file uses. */
const TYPES: (ColumnType | 'f16')[] = ['i16', 'i32', 'i64', 'f16', 'f32', 'f64', 'u16', 'u32', 'u64', 'i8', 'u8'];

/* What another unit or other axes do to a value. A point is scaled and turned, a rotation (a quaternion, imaginary
 * parts first, or an axis) is turned and mirrored, a tensor is turned on both sides. */
type Meaning = 'plain' | 'length' | 'point' | 'normal' | 'rotation' | 'tensor';

const NAMES: [string, string, Meaning][] = [
  ['P', 'Position', 'point'], ['v', 'Velocity', 'point'], ['Acceleration', 'Acceleration', 'point'],
  ['N', 'Normal', 'normal'], ['Tangent', 'Tangent', 'normal'], ['orient', 'Orientation', 'rotation'],
  ['Spin', 'Spin', 'rotation'], ['F', 'F', 'tensor'], ['pscale', 'Radius', 'length'], ['Cd', 'Color', 'plain'],
  ['id', 'ID', 'plain'], ['density', 'Density', 'plain'], ['age', 'Age', 'plain'], ['life', 'LifeSpan', 'plain'],
  ['mass', 'Mass', 'plain'], ['temperature', 'Temperature', 'plain'], ['enthalpy', 'Enthalpy', 'plain'],
  ['concentration', 'Concentration', 'plain'], ['material', 'Material', 'plain'], ['object', 'Object', 'plain'],
  ['liquid', 'Liquid', 'plain'], ['pressure', 'Pressure', 'plain'], ['force', 'Force', 'point'],
];
/* Written when no other channel has one component; dropped when read. */
const PADDING = 'FirnPadding';

type Channel = {name: string; type: ColumnType | 'f16'; components: number; offset: number};

function sizeOf(c: Channel): number {
  return c.components * (c.type === 'f16' ? 2 : SIZES[c.type]);
}

/* ---- reading ---- */

/* Component a is sign[a] times the file's component from[a]. */
type Space = {scale: number; from: [number, number, number]; sign: [number, number, number]};
const SYSTEMS: Omit<Space, 'scale'>[] = [
  {from: [0, 1, 2], sign: [1, 1, 1]}, /* not specified: taken for ours */
  {from: [0, 1, 2], sign: [1, 1, 1]}, /* right-handed, Y up */
  {from: [0, 2, 1], sign: [1, 1, -1]}, /* right-handed, Z up */
  {from: [0, 1, 2], sign: [1, 1, -1]}, /* left-handed, Y up */
  {from: [0, 2, 1], sign: [1, 1, 1]}, /* left-handed, Z up */
];

function textAt(bytes: Uint8Array, at: number, end: number): string {
  const zero = bytes.indexOf(0, at);
  return new TextDecoder('latin1').decode(bytes.subarray(at, zero < 0 || zero > end ? end : zero));
}

function readNumber(view: DataView, at: number, type: ColumnType | 'f16'): number {
  switch (type) {
  case 'i8': return view.getInt8(at);
  case 'u8': return view.getUint8(at);
  case 'i16': return view.getInt16(at, true);
  case 'u16': return view.getUint16(at, true);
  case 'i32': return view.getInt32(at, true);
  case 'u32': return view.getUint32(at, true);
  case 'i64': return Number(view.getBigInt64(at, true));
  case 'u64': return Number(view.getBigUint64(at, true));
  case 'f16': return halfToFloat(view.getUint16(at, true));
  case 'f32': return view.getFloat32(at, true);
  case 'f64': return view.getFloat64(at, true);
  }
}

function readMeta(bytes: Uint8Array, view: DataView, at: number, end: number, space: Space): void {
  const first = bytes.indexOf(0, at), second = first < 0 ? -1 : bytes.indexOf(0, first + 1);
  if (second < 0 || second + 5 > end) throw new FileError(`The Meta chunk at byte ${at} ends before its value.`);
  if (first !== at) return; /* about a channel */
  const name = textAt(bytes, first + 1, end), type = TYPES[view.getInt32(second + 1, true)], value = second + 5;
  if (name === 'LengthUnitInMicrometers') {
    const size = type && (type === 'f16' ? 2 : SIZES[type]);
    const unit = type && end - value === size ? readNumber(view, value, type) : NaN;
    if (!(unit > 0 && isFinite(unit))) throw new FileError('LengthUnitInMicrometers is not one number above 0.');
    space.scale = unit * 1e-6;
  } else if (name === 'CoordSys') {
    const system = end - value === 4 ? SYSTEMS[view.getInt32(value, true)] : undefined;
    if (!system) throw new FileError(`CoordSys is not one of 0 to ${SYSTEMS.length - 1}.`);
    Object.assign(space, system);
  }
}

function readChunks(bytes: Uint8Array, view: DataView, end: number, space: Space): void {
  for (let at = HEADER; at < end;) {
    const size = end - at >= 8 ? view.getInt32(at + 4, true) : -1;
    if (size < 0 || size > end - at - 8) throw new FileError(`The chunk at byte ${at} does not end within the header.`);
    const tag = textAt(bytes, at, at + 4);
    if (tag === 'Stop') return;
    if (tag === 'Meta') readMeta(bytes, view, at + 8, at + 8 + size, space);
    at += 8 + size;
  }
}

function readChannels(bytes: Uint8Array, view: DataView, at: number): {channels: Channel[]; end: number} {
  if (bytes.length - at < 12) throw new FileError('The table of channels is cut off.');
  const reserved = view.getInt32(at, true), count = view.getInt32(at + 4, true), each = view.getInt32(at + 8, true);
  if (reserved !== 4) throw new FileError(`${reserved} at byte ${at}, before the channels; 4 is expected.`);
  if (count < 1 || count > MOST_COLUMNS) throw new FileError(`${count} channels; 1 to ${MOST_COLUMNS} can be kept.`);
  if (each < CHANNEL) throw new FileError(`${each} bytes describe a channel; at least ${CHANNEL} are expected.`);
  at += 12;
  if ((bytes.length - at) / each < count) throw new FileError('The table of channels is cut off.');
  const channels: Channel[] = [];
  for (let i = 0; i < count; i++, at += each) {
    const name = textAt(bytes, at, at + 32), type = TYPES[view.getInt32(at + 32, true)];
    const components = view.getInt32(at + 36, true), offset = view.getInt32(at + 40, true);
    if (!/^[\x21-\x7e]{1,31}$/.test(name)) throw new FileError(`The channel at byte ${at} has no name.`);
    if (!type) throw new FileError(`Channel ${name} has a type that does not exist.`);
    if (components < 1 || components > MOST_COMPONENTS) {
      throw new FileError(`Channel ${name} has ${components} components; 1 to ${MOST_COMPONENTS} can be kept.`);
    }
    if (offset < 0) throw new FileError(`Channel ${name} has offset ${offset}.`);
    channels.push({name, type, components, offset});
  }
  for (const a of channels) {
    for (const b of channels) {
      if (a !== b && a.offset < b.offset + sizeOf(b) && b.offset < a.offset + sizeOf(a)) {
        throw new FileError(`Channels ${a.name} and ${b.name} overlap.`);
      }
    }
  }
  return {channels, end: at};
}

function ourName(c: Channel, all: Channel[]): string {
  const row = NAMES.find(n => n[1] === c.name);
  if (row) return row[0];
  const size = c.name === 'Scale' && c.components === 1 && !all.some(o => o.name === 'Radius' || o.name === 'pscale');
  return size ? 'pscale' : c.name;
}

function meaningOf(column: Column): Meaning {
  const meaning = NAMES.find(n => n[0] === column.name)?.[2] ?? 'plain', n = column.components;
  if (!isFloat(column.type)) return 'plain';
  if (meaning === 'tensor') return n === 9 ? meaning : 'plain';
  if (meaning === 'rotation') return n === 3 || n === 4 ? meaning : 'plain';
  return meaning === 'length' || n === 3 ? meaning : 'plain';
}

function convert(space: Space, column: Column): void {
  const meaning = meaningOf(column), data = column.data as Float32Array | Float64Array;
  const {from, sign, scale} = space, turned = from[1] !== 1 || sign[2] !== 1;
  const scales = meaning === 'length' || meaning === 'point', turns = meaning !== 'length';
  if (meaning === 'plain' || !(scales && scale !== 1 || turns && turned)) return;
  if (meaning === 'length') {
    for (let i = 0; i < data.length; i++) data[i] = scale * data[i]!;
    return;
  }
  /* Axes of rotation change sign with handedness: an exchange of two axes mirrors, and so does each negative sign. */
  const mirror = (from[1] === 1 ? 1 : -1) * sign[0] * sign[1] * sign[2];
  const factor = meaning === 'point' ? scale : meaning === 'rotation' ? mirror : 1;
  const old = new Array<number>(9);
  for (let at = 0; at < data.length; at += column.components) {
    for (let a = 0; a < column.components; a++) old[a] = data[at + a]!;
    if (meaning === 'tensor') {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 3; j++) data[at + 3 * i + j] = sign[i]! * sign[j]! * old[3 * from[i]! + from[j]!]!;
      }
    } else {
      for (let a = 0; a < 3; a++) data[at + a] = factor * sign[a]! * old[from[a]!]!;
    }
  }
}

function readRecords(records: Uint8Array, record: number, c: Channel, column: Column): void {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  const size = sizeOf(c) / c.components, count = records.length / record, data = column.data;
  const big = data instanceof BigInt64Array || data instanceof BigUint64Array;
  for (let i = 0, to = 0; i < count; i++) {
    for (let a = 0, at = i * record + c.offset; a < c.components; a++, at += size, to++) {
      if (big) data[to] = c.type === 'i64' ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
      else data[to] = readNumber(view, at, c.type);
    }
  }
}

export function isPrt(bytes: Uint8Array): boolean {
  return MAGIC.every((b, i) => bytes[i] === b);
}

export async function readPrt(bytes: Uint8Array): Promise<Points> {
  if (!isPrt(bytes) || bytes.length < HEADER) throw new FileError('The file is cut off, or not a PRT.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getInt32(8, true), version = view.getInt32(44, true), count = Number(view.getBigInt64(48, true));
  if (textAt(bytes, 12, 44) !== SIGNATURE) throw new FileError(`"${SIGNATURE}" is missing at byte 12.`);
  if (version !== 1 && version !== 2) throw new FileError(`Version ${version} of PRT; 1 and 2 can be read.`);
  if (length < HEADER || length > bytes.length) throw new FileError('The file is cut off, or not a PRT.');
  if (count < 0) throw new FileError('The file was not finished; write it again.');
  const space: Space = {scale: 1, ...SYSTEMS[0]!};
  if (version === 2) readChunks(bytes, view, length, space);
  const {channels, end} = readChannels(bytes, view, length);
  const record = Math.max(...channels.map(c => c.offset + sizeOf(c)));
  if (count * record > MOST_BYTES) {
    throw new FileError(`${count} particles of ${record} bytes are too many for a page.`);
  }
  const packed = bytes.subarray(end), none = count === 0 && packed.length === 0;
  const records = none ? new Uint8Array(0) : await unpack(packed, 'deflate', 'The list of particles', count * record);
  if (records.length !== count * record) {
    const found = Math.floor(records.length / record);
    throw new FileError(`The header says ${count} particles; the file ends after ${found}.`);
  }
  const points: Points = {count, columns: []};
  for (const c of channels) {
    if (c.name === PADDING) continue;
    const column = addColumn(points, ourName(c, channels), c.type === 'f16' ? 'f32' : c.type, c.components);
    readRecords(records, record, c, column);
    convert(space, column);
  }
  positionsOf(points);
  return points;
}

/* ---- writing ---- */

function channelName(column: Column): string {
  const name = NAMES.find(n => n[0] === column.name)?.[1] ?? column.name;
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,30}$/.test(name)) {
    throw new FileError(`${name} cannot be a name in a PRT file: up to 31 letters, digits and _ can.`);
  }
  return name[0]!.toUpperCase() + name.slice(1);
}

/* P comes first and a channel of one component last: Partio takes a record to end one component after the last
 * channel's offset. */
function plan(points: Points): {channel: Channel; column?: Column}[] {
  const P = positionsOf(points), rest = points.columns.filter(c => c !== P);
  const last = rest.filter(c => c.components === 1).pop();
  const order: (Column | undefined)[] = [P, ...rest.filter(c => c !== last), last];
  let offset = 0;
  const made = order.map(column => {
    const channel: Channel = column
      ? {name: channelName(column), type: column.type, components: column.components, offset}
      : {name: PADDING, type: 'i32', components: 1, offset};
    offset += sizeOf(channel);
    return {channel, column};
  });
  made.forEach((a, i) => made.slice(0, i).forEach(b => {
    if (a.channel.name === b.channel.name) throw new FileError(`Two attributes would be called ${a.channel.name}.`);
  }));
  return made;
}

function putMeta(to: Writer, name: string, type: ColumnType, put: (w: Writer) => Writer): void {
  const value = put(new Writer()).join();
  to.text('Meta').i32(1 + name.length + 1 + 4 + value.length).text(`\0${name}\0`).i32(TYPES.indexOf(type)).bytes(value);
}

function putBounds(to: Writer, P: Column): void {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < P.data.length; i++) {
    const x = numberAt(P, i), a = i % 3;
    if (x < low[a]!) low[a] = x;
    if (x > high[a]!) high[a] = x;
  }
  if (low.every((x, a) => x <= high[a]!)) putMeta(to, 'BoundBox', 'f32', w => w.f32(...low, ...high));
}

/* Frames per second go into the header when given. */
export async function writePrt(points: Points, fps = 0): Promise<Uint8Array<ArrayBuffer>> {
  const channels = plan(points);
  const head = new Writer();
  putMeta(head, 'CoordSys', 'i32', w => w.i32(1));
  putMeta(head, 'LengthUnitInMicrometers', 'f64', w => w.f64(1e6));
  putBounds(head, channels[0]!.column!);
  const whole = Number.isInteger(fps);
  if (fps > 0) putMeta(head, 'FrameRate', 'u32', w => whole ? w.u32(fps, 1) : w.u32(Math.round(1000 * fps), 1000));
  head.text('Stop').i32(0);
  const out = new Writer().bytes(Uint8Array.from(MAGIC)).i32(HEADER + head.size).text(SIGNATURE, 32).i32(2)
    .i64(points.count).bytes(head.join()).i32(4, channels.length, CHANNEL);
  for (const {channel: c} of channels) {
    out.text(c.name, 32).i32(TYPES.indexOf(c.type), c.components, c.offset);
  }
  const record = Math.max(...channels.map(({channel: c}) => c.offset + sizeOf(c)));
  const records = new Uint8Array(points.count * record);
  for (const {channel: c, column} of channels) {
    if (!column) continue;
    const from = new Uint8Array(column.data.buffer, column.data.byteOffset, column.data.byteLength), size = sizeOf(c);
    for (let i = 0, at = c.offset; i < points.count; i++, at += record) {
      for (let b = 0; b < size; b++) records[at + b] = from[i * size + b]!;
    }
  }
  return out.bytes(await pack(records, 'deflate')).join();
}

