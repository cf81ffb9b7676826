/* What the view needs of a scene's text: shapes to outline, a camera to begin with. */
import type {SceneInfo, Vec3} from './protocol.ts';
import {isFields, vector, type Item, type Model} from './document/model.ts';
import {placeOf} from './document/place.ts';
import type {DrawnShape} from './view/view.ts';

const KINDS: Partial<Record<Item['kind'], DrawnShape['kind']>> = {
  object: 'object',
  emitter: 'emitter',
  collider: 'collider',
  sink: 'sink',
  source: 'heat',
};

export function drawnShapes(model: Model, selection: string, hidden: ReadonlySet<string>): DrawnShape[] {
  const shapes: DrawnShape[] = [];
  for (const item of model.items) {
    const kind = KINDS[item.kind];
    if (!kind || !item.shape) continue;
    const place = placeOf(item),
      color = item.fields.color;
    shapes.push({
      name: item.name,
      kind,
      shape: item.shape.word,
      params: item.shape.params,
      position: place.translate,
      rotation: place.rotate,
      scale: place.scale,
      color: Array.isArray(color) ? vector(color) : undefined,
      selected: item.key === selection,
      visible: item.kind === 'collider' ? item.visible : !hidden.has(item.name),
      collider: item.kind === 'collider' ? (item.path[1] as number) : undefined,
    });
  }
  return shapes;
}

/* For a scene that has nothing to simulate yet. */
export function emptyScene(model: Model): SceneInfo {
  return {
    name: model.name,
    dimension: model.dimension,
    first: 1,
    last: 24,
    fps: 24,
    playback: 24,
    resolution: model.resolution,
    cell_size: 2 * model.resolution,
    heat: model.heat,
    up: model.up,
    materials: [],
    objects: [],
    colliders: [],
  };
}

/* The direction that the scene's camera looks from, in degrees, and, if it names them, target and distance. */
export function cameraOf(model: Model): {azimuth: number; elevation: number; target?: Vec3; distance?: number} {
  const fallback = {azimuth: 25, elevation: 16},
    camera = model.root.camera;
  if (!isFields(camera)) return fallback;
  const number = (v: unknown, otherwise: number) => (typeof v === 'number' ? v : otherwise);
  if (!Array.isArray(camera.position))
    return {azimuth: number(camera.azimuth, fallback.azimuth), elevation: number(camera.elevation, fallback.elevation)};
  const p = vector(camera.position),
    t = vector(camera.target);
  let d: Vec3 = [p[0] - t[0], p[1] - t[1], p[2] - t[2]];
  if (model.up === 'z') d = [d[0], d[2], -d[1]];
  const length = Math.hypot(...d), half = (angle: number) => Math.tan((angle * Math.PI) / 360);
  const zoom = half(number(camera.field_of_view ?? camera.fov, 32)) / half(32); /* the page has one lens */
  if (length === 0) return fallback;
  return {
    azimuth: (Math.atan2(d[0], d[2]) * 180) / Math.PI, elevation: (Math.asin(d[1] / length) * 180) / Math.PI,
    ...(Array.isArray(camera.target) ? {target: t, distance: length * zoom} : {}),
  };
}
