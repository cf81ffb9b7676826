/* Houdini's geometry before version 12 (V5), text and binary: a header with counts, the attributes by name, size and
 * type, then point after point: x y z w and the values of all attributes. What follows the points is not read. */
import {addColumn, Column, FileError, MOST_COMPONENTS, Points} from './points.ts';

type Kind = 'float' | 'int' | 'vector' | 'index';
type Attribute = {name: string; size: number; kind: Kind; words?: string[]};

export function isClassic(bytes: Uint8Array): boolean {
  const start = String.fromCharCode(...bytes.subarray(0, 9));
  return start === 'PGEOMETRY' || start.startsWith('BgeoV');
}

/* What each attribute's values go into; none for those that cannot be kept. P is the first, its weight dropped. */
function makeColumns(points: Points, attributes: Attribute[]): (Column | undefined)[] {
  return attributes.map((a, i) => {
    if (i > 0 && (a.size > MOST_COMPONENTS || !a.name || a.name.length > 63)) return undefined;
    const real = a.kind === 'float' || a.kind === 'vector';
    const column = addColumn(points, a.name, real ? 'f32' : 'i32', i === 0 ? 3 : a.size);
    if (a.words) column.words = a.words;
    return column;
  });
}

const FEW = 'The file has fewer points than it promises.';
const POSITION: Attribute = {name: 'P', size: 4, kind: 'vector'};

function check(name: string, size: number, kind: Kind | undefined): Kind {
  if (!kind || !(size >= 1 && size <= 65535)) {
    throw new FileError(`The attribute "${name}" has a size or type that is not known.`);
  }
  return kind;
}

/* ---- text ---- */

function readText(bytes: Uint8Array): Points {
  const words = new TextDecoder('latin1').decode(bytes).match(/"(?:[^"\\]|\\.)*"|[()]|[^\s()]+/g) ?? [];
  let at = 2;
  const next = (): string => words[at++] ?? (() => { throw new FileError('The file ends too early.'); })();
  const number = (): number => {
    const word = next(), value = Number(word);
    if (isNaN(value) && !/^-?nan$/i.test(word)) throw new FileError(`"${word}" where a number was expected.`);
    return value;
  };
  const expect = (word: string): void => {
    const found = next();
    if (found !== word) throw new FileError(`"${found}" where "${word}" was expected.`);
  };
  const counts: Record<string, number> = {};
  for (let word = ''; word !== 'NAttrib';) counts[word = next()] = number();
  const attributes = [POSITION];
  if (counts.NPointAttrib! > 0) expect('PointAttrib');
  for (let i = 0; i < (counts.NPointAttrib ?? 0); i++) {
    const name = next(), size = number(), kind = next();
    const kinds: Kind[] = ['float', 'int', 'vector', 'index'];
    const a: Attribute = {name, size, kind: check(name, size, kinds.find(k => k === kind))};
    const word = (): string => next().replace(/^"|"$/g, '').replace(/\\(.)/g, '$1');
    if (a.kind === 'index') a.words = Array.from({length: number()}, word);
    else for (let k = 0; k < size; k++) next(); /* the value of points that were given none */
    attributes.push(a);
  }
  const values = attributes.reduce((sum, a) => sum + a.size, 0), count = counts.NPoints ?? -1;
  if (!(count >= 0 && count * values <= words.length - at)) throw new FileError(FEW);
  const points: Points = {count, columns: []}, columns = makeColumns(points, attributes);
  for (let i = 0; i < count; i++) {
    attributes.forEach((a, k) => {
      const to = columns[k];
      if (k === 1) expect('(');
      for (let c = 0; c < a.size; c++) {
        const value = number();
        if (to && c < to.components) to.data[i * to.components + c] = value;
      }
    });
    if (attributes.length > 1) expect(')');
  }
  return points;
}

/* ---- binary, big end first ---- */

function readBinary(bytes: Uint8Array): Points {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 5;
  const take = (size: number): number => {
    if (size > bytes.length - at) throw new FileError('The file is cut off.');
    at += size;
    return at - size;
  };
  const i32 = (): number => view.getInt32(take(4)), u16 = (): number => view.getUint16(take(2));
  const text = (): string => {
    const length = u16(), from = take(length);
    return new TextDecoder().decode(bytes.subarray(from, from + length));
  };
  const version = i32(), count = i32(), counts = Array.from({length: 7}, i32), attributes = [POSITION];
  if (version !== 5) throw new FileError(`Version ${version} of Houdini's old format; 5 can be read.`);
  for (let i = 0; i < counts[3]!; i++) {
    const name = text(), size = u16(), type = i32();
    const kinds: Record<number, Kind> = {0: 'float', 1: 'int', 4: 'index', 5: 'vector'};
    const a: Attribute = {name, size, kind: check(name, size, kinds[type])};
    if (a.kind === 'index') {
      a.words = [];
      for (let n = i32(); n > 0; n--) a.words.push(text());
    } else {
      take(4 * size);
    }
    attributes.push(a);
  }
  const values = attributes.reduce((sum, a) => sum + a.size, 0);
  if (count < 0 || count * values * 4 > bytes.length - at) throw new FileError(FEW);
  const points: Points = {count, columns: []}, columns = makeColumns(points, attributes);
  for (let i = 0; i < count; i++) {
    attributes.forEach((a, k) => {
      const to = columns[k];
      for (let c = 0; c < a.size; c++, at += 4) {
        if (!to || c >= to.components) continue;
        to.data[i * to.components + c] = to.type === 'f32' ? view.getFloat32(at) : view.getInt32(at);
      }
    });
  }
  return points;
}

export function readClassic(bytes: Uint8Array): Points {
  return bytes[0] === 0x42 ? readBinary(bytes) : readText(bytes);
}
