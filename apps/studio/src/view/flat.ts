/* A 2D picture: paper, ground, and particles as discs. */

import type {Lens} from './camera.ts';
import {Program, type Value} from './gl.ts';
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
uniform float pixels, grow; /* radius; added to it: an outline */
flat out vec3 color;
flat out float r;
void main() {
  gl_Position = clip * vec4(placeOf(place), 1.0);
  r = max(pixels * share, 0.75) + grow;
  gl_PointSize = 2.0 * r + 2.0;
  vec3 c = colorOf(tag, value);
  color = mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
  if (isHidden(tag, share)) gl_Position = NOWHERE;
}`;

const FRAGMENT = `
flat in vec3 color;
flat in float r;
uniform vec4 edge; /* colour of an outline, and how much of it */
uniform float stale;
out vec4 o;
void main() {
  float a = clamp(r + 0.5 - (r + 1.0) * length(2.0 * gl_PointCoord - 1.0), 0.0, 1.0);
  if (a <= 0.0) discard;
  vec3 c = mix(color, edge.rgb, edge.a);
  c = mix(c, mix(vec3(dot(c, vec3(0.3, 0.6, 0.1))), vec3(0.5), 0.2), stale);
  o = vec4(c, 1.0) * a;
}`;

export type FlatFrame = {
  lens: Lens;
  theme: Theme;
  particles: Particles;
  groundY: number | null;
  radius: number; /* m */
  merged: boolean; /* discs grow together, with an outline around them */
  paint: Record<string, Value>;
  stale: boolean;
};

export class Flat {
  readonly #gl: WebGL2RenderingContext;
  readonly #background: Program;
  readonly #disc: Program;
  readonly #empty: WebGLVertexArrayObject;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#background = new Program(gl, BACKGROUND);
    this.#disc = new Program(gl, FRAGMENT, VERTEX);
    this.#empty = gl.createVertexArray()!;
  }

  draw(f: FlatFrame, width: number, height: number): void {
    const gl = this.#gl, l = f.lens, perMetre = (0.5 * height * l.fy) / l.distance;
    const ground = f.groundY === null ? -1e6 : (0.5 + 0.5 * ((l.fy * (f.groundY - l.eye[1])) / l.distance + l.sy)) * height;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.#background.use({paper: f.theme.paper, earth: f.theme.earth, ground});
    gl.bindVertexArray(this.#empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const common = {clip: l.clip, pixels: f.radius * perMetre, stale: f.stale ? 0.8 : 0};
    if (f.merged) {
      this.#disc.use(f.paint, common, {grow: 0.0016 * height + 0.4, edge: [...f.theme.halo, 0.45]});
      f.particles.draw();
    }
    this.#disc.use(f.paint, common, {grow: 0, edge: [0, 0, 0, 0]});
    f.particles.draw();
    gl.disable(gl.BLEND);
  }
}
