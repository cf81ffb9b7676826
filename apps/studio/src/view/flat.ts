/* A 2D picture: paper, ground, and particles: discs, or bodies with an outline where the sum of their kernels is
 * large. */

import type {Lens} from './camera.ts';
import {Program, Target, type Value} from './gl.ts';
import {COLOR, PLACE} from './glsl.ts';
import {PARTICLE, type Particles} from './particles.ts';
import type {Theme} from './theme.ts';

const BACKGROUND = `
uniform vec3 paper, earth;
uniform float ground; /* its pixels from below */
out vec4 o;
void main() { o = vec4(mix(paper, earth, clamp(ground - gl_FragCoord.y + 0.5, 0.0, 1.0)), 1.0); }`;

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
${PLACE}${COLOR}${PARTICLE}
uniform mat4 clip;
uniform float pixels; /* radius */
flat out vec3 color;
flat out float r;
void main() {
  gl_Position = clip * vec4(placeOf(place), 1.0);
  r = max(pixels, 0.75);
  gl_PointSize = 2.0 * r + 2.0;
  vec3 c = colorOf(tag, value);
  color = mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
  if (isHidden(tag, share)) gl_Position = NOWHERE;
}`;

/* A scene that is out of date is grey. */
const STALE = `
uniform float stale;
vec3 staled(vec3 c) { return mix(c, mix(vec3(dot(c, vec3(0.3, 0.6, 0.1))), vec3(0.5), 0.2), stale); }
`;

const DISC = `${STALE}
flat in vec3 color;
flat in float r;
out vec4 o;
void main() {
  float a = clamp(r + 0.5 - (r + 1.0) * length(2.0 * gl_PointCoord - 1.0), 0.0, 1.0);
  if (a <= 0.0) discard;
  o = vec4(staled(color), 1.0) * a;
}`;

/* The sum of kernels (1 - r^2)^2, and of colours with that weight. */
const KERNEL = `
flat in vec3 color;
flat in float r;
out vec4 o;
void main() {
  vec2 c = 2.0 * gl_PointCoord - 1.0;
  float q = max(1.0 - dot(c, c), 0.0);
  o = vec4(color, 1.0) * q * q;
}`;

const BODY = `${STALE}
uniform sampler2D field;
uniform vec2 size;
uniform vec3 edge; /* colour of an outline */
uniform float level, wide; /* of the surface; pixels of the outline */
out vec4 o;
void main() {
  vec4 f = texture(field, gl_FragCoord.xy / size);
  float off = (f.a - level) / max(length(vec2(dFdx(f.a), dFdy(f.a))), 1e-4); /* pixels within the surface */
  float body = clamp(off + 0.5, 0.0, 1.0), line = 0.55 * clamp(off + wide + 0.5, 0.0, 1.0);
  if (f.a <= 0.0) discard;
  o = mix(vec4(edge, 1.0) * line, vec4(staled(f.rgb / f.a), 1.0), body);
}`;

const REACH = 2.7, LEVEL = 0.9; /* of a kernel, in radii; of the sum at the surface: one particle alone is a dot */

const COARSER = 3;

export type FlatFrame = {
  lens: Lens;
  theme: Theme;
  particles: Particles;
  groundY: number | null;
  radius: number; /* m */
  merged: boolean; /* bodies instead of discs */
  paint: Record<string, Value>;
  stale: boolean;
};

export class Flat {
  readonly #gl: WebGL2RenderingContext;
  readonly #background: Program;
  readonly #disc: Program;
  readonly #kernel: Program;
  readonly #body: Program;
  readonly #empty: WebGLVertexArrayObject;
  readonly #largest: number; /* point, pixels */
  #field: Target | null = null;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#background = new Program(gl, BACKGROUND);
    this.#disc = new Program(gl, DISC, VERTEX);
    this.#kernel = new Program(gl, KERNEL, VERTEX);
    this.#body = new Program(gl, BODY);
    this.#empty = gl.createVertexArray()!;
    this.#largest = (gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE) as Float32Array | null)?.[1] ?? 1;
  }

  #fill(): void {
    this.#gl.bindVertexArray(this.#empty);
    this.#gl.drawArrays(this.#gl.TRIANGLES, 0, 3);
  }

  /* At a part of the resolution: it is smooth. */
  #drawField(f: FlatFrame, pixels: number, width: number, height: number): WebGLTexture {
    const gl = this.#gl, w = Math.ceil(width / COARSER), h = Math.ceil(height / COARSER);
    if (this.#field?.width !== w || this.#field.height !== h) {
      this.#field?.free();
      this.#field = new Target(gl, w, h, ['rgba16f']);
    }
    this.#field.bind();
    gl.clearBufferfv(gl.COLOR, 0, new Float32Array(4));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.#kernel.use(f.paint, {clip: f.lens.clip, pixels});
    f.particles.draw();
    gl.disable(gl.BLEND);
    return this.#field.color[0]!;
  }

  draw(f: FlatFrame, width: number, height: number): void {
    const gl = this.#gl, l = f.lens, pixels = (0.5 * f.radius * height * l.fy) / l.distance;
    const ground = f.groundY === null ? -1e6 : (0.5 + 0.5 * ((l.fy * (f.groundY - l.eye[1])) / l.distance + l.sy)) * height;
    const stale = f.stale ? 0.8 : 0, reach = (REACH * pixels) / COARSER;
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    const field = f.merged && 2 * reach + 2 <= this.#largest ? this.#drawField(f, reach, width, height) : null;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    this.#background.use({paper: f.theme.paper, earth: f.theme.earth, ground});
    this.#fill();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (field) {
      this.#body.use({field, size: [width, height], edge: f.theme.halo, level: LEVEL, wide: 0.0016 * height + 0.4, stale});
      this.#fill();
    } else {
      this.#disc.use(f.paint, {clip: l.clip, pixels, stale});
      f.particles.draw();
    }
    gl.disable(gl.BLEND);
  }
}
