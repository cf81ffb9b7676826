/* Arrows and boxes over the picture: velocities of particles, velocities and forces at nodes, active blocks. */

import type {Vec3} from '../protocol.ts';
import type {Camera} from './camera.ts';
import {NODE, type Grid} from './decode.ts';
import type {Lines, Stroke} from './lines.ts';
import {along, dot, length, sub} from './math.ts';

const APART = 40; /* CSS px between arrows */
const LONGEST = 46; /* CSS px of the arrow of a fast particle */
const MOST_BLOCKS = 3000;

/* The frontmost entry in each square of the picture, so that arrows stay readable. */
function thinned(count: number, at: (i: number) => Vec3, camera: Camera): number[] {
  const l = camera.lens(), best = new Map<number, [number, number]>();
  for (let i = 0; i < count; i++) {
    const d = sub(at(i), l.eye), depth = -dot(d, l.back), w = l.flat ? l.distance : depth;
    if (w < l.near) continue;
    const x = (0.5 + 0.5 * ((l.fx * dot(d, l.right)) / w + l.sx)) * l.width;
    const y = (0.5 - 0.5 * ((l.fy * dot(d, l.up)) / w + l.sy)) * l.height;
    if (x < 0 || y < 0 || x > l.width || y > l.height) continue;
    /* In 2D the one nearest the square's middle: depths are all the same. */
    const u = x / APART - Math.floor(x / APART) - 0.5, v = y / APART - Math.floor(y / APART) - 0.5;
    const rank = l.flat ? u * u + v * v : depth, key = Math.floor(x / APART) * 4096 + Math.floor(y / APART);
    const other = best.get(key);
    if (!other || rank < other[0]) best.set(key, [rank, i]);
  }
  return [...best.values()].map(([, i]) => i);
}

/* Length of an arrow in m per unit of a vector whose large ones are `typical`. */
function lengthen(typical: number, camera: Camera): number {
  return typical > 0 ? (LONGEST * camera.pixel) / typical : 0;
}

/* A value that few exceed. */
function typicalOf(values: Float32Array): number {
  values.sort();
  return values[Math.floor(0.95 * (values.length - 1))] ?? 0;
}

function arrows(lines: Lines, count: number, at: (i: number) => Vec3, vector: (i: number) => Vec3, camera: Camera, s: Stroke): void {
  const chosen = thinned(count, at, camera), k = lengthen(typicalOf(Float32Array.from(chosen, (i) => length(vector(i)))), camera);
  for (const i of chosen) {
    const v = vector(i), size = length(v) * k;
    if (size < 3 * camera.pixel) continue;
    lines.add(at(i), along(at(i), v, k * Math.min(1, (1.6 * LONGEST * camera.pixel) / size)), s);
  }
}

const turned = (d: Float32Array, o: number, zUp: boolean): Vec3 =>
  zUp ? [d[o]!, d[o + 2]!, -d[o + 1]!] : [d[o]!, d[o + 1]!, d[o + 2]!];

export function velocityArrows(lines: Lines, places: Float32Array, velocity: Float32Array, zUp: boolean, camera: Camera, s: Stroke): void {
  arrows(lines, places.length / 3, (i) => [places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!],
         (i) => turned(velocity, 3 * i, zUp), camera, s);
}

export function forceArrows(lines: Lines, g: Grid, zUp: boolean, camera: Camera, s: Stroke): void {
  arrows(lines, g.count, (i) => turned(g.nodes, NODE * i, zUp), (i) => turned(g.nodes, NODE * i + 7, zUp), camera, s);
}

export function flowArrows(lines: Lines, g: Grid, zUp: boolean, camera: Camera, s: Stroke): void {
  arrows(lines, g.count, (i) => turned(g.nodes, NODE * i, zUp), (i) => turned(g.nodes, NODE * i + 4, zUp), camera, s);
}

/* Low corners of the edges of blocks of four nodes a side that hold a node, each edge once: in blocks, with the axis
 * that it runs along. */
function edgesOf(g: Grid, dimension: 2 | 3): Int32Array {
  const side = 4 * g.cell, FAR = 1 << 15, seen = new Set<number>(), edges: number[] = [];
  /* Exact up to 2^53: 16 bits an axis, and two for the kind. */
  const isNew = (x: number, y: number, z: number, kind: number): boolean => {
    const key = (((x + FAR) * 65536 + (y + FAR)) * 65536 + (z + FAR)) * 4 + kind, before = seen.size;
    return seen.add(key).size > before;
  };
  const at = [0, 0, 0];
  for (let i = 0, blocks = 0; i < g.count && blocks < MOST_BLOCKS; i++) {
    for (let a = 0; a < dimension; a++) at[a] = Math.floor((g.nodes[NODE * i + a]! + 0.01 * g.cell) / side);
    if (!isNew(at[0]!, at[1]!, at[2]!, 3)) continue;
    blocks++;
    for (let a = 0; a < dimension; a++) {
      const j = (a + 1) % 3, k = (a + 2) % 3;
      for (let corner = 0; corner < 4; corner++) {
        const from = [...at];
        from[j]! += corner & 1;
        from[k]! += corner >> 1;
        if (dimension === 2 && from[2] !== 0) continue;
        if (isNew(from[0]!, from[1]!, from[2]!, a)) edges.push(from[0]!, from[1]!, from[2]!, a);
      }
    }
  }
  return new Int32Array(edges);
}

/* What is found out about a grid, once: it is drawn many times. */
type Known = {edges?: Int32Array; mass?: number; speed?: number};
const known = new WeakMap<Grid, Known>();

function about(g: Grid): Known {
  let k = known.get(g);
  if (!k) known.set(g, (k = {}));
  return k;
}

export function blockEdges(lines: Lines, g: Grid, dimension: 2 | 3, zUp: boolean, s: Stroke): void {
  const side = 4 * g.cell, edges = (about(g).edges ??= edgesOf(g, dimension)), ends = new Float32Array(6);
  for (let i = 0; i < edges.length; i += 4) {
    for (let a = 0; a < 3; a++) ends[a] = ends[a + 3] = side * edges[i + a]!;
    ends[3 + edges[i + 3]!]! += side;
    lines.add(turned(ends, 0, zUp), turned(ends, 3, zUp), s);
  }
}

/* A large value of mass or speed at the nodes, for their colours. */
export function mostOf(g: Grid, speed: boolean): number {
  return (about(g)[speed ? 'speed' : 'mass'] ??= largeOf(g, speed));
}

function largeOf(g: Grid, speed: boolean): number {
  const step = Math.max(1, Math.floor(g.count / 5000)), some = new Float32Array(Math.ceil(g.count / step));
  for (let i = 0, k = 0; i < g.count; i += step, k++) {
    const n = NODE * i;
    some[k] = speed ? Math.hypot(g.nodes[n + 4]!, g.nodes[n + 5]!, g.nodes[n + 6]!) : g.nodes[n + 3]!;
  }
  return typicalOf(some) || 1;
}
