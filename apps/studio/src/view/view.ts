/* The studio's view: a canvas with the particles of pictures, colliders, overlays and handles. It keeps what it was
 * last given, so that a lost WebGL context can be rebuilt. Points and directions are the scene's (m, its own up
 * axis); inside, y is up. */

import type {Pose, SceneInfo, Vec3} from '../protocol.ts';
import {Bodies} from './bodies.ts';
import {Camera, type CameraState, type Rect} from './camera.ts';
import {stopsOf} from './colormap.ts';
import {Controls} from './controls.ts';
import {placesOf, type Grid, type Mesh, type Picture} from './decode.ts';
import {Flat} from './flat.ts';
import type {Value} from './gl.ts';
import {pickHandle, type Handle} from './handles.ts';
import {Lines} from './lines.ts';
import {LiveMesh} from './live_mesh.ts';
import {along, bounds, dot, include, isEmpty, roundBelow, sub, type Bounds} from './math.ts';
import {NetMesh} from './netmesh.ts';
import {Nodes} from './nodes.ts';
import {drawOver, type Overlays} from './over.ts';
import {mostOf} from './overlays.ts';
import {Pace} from './pace.ts';
import {Palette, type Legend} from './palette.ts';
import {boundsOf, FEW_AROUND, Particles, sharesOf, wholeBoundsOf} from './particles.ts';
import {pickParticle} from './pick.ts';
import type {DrawnShape} from './shapes.ts';
import {Solids} from './solids.ts';
import {themes, type ThemeName} from './theme.ts';
import {World} from './world.ts';

export type Look = 'surface' | 'points' | 'mesh';
export type ToolMark = {at: Vec3; radius: number; arrow?: Vec3}; /* arrow: from `at` to its tip */
export type {CameraState, DrawnShape, Handle, Legend, Overlays, Rect};

type Gl = {
  gl: WebGL2RenderingContext;
  particles: Particles;
  palette: Palette;
  solids: Solids;
  lines: Lines;
  nodes: Nodes;
  flat: Flat;
  world: World;
  mesh: NetMesh;
};

const SURFACE_RADIUS = 0.92, POINT_RADIUS = 0.46; /* of the distance between particles */
const FLAT_SURFACE = 0.7, FLAT_POINT = 0.4;

const MOST_MESHED = 40_000; /* particles, up to which a mesh around them is quick enough */

/* The key of an object's entry in the text; copies share one. */
export const itemOfObject = (scene: SceneInfo, object: number): string =>
  `objects.${scene.objects[object]?.entry ?? object}`;

/* The browser cannot draw. */
export class NoGraphics extends Error {}

export class View {
  readonly canvas: HTMLCanvasElement;
  readonly controls: Controls;
  readonly #camera = new Camera();
  readonly #bodies = new Bodies();
  readonly #pace = new Pace();
  readonly #liveMesh = new LiveMesh();
  /* Called after the camera was moved by hand. */
  onCamera: () => void = () => {};
  #theme: ThemeName;
  #gl: Gl | null = null;
  #scene: SceneInfo | null = null;
  #picture: Picture | null = null;
  #tags: Uint32Array | null = null;
  #grid: Grid | null = null;
  #places: Float32Array | null = null;
  #bounds: Bounds = bounds(); /* of all but stray particles */
  #box: Bounds = bounds(); /* of all */
  #look: Look = 'surface';
  #colorBy: string | null = null;
  #carried: {name: string; unit: string} | null = null;
  #range: [number, number] | null = null;
  #overlays: Overlays = {velocity: false, force: false, flow: false, grid: 'off', blocks: false, colliders: true, ground: true};
  #tool: ToolMark | null = null;
  #highlight = -1;
  #hot: Handle | null = null;
  #stale = false;
  #handles = true;
  #dirty = true;
  #mapsDirty = true;
  #freed = false;
  constructor(canvas: HTMLCanvasElement, options: {theme: ThemeName} = {theme: 'dark'}) {
    this.canvas = canvas;
    this.#theme = options.theme;
    this.controls = new Controls(canvas, this.#camera, () => {
      this.#touch();
      this.onCamera();
    });
    canvas.addEventListener('webglcontextlost', (e) => {
      if (!this.#freed) e.preventDefault();
      this.#gl = null;
      this.#pace.forget();
    });
    canvas.addEventListener('webglcontextrestored', () => this.restore());
    this.#resize();
    this.restore();
  }

  /* ---- what is shown ---- */

  setTheme(t: ThemeName): void {
    this.#theme = t;
    this.#touch();
  }

  get theme(): ThemeName {
    return this.#theme;
  }

  /* `shapes` may change while the scene stays the same. Another scene forgets pictures, grids, meshes and poses. */
  setScene(s: SceneInfo, shapes: DrawnShape[]): void {
    const other = s !== this.#scene;
    this.#scene = s;
    this.#bodies.shapes = shapes;
    this.#bodies.zUp = this.#zUp;
    this.#bodies.dimension = this.#camera.dimension = s.dimension;
    if (other) {
      this.#bodies.clear();
      this.#tags = null;
      this.#picture = null;
      this.#places = null;
      this.#box = bounds();
      this.#grid = null;
      this.#gl?.nodes.set(null);
      this.#highlight = -1;
    }
    this.#shapesChanged();
    if (other) this.#paletteChanged();
  }

  setShapes(shapes: DrawnShape[]): void {
    this.#bodies.shapes = shapes;
    this.#shapesChanged();
  }

  setTags(objectMaterial: Uint32Array): void {
    this.#tags = objectMaterial;
  }

  setPicture(p: Picture): void {
    const first = this.#picture === null;
    this.#picture = p;
    this.#places = placesOf(p, this.#zUp);
    this.#bounds = boundsOf(this.#places);
    this.#box = wholeBoundsOf(this.#places);
    if (this.#carried) this.#gl?.palette.ease(this.#carried.name, p);
    this.#upload();
    if (first) this.#paletteChanged();
    this.#liveMesh.dirty = this.#mapsDirty = true;
    this.#touch();
  }

  get shown(): Picture | null {
    return this.#picture;
  }

  setGrid(g: Grid | null): void {
    if (g === this.#grid) return;
    this.#grid = g;
    this.#gl?.nodes.set(g);
    this.#touch();
  }

  setMeshes(meshes: Iterable<Mesh>): void {
    for (const m of meshes) this.#bodies.setMesh(m.collider, m.vertices, m.triangles);
    this.#shapesChanged();
  }

  setPoses(poses: Pose[]): void {
    if (!this.#bodies.setPoses(poses)) return;
    for (const s of this.#bodies.shapes) this.#gl?.solids.place(s.name, this.#bodies.model(s));
    this.#mapsDirty = true;
    this.#touch();
  }

  get look(): Look {
    return this.#look;
  }

  set look(l: Look) {
    this.#look = l;
    this.#upload();
    this.#liveMesh.dirty = this.#mapsDirty = true;
    this.#touch();
  }

  /* null or "material": materials; "object"; or an attribute, shown if pictures carry it. */
  get colorBy(): string | null {
    return this.#colorBy;
  }

  set colorBy(name: string | null) {
    this.#colorBy = name;
    this.#liveMesh.dirty = true;
    this.#touch();
  }

  /* The attribute that pictures carry as their color (`want.color`). Temperatures glow when they are not the colour. */
  set carried(a: {name: string; unit: string} | null) {
    this.#carried = a;
    if (a && this.#picture) this.#gl?.palette.ease(a.name, this.#picture);
    this.#touch();
  }

  get range(): [number, number] | null {
    return this.#range;
  }

  set range(r: [number, number] | null) {
    if (r?.[0] === this.#range?.[0] && r?.[1] === this.#range?.[1]) return;
    this.#range = r;
    this.#liveMesh.dirty = true;
    this.#touch();
  }

  get overlays(): Overlays {
    return {...this.#overlays};
  }

  set overlays(o: Partial<Overlays>) {
    this.#overlays = {...this.#overlays, ...o};
    this.#shapesChanged();
  }

  /* Grey, after an error: the last good scene. */
  set stale(s: boolean) {
    this.#stale = s;
    this.#touch();
  }

  /* Whether the selected shape has handles. */
  set handles(h: boolean) {
    this.#handles = h;
    this.#touch();
  }

  setTool(t: ToolMark | null): void {
    this.#tool = t;
    this.#touch();
  }

  /* A ring about a particle, by its number in the picture; -1: none. */
  highlight(index: number): void {
    if (index === this.#highlight) return;
    this.#highlight = index;
    this.#touch();
  }

  /* The handle under the cursor is drawn bolder. */
  set hotHandle(h: Handle | null) {
    if (h?.do === this.#hot?.do && h?.axis === this.#hot?.axis) return;
    this.#hot = h;
    this.#touch();
  }

  get legend(): Legend | null {
    const by = this.#colorBy;
    if (!by || !this.#gl || by !== this.#carried?.name) return null;
    return this.#gl.palette.legend(by, this.#carried.unit, this.#range);
  }

  /* The range of the colours that are shown if none is set. */
  get automaticRange(): [number, number] | null {
    const by = this.#colorBy;
    return by && by === this.#carried?.name ? (this.#gl?.palette.range(by, null) ?? null) : null;
  }

  /* Of the grid's nodes, if they are shown. */
  get nodeLegend(): Legend | null {
    const by = this.#overlays.grid;
    if (by === 'off' || !this.#grid?.count) return null;
    const speed = by === 'speed';
    return {name: by, unit: speed ? 'm/s' : 'kg', lo: 0, hi: mostOf(this.#grid, speed), stops: stopsOf('sequential', 17), kind: 'sequential'};
  }

  /* A length for a scale bar of about a hundred pixels, in 2D. */
  get scaleBar(): {metres: number; pixels: number; text: string} | null {
    if (this.#camera.dimension === 3) return null;
    const metres = roundBelow(100 * this.#camera.pixel);
    const [size, unit] = ([[1000, 'km'], [1, 'm'], [0.01, 'cm'], [0.001, 'mm'], [1e-6, 'µm']] as const)
      .find(([s]) => metres >= 0.999 * s) ?? [1e-6, 'µm'];
    return {metres, pixels: metres / this.#camera.pixel, text: `${+(metres / size).toPrecision(3)} ${unit}`};
  }

  /* ---- camera ---- */

  get camera(): CameraState {
    const s = this.#camera.state;
    return {...s, target: this.#outer(s.target)};
  }

  set camera(s: CameraState) {
    this.#camera.state = {...s, target: this.#inner(s.target)};
    this.#touch();
  }

  get stage(): Rect {
    return this.#camera.stage;
  }

  setStage(rect: Rect | null): void {
    this.#camera.stage = rect;
    this.#touch();
  }

  orbit(dx: number, dy: number): void {
    this.#camera.orbit(dx, dy);
    this.#touch();
  }

  pan(dx: number, dy: number): void {
    this.#camera.pan(dx, dy);
    this.#touch();
  }

  zoom(factor: number): void {
    this.#camera.zoom(factor);
    this.#touch();
  }

  /* Everything, or a box of the scene. */
  frame(what: 'all' | Bounds = 'all'): void {
    if (what === 'all') {
      this.#camera.frame(this.#everything());
    } else {
      const b = bounds();
      include(b, this.#inner(what.low));
      include(b, this.#inner(what.high));
      this.#camera.frame(b);
    }
    this.#touch();
  }

  /* CSS px from the canvas's upper left, and the depth, m. */
  project(p: Vec3): [number, number, number] {
    return this.#camera.project(this.#inner(p));
  }

  ray(x: number, y: number): {origin: Vec3; direction: Vec3} {
    const r = this.#camera.ray(x, y);
    return {origin: this.#outer(r.origin), direction: this.#outer(r.direction)};
  }

  /* m per CSS px at a point. */
  pixelAt(p: Vec3): number {
    const l = this.#camera.lens();
    return l.flat ? this.#camera.pixel : (this.#camera.pixel * Math.max(this.project(p)[2], l.near)) / l.distance;
  }

  /* The surface under the cursor, else the ground, else the plane through the target that faces the eye. */
  pointAt(x: number, y: number): Vec3 | null {
    const {origin, direction} = this.#camera.ray(x, y), l = this.#camera.lens();
    const target = this.#camera.target, across = dot(sub(target, origin), l.back) / dot(direction, l.back);
    if (l.flat) return this.#outer(along(origin, direction, across));
    let t = this.#bodies.hit(origin, direction).t;
    const i = this.pick(x, y);
    if (i >= 0) {
      const d = sub(this.#place(i), origin), mid = dot(d, direction), r = this.#radius();
      const off = dot(d, d) - mid * mid;
      t = Math.min(t, mid - Math.sqrt(Math.max(r * r - off, 0)));
    }
    const ground = this.#groundY();
    if (ground !== null && direction[1] !== 0) {
      const g = (ground - origin[1]) / direction[1];
      if (g > 0 && g < 50 * l.distance) t = Math.min(t, g);
    }
    if (!Number.isFinite(t)) t = across;
    return t > 0 ? this.#outer(along(origin, direction, t)) : null;
  }

  /* The number in the picture of the particle under the cursor, or -1. */
  pick(x: number, y: number): number {
    if (!this.#places) return -1;
    return pickParticle(this.#places, this.#radius(), x, y, this.#camera, this.#hiddenParticles());
  }

  /* Key of the item under the cursor. */
  pickShape(x: number, y: number): string | null {
    const {origin, direction} = this.#camera.ray(x, y), i = this.pick(x, y), hit = this.#bodies.hit(origin, direction);
    if (i >= 0) {
      const t = this.#camera.dimension === 2 ? 0 : dot(sub(this.#place(i), origin), direction) - this.#radius();
      const object = (this.#tags?.[i] ?? 0) >>> 16;
      if (t <= hit.t && this.#scene?.objects[object]) return itemOfObject(this.#scene, object);
    }
    return hit.item;
  }

  pickHandle(x: number, y: number): Handle | null {
    const at = this.#handlesAt();
    return at && pickHandle(x, y, at, this.#camera, this.#zUp);
  }

  /* ---- drawing ---- */

  /* Whether draw() would change the picture. Ask in every animation frame: after a rest it asks for a finer one. */
  get needsDraw(): boolean {
    this.#poll();
    if (!this.#gl || this.#gl.gl.isContextLost()) return false;
    if (this.#resize()) this.#dirty = true;
    return this.#dirty || this.#pace.refines;
  }

  /* Whether the last drawing is still under way. */
  get busy(): boolean {
    this.#poll();
    return this.#pace.busy;
  }

  /* Milliseconds that the last drawings took. */
  get frameMs(): number {
    return this.#pace.frameMs;
  }

  /* Part of the canvas's resolution that 3D pictures have while things move. */
  get movingScale(): number {
    return this.#pace.movingScale;
  }

  /* Draws, unless the last drawing is still under way: then needsDraw stays true. */
  draw(): void {
    this.#poll();
    this.#resize();
    if (!this.#gl || this.#pace.busy) return;
    this.#render(this.canvas.width, this.canvas.height, this.#pace.next(this.#camera.dimension === 2));
    this.#dirty = false;
    this.#pace.submit(this.#gl.gl);
  }

  /* Draws at a part of the resolution, at once. */
  drawNow(scale: number): void {
    if (this.#gl) this.#render(this.canvas.width, this.canvas.height, scale);
  }

  /* A picture of any size, without handles and tools, as PNG. */
  async screenshot(width: number, height: number): Promise<Blob> {
    const {canvas} = this, before = [canvas.width, canvas.height] as const, camera = this.#camera;
    const kept = {tool: this.#tool, handles: this.#handles, stage: camera.stage, size: [camera.width, camera.height] as const};
    if (!this.#gl) throw new Error('the view has lost its graphics context');
    this.#tool = null;
    this.#handles = false;
    canvas.width = width;
    canvas.height = height;
    camera.width = width;
    camera.height = height;
    camera.stage = null;
    this.#render(width, height, 1);
    const blob = new Promise<Blob>((done, fail) =>
      canvas.toBlob((b) => (b ? done(b) : fail(new Error('the browser could not make a picture')))));
    this.#tool = kept.tool;
    this.#handles = kept.handles;
    [canvas.width, canvas.height] = before;
    [camera.width, camera.height] = kept.size;
    camera.stage = kept.stage;
    this.#render(before[0], before[1], 1);
    this.#touch();
    return blob;
  }

  /* Gives the graphics context back; the view is of no use afterwards. */
  free(): void {
    this.#gl?.gl.getExtension('WEBGL_lose_context')?.loseContext();
    this.#freed = true;
    this.#gl = null;
  }

  /* Makes everything on the graphics card anew from what was last set. */
  restore(): void {
    if (this.#freed) return;
    const gl = this.canvas.getContext('webgl2', {alpha: false, antialias: false, depth: false, powerPreference: 'high-performance'});
    if (!gl) throw new NoGraphics('this browser has no WebGL2');
    if (gl.isContextLost()) return;
    gl.getExtension('EXT_color_buffer_float');
    gl.getExtension('EXT_float_blend');
    this.#gl = {
      gl, particles: new Particles(gl), palette: new Palette(gl), solids: new Solids(gl), lines: new Lines(gl),
      nodes: new Nodes(gl), flat: new Flat(gl), world: new World(gl), mesh: new NetMesh(gl),
    };
    this.#pace.forget();
    this.#liveMesh.dirty = this.#mapsDirty = true;
    this.#gl.nodes.set(this.#grid);
    this.#paletteChanged();
    this.#shapesChanged();
    this.#upload();
    if (this.#carried && this.#picture) this.#gl.palette.ease(this.#carried.name, this.#picture);
  }

  /* ---- inside ---- */

  get #zUp(): boolean {
    return this.#scene?.up === 'z' && this.#scene.dimension === 3;
  }

  #inner(p: Vec3): Vec3 {
    return this.#zUp ? [p[0], p[2], -p[1]] : [...p];
  }

  #outer(p: Vec3): Vec3 {
    return this.#zUp ? [p[0], -p[2], p[1]] : [...p];
  }

  #touch(): void {
    this.#dirty = true;
    this.#pace.moved();
  }

  /* True if the canvas has another size than before. */
  #resize(): boolean {
    const {canvas} = this, dense = Math.min(window.devicePixelRatio || 1, 2);
    const w = canvas.clientWidth || 1, h = canvas.clientHeight || 1;
    this.#camera.width = w;
    this.#camera.height = h;
    const width = Math.round(w * dense), height = Math.round(h * dense);
    if (canvas.width === width && canvas.height === height) return false;
    canvas.width = width;
    canvas.height = height;
    return true;
  }

  #poll(): void {
    if (this.#gl) this.#pace.poll(this.#gl.gl);
  }

  #hiddenParticles(): (i: number) => boolean {
    const keys = this.#bodies.hiddenObjects(), scene = this.#scene;
    const hidden = (scene?.objects ?? []).map((_, i) => keys.has(itemOfObject(scene!, i)));
    const tags = this.#tags;
    if (!tags || !hidden.includes(true)) return () => false;
    return (i) => hidden[tags[i]! >>> 16] ?? false;
  }

  #place(i: number): Vec3 {
    const p = this.#places!;
    return [p[3 * i]!, p[3 * i + 1]!, p[3 * i + 2]!];
  }

  #spacing(): number {
    return this.#scene?.resolution ?? 0.02;
  }

  #radius(): number {
    const flat = this.#camera.dimension === 2, solid = this.#look !== 'points';
    return this.#spacing() * (flat ? (solid ? FLAT_SURFACE : FLAT_POINT) : solid ? SURFACE_RADIUS : POINT_RADIUS);
  }

  #upload(): void {
    if (!this.#gl || !this.#picture || !this.#places) return;
    const shares = this.#look === 'surface' && this.#picture.dimension === 3 ? sharesOf(this.#places, this.#spacing()) : null;
    this.#gl.particles.set(this.#picture, this.#tags, shares);
  }

  #paletteChanged(): void {
    const scene = this.#scene;
    if (!this.#gl || !scene) return;
    const box = isEmpty(this.#bounds) ? {low: [0, 0, 0], high: [1, 1, 1]} as Bounds : this.#bounds;
    this.#gl.palette.setScene(scene, box);
    this.#touch();
  }

  /* Where the selected shape's handles are, if it has any. */
  #handlesAt(): Vec3 | null {
    const s = this.#bodies.selected();
    return s && this.#handles && !this.#bodies.isGround(s) ? this.#inner(this.#bodies.middle(s)) : null;
  }

  #groundY(): number | null {
    return this.#overlays.ground ? this.#bodies.groundY() : null;
  }

  /* Half of what is shown of a plane. */
  #reach(): number {
    const b = this.#bounds, size = isEmpty(b) ? 1 : Math.max(b.high[0] - b.low[0], b.high[1] - b.low[1], b.high[2] - b.low[2]);
    return 2 ** Math.ceil(Math.log2(1.2 * Math.max(size, 1e-6)));
  }

  #shapesChanged(): void {
    const gl = this.#gl, bodies = this.#bodies, hidden = bodies.hiddenObjects();
    bodies.remake(this.#reach());
    gl?.solids.clear();
    gl?.palette.setObjects((this.#scene?.objects ?? []).map((_, i) => !hidden.has(itemOfObject(this.#scene!, i))));
    for (const s of bodies.shapes) {
      const form = bodies.form(s);
      const solid = s.kind === 'collider' && s.visible && this.#overlays.colliders && bodies.dimension === 3 &&
                    s.shape !== 'inside' && !bodies.isGround(s);
      if (form && solid) gl?.solids.set(s.name, form, bodies.model(s), s.color ?? null);
    }
    this.#liveMesh.dirty = this.#mapsDirty = true;
    this.#touch();
  }

  #everything(): Bounds {
    const b = bounds();
    if (!isEmpty(this.#bounds)) {
      include(b, this.#bounds.low);
      include(b, this.#bounds.high);
    }
    this.#bodies.includeAll(b);
    const ground = this.#groundY();
    if (ground !== null && !isEmpty(b)) include(b, [0.5 * (b.low[0] + b.high[0]), ground, 0.5 * (b.low[2] + b.high[2])]);
    if (isEmpty(b)) {
      include(b, [-0.6, 0, -0.6]);
      include(b, [0.6, 0.6, 0.6]);
    }
    return b;
  }

  /* What throws shadows: particles, and solids near them. */
  #lit(): Bounds {
    const b = bounds(), all = this.#bounds;
    if (!isEmpty(all)) {
      /* Room for those outside the sample. */
      const room = 0.02 * Math.max(all.high[0] - all.low[0], all.high[1] - all.low[1], all.high[2] - all.low[2]) + this.#radius();
      include(b, all.low.map((x) => x - room) as Vec3);
      include(b, all.high.map((x) => x + room) as Vec3);
    }
    this.#bodies.includeSolid(b);
    return b;
  }

  /* Whether smooth materials are drawn as a mesh, the others as balls. */
  get #mixes(): boolean {
    return this.#look === 'surface' && this.#picture !== null && this.#picture.count <= MOST_MESHED &&
           this.#gl!.palette.smooth.includes(true);
  }

  #makeMesh(): void {
    const g = this.#gl!, hidden = this.#hiddenParticles(), {smooth} = g.palette, tags = this.#tags;
    const without = !this.#mixes ? hidden : (i: number): boolean =>
      hidden(i) || !smooth[(tags?.[i] ?? 0) & 0xffff];
    this.#liveMesh.make({
      picture: this.#picture!, places: this.#places!, tags, scene: this.#scene!, without, box: this.#box, spacing: this.#spacing(),
      colorBy: this.#colorBy, carried: this.#carried?.name ?? null, range: this.#range,
    }, g.palette, g.mesh);
  }

  #render(width: number, height: number, scale: number): void {
    const g = this.#gl!, theme = themes[this.#theme], lens = this.#camera.lens(), p = this.#picture, mixes = !lens.flat && this.#mixes;
    const paint: Record<string, Value> = {
      ...g.palette.uniforms(p, this.#colorBy, this.#carried?.name ?? null, this.#range),
      origin: p?.origin ?? [0, 0, 0], unit: p?.step ?? 1, zUp: this.#zUp, meshing: mixes ? FEW_AROUND : 1,
    };
    if (lens.flat) {
      g.flat.draw({lens, theme, particles: g.particles, groundY: this.#groundY(), radius: this.#radius(),
                   merged: this.#look !== 'points', paint, stale: this.#stale}, width, height);
    } else {
      const all = this.#look === 'mesh' && p !== null, meshed = all || mixes;
      const sees = this.#look !== 'points' && paint['coloring'] === 0;
      if (meshed) this.#makeMesh();
      g.world.draw({
        lens, theme, particles: g.particles, mesh: meshed ? g.mesh : null, balls: !all, solids: g.solids, box: this.#box,
        bounds: () => this.#lit(), groundY: this.#groundY(), spacing: this.#spacing(), radius: this.#radius(),
        smooth: this.#look === 'points' ? 0 : all || (mixes && !g.palette.smooth.includes(false)) ? 0.5 : 1,
        clear: g.palette.clear && sees, allClear: g.palette.allClear && sees, paint, plain: g.palette.plain,
        stale: this.#stale, mapsChanged: this.#mapsDirty,
      }, Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)), width, height,
         scale > 0.6 ? 12 : 6);
      this.#mapsDirty = false;
    }
    this.#drawOver(width, height, lens.flat);
  }

  #drawOver(width: number, height: number, flat: boolean): void {
    const g = this.#gl!, t = this.#tool, middle = this.#handlesAt(), probe = this.#highlight;
    drawOver({
      lines: g.lines, nodes: g.nodes, map: g.palette.map('sequential'), camera: this.#camera, theme: themes[this.#theme],
      bodies: this.#bodies, overlays: this.#overlays, groundY: this.#groundY(), grid: this.#grid, places: this.#places,
      velocity: this.#picture?.velocity ?? null, radius: this.#radius(), handles: middle && {middle, hot: this.#hot},
      probe: probe >= 0 && this.#places && probe < this.#places.length / 3 ? this.#place(probe) : null,
      tool: t && {at: this.#inner(t.at), radius: t.radius, arrow: t.arrow ? this.#inner(t.arrow) : null},
    }, width, height, flat ? null : g.world.depths);
  }
}
