/* SideFX's binary JSON, the coding of .bgeo files: a byte that says what follows, then its payload. A string met
 * often is defined once as a token; a uniform array is a type, a count, and bare values, here a typed array. */
import {halfToFloat} from './bytes.ts';
import {FileError} from './points.ts';

export type Tree = null | boolean | number | string | Tree[] | {[key: string]: Tree} |
  Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Float32Array | Float64Array;

const DEPTH = 64;

export function isBinaryJson(bytes: Uint8Array): boolean {
  return bytes[0] === 0x7f && (textOf(bytes, 1, 5) === 'NSJb' || textOf(bytes, 1, 5) === 'bJSN');
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

class Reader {
  private view: DataView;
  private at = 5;
  private little: boolean;
  private tokens = new Map<number, string>();

  constructor(private bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.little = bytes[1] === 0x4e;
  }

  fail(what: string): never {
    throw new FileError(`At byte ${this.at}: ${what}.`);
  }
  private take(size: number): number {
    const at = this.at;
    if (size > this.bytes.length - at) this.fail('the file ends here; it has been cut short');
    this.at += size;
    return at;
  }
  private byte(): number {
    return this.bytes[this.take(1)]!;
  }
  private length(): number {
    const n = this.byte();
    if (n < 0xf1) return n;
    if (n === 0xf2) return this.view.getUint16(this.take(2), this.little);
    if (n === 0xf4) return this.view.getUint32(this.take(4), this.little);
    if (n === 0xf8) {
      const long = Number(this.view.getBigInt64(this.take(8), this.little));
      if (long >= 0 && long <= this.bytes.length) return long;
    }
    return this.fail('a length that is not possible');
  }
  private string(): string {
    const length = this.length(), at = this.take(length);
    return new TextDecoder().decode(this.bytes.subarray(at, at + length));
  }
  private token(): string {
    return this.tokens.get(this.length()) ?? this.fail('a word that was not defined');
  }

  /* A number of the type that a code names. */
  private number(code: number): number | undefined {
    const v = this.view, le = this.little;
    switch (code) {
    case 0x11: return v.getInt8(this.take(1));
    case 0x12: return v.getInt16(this.take(2), le);
    case 0x13: return v.getInt32(this.take(4), le);
    case 0x14: return Number(v.getBigInt64(this.take(8), le));
    case 0x18: return halfToFloat(v.getUint16(this.take(2), le));
    case 0x19: return v.getFloat32(this.take(4), le);
    case 0x1a: return v.getFloat64(this.take(8), le);
    case 0x21: return v.getUint8(this.take(1));
    case 0x22: return v.getUint16(this.take(2), le);
    default: return undefined;
    }
  }

  private uniform(): Tree {
    const code = this.byte(), count = this.length();
    if (code === 0x10) return this.bits(count);
    if (code === 0x27) return Array.from({length: this.fits(count, 1)}, () => this.string());
    if (code === 0x26) return Array.from({length: this.fits(count, 1)}, () => this.token());
    const size = {0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x18: 2, 0x19: 4, 0x1a: 8, 0x21: 1, 0x22: 2}[code];
    if (!size) return this.fail('a type of array that is not known');
    this.fits(count, size);
    const data = code === 0x11 ? new Int8Array(count) : code === 0x12 ? new Int16Array(count)
      : code === 0x13 ? new Int32Array(count) : code === 0x19 || code === 0x18 ? new Float32Array(count)
      : code === 0x21 ? new Uint8Array(count) : code === 0x22 ? new Uint16Array(count) : new Float64Array(count);
    if (this.little && data.BYTES_PER_ELEMENT === size && code !== 0x14) {
      new Uint8Array(data.buffer).set(this.bytes.subarray(this.take(count * size), this.at));
    } else {
      for (let i = 0; i < count; i++) data[i] = this.number(code)!;
    }
    return data;
  }
  private fits(count: number, size: number): number {
    if (count * size > this.bytes.length - this.at) this.fail('more values than the file can hold');
    return count;
  }
  private bits(count: number): Tree {
    this.fits(Math.ceil(count / 32), 4);
    const all: boolean[] = [];
    for (let i = 0; i < count; i += 32) {
      const word = this.view.getUint32(this.take(4), this.little);
      for (let k = 0; k < 32 && i + k < count; k++) all.push((word >>> k & 1) === 1);
    }
    return all;
  }

  /* The next code, past what separates values and past definitions. */
  private code(): number {
    for (;;) {
      const code = this.byte();
      if (code === 0x2b) this.tokens.set(this.length(), this.string());
      else if (code === 0x2d) this.tokens.delete(this.length());
      else if (code !== 0x2c && code !== 0x3a) return code;
    }
  }

  value(depth: number, code = this.code()): Tree {
    if (depth > DEPTH) this.fail(`more than ${DEPTH} levels`);
    const number = this.number(code);
    if (number !== undefined) return number;
    switch (code) {
    case 0x00: return null;
    case 0x10: return this.byte() !== 0;
    case 0x30: return false;
    case 0x31: return true;
    case 0x27: return this.string();
    case 0x26: return this.token();
    case 0x40: return this.uniform();
    case 0x5b: {
      const list: Tree[] = [];
      for (let next = this.code(); next !== 0x5d; next = this.code()) list.push(this.value(depth + 1, next));
      return list;
    }
    case 0x7b: {
      const map: {[key: string]: Tree} = Object.create(null) as {[key: string]: Tree};
      for (let next = this.code(); next !== 0x7d; next = this.code()) {
        const key = next === 0x27 ? this.string() : next === 0x26 ? this.token() : this.fail('a key was expected');
        map[key] = this.value(depth + 1);
      }
      return map;
    }
    default: return this.fail(`the code ${code} is not known`);
    }
  }
}

export function parseBinaryJson(bytes: Uint8Array): Tree {
  return new Reader(bytes).value(0);
}
