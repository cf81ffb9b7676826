/* Compressed streams, and bytes put one after another. */
import {FileError, MOST_BYTES} from './points.ts';

type Format = 'deflate' | 'deflate-raw' | 'gzip';
type Bytes = Uint8Array<ArrayBuffer>;

async function collect(stream: ReadableStream<Uint8Array>, most: number, excess: string): Promise<Bytes> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > most) {
      void reader.cancel().catch(() => {});
      throw new FileError(excess);
    }
  }
  return join(parts, size);
}

export function join(parts: Uint8Array[], size = parts.reduce((sum, p) => sum + p.length, 0)): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function through(bytes: Uint8Array, stream: TransformStream<BufferSource, Uint8Array>): ReadableStream<Uint8Array> {
  const source = new ReadableStream<BufferSource>({
    start(controller) {
      const piece = 1 << 20;
      for (let at = 0; at < bytes.length; at += piece) controller.enqueue(bytes.slice(at, at + piece));
      controller.close();
    },
  });
  return source.pipeThrough(stream);
}

/* At most `most` bytes; more, or a stream that is broken, is an error that says `what` it is in. */
export async function unpack(bytes: Uint8Array, format: Format, what: string, most = MOST_BYTES): Promise<Bytes> {
  const excess = `${what} is larger than expected once unpacked.`;
  try {
    return await collect(through(bytes, new DecompressionStream(format)), most, excess);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(`${what} is damaged or cut off.`);
  }
}

export async function pack(bytes: Uint8Array, format: Format): Promise<Uint8Array<ArrayBuffer>> {
  return await collect(through(bytes, new CompressionStream(format)), Infinity, '');
}

const scratch = new DataView(new ArrayBuffer(4));

/* Half precision, by its 16 bits. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  scratch.setUint32(0, (bits & 0x8000) << 16 | (exponent + 112) << 23 | fraction << 13);
  return scratch.getFloat32(0);
}

/* Headers, little-endian. */
export class Writer {
  private parts: Uint8Array[] = [];
  size = 0;

  bytes(data: Uint8Array): this {
    this.parts.push(data);
    this.size += data.length;
    return this;
  }
  text(text: string, padded = 0): this {
    const data = new TextEncoder().encode(text), all = new Uint8Array(Math.max(data.length, padded));
    all.set(data);
    return this.bytes(all);
  }
  private all(values: number[], size: number, set: (view: DataView, at: number, value: number) => void): this {
    const data = new Uint8Array(size * values.length), view = new DataView(data.buffer);
    values.forEach((x, i) => set(view, size * i, x));
    return this.bytes(data);
  }
  u16(...values: number[]): this { return this.all(values, 2, (v, at, x) => v.setUint16(at, x, true)); }
  u32(...values: number[]): this { return this.all(values, 4, (v, at, x) => v.setUint32(at, x >>> 0, true)); }
  i32(...values: number[]): this { return this.all(values, 4, (v, at, x) => v.setInt32(at, x, true)); }
  i64(value: number): this { return this.all([value], 8, (v, at, x) => v.setBigInt64(at, BigInt(x), true)); }
  f32(...values: number[]): this { return this.all(values, 4, (v, at, x) => v.setFloat32(at, x, true)); }
  f64(value: number): this { return this.all([value], 8, (v, at, x) => v.setFloat64(at, x, true)); }
  join(): Uint8Array<ArrayBuffer> { return join(this.parts, this.size); }
}
