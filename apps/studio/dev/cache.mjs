/* Caches of `firn run` as CSV, for pictures of real runs. */
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/* Columns of one frame of a cache; null if there is none. */
export function readCache(csv, scene, frame) {
  const name = csv && readdirSync(csv).find((f) => f === `${scene}.${String(frame).padStart(4, '0')}.csv`);
  if (!name) return null;
  const [head, ...rows] = readFileSync(join(csv, name), 'utf8').trim().split('\n');
  const names = head.split(','), at = (n) => names.indexOf(n), table = rows.map((r) => r.split(','));
  const pick = (...cols) => table.flatMap((r) => cols.map((c) => (at(c) < 0 ? 0 : +r[at(c)])));
  return {places: pick('P.x', 'P.y', 'P.z'), velocity: pick('v.x', 'v.y', 'v.z'),
          tags: table.map((r) => ((+r[at('object')] << 16) | +r[at('material')]) >>> 0),
          temperature: at('temperature') < 0 ? null : pick('temperature')};
}
