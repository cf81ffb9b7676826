/* Lines, arrows and dots over the picture: every one is a quad whose fragments know their distance to it, so that
 * edges are smooth and a halo sets it off from any ground. Widths are in CSS px. */

import type {Vec3} from '../protocol.ts';
import {Buffer, Program, type Value} from './gl.ts';
import {BEHIND} from './glsl.ts';

export type Stroke = {
  color: Vec3; /* sRGB */
  alpha?: number;
  width?: number;
  head?: number; /* of an arrow's tip; 0: none */
  halo?: number; /* strength */
  hidden?: number; /* how strongly it is seen behind material; 1: as in front */
};

/* Of the picture under the lines. */
export type Depths = {solidDepth: WebGLTexture; ballDepth: WebGLTexture};

const FLOATS = 14;
const LAYOUT = [[0, 3, 0], [1, 3, 12], [2, 4, 24], [3, 4, 40]] as const; /* attribute, floats, byte */

const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 a;
layout(location = 1) in vec3 b;
layout(location = 2) in vec4 tint;
layout(location = 3) in vec4 style; /* width, head, halo, hidden */
uniform mat4 clip;
uniform vec2 canvas;
uniform float near, dense; /* device pixels per CSS pixel */
out vec2 at;
out float depth;
flat out float len;
flat out vec4 color, look;
void main() {
  vec4 p = clip * vec4(a, 1.0), q = clip * vec4(b, 1.0);
  gl_Position = vec4(2.0);
  color = tint;
  look = vec4(style.xy * dense, style.zw);
  if (p.w < near && q.w < near) return;
  if (p.w < near) p = mix(p, q, (near - p.w) / (q.w - p.w));
  else if (q.w < near) q = mix(q, p, (near - q.w) / (p.w - q.w));
  vec2 s = 0.5 * canvas * p.xy / p.w, e = 0.5 * canvas * q.xy / q.w, d = e - s;
  len = length(d);
  vec2 u = len > 1e-4 ? d / len : vec2(1.0, 0.0), v = vec2(-u.y, u.x);
  float pad = max(0.5 * look.x, 0.5 * look.y) + 3.0 * dense;
  float along = (gl_VertexID & 1) == 0 ? -pad : len + pad, across = (gl_VertexID & 2) == 0 ? -pad : pad;
  at = vec2(along, across);
  float t = clamp(along / max(len, 1e-4), 0.0, 1.0), z = mix(p.z / p.w, q.z / q.w, t);
  depth = 0.5 + 0.5 * z;
  gl_Position = vec4((s + along * u + across * v) / (0.5 * canvas), z, 1.0);
}`;

const FRAGMENT = `${BEHIND}
in vec2 at;
in float depth;
flat in float len;
flat in vec4 color, look;
uniform vec3 haloColor;
uniform float dense;
out vec4 o;
void main() {
  float head = min(look.y, 0.7 * len), end = max(len - 0.8 * head, 0.0);
  float d = length(vec2(at.x - clamp(at.x, 0.0, end), at.y)) - 0.5 * look.x;
  if (head > 0.0) {
    vec2 side = normalize(vec2(0.42, 1.0));
    d = min(d, max(dot(vec2(at.x - len, abs(at.y)), side), len - head - at.x));
  }
  float in_ = clamp(0.5 - d, 0.0, 1.0), around = look.z * clamp(0.5 - (d - 1.5 * dense) / dense, 0.0, 1.0);
  float alpha = in_ + (1.0 - in_) * around;
  float fade = color.a;
  if (look.w < 1.0 && isBehind(depth)) fade *= look.w;
  if (alpha * fade < 0.004) discard;
  o = vec4(mix(haloColor, color.rgb, in_ / max(alpha, 1e-4)), 1.0) * alpha * fade;
}`;

export class Lines {
  #data = new Float32Array(FLOATS * 1024);
  #count = 0;
  #written = 0; /* lines in the buffer */
  readonly #gl: WebGL2RenderingContext;
  readonly #array: WebGLVertexArrayObject;
  readonly #buffer: Buffer;
  readonly #program: Program;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#program = new Program(gl, FRAGMENT, VERTEX);
    this.#buffer = new Buffer(gl);
    this.#array = gl.createVertexArray()!;
    gl.bindVertexArray(this.#array);
    for (const [i] of LAYOUT) {
      gl.enableVertexAttribArray(i);
      gl.vertexAttribDivisor(i, 1);
    }
    gl.bindVertexArray(null);
  }

  clear(): void {
    this.#count = this.#written = 0;
  }

  get count(): number {
    return this.#count;
  }

  add(a: Vec3, b: Vec3, s: Stroke): void {
    if (FLOATS * (this.#count + 1) > this.#data.length) {
      const more = new Float32Array(2 * this.#data.length);
      more.set(this.#data);
      this.#data = more;
    }
    const d = this.#data, o = FLOATS * this.#count++;
    d[o] = a[0]; d[o + 1] = a[1]; d[o + 2] = a[2];
    d[o + 3] = b[0]; d[o + 4] = b[1]; d[o + 5] = b[2];
    d[o + 6] = s.color[0]; d[o + 7] = s.color[1]; d[o + 8] = s.color[2]; d[o + 9] = s.alpha ?? 1;
    d[o + 10] = s.width ?? 1.25; d[o + 11] = s.head ?? 0; d[o + 12] = s.halo ?? 0; d[o + 13] = s.hidden ?? 1;
  }

  path(points: Vec3[], s: Stroke): void {
    for (let i = 1; i < points.length; i++) this.add(points[i - 1]!, points[i]!, s);
  }

  /* Those from one to before another, onto the target that is bound. `style`: what the shaders ask for. The first
   * call writes all lines. */
  draw(from: number, to: number, style: Record<string, Value>, depths: Depths | null): void {
    if (from === to) return;
    const gl = this.#gl;
    if (this.#written !== this.#count) this.#buffer.set(this.#data.subarray(0, FLOATS * this.#count));
    this.#written = this.#count;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.DEPTH_TEST);
    this.#program.use(style, {hides: depths !== null}, depths ?? {});
    gl.bindVertexArray(this.#array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer.buffer);
    for (const [i, n, byte] of LAYOUT) gl.vertexAttribPointer(i, n, gl.FLOAT, false, 4 * FLOATS, 4 * FLOATS * from + byte);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, to - from);
    gl.disable(gl.BLEND);
  }
}
