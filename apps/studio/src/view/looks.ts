/* Looks beyond those that scenes name, and hues of objects. */

import type {Look} from '../protocol.ts';

/* Grey and dull: shows the shape. For caches, which have no looks. */
export const PLAIN: Look = {
  clarity: 0, depth: 0.01, subsurface: 0.1, gloss: 0.2, roughness: 0.6, index: 1.45, smooth: 0.8, grain: 0, glint: 0,
};

/* Turns the hue about the grey axis by the golden angle for each object before this one. */
export function tinted(c: readonly [number, number, number], tint: number, object: number): [number, number, number] {
  const angle = 2.39996323 * tint * object, s = Math.sin(angle) / Math.sqrt(3), t = Math.cos(angle);
  const mean = ((c[0] + c[1] + c[2]) / 3) * (1 - t);
  const fit = (x: number): number => Math.min(Math.max(x, 0.02), 0.98);
  if (!(tint > 0) || object === 0) return [c[0], c[1], c[2]];
  return [fit(c[0] * t + (c[2] - c[1]) * s + mean), fit(c[1] * t + (c[0] - c[2]) * s + mean),
          fit(c[2] * t + (c[1] - c[0]) * s + mean)];
}
