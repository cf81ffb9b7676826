/* A sequence of particle files, as `firn run` writes them: frames by the number in the name, read when they are asked
 * for. A file that cannot be read has an error of its own and stops no other. */
import {type MaterialInfo, type SceneInfo, type Vec3} from '../protocol.ts';
import {colorsOf} from './picture.ts';
import {isParticleFile, PARTICLE_EXTENSIONS} from './formats.ts';
import {FileError, findColumn, numbersOf, type Points, positionsOf} from './points.ts';
import {Reader} from './reader.ts';

export type CacheFile = {name: string} & Blob;
export type CacheFrame = {frame: number; file: CacheFile};
export type Sequence = {name: string; frames: CacheFrame[]};

const DECODED_BYTES = 256 << 20; /* of frames kept in memory */

/* name.0001.prt, name_0001.prt or name1.prt; without a number it is frame 1. */
export function splitName(name: string): {base: string; frame: number | null; extension: string} {
  const lower = name.toLowerCase();
  const extension = [...PARTICLE_EXTENSIONS].sort((a, b) => b.length - a.length).find(e => lower.endsWith(e)) ?? '';
  const stem = name.slice(0, name.length - extension.length), number = stem.match(/[._-]?(\d+)$/);
  return {base: number ? stem.slice(0, number.index) : stem, frame: number ? Number(number[1]) : null, extension};
}

/* Particle files among those dropped, by sequence, the longest first; each in order of its frames. */
export function findSequences(files: Iterable<CacheFile>): Sequence[] {
  const found = new Map<string, Sequence>();
  for (const file of files) {
    if (!isParticleFile(file.name)) continue;
    const {base, frame, extension} = splitName(file.name), key = base + extension;
    let sequence = found.get(key);
    if (!sequence) found.set(key, sequence = {name: base || file.name, frames: []});
    sequence.frames.push({frame: frame ?? 1, file});
  }
  for (const s of found.values()) s.frames.sort((a, b) => a.frame - b.frame);
  return [...found.values()].sort((a, b) => b.frames.length - a.frames.length);
}

function bytesOf(points: Points): number {
  return points.columns.reduce((sum, c) => sum + c.data.byteLength, 0);
}

/* Linear; for caches that come without their scene. */
const COLORS: Vec3[] = [[0.75, 0.84, 0.93], [0.69, 0.07, 0.08], [0.1, 0.47, 0.32], [0.62, 0.42, 0.16],
  [0.2, 0.32, 0.75], [0.42, 0.2, 0.62]];

function namesOf(points: Points, attribute: string): {name: string; count: number}[] {
  const column = findColumn(points, attribute), counts: number[] = [];
  if (!column) return [{name: attribute, count: points.count}];
  const numbers = numbersOf(column);
  for (let i = 0; i < points.count; i++) {
    const k = Math.min(0xffff, Math.max(0, numbers[i]!));
    counts[k] = (counts[k] ?? 0) + 1;
  }
  return Array.from(counts, (count, i) => ({name: column.words?.[i] ?? `${attribute} ${i + 1}`, count: count ?? 0}));
}

/* The edge of the cube, or square, that a particle stands for. */
function separationOf(points: Points, dimension: 2 | 3): number {
  /* The radius of a ball, or disc, of that size. */
  const radius = Number(findColumn(points, 'pscale')?.data[0] ?? 0);
  if (radius > 0) return radius / (dimension === 3 ? 0.62035 : 0.56419);
  const P = numbersOf(positionsOf(points)), size = [0, 1, 2].map(a => {
    let low = Infinity, high = -Infinity;
    for (let i = a; i < P.length; i += 3) {
      low = Math.min(low, P[i]!);
      high = Math.max(high, P[i]!);
    }
    return Math.max(high - low, 1e-3);
  });
  const room = dimension === 3 ? size[0]! * size[1]! * size[2]! : size[0]! * size[1]!;
  return (room / 2 / Math.max(1, points.count)) ** (1 / dimension);
}

export class Cache {
  readonly name: string;
  readonly frames: CacheFrame[];
  readonly errors = new Map<number, string>(); /* by frame */
  private decoded = new Map<number, Promise<Points>>(); /* by frame, the latest used last */
  private sizes = new Map<number, number>();

  constructor(sequence: Sequence, private reader = new Reader(), public fps = 24) {
    if (!sequence.frames.length) throw new FileError('There are no particle files among these.');
    this.name = sequence.name;
    this.frames = sequence.frames;
  }

  get first(): number { return this.frames[0]!.frame; }
  get last(): number { return this.frames[this.frames.length - 1]!.frame; }

  /* The file that shows a frame: its own, or the last before it. */
  indexOf(frame: number): number {
    let i = 0;
    while (i + 1 < this.frames.length && this.frames[i + 1]!.frame <= frame) i++;
    return i;
  }

  /* The particles of the i-th file. */
  async read(index: number): Promise<Points> {
    const {frame, file} = this.frames[index]!;
    let points = this.decoded.get(frame);
    this.decoded.delete(frame);
    points ??= this.reader.read(file.name, file);
    this.decoded.set(frame, points);
    try {
      const read = await points;
      this.sizes.set(frame, bytesOf(read));
      this.errors.delete(frame);
      this.trim(frame);
      return read;
    } catch (error) {
      this.decoded.delete(frame);
      const text = `${file.name}: ${(error as Error).message}`;
      this.errors.set(frame, text);
      throw new FileError(text);
    }
  }

  private trim(keep: number): void {
    let sum = 0;
    for (const frame of this.decoded.keys()) sum += this.sizes.get(frame) ?? 0;
    for (const frame of this.decoded.keys()) {
      if (sum <= DECODED_BYTES) return;
      if (frame === keep) continue;
      sum -= this.sizes.get(frame) ?? 0;
      this.decoded.delete(frame);
      this.sizes.delete(frame);
    }
  }

  /* What the files themselves tell of their scene. */
  describe(points: Points): SceneInfo {
    const P = numbersOf(positionsOf(points));
    let flat = points.count > 0;
    for (let i = 2; i < P.length && flat; i += 3) flat = P[i] === 0;
    const dimension = flat ? 2 : 3, resolution = separationOf(points, dimension);
    const materials = namesOf(points, 'material').map((m, i): MaterialInfo =>
      ({name: m.name, law: '', preset: '', color: COLORS[i % COLORS.length]!, tint: 0, values: {}}));
    return {name: this.name, dimension, first: this.first, last: this.last, fps: this.fps, playback: this.fps,
      resolution, cell_size: 2 * resolution, heat: findColumn(points, 'temperature') !== undefined, up: 'y', materials,
      objects: namesOf(points, 'object').map(o => ({...o, material: materials[0]!.name})), colliders: []};
  }

  colors(points: Points): string[] {
    return colorsOf(points).map(c => c.name);
  }

  close(): void {
    this.reader.close();
    this.decoded.clear();
  }
}
