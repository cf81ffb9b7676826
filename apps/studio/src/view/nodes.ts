/* Grid nodes as dots, coloured by mass or speed. */

import type {Grid} from './decode.ts';
import {NODE} from './decode.ts';
import {Buffer, Program, type Value} from './gl.ts';
import {BEHIND} from './glsl.ts';
import type {Depths} from './lines.ts';

const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 point;
layout(location = 1) in float mass;
layout(location = 2) in vec3 velocity;
uniform mat4 clip;
uniform bool zUp, speed;
uniform float most, pixels;
uniform sampler2D map;
out float depth;
flat out vec4 color;
void main() {
  vec3 p = zUp ? vec3(point.x, point.z, -point.y) : point;
  gl_Position = clip * vec4(p, 1.0);
  depth = 0.5 + 0.5 * gl_Position.z / gl_Position.w;
  float t = clamp((speed ? length(velocity) : mass) / most, 0.0, 1.0);
  color = vec4(texture(map, vec2((255.0 * t + 0.5) / 256.0, 0.5)).rgb, 0.35 + 0.65 * t);
  gl_PointSize = pixels * (0.7 + 0.6 * t);
}`;
const FRAGMENT = `${BEHIND}
in float depth;
flat in vec4 color;
out vec4 o;
void main() {
  float a = clamp((1.0 - length(2.0 * gl_PointCoord - 1.0)) * 3.0, 0.0, 1.0) * color.a;
  if (isBehind(depth)) a *= 0.12;
  o = vec4(color.rgb, 1.0) * a;
}`;

export class Nodes {
  readonly #gl: WebGL2RenderingContext;
  readonly #array: WebGLVertexArrayObject;
  readonly #buffer: Buffer;
  readonly #program: Program;
  #count = 0;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#program = new Program(gl, FRAGMENT, VERTEX);
    this.#buffer = new Buffer(gl);
    this.#array = gl.createVertexArray()!;
    gl.bindVertexArray(this.#array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer.buffer);
    for (const [i, n, offset] of [[0, 3, 0], [1, 1, 12], [2, 3, 16]] as const) {
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, n, gl.FLOAT, false, 4 * NODE, offset);
    }
    gl.bindVertexArray(null);
  }

  set(grid: Grid | null): void {
    this.#count = grid?.count ?? 0;
    if (grid) this.#buffer.set(grid.nodes);
  }

  draw(style: Record<string, Value>, depths: Depths | null): void {
    if (!this.#count) return;
    const gl = this.#gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.DEPTH_TEST);
    this.#program.use(style, {hides: depths !== null}, depths ?? {});
    gl.bindVertexArray(this.#array);
    gl.drawArrays(gl.POINTS, 0, this.#count);
    gl.disable(gl.BLEND);
  }
}
