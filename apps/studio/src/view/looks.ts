/* What light does in a material, by the name of its look. Colours come with the scene; the numbers are those
 * of `firn render`, as far as a live picture uses them. */

export type Look = {
  clarity: number; /* 1: all light passes */
  depth: number; /* of clear material that leaves its colour, as a part of the scene's size */
  subsurface: number; /* part of the light that comes out from below the skin */
  gloss: number;
  roughness: number;
  index: number; /* of refraction */
  smooth: number; /* particle spacings over which the surface is smoothed */
  grain: number;
  glint: number;
};

const row = (clarity: number, depth: number, subsurface: number, gloss: number, roughness: number, index: number,
             smooth: number, grain = 0, glint = 0): Look =>
  ({clarity, depth, subsurface, gloss, roughness, index, smooth, grain, glint});

const looks: Record<string, Look> = {
  jelly: row(0.85, 0.25, 0.8, 1, 0.04, 1.36, 2.5),
  snow: row(0, 0.01, 0.35, 0.1, 0.7, 1.31, 0.6, 0.45, 1),
  sand: row(0, 0.008, 0.1, 0.1, 0.7, 1.5, 0.6, 0.55, 0.15),
  mud: row(0, 0.008, 0.1, 0.5, 0.35, 1.4, 1.2, 0.3),
  clay: row(0, 0.008, 0.2, 0.25, 0.65, 1.45, 1, 0.2),
  watermelon: row(0, 0.012, 0.35, 0.6, 0.35, 1.34, 0.5, 0.2),
  water: row(1, 0.6, 0.5, 1, 0.02, 1.33, 2),
  honey: row(0.95, 0.12, 0.6, 1, 0.03, 1.49, 2.5),
  toothpaste: row(0, 0.02, 0.6, 0.7, 0.3, 1.4, 2),
  steel: row(0, 0.005, 0, 1, 0.22, 3, 2.5),
  chocolate: row(0, 0.012, 0.3, 1, 0.18, 1.46, 2.5),
  wax: row(0, 0.07, 0.9, 0.7, 0.3, 1.44, 2),
  butter: row(0, 0.04, 0.7, 0.5, 0.4, 1.46, 2),
  ice: row(0.9, 0.5, 0.6, 1, 0.06, 1.31, 2),
  glass: row(1, 0.4, 0.5, 1, 0.02, 1.5, 3),
  solder: row(0, 0.005, 0, 1, 0.03, 4, 3),
  gelatine: row(0.85, 0.25, 0.8, 1, 0.04, 1.35, 2.5),
  lava: row(0, 0.006, 0, 0.3, 0.6, 1.5, 1.2, 0.4),
  rubber: row(0, 0.01, 0.15, 0.5, 0.45, 1.5, 2.5),
  plain: row(0, 0.01, 0.1, 0.2, 0.6, 1.45, 0.8),
};

export function lookOf(name: string): Look {
  return looks[name] ?? looks['plain']!;
}

/* Turns the hue about the grey axis by the golden angle for each object before this one. */
export function tinted(c: readonly [number, number, number], tint: number, object: number): [number, number, number] {
  const angle = 2.39996323 * tint * object, s = Math.sin(angle) / Math.sqrt(3), t = Math.cos(angle);
  const mean = ((c[0] + c[1] + c[2]) / 3) * (1 - t);
  const fit = (x: number): number => Math.min(Math.max(x, 0.02), 0.98);
  if (!(tint > 0) || object === 0) return [c[0], c[1], c[2]];
  return [fit(c[0] * t + (c[2] - c[1]) * s + mean), fit(c[1] * t + (c[0] - c[2]) * s + mean),
          fit(c[2] * t + (c[1] - c[0]) * s + mean)];
}
