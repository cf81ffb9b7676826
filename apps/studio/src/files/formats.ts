/* Particle files of any format that a page can read, told apart by their first bytes. */
import {isGeo, readGeo, writeGeo} from './geo.ts';
import {isPly, readPly, writePly} from './ply.ts';
import {isPrt, readPrt, writePrt} from './prt.ts';
import {readCsv} from './csv.ts';
import {FileError, type Points, restoreWhole} from './points.ts';

export const PARTICLE_EXTENSIONS = ['.prt', '.geo', '.bgeo', '.bgeo.sc', '.ply', '.csv'];

export function isParticleFile(name: string): boolean {
  return PARTICLE_EXTENSIONS.some(e => name.toLowerCase().endsWith(e));
}

export async function readPoints(name: string, bytes: Uint8Array): Promise<Points> {
  if (isPrt(bytes)) return await readPrt(bytes);
  if (isPly(bytes)) return readPly(bytes);
  if (isGeo(bytes)) return await readGeo(bytes);
  if (/\.(csv|tsv|txt)$/i.test(name)) return readCsv(bytes);
  throw new FileError(`${name} is no particle file that can be read here: ${PARTICLE_EXTENSIONS.join(', ')} can.`);
}

/* Particles of a file or of an engine's message; fps goes into formats that have a place for it. */
export type SavedFormat = 'prt' | 'geo' | 'ply';

export async function writePoints(format: SavedFormat, points: Points, fps = 0): Promise<Uint8Array<ArrayBuffer>> {
  points = restoreWhole(points);
  return format === 'prt' ? await writePrt(points, fps) : format === 'geo' ? writeGeo(points) : writePly(points);
}
