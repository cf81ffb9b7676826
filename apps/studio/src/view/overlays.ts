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
function typicalOf(values: number[]): number {
  values.sort((a, b) => a - b);
  return values[Math.floor(0.95 * (values.length - 1))] ?? 0;
}

function arrows(lines: Lines, count: number, at: (i: number) => Vec3, vector: (i: number) => Vec3, camera: Camera, s: Stroke): void {
  const chosen = thinned(count, at, camera), k = lengthen(typicalOf(chosen.map((i) => length(vector(i)))), camera);
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

/* Blocks of four nodes a side that hold a node: their edges, each once. */
export function blockEdges(lines: Lines, g: Grid, dimension: 2 | 3, zUp: boolean, s: Stroke): void {
  const side = 4 * g.cell, seen = new Set<string>(), edges = new Set<string>();
  for (let i = 0; i < g.count && seen.size < MOST_BLOCKS; i++) {
    const at = [0, 1, 2].map((a) => Math.floor((g.nodes[NODE * i + a]! + 0.01 * g.cell) / side));
    if (dimension === 2) at[2] = 0;
    const key = at.join();
    if (seen.has(key)) continue;
    seen.add(key);
    for (let a = 0; a < dimension; a++) {
      const j = (a + 1) % 3, k = (a + 2) % 3;
      for (const [u, v] of [[0, 0], [1, 0], [0, 1], [1, 1]] as const) {
        const from = [...at];
        from[j]! += u;
        from[k]! += v;
        if (dimension === 2 && from[2] !== 0) continue;
        edges.add(`${a},${from.join()}`);
      }
    }
  }
  for (const e of edges) {
    const [a, ...from] = e.split(',').map(Number) as [number, number, number, number];
    const p = new Float32Array(from.map((x) => x * side)), q = new Float32Array(p);
    q[a]! += side;
    if (dimension === 2) p[2] = q[2] = 0;
    lines.add(turned(p, 0, zUp), turned(q, 0, zUp), s);
  }
}

/* A large value of mass or speed at the nodes, for their colours. */
export function mostOf(g: Grid, speed: boolean): number {
  const some: number[] = [], step = Math.max(1, Math.floor(g.count / 5000));
  for (let i = 0; i < g.count; i += step) {
    const n = NODE * i;
    some.push(speed ? Math.hypot(g.nodes[n + 4]!, g.nodes[n + 5]!, g.nodes[n + 6]!) : g.nodes[n + 3]!);
  }
  return typicalOf(some) || 1;
}
