/* The studio's view: a canvas with the particles of pictures, colliders, overlays and handles. It keeps what it was
 * last given, so that a lost WebGL context can be rebuilt. Points and directions are the scene's (m, its own up
 * axis); inside, y is up. */

import type {Pose, SceneInfo, Vec3} from '../protocol.ts';
import {Camera, type CameraState, type Rect} from './camera.ts';
import {Controls} from './controls.ts';
import {placesOf, type Grid, type Picture} from './decode.ts';
import {Flat} from './flat.ts';
import type {Value} from './gl.ts';
import {drawHandles, pickHandle, type Handle} from './handles.ts';
import {Lines} from './lines.ts';
import {drawProbe, drawTool} from './marks.ts';
import {affine, along, bounds, clamp, dot, include, isEmpty, multiply, roundBelow, sub, transform, type Bounds, type Mat4} from './math.ts';
import {NetMesh} from './netmesh.ts';
import {netsOf} from './nets.ts';
import {paintNets} from './netpaint.ts';
import {Nodes} from './nodes.ts';
import {blockEdges, flowArrows, forceArrows, mostOf, velocityArrows} from './overlays.ts';
import {stopsOf} from './colormap.ts';
import {Palette, type Legend} from './palette.ts';
import {boundsOf, Particles, sharesOf, wholeBoundsOf} from './particles.ts';
import {hitForm, isWithin, pickParticle} from './pick.ts';
import {formOf, groundOf, middleOf, modelOf, type DrawnShape, type Form} from './shapes.ts';
import {Solids} from './solids.ts';
import {themes, type ThemeName} from './theme.ts';
import {World} from './world.ts';

export type Look = 'surface' | 'points' | 'mesh';
export type Overlays = {velocity: boolean; force: boolean; flow: boolean; grid: 'off' | 'mass' | 'speed'; blocks: boolean; colliders: boolean; ground: boolean};
export type ToolMark = {at: Vec3; radius: number; arrow?: Vec3}; /* arrow: from `at` to its tip */
export type {CameraState, DrawnShape, Handle, Legend, Rect};

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

/* Resolutions of 3D pictures, as parts of the canvas's. Slow machines get the later ones while things move. */
const SCALES = [1, 0.75, 0.5, 0.35];
const SLOW_MS = 30, QUICK_MS = 12, REST_MS = 180;
const SURFACE_RADIUS = 0.92, POINT_RADIUS = 0.46; /* of the distance between particles */
const FLAT_SURFACE = 0.7, FLAT_POINT = 0.4;

const Z_UP = affine([1, 0, 0], [0, 0, -1], [0, 1, 0], [0, 0, 0]);

/* The browser cannot draw. */
export class NoGraphics extends Error {}

export class View {
  readonly canvas: HTMLCanvasElement;
  readonly controls: Controls;
  readonly #camera = new Camera();
  /* Called after the camera was moved by hand. */
  onCamera: () => void = () => {};
  /* Called when a drawing is wanted; a page that polls `needsDraw` needs it not. */
  onChange: () => void = () => {};
  #theme: ThemeName;
  #gl: Gl | null = null;
  #scene: SceneInfo | null = null;
  #shapes: DrawnShape[] = [];
  #picture: Picture | null = null;
  #tags: Uint32Array | null = null;
  #ids: Uint32Array | null = null;
  #grid: Grid | null = null;
  #meshes = new Map<number, {vertices: Float32Array; triangles: Uint32Array}>();
  #poses: Pose[] = [];
  #forms = new Map<string, Form>();
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
  #meshDirty = true;
  #coarser = 1;
  #scale = 0;
  #moved = 0;
  #drawnScale = -1;
  #fence: WebGLSync | null = null;
  #submitted = 0;
  #freed = false;
  /* Milliseconds that the last drawings took, from their commands to their end; sampled once a frame. */
  frameMs = 0;

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
      this.#fence = null;
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
    this.#shapes = shapes;
    this.#camera.dimension = s.dimension;
    if (other) {
      this.#poses = [];
      this.#meshes.clear();
      this.#tags = this.#ids = null;
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
    this.#shapes = shapes;
    this.#shapesChanged();
  }

  setTags(objectMaterial: Uint32Array, ids: Uint32Array): void {
    this.#tags = objectMaterial;
    this.#ids = ids;
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
    this.#meshDirty = this.#mapsDirty = true;
    this.#touch();
  }

  get shown(): Picture | null {
    return this.#picture;
  }

  setGrid(g: Grid | null): void {
    this.#grid = g;
    this.#gl?.nodes.set(g);
    this.#touch();
  }

  setMesh(collider: number, vertices: Float32Array, triangles: Uint32Array): void {
    this.#meshes.set(collider, {vertices, triangles});
    this.#shapesChanged();
  }

  setPoses(poses: Pose[]): void {
    const same = poses.length === this.#poses.length && poses.every((p, i) => {
      const q = this.#poses[i]!;
      return p.position.every((x, a) => x === q.position[a]) && p.rotation.every((x, a) => x === q.rotation[a]);
    });
    if (same) return;
    this.#poses = poses;
    for (const s of this.#shapes) this.#gl?.solids.place(s.name, this.#model(s));
    this.#mapsDirty = true;
    this.#touch();
  }

  get look(): Look {
    return this.#look;
  }

  set look(l: Look) {
    this.#look = l;
    this.#upload();
    this.#meshDirty = this.#mapsDirty = true;
    this.#touch();
  }

  /* null or "material": materials; "object"; or an attribute, shown if pictures carry it. */
  get colorBy(): string | null {
    return this.#colorBy;
  }

  set colorBy(name: string | null) {
    this.#colorBy = name;
    this.#meshDirty = true;
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
    this.#range = r;
    this.#meshDirty = true;
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
    let t = this.#shapeHit(origin, direction).t;
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

  /* Its id, for `probe`. */
  idOf(index: number): number | null {
    return this.#ids?.[index] ?? null;
  }

  indexOf(id: number): number {
    return this.#ids?.indexOf(id) ?? -1;
  }

  /* Name of the object or collider under the cursor. */
  pickShape(x: number, y: number): string | null {
    const {origin, direction} = this.#camera.ray(x, y), i = this.pick(x, y), hit = this.#shapeHit(origin, direction);
    if (i >= 0) {
      const t = this.#camera.dimension === 2 ? 0 : dot(sub(this.#place(i), origin), direction) - this.#radius();
      const object = this.#scene?.objects[(this.#tags?.[i] ?? 0) >>> 16]?.name;
      if (t <= hit.t && object !== undefined) return object;
    }
    return hit.name;
  }

  pickHandle(x: number, y: number): Handle | null {
    const s = this.#selected();
    return s && this.#handles && !this.#isGround(s) ? pickHandle(x, y, this.#middle(s), this.#camera, this.#zUp) : null;
  }

  /* ---- drawing ---- */

  /* Whether draw() would change the picture. Ask in every animation frame: after a rest it asks for a finer one. */
  get needsDraw(): boolean {
    this.#poll();
    if (!this.#gl || this.#gl.gl.isContextLost()) return false;
    if (this.#resize()) this.#dirty = true;
    return this.#dirty || this.#refines();
  }

  /* Whether the last drawing is still under way. */
  get busy(): boolean {
    this.#poll();
    return this.#fence !== null;
  }

  /* Part of the canvas's resolution that 3D pictures have while things move. */
  get movingScale(): number {
    return SCALES[this.#scale]!;
  }

  /* Draws, unless the last drawing is still under way: then needsDraw stays true. */
  draw(): void {
    this.#poll();
    this.#resize();
    if (!this.#gl || this.#fence) return;
    const moving = performance.now() - this.#moved < REST_MS;
    const scale = this.#camera.dimension === 2 ? 0 : moving ? this.#scale : 0;
    this.#render(this.canvas.width, this.canvas.height, SCALES[scale]!);
    this.#drawnScale = scale;
    this.#dirty = false;
    const {gl} = this.#gl;
    this.#fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.#submitted = performance.now();
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
    this.#fence = null;
    this.#meshDirty = this.#mapsDirty = true;
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
    this.#moved = performance.now();
    this.onChange();
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

  #refines(): boolean {
    return this.#drawnScale > 0 && performance.now() - this.#moved >= REST_MS && !this.#fence;
  }

  /* Looks whether the last drawing has ended, and learns from how long it took. */
  #poll(): void {
    const gl = this.#gl?.gl;
    if (!gl || !this.#fence) return;
    const done = gl.getSyncParameter(this.#fence, gl.SYNC_STATUS) === gl.SIGNALED;
    const ms = performance.now() - this.#submitted;
    if (!done && ms < 2000) return;
    gl.deleteSync(this.#fence);
    this.#fence = null;
    this.frameMs = this.frameMs ? 0.7 * this.frameMs + 0.3 * ms : ms;
    if (this.#drawnScale !== this.#scale) return; /* a fine one after a rest says nothing about the others */
    if (ms > SLOW_MS) this.#scale = Math.min(this.#scale + (ms > 4 * SLOW_MS ? 2 : 1), SCALES.length - 1);
    else if (this.frameMs < QUICK_MS && this.#scale > 0) this.#scale--;
  }

  #hiddenNames(): Set<string> {
    return new Set(this.#shapes.filter((s) => s.kind === 'object' && !s.visible).map((s) => s.name));
  }

  #hiddenParticles(): (i: number) => boolean {
    const names = this.#hiddenNames(), hidden = (this.#scene?.objects ?? []).map((o) => names.has(o.name));
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

  #pose(s: DrawnShape): Pose | undefined {
    return s.kind === 'collider' && s.collider !== undefined ? this.#poses[s.collider] : undefined;
  }

  #model(s: DrawnShape): Mat4 {
    const m = modelOf(s, this.#pose(s));
    return this.#zUp ? multiply(Z_UP, m) : m;
  }

  #middle(s: DrawnShape): Vec3 {
    return this.#inner(middleOf(s, this.#pose(s)));
  }

  #selected(): DrawnShape | undefined {
    return this.#shapes.find((s) => s.selected);
  }

  #groundY(): number | null {
    if (!this.#overlays.ground) return null;
    for (const s of this.#shapes) {
      const y = s.visible ? groundOf(s, this.#zUp ? 'z' : 'y') : null;
      if (y !== null) return y;
    }
    return null;
  }

  #isGround(s: DrawnShape): boolean {
    return groundOf(s, this.#zUp ? 'z' : 'y') !== null;
  }

  /* Half of what is shown of a plane. */
  #reach(): number {
    const b = this.#bounds, size = isEmpty(b) ? 1 : Math.max(b.high[0] - b.low[0], b.high[1] - b.low[1], b.high[2] - b.low[2]);
    return 2 ** Math.ceil(Math.log2(1.2 * Math.max(size, 1e-6)));
  }

  #shapesChanged(): void {
    const gl = this.#gl, {dimension} = this.#camera, reach = this.#reach();
    const names = this.#hiddenNames();
    this.#forms.clear();
    gl?.solids.clear();
    gl?.palette.setObjects((this.#scene?.objects ?? []).map((o) => !names.has(o.name)));
    for (const s of this.#shapes) {
      const mesh = s.collider !== undefined && s.kind === 'collider' ? this.#meshes.get(s.collider) : undefined;
      const form = mesh ? {points: mesh.vertices, normals: null, triangles: mesh.triangles, outline: []}
                        : formOf(s, dimension, reach);
      if (!form) continue;
      this.#forms.set(s.name, form);
      const solid = s.kind === 'collider' && s.visible && this.#overlays.colliders && dimension === 3 &&
                    s.shape !== 'inside' && !this.#isGround(s);
      if (solid) gl?.solids.set(s.name, form, this.#model(s), s.color ?? null);
    }
    this.#mapsDirty = true;
    this.#touch();
  }

  /* The nearest shape on a ray. Only what is drawn as a solid, or selected, is in the way. */
  #shapeHit(origin: Vec3, direction: Vec3): {t: number; name: string | null} {
    let best = Infinity, name: string | null = null;
    for (const s of this.#shapes) {
      const form = this.#forms.get(s.name);
      if (!form || !s.visible || this.#isGround(s)) continue;
      if (s.kind === 'object' && !s.selected) continue;
      if (this.#camera.dimension === 2) {
        if (s.shape !== 'inside' && isWithin(form, this.#model(s), origin[0], origin[1])) return {t: 1, name: s.name};
        continue;
      }
      if (s.shape === 'inside') continue;
      const t = hitForm(form, this.#model(s), origin, direction);
      if (t < best) {
        best = t;
        name = s.name;
      }
    }
    return {t: best, name};
  }

  #everything(): Bounds {
    const b = bounds();
    if (!isEmpty(this.#bounds)) {
      include(b, this.#bounds.low);
      include(b, this.#bounds.high);
    }
    for (const s of this.#shapes) {
      const form = this.#forms.get(s.name);
      if (!form || !s.visible || s.shape === 'plane' || s.kind === 'sink') continue;
      const m = this.#model(s);
      for (const line of form.outline) for (const p of line) include(b, transform(m, p));
      for (let i = 0; i < form.points.length; i += 3) {
        include(b, transform(m, [form.points[i]!, form.points[i + 1]!, form.points[i + 2]!]));
      }
    }
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
    for (const s of this.#shapes) {
      const form = this.#forms.get(s.name);
      if (!form || s.kind !== 'collider' || !s.visible || s.shape === 'plane' || s.shape === 'inside') continue;
      const m = this.#model(s), step = 3 * Math.max(1, Math.floor(form.points.length / 3000));
      for (let i = 0; i < form.points.length; i += step) {
        include(b, transform(m, [form.points[i]!, form.points[i + 1]!, form.points[i + 2]!]));
      }
    }
    return b;
  }

  #makeMesh(): void {
    const g = this.#gl!, p = this.#picture, places = this.#places, scene = this.#scene;
    if (!p || !places || !scene || !this.#meshDirty) return;
    const start = performance.now(), by = this.#colorBy;
    const nets = netsOf(places, this.#hiddenParticles(), this.#box, this.#spacing(), this.#coarser);
    const {tints, kelvins} = paintNets(nets, p, this.#tags, scene, g.palette, by, this.#carried?.name ?? null, this.#range);
    g.mesh.set(nets, tints, kelvins);
    const ms = performance.now() - start;
    if (ms > SLOW_MS && this.#coarser < 3) this.#coarser *= 1.2;
    else if (ms < 0.4 * SLOW_MS && this.#coarser > 1) this.#coarser = Math.max(1, this.#coarser / 1.2);
    this.#meshDirty = false;
  }

  #render(width: number, height: number, scale: number): void {
    const g = this.#gl!, theme = themes[this.#theme], lens = this.#camera.lens(), p = this.#picture;
    const paint: Record<string, Value> = {
      ...g.palette.uniforms(p, this.#colorBy, this.#carried?.name ?? null, this.#range),
      origin: p?.origin ?? [0, 0, 0], unit: p?.step ?? 1, zUp: this.#zUp,
    };
    if (lens.flat) {
      g.flat.draw({lens, theme, particles: g.particles, groundY: this.#groundY(), radius: this.#radius(),
                   merged: this.#look !== 'points', paint, stale: this.#stale}, width, height);
    } else {
      const meshed = this.#look === 'mesh' && p !== null;
      const sees = this.#look !== 'points' && paint['coloring'] === 0;
      if (meshed) this.#makeMesh();
      g.world.draw({
        lens, theme, particles: g.particles, mesh: meshed ? g.mesh : null, solids: g.solids, box: this.#box, bounds: () => this.#lit(),
        groundY: this.#groundY(), spacing: this.#spacing(), radius: this.#radius(),
        smooth: this.#look === 'points' ? 0 : meshed ? 0.5 : 1,
        clear: g.palette.clear && sees, allClear: g.palette.allClear && sees, paint, plain: g.palette.plain,
        stale: this.#stale, mapsChanged: this.#mapsDirty,
      }, Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)), width, height,
         scale > 0.6 ? 12 : 6);
      this.#mapsDirty = false;
    }
    this.#drawOver(width, height);
  }

  #drawOver(width: number, height: number): void {
    const g = this.#gl!, theme = themes[this.#theme], lens = this.#camera.lens(), {lines} = g, o = this.#overlays;
    const dense = height / this.#camera.height, depths = lens.flat ? null : g.world.depths, flat = lens.flat;
    const finish = (): void => lines.draw(lens.clip, lens.near, width, height, dense, theme.halo, depths);
    lines.clear();
    if (flat && this.#groundY() !== null) {
      const y = this.#groundY()!, x = this.#camera.target[0], far = 1e3 * lens.distance;
      lines.add([x - far, y, 0], [x + far, y, 0], {color: theme.faint, width: 1.25});
    }
    if (o.blocks && this.#grid) {
      blockEdges(lines, this.#grid, flat ? 2 : 3, this.#zUp, {color: theme.faint, alpha: flat ? 0.9 : 0.75, width: 1, hidden: 0.15});
    }
    finish();
    if (o.grid !== 'off' && this.#grid) {
      const speed = o.grid === 'speed', cell = this.#grid.cell / this.#camera.pixel;
      g.nodes.draw({speed, most: mostOf(this.#grid, speed), map: g.palette.map('sequential'), zUp: this.#zUp,
                    pixels: dense * clamp(0.4 * cell, 2, 6)}, lens.clip, width, height, depths);
    }
    lines.clear();
    if (o.force && this.#grid) forceArrows(lines, this.#grid, this.#zUp, this.#camera, {color: theme.changed, width: 1.5, head: 7, halo: 0.7});
    if (o.flow && this.#grid) flowArrows(lines, this.#grid, this.#zUp, this.#camera, {color: theme.accent, width: 1.5, head: 7, halo: 0.7});
    if (o.velocity && this.#picture?.velocity && this.#places) {
      velocityArrows(lines, this.#places, this.#picture.velocity, this.#zUp, this.#camera, {color: theme.ink, width: 1.5, head: 7, halo: 0.75});
    }
    this.#drawShapes();
    this.#drawMarks();
    finish();
  }

  #drawShapes(): void {
    const {lines} = this.#gl!, theme = themes[this.#theme], flat = this.#camera.dimension === 2;
    for (const s of this.#shapes) {
      const form = this.#forms.get(s.name);
      if (!form || !s.visible) continue;
      const outlined = s.selected || (s.kind === 'collider' ? this.#overlays.colliders && (flat || s.shape === 'inside')
                                                            : s.kind !== 'object');
      if (!outlined || (this.#isGround(s) && !s.selected)) continue;
      if (this.#isGround(s) && flat) continue;
      const m = this.#model(s), color = s.selected ? theme.accent : theme.ink;
      const alpha = s.selected ? 1 : flat ? 0.8 : 0.5;
      for (const line of form.outline) {
        lines.path(line.map((p) => transform(m, p)), {color, alpha, width: s.selected ? 2 : 1.5, hidden: 0.25});
      }
    }
    const chosen = this.#selected();
    if (chosen && this.#handles && !this.#isGround(chosen)) {
      drawHandles(lines, this.#middle(chosen), this.#camera, this.#zUp, theme, this.#hot);
    }
  }

  #drawMarks(): void {
    const {lines} = this.#gl!, camera = this.#camera, t = this.#tool;
    if (this.#highlight >= 0 && this.#places && this.#highlight < this.#places.length / 3) {
      drawProbe(lines, camera, this.#place(this.#highlight), this.#radius());
    }
    if (t) drawTool(lines, camera, this.#inner(t.at), t.radius, t.arrow ? this.#inner(t.arrow) : null);
  }
}
