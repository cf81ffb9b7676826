/* A view with what its engine has sent for it: particles, grid, meshes, and pictures of the past. The page has one,
 * and a second while it compares. */
import type {SceneInfo, Vec3} from './protocol.ts';
import type {Engine, FrameEvent} from './engine/engine.ts';
import {History} from './history.ts';
import {placeOf, type Grid, type Mesh, type Picture, type Tags} from './view/decode.ts';
import {itemOfObject, type DrawnShape, type View} from './view/view.ts';

const bytesOf = (part: Tags | Picture | Grid): number =>
  'places' in part
    ? part.places.buffer.byteLength
    : 'nodes' in part
      ? part.nodes.buffer.byteLength
      : part.ids.buffer.byteLength;

export class Pane {
  readonly history = new History<Tags, Picture, Grid>(bytesOf);
  scene: SceneInfo | null = null;
  tags: Tags | null = null; /* the newest */
  grid: Grid | null = null;
  private readonly meshes = new Map<number, Mesh>();
  private picture: Picture | null = null; /* on screen */
  private shownTags: Tags | null = null;
  private frame: FrameEvent | null = null;
  private stops: (() => void)[] = [];

  constructor(public view: View) {}

  listen(engine: Engine): void {
    this.leave();
    this.stops = [
      engine.on('tags', t => {
        this.tags = t;
      }),
      engine.on('grid', g => {
        this.grid = g;
      }),
      engine.on('mesh', m => {
        this.meshes.set(m.collider, m);
        this.view.setMeshes([m]);
      }),
    ];
  }

  leave(): void {
    for (const stop of this.stops) stop();
    this.stops = [];
  }

  /* Another scene is to come. */
  clear(): void {
    this.history.clear();
    this.meshes.clear();
    this.picture = this.tags = this.shownTags = this.grid = this.frame = null;
  }

  /* The view forgets pictures with the scene; those here still hold until the next. */
  setScene(scene: SceneInfo, shapes: DrawnShape[]): void {
    this.scene = scene;
    this.view.setScene(scene, shapes);
    if (this.meshes.size) this.view.setMeshes(this.meshes.values());
    if (this.shownTags) this.view.setTags(this.shownTags.objectMaterial);
    if (this.picture && this.shownTags?.count === this.picture.count) this.view.setPicture(this.picture);
    this.view.setGrid(this.grid);
    if (this.frame) this.view.setPoses(this.frame.poses);
  }

  /* The grid that came with a picture. */
  gridOf(picture: Picture): Grid | null {
    return this.grid?.number === picture.number ? this.grid : null;
  }

  show(frame: FrameEvent, picture: Picture, tags: Tags | null, grid: Grid | null): void {
    this.frame = frame;
    this.picture = picture;
    this.shownTags = tags;
    if (tags) this.view.setTags(tags.objectMaterial);
    this.view.setGrid(grid);
    this.view.setPoses(frame.poses);
    this.view.setPicture(picture);
  }

  /* ---- particles, by their number in the picture ---- */

  idOf(index: number): number | null {
    return this.shownTags?.ids[index] ?? null;
  }

  /* The key of the item that a particle is of. */
  itemOf(index: number): string | null {
    const tag = this.shownTags?.objectMaterial[index];
    return tag === undefined || !this.scene?.objects[tag >>> 16] ? null : itemOfObject(this.scene, tag >>> 16);
  }

  /* Ids rise, and a particle seldom moves from its place, the guess. */
  indexOf(id: number, guess: number): number {
    const ids = this.shownTags?.ids;
    if (!ids) return -1;
    if (ids[guess] === id) return guess;
    let low = 0,
      high = ids.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    return ids[low] === id ? low : -1;
  }

  placeOf(index: number): Vec3 | null {
    return this.picture && index < this.picture.count ? placeOf(this.picture, index) : null;
  }
}
