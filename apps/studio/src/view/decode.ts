/* Binary messages of an engine as typed arrays over the message's own bytes: nothing is copied. */

import {HEADER, Kind, MAGIC, type Vec3} from '../protocol.ts';

export type Picture = {
  kind: Kind.picture;
  number: number;
  count: number;
  time: number;
  origin: Vec3;
  step: number; /* m per unit of a place */
  dimension: 2 | 3;
  places: Uint32Array; /* two per particle */
  color: Uint16Array | null; /* 0 for `least`, 65535 for `most` */
  least: number;
  most: number;
  velocity: Float32Array | null; /* three per particle, m/s */
};
export type Tags = {
  kind: Kind.tags;
  number: number;
  count: number;
  objectMaterial: Uint32Array; /* object << 16 | material */
  ids: Uint32Array;
};
export const NODE = 10; /* floats per node: position, mass, velocity, force */
export type Grid = {kind: Kind.grid; number: number; count: number; cell: number; nodes: Float32Array};
export type Column = {name: string; type: string; components: number; words?: string[]; data: Float32Array};
export type Points = {kind: Kind.points; token: number; count: number; columns: Column[]};
export type Mesh = {kind: Kind.mesh; collider: number; vertices: Float32Array; triangles: Uint32Array};
export type Message = Picture | Tags | Grid | Points | Mesh;

function pad(bytes: number, to: number): number {
  return Math.ceil(bytes / to) * to;
}

function decodePicture(b: ArrayBuffer, h: DataView, number: number, count: number): Picture {
  const parts = h.getUint32(44, true);
  const colors = HEADER + 8 * count;
  const velocities = colors + (parts & 1 ? pad(2 * count, 4) : 0);
  return {
    kind: Kind.picture,
    number,
    count,
    time: h.getFloat64(16, true),
    origin: [h.getFloat32(24, true), h.getFloat32(28, true), h.getFloat32(32, true)],
    step: h.getFloat32(36, true),
    dimension: h.getUint32(40, true) === 2 ? 2 : 3,
    places: new Uint32Array(b, HEADER, 2 * count),
    color: parts & 1 ? new Uint16Array(b, colors, count) : null,
    least: h.getFloat32(48, true),
    most: h.getFloat32(52, true),
    velocity: parts & 2 ? new Float32Array(b, velocities, 3 * count) : null,
  };
}

function decodePoints(b: ArrayBuffer, token: number, bytes: number): Points {
  const text = new TextDecoder().decode(new Uint8Array(b, HEADER, bytes));
  const head = JSON.parse(text) as {count: number; columns: Omit<Column, 'data'>[]};
  let at = HEADER + bytes;
  const columns = head.columns.map((c) => {
    at = pad(at, 8);
    const data = new Float32Array(b, at, head.count * c.components);
    at += data.byteLength;
    return {...c, data};
  });
  return {kind: Kind.points, token, count: head.count, columns};
}

/* Throws on what is not a message of this protocol, or is shorter than it says. */
export function decode(b: ArrayBuffer): Message {
  const h = new DataView(b);
  if (b.byteLength < HEADER || h.getUint32(0, true) !== MAGIC) throw new Error('not a message of an engine');
  const kind = h.getUint32(4, true), number = h.getUint32(8, true), count = h.getUint32(12, true);
  switch (kind) {
    case Kind.picture:
      return decodePicture(b, h, number, count);
    case Kind.tags:
      return {
        kind: Kind.tags, number, count,
        objectMaterial: new Uint32Array(b, HEADER, count),
        ids: new Uint32Array(b, HEADER + 4 * count, count),
      };
    case Kind.grid:
      return {kind: Kind.grid, number, count, cell: h.getFloat32(16, true),
              nodes: new Float32Array(b, HEADER, NODE * count)};
    case Kind.points:
      return decodePoints(b, number, count);
    case Kind.mesh: {
      const vertices = h.getUint32(16, true), triangles = h.getUint32(20, true);
      return {
        kind: Kind.mesh,
        collider: number,
        vertices: new Float32Array(b, HEADER, 3 * vertices),
        triangles: new Uint32Array(b, HEADER + 12 * vertices, 3 * triangles),
      };
    }
    default:
      throw new Error(`message of unknown kind ${kind}`);
  }
}

/* One particle's place, m. */
export function placeOf(p: Picture, i: number): Vec3 {
  const a = p.places[2 * i]!, b = p.places[2 * i + 1]!;
  return [
    p.origin[0] + p.step * (a & 0x1fffff),
    p.origin[1] + p.step * ((a >>> 21) | ((b & 0x3ff) << 11)),
    p.origin[2] + p.step * ((b >>> 10) & 0x1fffff),
  ];
}

/* All places, three floats each, with y up: where z is up, (x, y, z) becomes (x, z, -y). */
export function placesOf(p: Picture, zUp: boolean): Float32Array {
  const out = new Float32Array(3 * p.count), {places, step} = p, [ox, oy, oz] = p.origin;
  for (let i = 0; i < p.count; i++) {
    const a = places[2 * i]!, b = places[2 * i + 1]!;
    const y = oy + step * ((a >>> 21) | ((b & 0x3ff) << 11)), z = oz + step * ((b >>> 10) & 0x1fffff);
    out[3 * i] = ox + step * (a & 0x1fffff);
    out[3 * i + 1] = zUp ? z : y;
    out[3 * i + 2] = zUp ? -y : z;
  }
  return out;
}

/* The color of one particle as the attribute's value, or null. */
export function valueOf(p: Picture, i: number): number | null {
  return p.color ? p.least + ((p.most - p.least) * p.color[i]!) / 65535 : null;
}
