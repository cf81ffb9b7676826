/* Shapes of scenes as triangles and outlines, in their own frames: about the origin, along y, as the engine has
 * them; and how they are placed. */

import type {Pose, Vec3} from '../protocol.ts';
import {add, affine, length, multiply, posed, rotation, scale, sub, upright, type Mat4} from './math.ts';

export type DrawnShape = {
  name: string; /* no other has it */
  item: string; /* the key of what it belongs to in the scene's text */
  kind: 'collider' | 'object' | 'emitter' | 'sink' | 'heat';
  shape: string; /* as in scenes: "sphere", "box", ... */
  params: Record<string, unknown>; /* of the shape, as in scenes; defaults may be left out */
  position: Vec3; /* translate */
  rotation: Vec3; /* degrees about x, then y, then z */
  scale?: Vec3;
  frame?: Mat4; /* that its place is in; a pose has it already */
  size?: number; /* beside a pose: of all its lengths */
  color?: Vec3; /* linear */
  selected: boolean;
  handled?: boolean; /* handles move it */
  visible: boolean;
  meshed?: boolean; /* false: a mesh that was sent for it is no more its own */
  collider?: number; /* number among the scene's colliders, for poses and meshes */
};

export type Form = {
  points: Float32Array;
  normals: Float32Array | null; /* null: from the faces */
  triangles: Uint32Array;
  outline: Vec3[][]; /* lines through points */
};

const AROUND = 48;

/* ---- values ---- */

function numberOf(s: DrawnShape, key: string, fallback: number): number {
  const v = Number(s.params[key]);
  return Number.isFinite(v) && s.params[key] !== undefined ? v : fallback;
}

function vectorOf(s: DrawnShape, key: string, fallback: Vec3): Vec3 {
  const v = s.params[key];
  if (!Array.isArray(v)) return fallback;
  return fallback.map((f, a) => (Number.isFinite(Number(v[a])) && v[a] !== undefined ? Number(v[a]) : f)) as Vec3;
}

function pointsOf(s: DrawnShape): [number, number][] {
  const v = s.params['points'];
  if (!Array.isArray(v)) return [];
  return v.filter((p): p is number[] => Array.isArray(p) && p.length >= 2).map((p) => [Number(p[0]), Number(p[1])]);
}

/* ---- placing ---- */

/* From the shape's own frame to that of `center`, `from`, `normal` and so on. */
function inner(s: DrawnShape): Mat4 {
  if (s.shape === 'capsule') {
    const a = vectorOf(s, 'from', [0, -0.5, 0]), b = vectorOf(s, 'to', [0, 0.5, 0]);
    return upright(length(sub(b, a)) > 0 ? sub(b, a) : [0, 1, 0], scale(add(a, b), 0.5));
  }
  if (s.shape === 'plane') return upright(vectorOf(s, 'normal', [0, 1, 0]), vectorOf(s, 'point', [0, 0, 0]));
  return affine([1, 0, 0], [0, 1, 0], [0, 0, 1], vectorOf(s, 'center', [0, 0, 0]));
}

/* From the shape's own frame to the scene's. A pose is a collider's at present. */
export function modelOf(s: DrawnShape, pose?: Pose): Mat4 {
  const [x, y, z] = scale(s.scale ?? [1, 1, 1], pose ? (s.size ?? 1) : 1), sized = affine([x, 0, 0], [0, y, 0], [0, 0, z], [0, 0, 0]);
  if (pose) return multiply(posed(pose.rotation, pose.position), sized);
  const turned = rotation(s.rotation);
  turned.set(s.position, 12);
  const placed = multiply(multiply(turned, sized), inner(s));
  return s.frame ? multiply(s.frame, placed) : placed;
}

/* The middle of a shape in the scene's frame. */
export function middleOf(s: DrawnShape, pose?: Pose): Vec3 {
  const m = modelOf(s, pose);
  if (s.shape === 'polygon') {
    const p = pointsOf(s), n = Math.max(p.length, 1);
    const x = p.reduce((a, q) => a + q[0], 0) / n, y = p.reduce((a, q) => a + q[1], 0) / n;
    return [m[0]! * x + m[4]! * y + m[12]!, m[1]! * x + m[5]! * y + m[13]!, m[14]!];
  }
  return [m[12]!, m[13]!, m[14]!];
}

/* ---- 3D forms ---- */

type Corner = {r: number; y: number; nr: number; ny: number};

/* A profile turned about y. */
function revolve(profile: Corner[], outline: Vec3[][]): Form {
  const n = profile.length, points = new Float32Array(3 * n * (AROUND + 1)), normals = new Float32Array(points.length);
  const triangles: number[] = [];
  for (let k = 0; k <= AROUND; k++) {
    const c = Math.cos((2 * Math.PI * k) / AROUND), s = Math.sin((2 * Math.PI * k) / AROUND);
    profile.forEach((p, i) => {
      points.set([p.r * c, p.y, p.r * s], 3 * (k * n + i));
      normals.set([p.nr * c, p.ny, p.nr * s], 3 * (k * n + i));
      if (k === AROUND || i + 1 === n) return;
      const a = k * n + i;
      triangles.push(a, a + 1, a + n, a + 1, a + n + 1, a + n);
    });
  }
  return {points, normals, triangles: new Uint32Array(triangles), outline};
}

export function circle(radius: number, axis: 0 | 1 | 2, at: Vec3 = [0, 0, 0], from = 0, to = 2 * Math.PI): Vec3[] {
  const out: Vec3[] = [], j = (axis + 1) % 3, k = (axis + 2) % 3;
  for (let i = 0; i <= AROUND; i++) {
    const p: Vec3 = [...at], angle = from + ((to - from) * i) / AROUND;
    p[j]! += radius * Math.cos(angle);
    p[k]! += radius * Math.sin(angle);
    out.push(p);
  }
  return out;
}

function arc(cx: number, cy: number, radius: number, from: number, to: number, steps: number): Corner[] {
  return Array.from({length: steps + 1}, (_, i) => {
    const a = from + ((to - from) * i) / steps;
    return {r: cx + radius * Math.cos(a), y: cy + radius * Math.sin(a), nr: Math.cos(a), ny: Math.sin(a)};
  });
}

function box(h: Vec3): Form {
  const points: number[] = [], normals: number[] = [], triangles: number[] = [], outline: Vec3[][] = [];
  for (let a = 0; a < 3; a++) {
    const j = (a + 1) % 3, k = (a + 2) % 3;
    for (const side of [-1, 1]) {
      const base = points.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]] as const) {
        const p: Vec3 = [0, 0, 0], n: Vec3 = [0, 0, 0];
        p[a] = side * h[a]!;
        p[j] = u * h[j]!;
        p[k] = v * h[k]!;
        n[a] = side;
        points.push(...p);
        normals.push(...n);
      }
      triangles.push(base, base + 1, base + 2, base, base + 2, base + 3);
      for (const v of [-1, 1]) {
        const p: Vec3 = [0, 0, 0], q: Vec3 = [0, 0, 0];
        p[a] = q[a] = side * h[a]!;
        p[j] = q[j] = v * h[j]!;
        p[k] = -h[k]!;
        q[k] = h[k]!;
        outline.push([p, q]);
      }
    }
  }
  return {points: new Float32Array(points), normals: new Float32Array(normals), triangles: new Uint32Array(triangles), outline};
}

function stretched(f: Form, by: Vec3): Form {
  const points = f.points.map((x, i) => x * by[i % 3]!), normals = f.normals!.map((x, i) => x / by[i % 3]!);
  return {...f, points, normals, outline: f.outline.map((l) => l.map((p) => p.map((x, a) => x * by[a]!) as Vec3))};
}

const ball = (r: number): Form =>
  revolve(arc(0, 0, r, -Math.PI / 2, Math.PI / 2, 24), [circle(r, 0), circle(r, 1), circle(r, 2)]);

function capsule(r: number, half: number): Form {
  const h = Math.PI / 2;
  const stadium = (flip: boolean): Vec3[] => {
    const p = [...arc(0, half, r, 0, Math.PI, 24), ...arc(0, -half, r, Math.PI, 2 * Math.PI, 24)];
    p.push(p[0]!);
    return p.map((c) => (flip ? [0, c.y, c.r] : [c.r, c.y, 0]));
  };
  return revolve([...arc(0, -half, r, -h, 0, 12), ...arc(0, half, r, 0, h, 12)],
                 [stadium(false), stadium(true), circle(r, 1, [0, half, 0]), circle(r, 1, [0, -half, 0])]);
}

function sides(r: number, low: number, high: number, top: number): Vec3[][] {
  return [0, 1, 2, 3].map((k) => {
    const c = Math.cos((k * Math.PI) / 2), s = Math.sin((k * Math.PI) / 2);
    return [[r * c, low, r * s], [top * c, high, top * s]];
  });
}

function cylinder(r: number, h: number): Form {
  const y = h / 2;
  return revolve(
    [{r: 0, y: -y, nr: 0, ny: -1}, {r, y: -y, nr: 0, ny: -1}, {r, y: -y, nr: 1, ny: 0},
     {r, y, nr: 1, ny: 0}, {r, y, nr: 0, ny: 1}, {r: 0, y, nr: 0, ny: 1}],
    [circle(r, 1, [0, y, 0]), circle(r, 1, [0, -y, 0]), ...sides(r, -y, y, r)]);
}

function cone(r: number, h: number): Form {
  const slope = Math.hypot(r, h), nr = h / slope, ny = r / slope;
  return revolve([{r: 0, y: 0, nr: 0, ny: -1}, {r, y: 0, nr: 0, ny: -1}, {r, y: 0, nr, ny}, {r: 0, y: h, nr, ny}],
                 [circle(r, 1), ...sides(r, 0, h, 0)]);
}

function frustum(r: number, top: number, h: number): Form {
  const slope = Math.hypot(r - top, h), nr = h / slope, ny = (r - top) / slope;
  return revolve(
    [{r: 0, y: 0, nr: 0, ny: -1}, {r, y: 0, nr: 0, ny: -1}, {r, y: 0, nr, ny},
     {r: top, y: h, nr, ny}, {r: top, y: h, nr: 0, ny: 1}, {r: 0, y: h, nr: 0, ny: 1}],
    [circle(r, 1), circle(top, 1, [0, h, 0]), ...sides(r, 0, h, top)]);
}

function tube(r: number, inner: number, h: number): Form {
  const y = h / 2, corners = [[inner, y], [inner, -y], [r, -y], [r, y], [inner, y]] as const;
  const profile = corners.slice(1).flatMap(([b, v], i): Corner[] => {
    const [a, u] = corners[i]!, size = Math.hypot(b - a, v - u), nr = (v - u) / size, ny = (a - b) / size;
    return [{r: a, y: u, nr, ny}, {r: b, y: v, nr, ny}];
  });
  return revolve(profile, [-y, y].flatMap((at) => [circle(r, 1, [0, at, 0]), circle(inner, 1, [0, at, 0])]));
}

function torus(r: number, tube: number): Form {
  return revolve(arc(r, 0, tube, 0, 2 * Math.PI, 24),
                 [circle(r + tube, 1), circle(r - tube, 1), circle(r, 1, [0, tube, 0]), circle(r, 1, [0, -tube, 0]),
                  ...[0, 1, 2, 3].map((k) => circle(tube, (k % 2 ? 0 : 2) as 0 | 2,
                    k % 2 ? [0, 0, (k - 2) * r] : [(k - 1) * r, 0, 0]))]);
}

/* ---- 2D outlines ---- */

const flatCircle = (r: number): Vec3[] => circle(r, 2);

function flat(s: DrawnShape, reach: number): Vec3[][] {
  switch (s.shape) {
    case 'disc': return [flatCircle(numberOf(s, 'radius', 0.5))];
    case 'ring': return [flatCircle(numberOf(s, 'radius', 0.5)), flatCircle(numberOf(s, 'inner', 0.25))];
    case 'rectangle': case 'box': case 'inside': case 'rounded_rectangle': {
      const [x, y] = scale(vectorOf(s, 'size', [1, 1, 1]), 0.5);
      return [[[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0], [-x, -y, 0]]];
    }
    case 'capsule': return [capsuleOf(s).outline[0]!];
    case 'plane': return [[[-reach, 0, 0], [reach, 0, 0]]];
    case 'polygon': {
      const p = pointsOf(s).map(([x, y]): Vec3 => [x, y, 0]);
      return p.length ? [[...p, p[0]!]] : [];
    }
    case 'heightfield': case 'group': case 'union': case 'difference': case 'intersection': return [];
    default: return [flatCircle(numberOf(s, 'radius', 0.5))];
  }
}

function capsuleOf(s: DrawnShape): Form {
  const a = vectorOf(s, 'from', [0, -0.5, 0]), b = vectorOf(s, 'to', [0, 0.5, 0]);
  return capsule(numberOf(s, 'radius', 0.5), 0.5 * length(sub(b, a)));
}

/* A shape in its own frame; null for a mesh, whose triangles come from the engine. `reach`: half of what is shown
 * of a plane. In 2D there are outlines alone. */
export function formOf(s: DrawnShape, dimension: 2 | 3, reach: number): Form | null {
  if (dimension === 2) {
    return {points: new Float32Array(), normals: null, triangles: new Uint32Array(), outline: flat(s, reach)};
  }
  const radius = numberOf(s, 'radius', 0.5), height = numberOf(s, 'height', 1);
  switch (s.shape) {
    case 'mesh': case 'heightfield': case 'group': case 'union': case 'difference': case 'intersection': return null;
    case 'box': case 'rectangle': case 'inside': case 'rounded_box': return box(scale(vectorOf(s, 'size', [1, 1, 1]), 0.5));
    case 'capsule': return capsuleOf(s);
    case 'cylinder': return cylinder(radius, height);
    case 'tube': return tube(radius, numberOf(s, 'inner', 0.4), height);
    case 'frustum': return frustum(radius, numberOf(s, 'top', 0.25), height);
    case 'cone': return cone(radius, height);
    case 'torus': return torus(radius, numberOf(s, 'tube', 0.2));
    case 'ellipsoid': return stretched(ball(1), vectorOf(s, 'radii', [0.5, 0.5, 0.5]));
    case 'plane': {
      const f = box([reach, 0, reach]);
      return {...f, triangles: f.triangles.slice(18, 24), outline: [
        [[-reach, 0, -reach], [reach, 0, -reach], [reach, 0, reach], [-reach, 0, reach], [-reach, 0, -reach]]]};
    }
    default: return ball(radius);
  }
}

/* Whether a plane is the ground: level, facing up. Its height, or null. */
export function groundOf(s: DrawnShape, up: 'y' | 'z'): number | null {
  if (s.kind !== 'collider' || s.shape !== 'plane') return null;
  const m = modelOf(s), a = up === 'y' ? 1 : 2, size = Math.hypot(m[4]!, m[5]!, m[6]!);
  return m[4 + a]! / size > 0.9999 ? m[12 + a]! : null;
}

const CREASE = 0.7; /* cosine between faces, below which their edge stays sharp */

/* A mesh of its own corners for each face, with the mean normal of the faces around a corner that are not beyond a
 * crease. Plain numbers: with vectors 51,200 triangles took 151 ms, in which the page stood still. */
function makeMeshForm(vertices: Float32Array, triangles: Uint32Array): Form {
  const n = triangles.length, points = new Float32Array(3 * n), normals = new Float32Array(3 * n);
  const first = new Int32Array(vertices.length / 3).fill(-1), next = new Int32Array(n); /* corners at a vertex */
  const faces = new Float32Array(n), size = new Float32Array(n / 3); /* normals, as long as twice the areas */
  for (let c = 0; c < n; c++) {
    const v = triangles[c]!;
    for (let a = 0; a < 3; a++) points[3 * c + a] = vertices[3 * v + a]!;
    next[c] = first[v]!;
    first[v] = c;
  }
  for (let f = 0; 3 * f < n; f++) {
    const p = 9 * f, x = points[p]!, y = points[p + 1]!, z = points[p + 2]!;
    const ax = points[p + 3]! - x, ay = points[p + 4]! - y, az = points[p + 5]! - z;
    const bx = points[p + 6]! - x, by = points[p + 7]! - y, bz = points[p + 8]! - z;
    faces[3 * f] = ay * bz - az * by;
    faces[3 * f + 1] = az * bx - ax * bz;
    faces[3 * f + 2] = ax * by - ay * bx;
    size[f] = Math.hypot(faces[3 * f]!, faces[3 * f + 1]!, faces[3 * f + 2]!);
  }
  for (let c = 0; c < n; c++) {
    const o = Math.floor(c / 3), ox = faces[3 * o]!, oy = faces[3 * o + 1]!, oz = faces[3 * o + 2]!;
    let x = 0, y = 0, z = 0;
    for (let d = first[triangles[c]!]!; d >= 0; d = next[d]!) {
      const f = Math.floor(d / 3), fx = faces[3 * f]!, fy = faces[3 * f + 1]!, fz = faces[3 * f + 2]!;
      if (fx * ox + fy * oy + fz * oz < CREASE * size[o]! * size[f]!) continue;
      x += fx;
      y += fy;
      z += fz;
    }
    const l = Math.hypot(x, y, z) || 1;
    normals[3 * c] = x / l;
    normals[3 * c + 1] = y / l;
    normals[3 * c + 2] = z / l;
  }
  return {points, normals, triangles: Uint32Array.from(triangles, (_, c) => c), outline: []};
}

const made = new WeakMap<Uint32Array, Form>(); /* by triangles: a mesh outlives many edits of its scene */

export function meshForm(vertices: Float32Array, triangles: Uint32Array): Form {
  let form = made.get(triangles);
  if (!form) made.set(triangles, (form = makeMeshForm(vertices, triangles)));
  return form;
}
