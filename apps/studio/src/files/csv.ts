/* CSV: a line of names, then a line of numbers per particle. Components are P.x P.y P.z (or .r .g .b), or F[0] F[1]...;
 * x y z alone are P, vx vy vz are v. Fields are separated by tabs, semicolons or commas, whichever the line of names
 * has; they may be quoted. Lines that begin with # are comments. A column called material may hold words. */
import {addColumn, Column, FileError, MOST_COMPONENTS, Points, positionsOf} from './points.ts';

const ALIASES: Record<string, [string, number]> = {x: ['P', 0], y: ['P', 1], z: ['P', 2], X: ['P', 0], Y: ['P', 1],
  Z: ['P', 2], vx: ['v', 0], vy: ['v', 1], vz: ['v', 2]};
const WHOLE = ['id', 'material', 'object'];

type Field = {heading: string; name: string; component: number};

function parseName(heading: string): Field {
  const alias = ALIASES[heading], dotted = heading.match(/^(.+)\.([xyzwrgba])$/);
  const counted = heading.match(/^(.+)\[(\d\d?)\]$/);
  if (alias) return {heading, name: alias[0], component: alias[1]};
  if (dotted) return {heading, name: dotted[1]!, component: 'xyzwrgba'.indexOf(dotted[2]!) % 4};
  return counted ? {heading, name: counted[1]!, component: Number(counted[2])} : {heading, name: heading, component: 0};
}

function split(line: string, separator: string, number: number): string[] {
  if (!line.includes('"')) return line.split(separator).map(f => f.trim());
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = line.slice(at).match(/^\s*"((?:[^"]|"")*)"\s*/);
    if (quoted) {
      fields.push(quoted[1]!.replace(/""/g, '"'));
      at += quoted[0].length;
      if (at < line.length && line[at] !== separator) {
        throw new FileError(`Line ${number}: text goes on after its quotes.`);
      }
    } else {
      const end = line.indexOf(separator, at);
      fields.push(line.slice(at, end < 0 ? undefined : end).trim());
      at = end < 0 ? line.length : end;
    }
    if (at >= line.length) return fields;
    at++;
  }
}

function readHeadings(line: string, separator: string, number: number): Field[] {
  const fields = split(line, separator, number).map(parseName);
  for (const f of fields) {
    if (f.heading === '' || !isNaN(Number(f.heading))) {
      throw new FileError(`Line ${number}: "${f.heading}" is not a name; the first line names the columns, like x,y,z.`);
    }
    if (f.component >= MOST_COMPONENTS) throw new FileError(`Line ${number}: ${f.heading} is one component too many.`);
    if (fields.some(o => o !== f && o.name === f.name && o.component === f.component)) {
      throw new FileError(`Line ${number}: ${f.heading} is there twice.`);
    }
  }
  return fields;
}

export function readCsv(bytes: Uint8Array): Points {
  const lines = new TextDecoder().decode(bytes).split('\n'), rows: string[][] = [];
  let fields: Field[] | undefined, separator = ',';
  lines.forEach((raw, i) => {
    const line = raw.replace(/\r$/, '');
    if (/^\s*(#|$)/.test(line)) return;
    if (!fields) {
      const bare = line.replace(/"[^"]*"/g, '');
      separator = bare.includes('\t') ? '\t' : bare.includes(';') ? ';' : ',';
      fields = readHeadings(line, separator, i + 1);
      return;
    }
    const row = split(line, separator, i + 1);
    if (row.length !== fields.length) {
      throw new FileError(`Line ${i + 1} has ${row.length} fields; there are ${fields.length} names.`);
    }
    row.forEach((text, k) => {
      if (fields![k]!.name === 'material' || isNumber(text)) return;
      throw new FileError(`Line ${i + 1}, column ${k + 1}: "${text}" is no number.`);
    });
    rows.push(row);
  });
  if (!fields) throw new FileError('There is no line that names the columns.');
  return makePoints(fields, rows);
}

function isNumber(text: string): boolean {
  return text !== '' && (!isNaN(Number(text)) || /^[-+]?(nan|inf|infinity)$/i.test(text));
}

function numberOf(text: string): number {
  return /^[-+]?inf/i.test(text) ? (text[0] === '-' ? -Infinity : Infinity) : Number(text);
}

function makePoints(fields: Field[], rows: string[][]): Points {
  const points: Points = {count: rows.length, columns: []};
  for (const name of new Set(fields.map(f => f.name))) {
    const parts = fields.filter(f => f.name === name), components = Math.max(...parts.map(f => f.component)) + 1;
    if (parts.length < components) throw new FileError(`${name} has ${parts.length} of ${components} components.`);
    const places = parts.map(f => fields.indexOf(f));
    const words = name === 'material' && rows.some(r => places.some(k => !isNumber(r[k]!)));
    const whole = words || WHOLE.includes(name) && rows.every(r => places.every(k => /^[-+]?\d{1,9}$/.test(r[k]!)));
    const column: Column = addColumn(points, name, whole ? 'i32' : 'f32', components);
    if (words) column.words = [];
    for (const f of parts) {
      const k = fields.indexOf(f);
      rows.forEach((r, i) => {
        column.data[i * components + f.component] = words ? wordIndex(column.words!, r[k]!) : numberOf(r[k]!);
      });
    }
  }
  if (points.count > 0) positionsOf(points);
  return points;
}

function wordIndex(words: string[], word: string): number {
  const known = words.indexOf(word);
  return known >= 0 ? known : words.push(word) - 1;
}
