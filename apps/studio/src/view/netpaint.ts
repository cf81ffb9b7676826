/* Colours of a live mesh: each point has those of the particle next to it. */

import type {SceneInfo} from '../protocol.ts';
import {valueOf, type Picture} from './decode.ts';
import {tinted} from './looks.ts';
import {clamp} from './math.ts';
import type {Nets} from './nets.ts';
import type {Palette} from './palette.ts';

/* Square roots of colours with the material's number, and temperatures (K) of what glows. `by` and `carried` as in
 * Palette.uniforms. */
export function paintNets(nets: Nets, p: Picture, tags: Uint32Array | null, scene: SceneInfo, palette: Palette,
                          by: string | null, carried: string | null, fixed: [number, number] | null):
    {tints: Uint8Array; kelvins: Float32Array} {
  const n = nets.nearest.length, tints = new Uint8Array(4 * n), kelvins = new Float32Array(n);
  const number = by !== null && by === carried && p.color !== null, object = by === 'object';
  const map = palette.colors(number ? by : 'object'), [lo, hi] = palette.range(by ?? '', fixed);
  const glows = carried === 'temperature' && p.color !== null && !number;
  for (let i = 0; i < n; i++) {
    const k = nets.nearest[i]!, tag = tags?.[k] ?? 0, value = valueOf(p, k) ?? 0, m = scene.materials[tag & 0xffff];
    const c = number ? map[Math.round(255 * clamp((value - lo) / (hi - lo), 0, 1))]!
            : object ? map[(tag >>> 16) & 255]!
            : m ? tinted(m.color, m.tint, tag >>> 16) : [0.6, 0.6, 0.6];
    for (let a = 0; a < 3; a++) tints[4 * i + a] = 255 * Math.sqrt(c[a]!);
    tints[4 * i + 3] = number || object ? palette.plain : tag & 0xffff;
    kelvins[i] = glows ? clamp(value, 0, 4095) : 0;
  }
  return {tints, kelvins};
}
