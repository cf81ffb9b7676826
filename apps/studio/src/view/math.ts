/* Small vectors and matrices. Matrices are column by column, as WebGL takes them. */

import type {Vec3} from '../protocol.ts';

export type Mat4 = Float32Array;

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const along = (a: Vec3, d: Vec3, t: number): Vec3 => [a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec3, b: Vec3): Vec3 =>
  [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const unit = (a: Vec3): Vec3 => scale(a, 1 / (length(a) || 1));
export const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);
export const DEGREE = Math.PI / 180;

/* Two unit vectors across d and each other. */
export function across(d: Vec3): [Vec3, Vec3] {
  const a = unit(cross(Math.abs(d[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0], d));
  return [a, cross(d, a)];
}

export function multiply(a: Mat4, b: Mat4): Mat4 {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + r]! * b[4 * c + k]!;
      out[4 * c + r] = sum;
    }
  }
  return out;
}

/* From the images of x, y, z and of the origin. */
export function affine(x: Vec3, y: Vec3, z: Vec3, at: Vec3): Mat4 {
  return new Float32Array([...x, 0, ...y, 0, ...z, 0, ...at, 1]);
}

export function transform(m: Mat4, p: Vec3): Vec3 {
  const r = (k: number): number => m[k]! * p[0] + m[4 + k]! * p[1] + m[8 + k]! * p[2] + m[12 + k]!;
  return [r(0), r(1), r(2)];
}

export function turn(m: Mat4, d: Vec3): Vec3 {
  const r = (k: number): number => m[k]! * d[0] + m[4 + k]! * d[1] + m[8 + k]! * d[2];
  return [r(0), r(1), r(2)];
}

/* Rotation by degrees about x, then y, then z, as scenes place objects. */
export function rotation(degrees: Vec3): Mat4 {
  let m = affine([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]);
  for (let a = 0; a < 3; a++) {
    const c = Math.cos(degrees[a]! * DEGREE), s = Math.sin(degrees[a]! * DEGREE);
    const axes: Vec3[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const j = (a + 1) % 3, k = (a + 2) % 3;
    const ej = axes[j]!, ek = axes[k]!;
    axes[j] = add(scale(ej, c), scale(ek, s));
    axes[k] = sub(scale(ek, c), scale(ej, s));
    m = multiply(affine(axes[0]!, axes[1]!, axes[2]!, [0, 0, 0]), m);
  }
  return m;
}

/* Of a unit quaternion w, x, y, z, at a place. */
export function posed(q: [number, number, number, number], at: Vec3): Mat4 {
  const [w, x, y, z] = q;
  return affine(
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    at);
}

/* The shortest turn that takes y to a direction, with its origin at a place. */
export function upright(direction: Vec3, at: Vec3): Mat4 {
  const y = unit(direction);
  if (y[1] > 0.999999) return affine([1, 0, 0], [0, 1, 0], [0, 0, 1], at);
  if (y[1] < -0.999999) return affine([1, 0, 0], [0, -1, 0], [0, 0, -1], at);
  const n = cross([0, 1, 0], y), s = length(n), q = Math.sqrt((1 + y[1]) / 2);
  const k = Math.sqrt((1 - y[1]) / 2) / s;
  return posed([q, n[0] * k, n[1] * k, n[2] * k], at);
}

export type Bounds = {low: Vec3; high: Vec3};

export function bounds(): Bounds {
  return {low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity]};
}

export function include(b: Bounds, p: Vec3): void {
  for (let a = 0; a < 3; a++) {
    b.low[a] = Math.min(b.low[a]!, p[a]!);
    b.high[a] = Math.max(b.high[a]!, p[a]!);
  }
}

export const isEmpty = (b: Bounds): boolean => !(b.low[0] <= b.high[0]);

/* The largest of 1, 2, 5 times a power of ten that is not above x. */
export function roundBelow(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  return power * (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1);
}
