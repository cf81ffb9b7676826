/* Handles of the selected shape: arrows to move it, rings to turn it, squares to scale it. They keep their size in
 * pixels; what is drawn is what is picked. */

import type {Vec3} from '../protocol.ts';
import type {Camera} from './camera.ts';
import type {Lines} from './lines.ts';
import {add, along, cross, dot, scale, sub} from './math.ts';
import type {Theme} from './theme.ts';

/* axis: 0, 1, 2 for x, y, z of the scene; -1: all (move: across the view; scale: evenly). */
export type Handle = {do: 'move' | 'turn' | 'scale'; axis: -1 | 0 | 1 | 2};

const ARROW = 78, RING = 58, GRIP = 98, NEAR = 9; /* CSS px */

type Piece = {handle: Handle; points: Vec3[]; dot: boolean};

function axesOf(zUp: boolean): [Vec3, Vec3, Vec3] {
  return zUp ? [[1, 0, 0], [0, 0, -1], [0, 1, 0]] : [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
}

/* m per CSS px at a place. */
function pixelAt(p: Vec3, camera: Camera): number {
  const l = camera.lens(), depth = l.flat ? l.distance : -dot(sub(p, l.eye), l.back);
  return (camera.pixel * Math.max(depth, l.near)) / l.distance;
}

function pieces(middle: Vec3, camera: Camera, zUp: boolean): Piece[] {
  const k = pixelAt(middle, camera), axes = axesOf(zUp), l = camera.lens(), out: Piece[] = [];
  const shown = l.flat ? ([0, 1] as const) : ([0, 1, 2] as const);
  for (const axis of l.flat ? ([2] as const) : ([0, 1, 2] as const)) {
    const n = axes[axis]!, u = axes[(axis + 1) % 3]!, v = cross(n, u), ring: Vec3[] = [];
    for (let i = 0; i <= 64; i++) {
      const a = (2 * Math.PI * i) / 64;
      ring.push(add(middle, add(scale(u, RING * k * Math.cos(a)), scale(v, RING * k * Math.sin(a)))));
    }
    out.push({handle: {do: 'turn', axis}, points: ring, dot: false});
  }
  for (const axis of shown) {
    const d = axes[axis]!;
    out.push({handle: {do: 'scale', axis}, points: [along(middle, d, GRIP * k)], dot: true});
    out.push({handle: {do: 'move', axis}, points: [along(middle, d, 10 * k), along(middle, d, ARROW * k)], dot: false});
  }
  const corner = add(scale(l.right, 0.72 * ARROW * k), scale(l.up, 0.72 * ARROW * k));
  out.push({handle: {do: 'scale', axis: -1}, points: [add(middle, corner)], dot: true});
  out.push({handle: {do: 'move', axis: -1}, points: [middle], dot: true});
  return out;
}

const isSame = (a: Handle | null, b: Handle): boolean => a !== null && a.do === b.do && a.axis === b.axis;

export function drawHandles(lines: Lines, middle: Vec3, camera: Camera, zUp: boolean, theme: Theme, hot: Handle | null): void {
  const l = camera.lens();
  for (const p of pieces(middle, camera, zUp)) {
    const over = isSame(hot, p.handle), color = theme.axes[p.handle.axis as number] ?? theme.ink;
    if (p.dot) {
      lines.add(p.points[0]!, p.points[0]!, {color, width: over ? 13 : 10, halo: 0.9});
    } else if (p.handle.do === 'move') {
      lines.add(p.points[0]!, p.points[1]!, {color, width: over ? 4 : 2.5, head: 13, halo: 0.6});
    } else {
      /* The half of a ring behind the middle is faint. */
      for (let i = 1; i < p.points.length; i++) {
        const behind = !l.flat && dot(sub(p.points[i]!, middle), l.back) < 0;
        lines.add(p.points[i - 1]!, p.points[i]!, {color, alpha: behind ? 0.2 : 0.9, width: over ? 3.5 : 1.75});
      }
    }
  }
}

export function pickHandle(x: number, y: number, middle: Vec3, camera: Camera, zUp: boolean): Handle | null {
  let best = NEAR, found: Handle | null = null;
  const l = camera.lens();
  for (const p of pieces(middle, camera, zUp)) {
    let from = camera.project(p.points[0]!);
    for (let i = p.dot ? 0 : 1; i < p.points.length; i++) {
      const to = camera.project(p.points[i]!), dx = to[0] - from[0], dy = to[1] - from[1];
      const behind = p.handle.do === 'turn' && !l.flat && dot(sub(p.points[i]!, middle), l.back) < 0;
      const t = Math.min(Math.max(((x - from[0]) * dx + (y - from[1]) * dy) / (dx * dx + dy * dy || 1), 0), 1);
      /* A dot wins over a line through it. */
      const d = Math.hypot(x - from[0] - t * dx, y - from[1] - t * dy) - (p.dot ? 4 : 0);
      if (!behind && d < best) {
        best = d;
        found = p.handle;
      }
      from = to;
    }
  }
  return found;
}
