/* Materials, objects and the colour map as the shaders read them, and the range that a map spans. */

import type {Look, SceneInfo} from '../protocol.ts';
import {colormap, colormapBytes, mapOf, stopsOf, type MapKind} from './colormap.ts';
import type {Picture} from './decode.ts';
import {texture, type Value} from './gl.ts';
import {PLAIN} from './looks.ts';
import type {Bounds} from './math.ts';

export type Legend = {name: string; unit: string; lo: number; hi: number; stops: string[]; kind: MapKind};

const SEEN_THROUGH = 0.3; /* clarity, from which on */
const SMOOTH = 1.5; /* spacings, from which on a surface is smooth */
const LONE_GRAIN = 1.6; /* power of a share of the radius: grains that stand alone are finer than drops */
const EASE = 0.12; /* part of the way that an automatic range shrinks in a picture; it grows at once */

const isSmooth = (look: Look): boolean => look.smooth >= SMOOTH;

export class Palette {
  readonly #gl: WebGL2RenderingContext;
  #materials: WebGLTexture;
  #objects: WebGLTexture;
  readonly #maps = new Map<MapKind, WebGLTexture>();
  #eased: [number, number] | null = null;
  #easedOf = '';
  #hiding = false;
  clear = false;
  allClear = false;
  smooth: boolean[] = []; /* materials whose surface is one, not of grains */
  plain = 0;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#materials = texture(gl, 'rgba32f', 1, 4, new Float32Array(16).fill(0.5));
    this.#objects = texture(gl, 'rgba32f', 1, 1, new Float32Array([1, 0, 0, 0]));
  }

  /* Four texels a material: see passes.ts. The last is for colours that mean something. */
  setScene(scene: SceneInfo, box: Bounds): void {
    const own = scene.materials.map((m) => ({color: m.color, tint: m.tint, look: m.look ?? PLAIN}));
    const rows = [...own, {color: [0.6, 0.6, 0.6] as const, tint: 0, look: {...PLAIN, smooth: 1.2, gloss: 0.12}}];
    const n = rows.length, data = new Float32Array(16 * n);
    const size = Math.max(box.high[1] - box.low[1], 0.5 * (box.high[0] - box.low[0]), 8 * scene.resolution);
    rows.forEach(({color, tint, look}, i) => {
      data.set([...color, tint], 4 * i);
      data.set([look.clarity, look.depth * size, look.subsurface, look.gloss], 4 * (n + i));
      data.set([look.roughness, look.index, look.smooth, look.grain], 4 * (2 * n + i));
      data.set([look.glint, 1 + 0.2 * Math.min(look.smooth / 2.5, 1), isSmooth(look) ? 1 : 0, isSmooth(look) ? 1 : LONE_GRAIN], 4 * (3 * n + i));
    });
    this.#gl.deleteTexture(this.#materials);
    this.#materials = texture(this.#gl, 'rgba32f', n, 4, data);
    this.clear = own.some((m) => m.look.clarity >= SEEN_THROUGH);
    this.allClear = this.clear && own.every((m) => m.look.clarity >= SEEN_THROUGH);
    this.smooth = own.map((m) => isSmooth(m.look));
    this.plain = n - 1;
  }

  setObjects(visible: boolean[]): void {
    const data = new Float32Array(4 * Math.max(visible.length, 1)).fill(1);
    this.#hiding = visible.includes(false);
    visible.forEach((v, i) => (data[4 * i] = v ? 1 : 0));
    this.#gl.deleteTexture(this.#objects);
    this.#objects = texture(this.#gl, 'rgba32f', data.length / 4, 1, data);
  }

  map(kind: MapKind): WebGLTexture {
    let t = this.#maps.get(kind);
    if (!t) this.#maps.set(kind, (t = texture(this.#gl, 'rgba8', 256, 1, colormapBytes(kind))));
    return t;
  }

  /* Linear light, 256 of them. */
  colors(attribute: string): [number, number, number][] {
    return colormap(mapOf(attribute).kind);
  }

  /* Follows the values of pictures. */
  ease(attribute: string, p: Picture): void {
    if (!p.color || !p.count) return;
    const [lo, hi] = rangeOf(p, attribute);
    if (!this.#eased || this.#easedOf !== attribute) this.#eased = [lo, hi];
    const [a, b] = this.#eased;
    this.#eased = [lo < a ? lo : a + EASE * (lo - a), hi > b ? hi : b + EASE * (hi - b)];
    this.#easedOf = attribute;
  }

  range(attribute: string, fixed: [number, number] | null): [number, number] {
    const [lo, hi] = fixed ?? (this.#easedOf === attribute ? this.#eased : null) ?? [0, 1];
    const least = Math.max(1e-6 * Math.abs(lo), 1e-9);
    return hi - lo < least ? [lo - least, lo + least] : [lo, hi];
  }

  legend(name: string, unit: string, fixed: [number, number] | null): Legend {
    const {kind} = mapOf(name), [lo, hi] = this.range(name, fixed);
    return {name, unit, lo, hi, stops: stopsOf(kind, 17), kind};
  }

  /* What COLOR asks for. `carried`: the attribute of the picture. */
  uniforms(p: Picture | null, by: string | null, carried: string | null, fixed: [number, number] | null): Record<string, Value> {
    const number = by !== null && by !== 'material' && by !== 'object' && by === carried && p?.color;
    const kind: MapKind = number ? mapOf(by).kind : 'categorical';
    return {
      materials: this.#materials, objects: this.#objects, map: this.map(kind), hiding: this.#hiding,
      coloring: number ? 1 : by === 'object' ? 2 : 0,
      values: p ? [p.least, p.most] : [0, 1],
      shownRange: number ? this.range(by, fixed) : [0, 1],
      glowing: carried === 'temperature' && p?.color && !number ? 1 : 0,
    };
  }
}

/* All but half a percent of the values at either end, from a sample; centred for a diverging map, from 0 for
 * values that cannot be below it. */
function rangeOf(p: Picture, attribute: string): [number, number] {
  const {kind, middle} = mapOf(attribute), n = p.count, step = Math.max(1, Math.floor(n / 5000));
  const some = new Uint16Array(Math.ceil(n / step));
  for (let i = 0, k = 0; i < n; i += step) some[k++] = p.color![i]!;
  some.sort();
  const few = Math.floor(some.length / 200), value = (x: number): number => p.least + ((p.most - p.least) * x) / 65535;
  const lo = value(some[few]!), hi = value(some[some.length - 1 - few]!);
  if (kind === 'diverging') {
    const reach = Math.max(Math.abs(lo - middle), Math.abs(hi - middle), 1e-9);
    return [middle - reach, middle + reach];
  }
  return attribute === 'speed' ? [0, hi] : [lo, hi];
}
