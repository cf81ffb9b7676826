/* The tool's ring and arrow, and the ring about a probed particle: white on dark in both themes, to be seen on
 * anything. */

import type {Vec3} from '../protocol.ts';
import type {Camera} from './camera.ts';
import type {Lines} from './lines.ts';
import {add, along, dot, sub} from './math.ts';

const WHITE: Vec3 = [1, 1, 1], BLACK: Vec3 = [0, 0, 0];

function ring(lines: Lines, camera: Camera, at: Vec3, r: number): void {
  const l = camera.lens(), points: Vec3[] = [];
  for (let i = 0; i <= 64; i++) {
    const a = (2 * Math.PI * i) / 64;
    points.push(along(along(at, l.right, r * Math.cos(a)), l.up, r * Math.sin(a)));
  }
  lines.path(points, {color: BLACK, alpha: 0.55, width: 5.5});
  lines.path(points, {color: WHITE, width: 2.5});
}

export function drawProbe(lines: Lines, camera: Camera, at: Vec3, radius: number): void {
  const l = camera.lens(), depth = l.flat ? l.distance : -dot(sub(at, l.eye), l.back);
  ring(lines, camera, at, Math.max((8 * camera.pixel * depth) / l.distance, 1.2 * radius));
}

/* `arrow`: from the ring's middle to the tip. The dot on the ring is for its radius. */
export function drawTool(lines: Lines, camera: Camera, at: Vec3, radius: number, arrow: Vec3 | null): void {
  ring(lines, camera, at, radius);
  if (arrow) {
    lines.add(at, add(at, arrow), {color: BLACK, alpha: 0.5, width: 6, head: 16});
    lines.add(at, add(at, arrow), {color: WHITE, width: 2.5, head: 13});
  }
  const side = along(at, camera.lens().right, radius);
  lines.add(side, side, {color: BLACK, alpha: 0.55, width: 14});
  lines.add(side, side, {color: WHITE, width: 11});
}
