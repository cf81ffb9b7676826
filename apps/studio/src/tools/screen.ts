/* Between pixels and the scene: planes that drags move on, and directions along the screen. */
import type {Vec3} from '../protocol.ts';
import {add, cross, dot, length, scale, sub, unit} from '../view/math.ts';

export type Screen = {
  ray(x: number, y: number): {origin: Vec3; direction: Vec3};
  project(p: Vec3): [number, number, number];
};

/* Where the ray of a pixel meets a plane; null if it runs along it. */
export function onPlane(s: Screen, x: number, y: number, point: Vec3, normal: Vec3): Vec3 | null {
  const r = s.ray(x, y),
    d = dot(r.direction, normal);
  if (Math.abs(d) < 1e-6) return null;
  const t = dot(sub(point, r.origin), normal) / d;
  return t > 0 || d !== 0 ? add(r.origin, scale(r.direction, t)) : null;
}

/* The point of an axis nearest to the ray of a pixel, as a distance along the axis. */
export function alongAxis(s: Screen, x: number, y: number, point: Vec3, axis: Vec3): number | null {
  const r = s.ray(x, y),
    w = sub(point, r.origin),
    b = dot(axis, r.direction),
    c = dot(r.direction, r.direction);
  const denominator = dot(axis, axis) * c - b * b;
  if (Math.abs(denominator) < 1e-4) return null;
  return (b * dot(r.direction, w) - c * dot(axis, w)) / denominator;
}

/* The direction into the screen at a point of the scene. */
export function inwards(s: Screen, p: Vec3): Vec3 {
  const [x, y] = s.project(p);
  return unit(s.ray(x, y).direction);
}

/* The vector of the scene, of those that look so, that is shortest: for a motion in pixels at a point. */
export function fromPixels(s: Screen, at: Vec3, dx: number, dy: number, size: number): Vec3 {
  const o = s.project(at),
    rows: [Vec3, Vec3] = [
      [0, 0, 0],
      [0, 0, 0],
    ];
  for (let k = 0; k < 3; k++) {
    const e: Vec3 = [0, 0, 0];
    e[k] = size;
    const p = s.project(add(at, e));
    rows[0][k] = (p[0] - o[0]) / size;
    rows[1][k] = (p[1] - o[1]) / size;
  }
  const [u, v] = rows,
    a = dot(u, u),
    b = dot(u, v),
    c = dot(v, v),
    d = a * c - b * b;
  if (Math.abs(d) < 1e-12) return [0, 0, 0];
  return add(scale(u, (c * dx - b * dy) / d), scale(v, (a * dy - b * dx) / d));
}

/* The angle of a drag around an axis, in radians. */
export function angleAbout(s: Screen, x: number, y: number, point: Vec3, axis: Vec3): number | null {
  const hit = onPlane(s, x, y, point, axis);
  const from = hit && sub(hit, point);
  if (!from || length(from) === 0) return null;
  const u = unit(cross(axis, Math.abs(axis[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])),
    v = cross(axis, u);
  return Math.atan2(dot(from, v), dot(from, u));
}
