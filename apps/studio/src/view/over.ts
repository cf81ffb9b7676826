/* What is drawn over a picture: the ground's line in 2D, blocks, nodes, arrows, outlines, handles, marks. */

import type {Vec3} from '../protocol.ts';
import type {Bodies} from './bodies.ts';
import type {Camera} from './camera.ts';
import type {Grid} from './decode.ts';
import {drawHandles, type Handle} from './handles.ts';
import type {Depths, Lines} from './lines.ts';
import {drawProbe, drawTool} from './marks.ts';
import {clamp, transform} from './math.ts';
import type {Nodes} from './nodes.ts';
import {blockEdges, flowArrows, forceArrows, mostOf, velocityArrows} from './overlays.ts';
import type {Theme} from './theme.ts';

export type Overlays = {velocity: boolean; force: boolean; flow: boolean; grid: 'off' | 'mass' | 'speed'; blocks: boolean; colliders: boolean; ground: boolean};

/* Points have y up, but for the grid's and velocities, which are as the engine sends them. */
export type Over = {
  lines: Lines;
  nodes: Nodes;
  map: WebGLTexture; /* of nodes' colours */
  camera: Camera;
  theme: Theme;
  bodies: Bodies;
  overlays: Overlays;
  groundY: number | null;
  grid: Grid | null;
  places: Float32Array | null;
  velocity: Float32Array | null;
  radius: number; /* of a particle */
  handles: {middle: Vec3; hot: Handle | null} | null;
  probe: Vec3 | null;
  tool: {at: Vec3; radius: number; arrow: Vec3 | null} | null;
};

export function drawOver(v: Over, width: number, height: number, depths: Depths | null): void {
  const {lines, camera, theme, grid} = v, o = v.overlays, {zUp} = v.bodies, lens = camera.lens();
  const dense = height / camera.height, arrow = {width: 1.5, head: 7, halo: 0.75};
  lines.clear();
  if (lens.flat && v.groundY !== null) {
    const x = camera.target[0], far = 1e3 * lens.distance;
    lines.add([x - far, v.groundY, 0], [x + far, v.groundY, 0], {color: theme.faint, width: 1.25});
  }
  if (o.blocks && grid) {
    blockEdges(lines, grid, lens.flat ? 2 : 3, zUp, {color: theme.faint, alpha: lens.flat ? 0.9 : 0.75, width: 1, hidden: 0.15});
  }
  const below = lines.count;
  if (o.force && grid) forceArrows(lines, grid, zUp, camera, {color: theme.changed, ...arrow});
  if (o.flow && grid) flowArrows(lines, grid, zUp, camera, {color: theme.accent, ...arrow});
  if (o.velocity && v.velocity && v.places) velocityArrows(lines, v.places, v.velocity, zUp, camera, {color: theme.ink, ...arrow});
  drawShapes(v);
  if (v.probe) drawProbe(lines, camera, v.probe, v.radius);
  if (v.tool) drawTool(lines, camera, v.tool.at, v.tool.radius, v.tool.arrow);

  const style = {clip: lens.clip, near: lens.near, dense, canvas: [width, height], haloColor: theme.halo};
  lines.draw(0, below, style, depths);
  if (o.grid !== 'off' && grid) {
    const speed = o.grid === 'speed', pixels = dense * clamp((0.4 * grid.cell) / camera.pixel, 2, 6);
    v.nodes.draw({speed, most: mostOf(grid, speed), map: v.map, zUp, pixels, clip: lens.clip, canvas: [width, height]}, depths);
  }
  lines.draw(below, lines.count, style, depths);
}

function drawShapes(v: Over): void {
  const {lines, bodies, theme} = v, flat = v.camera.dimension === 2;
  for (const s of bodies.shapes) {
    const form = bodies.form(s), ground = bodies.isGround(s);
    if (!form || !s.visible || (ground && (flat || !s.selected))) continue;
    const outlined = s.selected || (s.kind === 'collider' ? v.overlays.colliders && (flat || s.shape === 'inside')
                                                          : s.kind !== 'object');
    if (!outlined) continue;
    const m = bodies.model(s), color = s.selected ? theme.accent : theme.ink;
    const alpha = s.selected ? 1 : flat ? 0.8 : 0.5;
    for (const line of form.outline) {
      lines.path(line.map((p) => transform(m, p)), {color, alpha, width: s.selected ? 2 : 1.5, hidden: 0.25});
    }
  }
  if (v.handles) drawHandles(lines, v.handles.middle, v.camera, bodies.zUp, theme, v.handles.hot);
}
