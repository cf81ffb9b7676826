/* Colours of materials for swatches. Looks have linear colours; the page has sRGB. */
import type {SceneInfo, Vec3} from '../protocol.ts';
import {tinted} from '../view/looks.ts';

const encode = (x: number): number =>
  Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * Math.pow(x, 1 / 2.4) - 0.055));
const decode = (x: number): number => (x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4));

export const cssColor = (c: Vec3): string => `rgb(${c.map(x => encode(Math.max(0, Math.min(1, x)))).join(' ')})`;

/* #rrggbb to linear. */
export function linear(hex: string): Vec3 {
  return [1, 3, 5].map(i => +decode(parseInt(hex.slice(i, i + 2), 16) / 255).toFixed(3)) as Vec3;
}

/* With an object: in the hue that it is drawn in. */
export function swatchColor(scene: SceneInfo | null, material: string, object = ''): string {
  const found = scene?.materials.find(m => m.name === material),
    number = scene?.objects.findIndex(o => o.name === object) ?? -1;
  return found ? cssColor(tinted(found.color, found.tint, Math.max(number, 0))) : 'var(--text-3)';
}
