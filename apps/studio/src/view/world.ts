/* A 3D picture: maps of sun and ground, sky and solids, particles as balls whose depth is smoothed into a
 * surface, light on it, and the result on the canvas. */

import type {Vec3} from '../protocol.ts';
import type {Lens} from './camera.ts';
import type {Depths} from './lines.ts';
import {Program, Target, type Value} from './gl.ts';
import {across, add, dot, isEmpty, length, scale, sub, type Bounds, type Mat4} from './math.ts';
import type {Particles} from './particles.ts';
import * as pass from './passes.ts';
import type {Solids} from './solids.ts';
import {SUN, type Theme} from './theme.ts';
import type {NetMesh} from './netmesh.ts';

export type Frame = {
  lens: Lens;
  theme: Theme;
  particles: Particles;
  mesh: NetMesh | null;
  balls: boolean; /* particles are drawn as well */
  solids: Solids;
  box: Bounds; /* of all material */
  bounds: () => Bounds; /* of what throws shadows */
  groundY: number | null;
  spacing: number;
  radius: number;
  smooth: number; /* 0: balls stay balls */
  clear: boolean; /* something can be seen through */
  allClear: boolean; /* everything: shadows are lighter */
  paint: Record<string, Value>; /* what PLACE and COLOR ask for */
  plain: number;
  stale: boolean;
  mapsChanged: boolean; /* particles or solids are others than in the last frame */
};

const SHADOW_FINE = 1024, SHADOW_COARSE = 512, COVER = 128;
/* Rounds of smoothing: strength, and pixels at most. The last ones take no long strides, which leave patterns. */
const FINE = [[1, 80], [0.6, 40], [0.4, 16], [0.4, 8]] as const, COARSE = [[1, 40], [0.5, 8]] as const;

/* x, y, width and height of the pixels that material may be on. Software rendering shades all pixels that it is
 * given, whatever tests say, so this is what keeps it from the rest. */
function screenBox(f: Frame, width: number, height: number): [number, number, number, number] {
  const {low, high} = f.box, l = f.lens, b = [1, 1, -1, -1], wide = 2 * f.radius;
  if (isEmpty(f.box)) return [0, 0, 0, 0];
  for (let corner = 0; corner < 8; corner++) {
    const p = [0, 1, 2].map((a) => (corner >> a & 1 ? high[a]! + wide : low[a]! - wide)) as Vec3;
    const d = sub(p, l.eye), w = -dot(d, l.back);
    if (w < l.near) return [0, 0, width, height];
    const x = (l.fx * dot(d, l.right)) / w + l.sx, y = (l.fy * dot(d, l.up)) / w + l.sy;
    [b[0], b[1], b[2], b[3]] = [Math.min(b[0]!, x), Math.min(b[1]!, y), Math.max(b[2]!, x), Math.max(b[3]!, y)];
  }
  const at = (v: number, size: number): number => Math.round(Math.min(Math.max(0.5 + 0.5 * v, 0), 1) * size);
  const x = at(b[0]!, width), y = at(b[1]!, height);
  return [x, y, at(b[2]!, width) - x, at(b[3]!, height) - y];
}

export class World {
  readonly #gl: WebGL2RenderingContext;
  readonly #empty: WebGLVertexArrayObject;
  #shadow: Target;
  readonly #cover: [Target, Target];
  readonly #programs = new Map<string, Program>();
  #scene: Target | null = null;
  #balls: Target | null = null;
  #smooth: [Target, Target] | null = null;
  #thick: Target | null = null;
  #picture: Target | null = null;
  #even: Target | null = null; /* the picture with smooth edges */
  #clip: Mat4 = new Float32Array(16);
  #reach = 1;
  #box: [number, number, number, number] = [0, 0, 1, 1];

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#empty = gl.createVertexArray()!;
    this.#shadow = new Target(gl, SHADOW_FINE, SHADOW_FINE, [], 'depth');
    this.#cover = [new Target(gl, COVER, COVER, ['r8']), new Target(gl, COVER, COVER, ['r8'])];
  }

  #program(name: string, fragment: string, vertex?: string): Program {
    let p = this.#programs.get(name);
    if (!p) this.#programs.set(name, (p = new Program(this.#gl, fragment, vertex)));
    return p;
  }

  /* Depths of the last picture, for lines that hide behind it: of solids and ground, and of material. */
  get depths(): Depths | null {
    return this.#scene && this.#balls ? {solidDepth: this.#scene.depth!, ballDepth: this.#balls.depth!} : null;
  }

  #resize(width: number, height: number): void {
    if (this.#scene?.width === width && this.#scene.height === height) return;
    for (const t of [this.#scene, this.#balls, ...(this.#smooth ?? []), this.#thick, this.#picture, this.#even]) t?.free();
    const gl = this.#gl;
    this.#scene = new Target(gl, width, height, ['hdr'], 'depth');
    /* Later passes have the depth of the material alone: it tells which pixels they are about. */
    this.#balls = new Target(gl, width, height, ['rg32f', 'rgba8'], 'depth');
    const marks = this.#balls.depth!;
    this.#smooth = [new Target(gl, width, height, ['r32f'], marks), new Target(gl, width, height, ['r32f'], marks)];
    this.#thick = new Target(gl, Math.ceil(width / 2), Math.ceil(height / 2), ['r16f']);
    this.#picture = new Target(gl, width, height, ['rgba8'], marks);
    this.#even = new Target(gl, width, height, ['rgba8']);
  }

  #fill(): void {
    this.#gl.bindVertexArray(this.#empty);
    this.#gl.drawArrays(this.#gl.TRIANGLES, 0, 3);
  }

  /* An orthographic view along the sun that holds the bounds. */
  #aim(f: Frame): void {
    let b = f.bounds();
    if (isEmpty(b)) b = {low: [-0.5, 0, -0.5], high: [0.5, 0.5, 0.5]};
    const middle = scale(add(b.low, b.high), 0.5), r = 0.5 * length(sub(b.high, b.low)) + 4 * f.spacing;
    const [x, y] = across(SUN), e = 1 / r, z = scale(SUN, -1);
    const dotM = (a: Vec3): number => a[0] * middle[0] + a[1] * middle[1] + a[2] * middle[2];
    this.#clip = new Float32Array([
      x[0] * e, y[0] * e, z[0] * e, 0, x[1] * e, y[1] * e, z[1] * e, 0, x[2] * e, y[2] * e, z[2] * e, 0,
      -dotM(x) * e, -dotM(y) * e, -dotM(z) * e, 1]);
    this.#reach = 2 * r;
    const half = 0.8 * Math.max(b.high[0] - b.low[0], b.high[2] - b.low[2]) + 0.3 * (b.high[1] - b.low[1]) + 4 * f.spacing;
    this.#box = [middle[0], middle[2], half, 0.16 * half];
  }

  #drawMaps(f: Frame): void {
    const gl = this.#gl, toSun = {shadowClip: this.#clip}, low = {coverBox: this.#box, groundY: f.groundY ?? 0};
    this.#aim(f);
    toSun.shadowClip = this.#clip;
    low.coverBox = this.#box;
    this.#shadow.bind();
    gl.depthMask(true);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    const pointSize = (2 * f.radius * this.#shadow.width) / this.#reach;
    if (f.mesh) {
      const model = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
      this.#program('solidShadow', pass.solidShadowFragment, pass.solidShadowVertex).use({...toSun, model});
      f.mesh.draw();
    }
    if (f.balls) {
      this.#program('shadow', pass.shadowFragment, pass.shadowVertex).use(f.paint, toSun, {pointSize});
      f.particles.draw();
    }
    const cast = this.#program('solidShadow', pass.solidShadowFragment, pass.solidShadowVertex);
    f.solids.draw((model) => cast.use({...toSun, model}));
    gl.disable(gl.DEPTH_TEST);
    if (f.groundY === null) return;
    const [a, b] = this.#cover;
    a.bind();
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendEquation(gl.MAX);
    this.#program('cover', pass.coverFragment, pass.coverVertex)
      .use(f.paint, low, {pointSize: Math.max(2, (1.5 * f.radius * COVER) / this.#box[2]), meshing: 1});
    f.particles.draw(true);
    const under = this.#program('solidCover', pass.coverFragment, pass.solidCoverVertex);
    f.solids.draw((model) => under.use({...low, model}));
    gl.blendEquation(gl.FUNC_ADD);
    gl.disable(gl.BLEND);
    for (const [from, to, direction] of [[a, b, [1 / COVER, 0]], [b, a, [0, 1 / COVER]]] as const) {
      to.bind();
      this.#program('soften', pass.softenFragment).use({source: from.color[0]!, direction, size: [COVER, COVER]});
      this.#fill();
    }
  }

  #light(f: Frame): Record<string, Value> {
    const t = f.theme;
    return {
      sun: SUN, sunLight: t.sun, zenith: t.zenith, horizon: t.horizon, skyTop: t.skyTop, skyLow: t.skyLow,
      groundColor: t.ground, fill: t.fill, shadowClip: this.#clip, shadowReach: this.#reach, shadowSize: this.#shadow.width,
      shadowMap: this.#shadow.depth!, exposure: t.exposure,
    };
  }

  #drawScene(f: Frame, camera: Record<string, Value>, light: Record<string, Value>): void {
    const gl = this.#gl, span = (2 * f.lens.distance) / f.lens.fy;
    const decade = Math.floor(Math.log10(span)), lineStep = 10 ** (decade - 1);
    const ground = {hasGround: f.groundY !== null, groundY: f.groundY ?? 0};
    const t = f.theme, {width, height} = this.#scene!;
    this.#scene!.bind();
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    /* The horizon is level in every picture: each side of it has its own shader. */
    const l = f.lens, y = (0.5 + 0.5 * (l.sy + (l.fy * l.back[1]) / l.up[1])) * height;
    const horizon = f.groundY === null ? -1 : Math.round(Math.min(Math.max(y, -1), height + 1));
    const above = l.eye[1] > ground.groundY;
    gl.enable(gl.SCISSOR_TEST);
    if (above) gl.scissor(0, Math.max(horizon, 0), width, Math.max(height - horizon, 0));
    else gl.scissor(0, 0, width, f.groundY === null ? height : Math.max(horizon, 0));
    this.#program('sky', pass.skyFragment).use(camera, light, ground);
    this.#fill();
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.ALWAYS);
    if (f.groundY !== null) {
      if (above) gl.scissor(0, 0, width, Math.max(horizon, 0));
      else gl.scissor(0, Math.max(horizon, 0), width, Math.max(height - horizon, 0));
      const sky = t.zenith.map((z, a) => t.fill * (t.horizon[a]! + 0.82 * (z - t.horizon[a]!)));
      this.#program('ground', pass.groundFragment).use(camera, light, ground, {
        distance: l.distance, lineStep, lineMinor: 1 - (Math.log10(span) - decade) ** 2,
        shadowStrength: f.allClear ? (f.solids.count ? 0.85 : 0.5) : 1, lineStrength: t.lineStrength,
        groundLine: t.groundLine, groundSun: scale(t.sun, SUN[1]), groundSky: sky,
        coverBox: this.#box, cover: this.#cover[0].color[0]!,
      });
      this.#fill();
    }
    gl.disable(gl.SCISSOR_TEST);
    gl.depthFunc(gl.LEQUAL);
    const solid = this.#program('solid', pass.solidFragment, pass.solidVertex);
    f.solids.draw((model, color) => solid.use(camera, light, ground, {
      model, solidColor: color ?? f.theme.solid, bias: (2.5 * this.#reach) / this.#shadow.width, reach: 0.1 * this.#reach,
    }));
  }

  #drawBalls(f: Frame, camera: Record<string, Value>): void {
    const gl = this.#gl, zero = new Float32Array(4);
    this.#balls!.bind();
    gl.clearBufferfv(gl.COLOR, 0, zero);
    gl.clearBufferfv(gl.COLOR, 1, zero);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    const sceneDepth = this.#scene!.depth!;
    if (f.mesh) {
      this.#program('mesh', pass.meshFragment, pass.meshVertex).use(camera, {sceneDepth});
      f.mesh.draw();
    }
    if (f.balls) {
      this.#program('ball', pass.ballFragment, pass.ballVertex)
        .use(camera, f.paint, {radius: f.radius, high: this.#balls!.height, plain: f.plain, sceneDepth});
      f.particles.draw();
    }
    gl.disable(gl.DEPTH_TEST);
    if (!f.clear) return;
    this.#thick!.bind();
    gl.clearBufferfv(gl.COLOR, 0, zero);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    if (f.mesh) {
      this.#program('meshThick', pass.meshThickFragment, pass.meshVertex).use(camera, f.paint);
      f.mesh.draw();
    }
    if (f.balls) {
      const fullness = f.spacing ** 3 / ((4 / 3) * Math.PI * f.radius ** 3);
      this.#program('thick', pass.thickFragment, pass.thickVertex)
        .use(camera, f.paint, {radius: f.radius, high: this.#thick!.height, plain: f.plain, fullness});
      f.particles.draw();
    }
    gl.disable(gl.BLEND);
  }

  /* The texture with the smoothed depth. */
  #smoothDepth(f: Frame, rounds: readonly (readonly [number, number])[]): WebGLTexture {
    const gl = this.#gl, zero = new Float32Array(4), [a, b] = this.#smooth!, smooth = this.#program('smooth', pass.smoothFragment);
    let source = this.#balls!.color[0]!;
    if (!(f.smooth > 0)) return source;
    for (const [strength, most] of rounds) {
      for (const [to, direction] of [[a, [1, 0]], [b, [0, 1]]] as const) {
        to.bind();
        gl.clearBufferfv(gl.COLOR, 0, zero);
        smooth.use({
          source, colors: this.#balls!.color[1]!, direction, spacing: f.spacing, strength: strength * f.smooth, most,
          pixels: 0.5 * f.lens.fy * to.height, materials: f.paint['materials']!,
        });
        this.#fill();
        source = to.color[0]!;
      }
    }
    return source;
  }

  /* Draws at some pixels, and enlarges to those of the canvas. */
  draw(f: Frame, width: number, height: number, canvasWidth: number, canvasHeight: number, taps: number): void {
    const gl = this.#gl, l = f.lens;
    this.#resize(width, height);
    gl.disable(gl.CULL_FACE);
    /* A coarse map serves until there is time for a fine one. */
    const shadow = taps > 6 ? SHADOW_FINE : SHADOW_COARSE, finer = shadow > this.#shadow.width;
    if ((f.mapsChanged || finer) && shadow !== this.#shadow.width) {
      this.#shadow.free();
      this.#shadow = new Target(gl, shadow, shadow, [], 'depth');
    }
    if (f.mapsChanged || finer) this.#drawMaps(f);
    const camera = {view: l.view, lens: [l.fx, l.fy, l.sx, l.sy], range: [l.near, l.far], eye: l.eye, size: [width, height]};
    const light = {...this.#light(f), taps};
    this.#drawScene(f, camera, light);
    this.#drawBalls(f, camera);
    const behind = this.#scene!.color[0]!;
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(false);
    gl.depthFunc(gl.GREATER); /* material */
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(...screenBox(f, width, height));
    const depths = this.#smoothDepth(f, taps > 6 ? FINE : COARSE), stale = f.stale ? 0.8 : 0;
    this.#picture!.bind();
    this.#program(f.clear ? 'shadeClear' : 'shade', pass.shadeFragment(f.clear)).use(camera, light, {
      depths, raw: this.#balls!.color[0]!, colors: this.#balls!.color[1]!, behind, thick: this.#thick!.color[0]!,
      materials: f.paint['materials']!, spacing: f.spacing, radius: f.radius,
      occlusion: Math.max(6 * f.spacing, 0.03 * this.#reach), stale,
    });
    this.#fill();
    gl.disable(gl.SCISSOR_TEST);
    gl.depthFunc(gl.LESS); /* the rest */
    this.#program('plain', pass.plainFragment).use(light, {behind, stale});
    this.#fill();
    gl.disable(gl.DEPTH_TEST);
    gl.depthMask(true);
    const whole = width === canvasWidth && height === canvasHeight;
    if (whole) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      gl.viewport(0, 0, width, height);
    } else {
      this.#even!.bind();
    }
    this.#program('even', pass.evenFragment).use({source: this.#picture!.color[0]!, size: [width, height]});
    this.#fill();
    if (whole) return;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvasWidth, canvasHeight);
    this.#program('enlarge', pass.enlargeFragment).use({source: this.#even!.color[0]!, canvas: [canvasWidth, canvasHeight]});
    this.#fill();
  }
}
