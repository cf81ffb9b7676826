/* The particles of a picture on the graphics card, and which of them stand alone. */

import type {Picture} from './decode.ts';
import {Buffer} from './gl.ts';
import {bounds, type Bounds} from './math.ts';

const FEW = 5;

export class Particles {
  readonly #gl: WebGL2RenderingContext;
  readonly #every: WebGLVertexArrayObject;
  readonly #some: WebGLVertexArrayObject; /* one of FEW */
  readonly #buffers: [Buffer, Buffer, Buffer, Buffer];
  count = 0;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#buffers = [new Buffer(gl), new Buffer(gl), new Buffer(gl), new Buffer(gl)];
    this.#every = this.#lay(1);
    this.#some = this.#lay(FEW);
  }

  #lay(step: number): WebGLVertexArrayObject {
    const gl = this.#gl, array = gl.createVertexArray()!, [place, tag, value, size] = this.#buffers;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, place.buffer);
    gl.vertexAttribIPointer(0, 2, gl.UNSIGNED_INT, 8 * step, 0);
    gl.enableVertexAttribArray(0);
    gl.bindBuffer(gl.ARRAY_BUFFER, tag.buffer);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, 4 * step, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, value.buffer);
    gl.vertexAttribPointer(2, 1, gl.UNSIGNED_SHORT, true, 2 * step, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, size.buffer);
    gl.vertexAttribPointer(3, 1, gl.UNSIGNED_BYTE, true, step, 0);
    gl.bindVertexArray(null);
    return array;
  }

  /* Tags and sizes may be missing: everything is then object 0 of material 0, of full size. */
  set(p: Picture, tags: Uint32Array | null, sizes: Uint8Array | null): void {
    const gl = this.#gl, [place, tag, value, size] = this.#buffers;
    const known = tags !== null && tags.length >= p.count;
    this.count = p.count;
    place.set(p.places);
    if (known) tag.set(tags);
    if (p.color) value.set(p.color);
    if (sizes) size.set(sizes);
    for (const array of [this.#every, this.#some]) {
      gl.bindVertexArray(array);
      for (const [at, has] of [[1, known], [2, p.color !== null], [3, sizes !== null]] as const) {
        if (has) gl.enableVertexAttribArray(at);
        else gl.disableVertexAttribArray(at);
      }
    }
    gl.bindVertexArray(null);
  }

  /* `sparse`: of many, only some. */
  draw(sparse = false): void {
    const gl = this.#gl, thin = sparse && this.count > 2000 * FEW;
    if (!this.count) return;
    gl.bindVertexArray(thin ? this.#some : this.#every);
    gl.vertexAttribI4ui(1, 0, 0, 0, 0);
    gl.vertexAttrib1f(2, 0);
    gl.vertexAttrib1f(3, 1);
    gl.drawArrays(gl.POINTS, 0, thin ? Math.floor(this.count / FEW) : this.count);
  }
}

/* Names of the attributes, for vertex shaders. */
export const PARTICLE = `
layout(location = 0) in uvec2 place;
layout(location = 1) in uint tag;
layout(location = 2) in float value;
layout(location = 3) in float share; /* of the full radius */
`;

const ALONE = 0.3; /* radius of a particle without company, as a share */
export const FEW_AROUND = 0.5; /* share, up to which a particle counts as alone */
const CROWD = 7; /* particles in two cells, from which on a body is closed */

/* The share of the full radius that each particle is drawn with: particles that stand alone are small, or
 * spray would look like a heap of balls. Company is counted in cells of two lattices, shifted by half. */
export function sharesOf(places: Float32Array, spacing: number): Uint8Array {
  const n = places.length / 3, bits = Math.max(10, Math.ceil(Math.log2(2 * n + 1))), mask = (1 << bits) - 1;
  const cell = 1 / (2.2 * spacing), sum = new Uint16Array(n), keys = new Uint32Array(n);
  const count = new Uint16Array(mask + 1);
  for (let lattice = 0; lattice < 2; lattice++) {
    const shift = 1000.25 + 0.5 * lattice;
    if (lattice) count.fill(0);
    for (let i = 0; i < n; i++) {
      const x = (places[3 * i]! * cell + shift) | 0, y = (places[3 * i + 1]! * cell + shift) | 0;
      const z = (places[3 * i + 2]! * cell + shift) | 0;
      const key = ((Math.imul(x, 73856093) ^ Math.imul(y, 19349663) ^ Math.imul(z, 83492791)) >>> 3) & mask;
      keys[i] = key;
      count[key]!++;
    }
    for (let i = 0; i < n; i++) sum[i]! += count[keys[i]!]!;
  }
  const out = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const t = Math.min(Math.max((sum[i]! - 2) / CROWD, 0), 1);
    out[i] = 255 * (ALONE + (1 - ALONE) * t * (2 - t));
  }
  return out;
}

/* The box that holds all but stray particles: from a sample of some 2,000, without the outermost of it. */
export function boundsOf(places: Float32Array, trim = 0.002): Bounds {
  const b = bounds(), n = places.length / 3, step = Math.max(1, Math.floor(n / 2000));
  if (n === 0) return b;
  for (let a = 0; a < 3; a++) {
    const some = new Float32Array(Math.ceil(n / step));
    for (let i = 0, k = 0; i < n; i += step) some[k++] = places[3 * i + a]!;
    some.sort();
    const off = Math.floor(trim * some.length);
    b.low[a] = some[off]!;
    b.high[a] = some[some.length - 1 - off]!;
  }
  return b;
}

/* The box that holds all. */
export function wholeBoundsOf(places: Float32Array): Bounds {
  const b = bounds();
  for (let i = 0; i < places.length; i++) {
    const a = i % 3, x = places[i]!;
    if (x < b.low[a]!) b.low[a] = x;
    if (x > b.high[a]!) b.high[a] = x;
  }
  return b;
}
