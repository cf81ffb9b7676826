/* Unpacks .bgeo.sc: "scf1", blosc frames of a block each, an index, "1fcs". Frames are packed by LZ4, as firn
 * writes them, or by BloscLZ or zlib; bytes of numbers may have been sorted by their place in the number. */
import {join, unpack} from './bytes.ts';
import {FileError, MOST_BYTES} from './points.ts';

export function isScf(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, 4)) === 'scf1';
}

const broken = (): never => {
  throw new FileError('The compressed blocks are damaged or cut off.');
};

function lz4(from: Uint8Array, to: Uint8Array): void {
  let at = 0, out = 0;
  const long = (n: number): number => {
    for (let more = 255; more === 255 && n >= 15;) {
      if (at >= from.length) broken();
      n += more = from[at++]!;
    }
    return n;
  };
  while (at < from.length) {
    const token = from[at++]!, literals = long(token >> 4);
    if (literals > from.length - at || literals > to.length - out) broken();
    to.set(from.subarray(at, at + literals), out);
    at += literals;
    out += literals;
    if (at === from.length) break; /* the last has no match */
    if (from.length - at < 2) broken();
    const distance = from[at]! | from[at + 1]! << 8;
    at += 2;
    const end = out + long(token & 15) + 4;
    if (distance === 0 || distance > out || end > to.length) broken();
    for (; out < end; out++) to[out] = to[out - distance]!;
  }
  if (out !== to.length) broken();
}

function bloscLz(from: Uint8Array, to: Uint8Array): void {
  const FAR = 8191;
  let at = 0, out = 0;
  const byte = (): number => at < from.length ? from[at++]! : broken();
  for (let control = byte() & 31;;) {
    if (control >= 32) {
      let length = (control >> 5) + 2, distance = (control & 31) << 8;
      if (length === 9) {
        let more: number;
        do length += more = byte(); while (more === 255);
      }
      const low = byte();
      distance += low + 1;
      if (low === 255 && (control & 31) === 31) distance = (byte() << 8) + byte() + FAR + 1;
      if (distance > out || out + length > to.length) broken();
      for (const end = out + length; out < end; out++) to[out] = to[out - distance]!;
    } else {
      const literals = control + 1;
      if (literals > from.length - at || literals > to.length - out) broken();
      to.set(from.subarray(at, at + literals), out);
      at += literals;
      out += literals;
    }
    if (at >= from.length) break;
    control = from[at++]!;
  }
  if (out !== to.length) broken();
}

function unshuffle(from: Uint8Array, size: number): Uint8Array {
  const count = Math.floor(from.length / size), to = new Uint8Array(from.length);
  for (let b = 0, at = 0; b < size; b++) {
    for (let i = 0; i < count; i++) to[i * size + b] = from[at++]!;
  }
  to.set(from.subarray(count * size), count * size);
  return to;
}

/* Methods by the number in a frame's flags. */
enum Method { bloscLz = 0, lz4 = 1, zlib = 3 }

async function unpackFrame(frame: Uint8Array): Promise<Uint8Array> {
  if (frame.length < 16) return broken();
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const flags = frame[2]!, size = frame[3]!, total = view.getUint32(4, true), block = view.getUint32(8, true);
  if (view.getUint32(12, true) > frame.length || total > MOST_BYTES) return broken();
  if (flags & 2) return total <= frame.length - 16 ? frame.subarray(16, 16 + total) : broken();
  if (total === 0) return new Uint8Array(0);
  if (flags & 4 || !(flags >> 5 in Method)) {
    throw new FileError('The blocks are compressed in a way that is not known; LZ4, BloscLZ and zlib are.');
  }
  if (block === 0 || size === 0) return broken();
  const method: Method = flags >> 5, out = new Uint8Array(total), blocks = Math.ceil(total / block);
  if (16 + 4 * blocks > frame.length) return broken();
  for (let i = 0; i < blocks; i++) {
    const whole = i < blocks - 1 || total % block === 0, bytes = whole ? block : total % block;
    const split = whole && !(flags & 16) && size <= 16 && block / size >= 128, parts = split ? size : 1;
    let at = view.getUint32(16 + 4 * i, true), plain: Uint8Array = new Uint8Array(bytes);
    for (let p = 0; p < parts; p++) {
      if (at + 4 > frame.length) return broken();
      const packed = view.getInt32(at, true), to = plain.subarray(p * bytes / parts, (p + 1) * bytes / parts);
      at += 4;
      if (packed < 0 || packed > frame.length - at) return broken();
      const from = frame.subarray(at, at + packed);
      if (packed === to.length) to.set(from);
      else if (method === Method.lz4) lz4(from, to);
      else if (method === Method.bloscLz) bloscLz(from, to);
      else {
        const inflated = await unpack(from, 'deflate', 'A block', to.length);
        if (inflated.length !== to.length) return broken();
        to.set(inflated);
      }
      at += packed;
    }
    if (flags & 1 && size > 1) plain = unshuffle(plain, size);
    out.set(plain, i * block);
  }
  return out;
}

export async function unpackScf(bytes: Uint8Array): Promise<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), end = bytes.length - 12;
  if (end < 12 || String.fromCharCode(...bytes.subarray(-4)) !== '1fcs') return broken();
  const long = (at: number): number => Number(view.getBigUint64(at));
  const index = long(end), start = 12 + long(4), table = end - index;
  if (index % 8 !== 0 || index < 16 || table < start) return broken();
  const frames = index / 8 - 1, parts: Uint8Array[] = [];
  let from = start, size = 0;
  for (let i = 0; i < frames; i++) {
    const to = i < frames - 1 ? start + long(table + 8 * i) : table;
    if (to < from || to > table) return broken();
    const part = await unpackFrame(bytes.subarray(from, to));
    parts.push(part);
    size += part.length;
    if (size > MOST_BYTES) throw new FileError('The file is too large for a page once unpacked.');
    from = to;
  }
  return join(parts, size);
}
