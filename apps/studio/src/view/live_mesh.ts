/* The mesh around the particles of a picture: made when one is drawn, coarser if that takes long. */

import type {SceneInfo, Vec3} from '../protocol.ts';
import type {Picture} from './decode.ts';
import type {Bounds} from './math.ts';
import type {NetMesh} from './netmesh.ts';
import {paintNets} from './netpaint.ts';
import {netsOf} from './nets.ts';
import type {Palette} from './palette.ts';

const SLOW_MS = 30, COARSEST = 3;

export type Meshed = {
  picture: Picture;
  places: Float32Array;
  tags: Uint32Array | null;
  scene: SceneInfo;
  without: (i: number) => boolean; /* particles that are not in it */
  box: Bounds;
  spacing: number;
  colorBy: string | null;
  carried: string | null;
  range: [number, number] | null;
};

export class LiveMesh {
  #coarser = 1;
  #cell = 0; /* of the last mesh, m */
  /* Something that it shows has changed. */
  dirty = true;

  make(m: Meshed, palette: Palette, into: NetMesh): void {
    if (!this.dirty) return;
    this.dirty = false;
    const start = performance.now();
    /* Cells stay where they are while the box moves with the particles, or the surface would shimmer. */
    const low = this.#cell > 0 ? m.box.low.map((x) => Math.floor(x / this.#cell) * this.#cell) as Vec3 : m.box.low;
    const nets = netsOf(m.places, m.without, {low, high: m.box.high}, m.spacing, this.#coarser);
    this.#cell = nets.cell;
    const {tints, kelvins} = paintNets(nets, m.picture, m.tags, m.scene, palette, m.colorBy, m.carried, m.range);
    into.set(nets, tints, kelvins);
    const ms = performance.now() - start;
    if (ms > SLOW_MS && this.#coarser < COARSEST) this.#coarser *= 1.2;
    else if (ms < 0.4 * SLOW_MS && this.#coarser > 1) this.#coarser = Math.max(1, this.#coarser / 1.2);
  }
}
