/* A surface around particles: their density on a grid, and naive surface nets (Gibson 1998) through it. The grid
 * is dense over the particles' box; a box that would take too many nodes gets a coarser one. */

import type {Bounds} from './math.ts';

export type Nets = {
  points: Float32Array;
  triangles: Uint32Array;
  nearest: Uint32Array; /* particle next to each point */
  cell: number;
};

const MOST_NODES = 1 << 21;
const LEVEL = 0.32; /* of the density inside */

export function netsOf(places: Float32Array, hidden: (i: number) => boolean, box: Bounds, spacing: number, coarser: number): Nets {
  let h = 1.15 * spacing * coarser;
  const size = [0, 1, 2].map((a) => box.high[a]! - box.low[a]!);
  const nodes = (): number => size.reduce((n, s) => n * (Math.ceil(s / h) + 6), 1);
  while (nodes() > MOST_NODES) h *= 1.15;
  const [nx, ny, nz] = size.map((s) => Math.ceil(s / h) + 6) as [number, number, number];
  const [ox, oy, oz] = box.low.map((x) => x - 3 * h) as [number, number, number];
  const sy = nx, sz = nx * ny, density = new Float32Array(nx * ny * nz), owner = new Uint32Array(nx * ny * nz);
  const reach = Math.min(Math.max((1.45 * spacing) / h, 0.9), 1.95), weight = 1.15 / (reach ** 3 * (h / spacing) ** 3);
  /* A kernel of (1 - r^2)^2, r up to `reach` cells. */
  const n = places.length / 3;
  for (let i = 0; i < n; i++) {
    if (hidden(i)) continue;
    const x = (places[3 * i]! - ox) / h, y = (places[3 * i + 1]! - oy) / h, z = (places[3 * i + 2]! - oz) / h;
    const x0 = Math.ceil(x - reach), x1 = Math.floor(x + reach), y0 = Math.ceil(y - reach), y1 = Math.floor(y + reach);
    const z0 = Math.ceil(z - reach), z1 = Math.floor(z + reach);
    if (!(x0 >= 1 && y0 >= 1 && z0 >= 1 && x1 < nx - 1 && y1 < ny - 1 && z1 < nz - 1)) continue;
    for (let c = z0; c <= z1; c++) {
      for (let b = y0; b <= y1; b++) {
        const rest = 1 - ((z - c) * (z - c) + (y - b) * (y - b)) / (reach * reach);
        if (rest <= 0) continue;
        for (let a = x0; a <= x1; a++) {
          const w = rest - ((x - a) * (x - a)) / (reach * reach);
          if (w <= 0) continue;
          const at = a + sy * b + sz * c;
          density[at]! += weight * w * w;
          owner[at] = i;
        }
      }
    }
  }
  return extract(density, owner, [nx, ny, nz], [ox, oy, oz], h);
}

/* One point in every cell that the surface passes, the mean of where it cuts edges; a quad for every cut edge. */
function extract(density: Float32Array, owner: Uint32Array, [nx, ny, nz]: [number, number, number],
                 [ox, oy, oz]: [number, number, number], h: number): Nets {
  const sy = nx, sz = nx * ny, corner = [0, 1, sy, sy + 1, sz, sz + 1, sz + sy, sz + sy + 1];
  const edge = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];
  const index = new Int32Array(density.length).fill(-1), points: number[] = [], nearest: number[] = [], triangles: number[] = [];
  for (let z = 1; z + 2 < nz; z++) {
    for (let y = 1; y + 2 < ny; y++) {
      for (let x = 1, at = x + sy * y + sz * z; x + 2 < nx; x++, at++) {
        let mask = 0;
        for (let k = 0; k < 8; k++) if (density[at + corner[k]!]! > LEVEL) mask |= 1 << k;
        if (mask === 0 || mask === 255) continue;
        let px = 0, py = 0, pz = 0, cuts = 0;
        for (let e = 0; e < 24; e += 2) {
          const a = edge[e]!, b = edge[e + 1]!;
          if ((mask >> a & 1) === (mask >> b & 1)) continue;
          const da = density[at + corner[a]!]!, db = density[at + corner[b]!]!, t = (LEVEL - da) / (db - da);
          px += (a & 1) + t * ((b & 1) - (a & 1));
          py += (a >> 1 & 1) + t * ((b >> 1 & 1) - (a >> 1 & 1));
          pz += (a >> 2) + t * ((b >> 2) - (a >> 2));
          cuts++;
        }
        index[at] = points.length / 3;
        points.push(ox + h * (x + px / cuts), oy + h * (y + py / cuts), oz + h * (z + pz / cuts));
        let k = 0;
        while (!(mask >> k & 1)) k++;
        nearest.push(owner[at + corner[k]!]!);
        /* Edges that leave this cell's lowest corner have the cell and three before it around them. */
        for (let axis = 0; axis < 3; axis++) {
          const inside = mask & 1, other = mask >> (1 << axis) & 1;
          if (inside === other) continue;
          const u = axis === 0 ? sy : axis === 1 ? sz : 1, v = axis === 0 ? sz : axis === 1 ? 1 : sy;
          const p = index[at]!, q = index[at - u]!, r = index[at - u - v]!, s = index[at - v]!;
          if (q < 0 || r < 0 || s < 0) continue;
          if (inside) triangles.push(p, q, r, p, r, s);
          else triangles.push(p, r, q, p, s, r);
        }
      }
    }
  }
  return {points: new Float32Array(points), triangles: new Uint32Array(triangles), nearest: new Uint32Array(nearest), cell: h};
}
