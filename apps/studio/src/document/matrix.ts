/* Turns of scenes as matrices. */
import type {Vec3} from '../protocol.ts';
import {DEGREE} from '../view/math.ts';

export type Matrix = [Vec3, Vec3, Vec3]; /* rows */

export function rotation(degrees: Vec3): Matrix {
  const [a, b, c] = degrees.map(d => d * DEGREE);
  const [ca, sa, cb, sb, cc, sc] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b), Math.cos(c), Math.sin(c)];
  return [
    [cb * cc, sa * sb * cc - ca * sc, ca * sb * cc + sa * sc],
    [cb * sc, sa * sb * sc + ca * cc, ca * sb * sc - sa * cc],
    [-sb, sa * cb, ca * cb],
  ];
}

/* Degrees about x, then y, then z. */
export function anglesOf(m: Matrix): Vec3 {
  const y = Math.asin(Math.max(-1, Math.min(1, -m[2][0])));
  if (Math.abs(m[2][0]) > 0.999999) return [Math.atan2(-m[1][2], m[1][1]) / DEGREE, y / DEGREE, 0];
  return [Math.atan2(m[2][1], m[2][2]) / DEGREE, y / DEGREE, Math.atan2(m[1][0], m[0][0]) / DEGREE];
}

export const transposed = (m: Matrix): Matrix => [0, 1, 2].map(i => [m[0][i], m[1][i], m[2][i]]) as Matrix;
export const multiply = (a: Matrix, b: Matrix): Matrix =>
  a.map(r => [0, 1, 2].map(j => r[0] * b[0][j] + r[1] * b[1][j] + r[2] * b[2][j])) as Matrix;
export const apply = (m: Matrix, v: Vec3): Vec3 => m.map(r => r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) as Vec3;

