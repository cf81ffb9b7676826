/* Where the view looks from: an orbit about a target in 3D, a window onto the plane in 2D. The picture is
 * centred on the stage, the free part of the canvas. Lengths are in m with y up, angles in degrees. */

import type {Vec3} from '../protocol.ts';
import {add, along, clamp, cross, DEGREE, dot, isEmpty, multiply, scale, sub, unit, type Bounds, type Mat4} from './math.ts';

export type Rect = {x: number; y: number; width: number; height: number}; /* CSS px */
export type CameraState = {target: Vec3; azimuth: number; elevation: number; distance: number};

/* A camera as shaders take it. A point v of the eye's frame (looking along -z) is shown at
 * (fx v.x / -v.z + sx, fy v.y / -v.z + sy), from -1 to 1. */
export type Lens = {
  flat: boolean;
  view: Mat4; /* world to eye */
  clip: Mat4; /* world to clip space */
  eye: Vec3; right: Vec3; up: Vec3; back: Vec3;
  fx: number; fy: number; sx: number; sy: number;
  near: number; far: number;
  distance: number; /* to the target */
  width: number; height: number; /* of the canvas, CSS px */
};

const FIELD_OF_VIEW = 32; /* of the stage's height */
const MARGIN = [0.12, 0.24]; /* free part around what is framed, in 2D and in 3D, where things spread */

export class Camera {
  dimension: 2 | 3 = 3;
  target: Vec3 = [0, 0.3, 0];
  azimuth = 25;
  elevation = 16;
  distance = 3; /* 2D: of an eye that sees the stage's height */
  width = 1;
  height = 1;
  #stage: Rect | null = null;

  get stage(): Rect {
    return this.#stage ?? {x: 0, y: 0, width: this.width, height: this.height};
  }

  set stage(rect: Rect | null) {
    this.#stage = rect && rect.width > 40 && rect.height > 40 ? rect : null;
  }

  get state(): CameraState {
    return {target: [...this.target], azimuth: this.azimuth, elevation: this.elevation, distance: this.distance};
  }

  set state(s: CameraState) {
    const numbers = [...s.target, s.azimuth, s.elevation, s.distance];
    if (numbers.length !== 6 || !numbers.every(Number.isFinite) || !(s.distance > 0)) return;
    this.target = [...s.target];
    this.azimuth = s.azimuth;
    this.elevation = clamp(s.elevation, -89, 89);
    this.distance = s.distance;
  }

  /* m per CSS px at the target. */
  get pixel(): number {
    return (2 * Math.tan(0.5 * FIELD_OF_VIEW * DEGREE) * this.distance) / this.stage.height;
  }

  lens(): Lens {
    const flat = this.dimension === 2;
    const a = flat ? 0 : this.azimuth * DEGREE, e = flat ? 0 : this.elevation * DEGREE;
    const back: Vec3 = [Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e)];
    const right: Vec3 = [Math.cos(a), 0, -Math.sin(a)], up = cross(back, right);
    const eye = along(this.target, back, this.distance), {stage, width, height} = this;
    const fy = (stage.height / height) / Math.tan(0.5 * FIELD_OF_VIEW * DEGREE), fx = (fy * height) / width;
    const sx = (2 * (stage.x + stage.width / 2)) / width - 1, sy = 1 - (2 * (stage.y + stage.height / 2)) / height;
    const near = 0.01 * this.distance, far = 100 * this.distance;
    const view = new Float32Array([
      right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
    const d = this.distance;
    const project = flat
      ? new Float32Array([fx / d, 0, 0, 0, 0, fy / d, 0, 0, 0, 0, -1 / far, 0, sx, sy, 0, 1])
      : new Float32Array([fx, 0, 0, 0, 0, fy, 0, 0, -sx, -sy, (far + near) / (near - far), -1,
                          0, 0, (2 * far * near) / (near - far), 0]);
    return {flat, view, clip: multiply(project, view), eye, right, up, back, fx, fy, sx, sy, near, far,
            distance: d, width, height};
  }

  /* The place in the picture, CSS px, and the depth along the view, m. */
  project(p: Vec3): [number, number, number] {
    const l = this.lens(), d = sub(p, l.eye), depth = -dot(d, l.back), w = l.flat ? l.distance : depth;
    const x = (l.fx * dot(d, l.right)) / w + l.sx, y = (l.fy * dot(d, l.up)) / w + l.sy;
    return [(0.5 + 0.5 * x) * l.width, (0.5 - 0.5 * y) * l.height, depth];
  }

  ray(x: number, y: number): {origin: Vec3; direction: Vec3} {
    const l = this.lens();
    const u = ((2 * x) / l.width - 1 - l.sx) / l.fx, v = (1 - (2 * y) / l.height - l.sy) / l.fy;
    const side = add(scale(l.right, u), scale(l.up, v));
    if (l.flat) return {origin: along(l.eye, side, l.distance), direction: scale(l.back, -1)};
    return {origin: l.eye, direction: unit(sub(side, l.back))};
  }

  orbit(dx: number, dy: number): void {
    if (this.dimension === 2) return this.pan(dx, dy);
    this.azimuth = (this.azimuth - 0.35 * dx) % 360;
    this.elevation = clamp(this.elevation + 0.35 * dy, -89, 89);
  }

  pan(dx: number, dy: number): void {
    const l = this.lens(), k = this.pixel;
    this.target = add(this.target, add(scale(l.right, -dx * k), scale(l.up, dy * k)));
  }

  /* Nearer by a factor; what is under the cursor stays there. */
  zoom(factor: number, x?: number, y?: number): void {
    const before = this.pixel, to = clamp(this.distance * factor, 1e-4, 1e5);
    const {stage} = this, l = this.lens();
    this.distance = to;
    if (x === undefined || y === undefined) return;
    const k = before - this.pixel, u = x - (stage.x + stage.width / 2), v = y - (stage.y + stage.height / 2);
    this.target = add(this.target, add(scale(l.right, u * k), scale(l.up, -v * k)));
  }

  /* Nearest place on this side from which a box is wholly on the stage. */
  frame(b: Bounds): void {
    if (isEmpty(b)) return;
    const {stage} = this, half = Math.tan(0.5 * FIELD_OF_VIEW * DEGREE) * (1 - MARGIN[this.dimension - 2]!);
    const halves = [(half * stage.width) / stage.height, half];
    const middle = scale(add(b.low, b.high), 0.5), l = this.lens(), axes = [l.right, l.up];
    const least = 1e-3;
    this.target = middle;
    this.distance = least;
    const shift: Vec3 = [0, 0, 0];
    for (let k = 0; k < 2; k++) {
      let plus = -Infinity, minus = -Infinity;
      for (let corner = 0; corner < 8; corner++) {
        const p = sub([0, 1, 2].map((a) => (corner >> a & 1 ? b.high : b.low)[a]!) as Vec3, middle);
        const side = dot(p, axes[k]!), near = this.dimension === 2 ? 0 : dot(p, l.back) * halves[k]!;
        plus = Math.max(plus, side + near);
        minus = Math.max(minus, near - side);
      }
      this.distance = Math.max(this.distance, (0.5 * (plus + minus)) / halves[k]!);
      for (let a = 0; a < 3; a++) shift[a]! += 0.5 * (plus - minus) * axes[k]![a]!;
    }
    this.target = add(middle, shift);
  }
}
