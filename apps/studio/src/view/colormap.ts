/* Colour maps as curves in OKLab (Ottosson 2020), the same as those of `firn render`: equal steps of the
 * number look equally large. */

import {clamp} from './math.ts';

export type MapKind = 'sequential' | 'diverging' | 'categorical';
type Rgb = [number, number, number];

const SIZE = 256;

function rgbFromLch(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180), b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
}

const isShown = (c: Rgb): boolean => c.every((x) => x >= 0 && x <= 1);

/* L, a, b of a point of a path. */
function sequential(t: number): [number, number, number] {
  return [0.28 + 0.64 * t, 0.095 + 0.05 * (2 * t - 1) ** 2, 300 - 200 * t];
}

function diverging(t: number): [number, number, number] {
  const u = Math.abs(2 * t - 1);
  return [0.95 - 0.47 * u, 0.15 * u * (2 - u), t < 0.5 ? 255 : 32];
}

/* Hues a golden angle apart; lightness alternates for eyes that confuse hues. */
export function category(index: number): Rgb {
  let chroma = 0.15;
  for (;;) {
    const c = rgbFromLch(0.62 + 0.1 * (index % 3), chroma, (255 + 137.50776 * index) % 360);
    if (isShown(c) || chroma <= 0) return c;
    chroma -= 0.005;
  }
}

/* Linear light, at equal distances along the path. */
function sample(path: (t: number) => [number, number, number]): Rgb[] {
  const FINE = 2048, lengths = [0];
  let before: Rgb | null = null;
  for (let i = 0; i <= FINE; i++) {
    const [l, c, h] = path(i / FINE), at: Rgb = [l, c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
    if (before) lengths.push(lengths[i - 1]! + Math.hypot(at[0] - before[0], at[1] - before[1], at[2] - before[2]));
    before = at;
  }
  const out: Rgb[] = [];
  for (let i = 0, at = 0; i < SIZE; i++) {
    const wanted = (lengths[FINE]! * i) / (SIZE - 1);
    while (at < FINE - 1 && lengths[at + 1]! < wanted) at++;
    const t = (at + (wanted - lengths[at]!) / (lengths[at + 1]! - lengths[at]!)) / FINE;
    out.push(rgbFromLch(...path(t)).map((x) => clamp(x, 0, 1)) as Rgb);
  }
  return out;
}

function encode(x: number): number {
  return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
}

export const cssColor = (c: readonly number[]): string => `rgb(${c.slice(0, 3).map((x) => encode(clamp(x, 0, 1))).join(' ')})`;

const maps = new Map<MapKind, Rgb[]>();

export function colormap(kind: MapKind): Rgb[] {
  let map = maps.get(kind);
  if (!map) {
    map = kind === 'categorical' ? Array.from({length: SIZE}, (_, i) => category(i))
        : sample(kind === 'sequential' ? sequential : diverging);
    maps.set(kind, map);
  }
  return map;
}

/* sRGB bytes of a map, as a texture takes them. */
export function colormapBytes(kind: MapKind): Uint8Array {
  return new Uint8Array(colormap(kind).flatMap((c) => [...c.map(encode), 255]));
}

/* Which map an attribute is shown with, and the value in the middle of a diverging one. */
export function mapOf(attribute: string): {kind: MapKind; middle: number} {
  if (attribute === 'J' || attribute === 'Jp') return {kind: 'diverging', middle: 1};
  if (attribute === 'pressure') return {kind: 'diverging', middle: 0};
  if (attribute === 'material' || attribute === 'object') return {kind: 'categorical', middle: 0};
  return {kind: 'sequential', middle: 0};
}

/* CSS colours for a legend. */
export function stopsOf(kind: MapKind, count: number): string[] {
  const map = colormap(kind);
  return Array.from({length: count}, (_, i) =>
    cssColor(map[kind === 'categorical' ? i % SIZE : Math.round((i * (SIZE - 1)) / Math.max(count - 1, 1))]!));
}
