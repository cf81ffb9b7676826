/* Feeds the view with pictures that no engine made, for looking at it alone: see shoot.mjs. */

import type {Look, Pose, SceneInfo, Vec3} from '../src/protocol.ts';
import {HEADER, Kind, MAGIC} from '../src/protocol.ts';
import {decode, type Picture} from '../src/view/decode.ts';
import {View, type DrawnShape} from '../src/view/view.ts';

export type Cloud = {places: number[] | Float32Array; velocity?: number[] | Float32Array; tags: number[] | Uint32Array; values?: number[] | Float32Array};

/* The binary message that an engine would send. */
export function pictureOf(c: Cloud, dimension: 2 | 3): Picture {
  const n = c.places.length / 3, low: Vec3 = [Infinity, Infinity, Infinity];
  let reach = 0;
  for (let i = 0; i < 3 * n; i++) low[i % 3] = Math.min(low[i % 3]!, c.places[i]!);
  for (let i = 0; i < 3 * n; i++) reach = Math.max(reach, c.places[i]! - low[i % 3]!);
  const step = reach / 0x1fffff || 1, colors = c.values ? Math.ceil(n / 2) * 4 : 0;
  const b = new ArrayBuffer(HEADER + 8 * n + colors + (c.velocity ? 12 * n : 0)), h = new DataView(b);
  [MAGIC, Kind.picture, 1, n].forEach((x, i) => h.setUint32(4 * i, x, true));
  low.forEach((x, a) => h.setFloat32(24 + 4 * a, x, true));
  h.setFloat32(36, step, true);
  h.setUint32(40, dimension, true);
  h.setUint32(44, (c.values ? 1 : 0) | (c.velocity ? 2 : 0), true);
  const words = new Uint32Array(b, HEADER, 2 * n);
  for (let i = 0; i < n; i++) {
    const [x, y, z] = [0, 1, 2].map((a) => Math.round((c.places[3 * i + a]! - low[a]!) / step)) as [number, number, number];
    words[2 * i] = (x | (y << 21)) >>> 0;
    words[2 * i + 1] = ((y >>> 11) | (z << 10)) >>> 0;
  }
  if (c.values) {
    let least = Infinity, most = -Infinity;
    for (const v of c.values) [least, most] = [Math.min(least, v), Math.max(most, v)];
    h.setFloat32(48, least, true);
    h.setFloat32(52, most, true);
    new Uint16Array(b, HEADER + 8 * n, n).set(Array.from(c.values, (v) => (65535 * (v - least)) / (most - least || 1)));
  }
  if (c.velocity) new Float32Array(b, HEADER + 8 * n + colors, 3 * n).set(c.velocity);
  return decode(b) as Picture;
}

/* Particles on a lattice inside a test. */
export function fill(inside: (p: Vec3) => boolean, low: Vec3, high: Vec3, step: number, tag: number, out: Cloud): void {
  const jitter = (k: number): number => 0.3 * step * (((Math.sin(k * 12.9898) * 43758.5453) % 1) || 0);
  let k = out.places.length;
  for (let x = low[0]; x <= high[0]; x += step) {
    for (let y = low[1]; y <= high[1]; y += step) {
      for (let z = low[2]; z <= high[2]; z += step) {
        if (!inside([x, y, z])) continue;
        (out.places as number[]).push(x + jitter(k++), y + jitter(k++), low[2] === high[2] ? 0 : z + jitter(k++));
        (out.tags as number[]).push(tag);
      }
    }
  }
}

export type Setup = {scene: SceneInfo; shapes: DrawnShape[]; cloud: Cloud | null; poses?: Pose[]};

export function show(view: View, s: Setup): void {
  view.setScene(s.scene, s.shapes);
  if (s.cloud) {
    view.setTags(new Uint32Array(s.cloud.tags));
    view.setPicture(pictureOf(s.cloud, s.scene.dimension));
  }
  view.frame('all');
}

/* As src/scene/look.c has them. */
const opaque = {clarity: 0, grain: 0, glint: 0};
const LOOKS: Record<string, Look> = {
  jelly: {...opaque, clarity: 0.85, depth: 0.25, subsurface: 0.8, gloss: 1, roughness: 0.04, index: 1.36, smooth: 2.5},
  snow: {clarity: 0, depth: 0.01, subsurface: 0.35, gloss: 0.1, roughness: 0.7, index: 1.31, smooth: 0.6, grain: 0.45, glint: 1},
  water: {...opaque, clarity: 1, depth: 0.6, subsurface: 0.5, gloss: 1, roughness: 0.02, index: 1.33, smooth: 2},
  chocolate: {...opaque, depth: 0.012, subsurface: 0.3, gloss: 1, roughness: 0.18, index: 1.46, smooth: 2.5},
};

export function sceneOf(name: string, dimension: 2 | 3, resolution: number, materials: [string, Vec3][], objects: string[]): SceneInfo {
  return {
    name, dimension, first: 1, last: 48, fps: 24, playback: 24, resolution, cell_size: 2 * resolution, heat: false, up: 'y',
    materials: materials.map(([look, color]) => ({name: look, law: '', preset: look, color, tint: 0, look: LOOKS[look], values: {}})),
    objects: objects.map((o) => ({name: o, material: '', count: 0})), colliders: [],
  };
}

Object.assign(window, {View, pictureOf, fill, show, sceneOf, decode});
