/* What is under the cursor: particles by their places in the picture, shapes by their triangles or outlines. */

import type {Vec3} from '../protocol.ts';
import type {Camera} from './camera.ts';
import {cross, dot, sub, transform, type Mat4} from './math.ts';
import type {Form} from './shapes.ts';

/* The frontmost particle whose disc holds (x, y), or -1. `radius` in m; `hidden` leaves particles out. */
export function pickParticle(places: Float32Array, radius: number, x: number, y: number, camera: Camera, hidden: (i: number) => boolean): number {
  const l = camera.lens(), u = (2 * x) / l.width - 1 - l.sx, v = 1 - (2 * y) / l.height - l.sy;
  const wide = 4 / l.height; /* two pixels, for what is far */
  let found = -1, best = Infinity;
  for (let i = 0; i < places.length / 3; i++) {
    const dx = places[3 * i]! - l.eye[0], dy = places[3 * i + 1]! - l.eye[1], dz = places[3 * i + 2]! - l.eye[2];
    const depth = -(dx * l.back[0] + dy * l.back[1] + dz * l.back[2]), w = l.flat ? l.distance : depth;
    if (w < l.near) continue;
    const a = (l.fx * (dx * l.right[0] + dy * l.right[1] + dz * l.right[2])) / w - u;
    const b = (l.fy * (dx * l.up[0] + dy * l.up[1] + dz * l.up[2])) / w - v;
    const r = Math.max((radius * l.fy) / w, wide), off = (a * a * l.fy * l.fy) / (l.fx * l.fx) + b * b;
    if (off > r * r) continue;
    const rank = l.flat ? off : depth - radius * Math.sqrt(1 - off / (r * r));
    if (rank < best && !hidden(i)) {
      best = rank;
      found = i;
    }
  }
  return found;
}

/* Distance along a ray to a form in 3D, or Infinity. */
export function hitForm(f: Form, model: Mat4, origin: Vec3, direction: Vec3): number {
  const corner = (k: number): Vec3 => transform(model, [f.points[3 * k]!, f.points[3 * k + 1]!, f.points[3 * k + 2]!]);
  let best = Infinity;
  for (let t = 0; t < f.triangles.length; t += 3) {
    const a = corner(f.triangles[t]!), e = sub(corner(f.triangles[t + 1]!), a), g = sub(corner(f.triangles[t + 2]!), a);
    const p = cross(direction, g), det = dot(e, p);
    if (Math.abs(det) < 1e-14) continue;
    const s = sub(origin, a), u = dot(s, p) / det, q = cross(s, e), v = dot(direction, q) / det, at = dot(g, q) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && at > 0 && at < best) best = at;
  }
  return best;
}

/* Whether a point of the plane is within the outlines of a 2D form: inside an odd number of them. */
export function isWithin(f: Form, model: Mat4, x: number, y: number): boolean {
  let odd = false;
  for (const line of f.outline) {
    for (let i = 1; i < line.length; i++) {
      const a = transform(model, line[i - 1]!), b = transform(model, line[i]!);
      if (a[1] > y !== b[1] > y && x < a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0])) odd = !odd;
    }
  }
  return odd;
}
