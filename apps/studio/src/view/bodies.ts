/* The shapes of a scene as the view has them: their forms, where they stand, what a ray meets. Points have y up. */

import type {Pose, Vec3} from '../protocol.ts';
import {affine, include, multiply, transform, type Bounds, type Mat4} from './math.ts';
import {hitForm, isWithin} from './pick.ts';
import {formOf, groundOf, meshForm, middleOf, modelOf, type DrawnShape, type Form} from './shapes.ts';

const Z_UP = affine([1, 0, 0], [0, 0, -1], [0, 1, 0], [0, 0, 0]);

export class Bodies {
  shapes: DrawnShape[] = [];
  dimension: 2 | 3 = 3;
  zUp = false; /* in the scene */
  #meshes = new Map<number, Form>();
  #poses: Pose[] = [];
  #forms = new Map<string, Form>();

  /* Forgets meshes and poses. */
  clear(): void {
    this.#meshes.clear();
    this.#poses = [];
  }

  setMesh(collider: number, vertices: Float32Array, triangles: Uint32Array): void {
    this.#meshes.set(collider, meshForm(vertices, triangles));
  }

  /* True if they are others than before. */
  setPoses(poses: Pose[]): boolean {
    const same = poses.length === this.#poses.length && poses.every((p, i) => {
      const q = this.#poses[i]!;
      return p.position.every((x, a) => x === q.position[a]) && p.rotation.every((x, a) => x === q.rotation[a]);
    });
    this.#poses = poses;
    return !same;
  }

  /* Makes forms anew. `reach`: half of what is shown of a plane. */
  remake(reach: number): void {
    this.#forms.clear();
    for (const s of this.shapes) {
      const own = s.collider !== undefined && s.kind === 'collider' && s.meshed !== false;
      const mesh = own ? this.#meshes.get(s.collider!) : undefined;
      const form = mesh ?? formOf(s, this.dimension, reach);
      if (form) this.#forms.set(s.name, form);
    }
  }

  form(s: DrawnShape): Form | undefined {
    return this.#forms.get(s.name);
  }

  #pose(s: DrawnShape): Pose | undefined {
    return s.kind === 'collider' && s.collider !== undefined ? this.#poses[s.collider] : undefined;
  }

  model(s: DrawnShape): Mat4 {
    const m = modelOf(s, this.#pose(s));
    return this.zUp ? multiply(Z_UP, m) : m;
  }

  /* In the scene's own axes. */
  middle(s: DrawnShape): Vec3 {
    return middleOf(s, this.#pose(s));
  }

  selected(): DrawnShape | undefined {
    return this.shapes.find((s) => s.handled);
  }

  isGround(s: DrawnShape): boolean {
    return groundOf(s, this.zUp ? 'z' : 'y') !== null;
  }

  groundY(): number | null {
    for (const s of this.shapes) {
      const y = s.visible ? groundOf(s, this.zUp ? 'z' : 'y') : null;
      if (y !== null) return y;
    }
    return null;
  }

  /* Keys of items. */
  hiddenObjects(): Set<string> {
    return new Set(this.shapes.filter((s) => s.kind === 'object' && !s.visible).map((s) => s.item));
  }

  /* The nearest shape on a ray. Only what is drawn as a solid, or selected, is in the way. */
  hit(origin: Vec3, direction: Vec3): {t: number; item: string | null} {
    let best = Infinity, item: string | null = null;
    for (const s of this.shapes) {
      const form = this.form(s);
      if (!form || !s.visible || this.isGround(s) || s.shape === 'inside') continue;
      if (s.kind === 'object' && !s.selected) continue;
      if (this.dimension === 2) {
        if (isWithin(form, this.model(s), origin[0], origin[1])) return {t: 1, item: s.item};
        continue;
      }
      const t = hitForm(form, this.model(s), origin, direction);
      if (t < best) {
        best = t;
        item = s.item;
      }
    }
    return {t: best, item};
  }

  /* Widens a box to hold what a camera frames. */
  includeAll(b: Bounds): void {
    for (const s of this.shapes) {
      const form = this.form(s);
      const holds = s.shape === 'inside'; /* what moves stays within it, drawn or not */
      if (!form || !(s.visible || holds) || s.shape === 'plane' || s.kind === 'sink') continue;
      const m = this.model(s);
      for (const line of form.outline) for (const p of line) include(b, transform(m, p));
      includeSome(b, form, m, 1);
    }
  }

  /* Widens a box to hold what throws shadows. */
  includeSolid(b: Bounds): void {
    for (const s of this.shapes) {
      const form = this.form(s);
      if (!form || s.kind !== 'collider' || !s.visible || s.shape === 'plane' || s.shape === 'inside') continue;
      includeSome(b, form, this.model(s), Math.max(1, Math.floor(form.points.length / 3000)));
    }
  }
}

function includeSome(b: Bounds, form: Form, m: Mat4, step: number): void {
  for (let i = 0; i < form.points.length; i += 3 * step) {
    include(b, transform(m, [form.points[i]!, form.points[i + 1]!, form.points[i + 2]!]));
  }
}
