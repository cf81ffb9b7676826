/* Particles of a file as an object of a scene: the scene's text with one object more, and the file that the engine
 * reads it from. PLY, whatever the file was, since every engine reads that. */
import {isMap, isSeq, parseDocument} from 'yaml';
import {writePly} from './ply.ts';
import {FileError, findColumn, numbersOf, type Points} from './points.ts';

/* What a run takes from a particle file (doc/scenes.md, step 8). */
const TAKEN = ['P', 'v', 'mass', 'pscale', 'density', 'material', 'F', 'J'];
const TAKEN_WITH_HEAT = ['temperature', 'concentration'];

export type ParticleObject = {text: string; object: string; file: {name: string; bytes: Uint8Array<ArrayBuffer>}};

export type ObjectOptions = {material?: string; alone?: boolean};

/* `material` is for particles whose file names none that the scene has. With `alone` the other objects go: the scene
 * then starts from the state in the file. */
export function addParticleObject(text: string, points: Points, name: string, options: ObjectOptions = {}): ParticleObject {
  const {material, alone} = options;
  const document = parseDocument(text);
  if (document.errors.length || !isMap(document.contents)) throw new FileError('The scene has an error; fix it first.');
  const materials = document.get('materials'), count = isMap(materials) ? materials.items.length : 0;
  const heat = document.has('heat'), wanted = heat ? [...TAKEN, ...TAKEN_WITH_HEAT] : TAKEN;
  const known = (numbers: ArrayLike<number>): boolean => {
    for (let i = 0; i < numbers.length; i++) if (numbers[i]! < 0 || numbers[i]! >= count) return false;
    return true;
  };
  const column = findColumn(points, 'material'), keeps = column && !material && known(numbersOf(column));
  const columns = points.columns.filter(c => wanted.includes(c.name) && (c.name !== 'material' || keeps));
  const names = new Set<unknown>();
  const objects = document.get('objects');
  if (isSeq(objects) && !alone) for (const o of objects.items) if (isMap(o)) names.add(o.get('name'));
  const base = name.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '') || 'particles';
  let object = base;
  for (let i = 2; names.has(object); i++) object = `${base}_${i}`;
  const first = isMap(materials) ? String((materials.items[0]?.key as {value?: unknown} | undefined)?.value ?? '') : '';
  const chosen = material ?? first;
  const file = `${object}.ply`;
  const made = chosen ? {name: object, material: chosen, particles: file} : {name: object, particles: file};
  const node = document.createNode(made, {flow: true});
  if (isSeq(objects) && !alone) objects.add(node);
  else document.set('objects', document.createNode([node]));
  return {text: document.toString({flowCollectionPadding: false, lineWidth: 0}), object,
    file: {name: file, bytes: writePly({count: points.count, columns})}};
}
