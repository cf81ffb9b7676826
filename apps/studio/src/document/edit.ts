/* Changes to a scene's text. Each function takes the text and gives the new one, and touches only the
 * characters that must change, so that comments, order and layout stay as their author left them. */
import {
  parseDocument,
  isAlias,
  isMap,
  isSeq,
  isScalar,
  isPair,
  stringify,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type {Path} from './path.ts';

/* Values that a scene can hold. Text that is to stand as it is (34C, 1e5) comes as `Raw`. */
export class Raw {
  constructor(readonly text: string) {}
}
export type Value = string | number | boolean | Raw | Value[] | {[key: string]: Value};

let parsed: {text: string; doc: Document} | null = null;

/* The last one serves again: a change asks for the text that was read after the change before. Edits are of the text,
 * so that nobody writes to a document. */
export function parseText(text: string): Document {
  if (parsed?.text !== text)
    parsed = {text, doc: parseDocument(text, {keepSourceTokens: false, prettyErrors: false, uniqueKeys: true, merge: true})};
  return parsed.doc;
}

/* In flow style, on one line. */
export function flow(value: Value): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([k, v]) => `${k}: ${flow(v)}`)
      .join(', ')}}`;
  }
  if (typeof value === 'string')
    return /^[\w$./ -]+$/.test(value) && stringify(value).trim() === value ? value : JSON.stringify(value);
  return String(value);
}

type Ranged = Node & {range: [number, number, number]};
const start = (n: unknown): number => (n as Ranged).range[0];
const end = (n: unknown): number => (n as Ranged).range[1];

const cut = (text: string, from: number, to: number, by: string): string => text.slice(0, from) + by + text.slice(to);
const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;
const lineEnd = (text: string, at: number): number => {
  const e = text.indexOf('\n', at);
  return e < 0 ? text.length : e;
};
/* The end of what is written, without the blanks and line ends that a block's range takes in. */
function written(text: string, to: number): number {
  while (to > 0 && /\s/.test(text[to - 1])) to--;
  return to;
}
const column = (text: string, at: number): number => at - lineStart(text, at);

/* The reader makes a symbol of <<. */
function keyText(pair: Pair): string {
  const key = isScalar(pair.key) ? pair.key.value : pair.key;
  return typeof key === 'symbol' ? (key.description ?? '') : String(key);
}

/* Where a pair ends: at its value, or at its key if it has none. */
function pairEnd(text: string, pair: Pair): number {
  const value = pair.value as Ranged | null;
  return written(text, value?.range && value.range[1] > value.range[0] ? value.range[1] : end(pair.key) + 1);
}

function childOf(node: unknown, step: string | number): {pair?: Pair; node: unknown} | null {
  if (isMap(node)) {
    const pair = (node.items as Pair[]).find(p => keyText(p) === String(step));
    return pair ? {pair, node: pair.value} : null;
  }
  if (isSeq(node) && typeof step === 'number' && step < node.items.length) return {node: node.items[step]};
  return null;
}

const isFlow = (node: YAMLMap | YAMLSeq): boolean => node.flow === true;

function insertPair(text: string, map: YAMLMap, key: string, value: Value): string {
  const body = `${key}: ${flow(value)}`;
  const items = map.items as Pair[];
  if (isFlow(map)) {
    if (!items.length) return cut(text, start(map), end(map), `{${body}}`);
    return cut(text, pairEnd(text, items[items.length - 1]), pairEnd(text, items[items.length - 1]), `, ${body}`);
  }
  if (!items.length) return cut(text, start(map), start(map), body);
  const at = lineEnd(text, pairEnd(text, items[items.length - 1]));
  return cut(text, at, at, `\n${' '.repeat(column(text, start(items[0].key)))}${body}`);
}

/* ---- anchors ---- */

/* What an alias stands for, as text. */
function unfolded(text: string, doc: Document, node: unknown): string {
  const source = isAlias(node) ? node.resolve(doc) : (node as Node);
  const own = source ? text.slice(start(source), end(source)) : '';
  return source && !/[\n&*]/.test(own) && !own.includes('<<') ? own : flow((source?.toJS(doc) ?? '') as Value);
}

/* What a map takes from others by <<. */
function merged(doc: Document, map: YAMLMap, key: string): unknown {
  const pair = (map.items as Pair[]).find(p => keyText(p) === '<<');
  for (const from of isSeq(pair?.value) ? pair.value.items : [pair?.value]) {
    const source = isAlias(from) ? from.resolve(doc) : from;
    const found = isMap(source) ? (childOf(source, key)?.node ?? merged(doc, source, key)) : undefined;
    if (found) return found;
  }
  return undefined;
}

/* The text with all steps of a path but the last written where they are, and not elsewhere as the value of an anchor:
 * what changes there changes nothing else. */
function owned(text: string, path: Path): string {
  const doc = parseText(text);
  let node: unknown = doc.contents;
  for (let i = 0; i < path.length; i++) {
    if (isAlias(node)) return owned(cut(text, start(node), end(node), unfolded(text, doc, node)), path);
    const child = childOf(node, path[i]);
    if (!child && isMap(node) && i < path.length - 1) {
      const from = merged(doc, node, String(path[i]));
      if (from) return owned(insertPair(text, node, String(path[i]), new Raw(unfolded(text, doc, from))), path);
    }
    node = child?.node;
  }
  return text;
}

/* The anchors in a stretch of text that aliases elsewhere need: the first of those takes over what each stands for. */
function freed(text: string, from: number, to: number): string {
  const doc = parseText(text);
  const named = new Map<string, Node>();
  let out = text, moved = 0;
  visit(doc, {
    Node: (_, node) => {
      const at = start(node);
      if ('anchor' in node && node.anchor && at >= from && at <= to) named.set(node.anchor, node);
      if (!isAlias(node) || (at >= from && at < to) || !named.has(node.source)) return;
      const body = `&${node.source} ${unfolded(text, doc, named.get(node.source))}`;
      out = cut(out, at + moved, end(node) + moved, body);
      moved += body.length - (end(node) - at);
      named.delete(node.source);
    },
  });
  return out;
}

/* A stretch of text without its anchors, for a copy of it. */
function unnamed(text: string, from: number, to: number): string {
  const cuts: [number, number][] = [];
  visit(parseText(text), {
    Node: (_, node) => {
      if (!('anchor' in node) || !node.anchor || start(node) < from || start(node) >= to) return;
      const at = text.lastIndexOf(`&${node.anchor}`, start(node));
      if (at >= from) cuts.push([at, at + node.anchor.length + 1]);
    },
  });
  let body = text.slice(from, to);
  for (const [a, b] of cuts.sort((x, y) => y[0] - x[0])) body = cut(body, a - from, b - from, '').replace(/: {2}/, ': ');
  return body;
}

/* ---- values ---- */

/* A list of numbers of which only those that change are written: the others may be expressions. */
export function setNumbers(text: string, path: Path, value: readonly number[], now: readonly number[], least = 0): string {
  const node = nodeAt(text, path);
  if (!isSeq(node) || node.items.length !== value.length) return setValue(text, path, [...value]);
  value.forEach((v, i) => {
    if (Math.abs(v - now[i]) > least) text = setValue(text, [...path, i], v);
  });
  return text;
}

/* What is written at a path, aliases resolved; undefined: nothing. */
export function nodeAt(text: string, path: Path): unknown {
  const doc = parseText(text);
  let node: unknown = doc.contents;
  for (const step of path) {
    node = childOf(node, step)?.node ?? (isMap(node) ? merged(doc, node, String(step)) : undefined);
    if (isAlias(node)) node = node.resolve(doc);
  }
  return node;
}

/* The same as text on one line. */
export function sourceAt(text: string, path: Path): string {
  const node = nodeAt(text, path);
  return node ? unfolded(text, parseText(text), node) : '{}';
}

/* Puts a value at a path; what is missing on the way is made. */
export function setValue(text: string, path: Path, value: Value): string {
  text = owned(text, path);
  const doc = parseText(text);
  let node: unknown = doc.contents,
    pair: Pair | undefined;
  for (let i = 0; i < path.length; i++) {
    const child = childOf(node, path[i]);
    const empty = child && (!child.node || (isScalar(child.node) && child.node.value === null));
    if (child && !(empty && i < path.length - 1)) {
      node = child.node;
      pair = child.pair;
      continue;
    }
    let rest: Value = value;
    for (let k = path.length - 1; k > i; k--) rest = typeof path[k] === 'number' ? [rest] : {[path[k]]: rest};
    if (child?.pair) return putAfterKey(text, child.pair, rest);
    if (isMap(node)) return insertPair(text, node, String(path[i]), rest);
    if (isSeq(node)) return insertItem(text, node, flow(rest));
    if (!node && !text.includes(':'))
      return `${text}${text && !text.endsWith('\n') ? '\n' : ''}${path[i]}: ${flow(rest)}\n`;
    throw new Error(`the scene has no place for ${path.join('.')}`);
  }
  if (pair && (!node || (isScalar(node) && node.value === null && start(node) === end(node))))
    return putAfterKey(text, pair, value);
  const to = isScalar(node) ? end(node) : written(text, end(node));
  if ((isMap(node) || isSeq(node)) && !isFlow(node) && pair) {
    return cut(text, end(pair.key), to, `:${node.anchor ? ` &${node.anchor}` : ''} ${flow(value)}`);
  }
  return cut(text, start(node), to, flow(value));
}

function putAfterKey(text: string, pair: Pair, value: Value): string {
  const at = text.indexOf(':', end(pair.key)) + 1;
  return cut(text, at, at, ` ${flow(value)}`);
}

/* Where the dash of a block sequence's item stands. */
function dash(text: string, item: unknown): number {
  let at = start(item) - 1;
  while (at >= 0 && text[at] !== '-') at--;
  return at;
}

function insertItem(text: string, seq: YAMLSeq, body: string, after = seq.items.length - 1): string {
  if (isFlow(seq)) {
    if (!seq.items.length) return cut(text, start(seq), end(seq), `[${body}]`);
    const at = end(seq.items[after]);
    return cut(text, at, at, `, ${body}`);
  }
  const indent = ' '.repeat(column(text, dash(text, seq.items[0])));
  const at = lineEnd(text, written(text, end(seq.items[after])));
  return cut(text, at, at, `\n${indent}- ${body.replace(/\n/g, `\n${indent}  `)}`);
}

/* Adds an item to the list at `path`, which is made if it is missing. */
export function addItem(text: string, path: Path, value: Value): string {
  text = owned(text, [...path, 0]);
  const node = parseText(text).getIn(path, true);
  if (isSeq(node) && (node.items.length || isFlow(node))) {
    /* An empty [] becomes a block, one item a line. */
    if (!node.items.length && path.length === 1)
      return cut(text, start(node), end(node), `\n  - ${flow(value)}`).replace(/: \n/, ':\n');
    return insertItem(text, node, flow(value));
  }
  if (path.length === 1) {
    const doc = parseText(text);
    const found = childOf(doc.contents, path[0]);
    const block = `\n  - ${flow(value)}`;
    if (found?.pair) {
      const at = text.indexOf(':', end(found.pair.key)) + 1;
      return cut(text, at, found.node && end(found.node) > at ? end(found.node) : at, block);
    }
    return `${text.replace(/\n*$/, '\n')}${path[0]}:${block}\n`;
  }
  return setValue(text, path, [value]);
}

/* Adds an entry to a map of the scene, one line an entry. */
export function addEntry(text: string, section: string, key: string, value: Value): string {
  const found = childOf(parseText(text).contents, section);
  if (found && isMap(found.node) && (found.node as YAMLMap).items.length)
    return insertPair(text, found.node as YAMLMap, key, value);
  const block = `\n  ${key}: ${flow(value)}`;
  if (found?.pair) {
    const at = text.indexOf(':', end(found.pair.key)) + 1;
    return cut(text, at, found.node && end(found.node) > at ? end(found.node) : at, block);
  }
  /* Materials come before the objects that are made of them. */
  const objects = section === 'materials' ? childOf(parseText(text).contents, 'objects')?.pair : undefined;
  if (objects) return cut(text, start(objects.key), start(objects.key), `${section}:${block}\n`);
  return `${text.replace(/\n*$/, '\n')}${section}:${block}\n`;
}

/* Removes a pair or an item; a list that becomes empty stays as []. */
export function removeAt(text: string, path: Path): string {
  text = owned(text, path);
  const gone = nodeAt(text, path) as Ranged | undefined;
  if (gone?.range) text = freed(text, start(gone), end(gone));
  const doc = parseText(text);
  const parent = path.length > 1 ? doc.getIn(path.slice(0, -1), true) : doc.contents;
  const last = path[path.length - 1];
  if (isSeq(parent) && typeof last === 'number') {
    if (last >= parent.items.length) return text;
    if (parent.items.length === 1) {
      if (isFlow(parent)) return cut(text, start(parent), end(parent), '[]');
      const from = written(text, dash(text, parent.items[0]));
      return cut(text, from, written(text, end(parent.items[0])), ' []');
    }
    if (isFlow(parent))
      return removeFlow(
        text,
        parent.items.map(i => [start(i), end(i)]),
        last,
      );
    const from = lineStart(text, dash(text, parent.items[last]));
    return cut(text, from, Math.min(text.length, lineEnd(text, written(text, end(parent.items[last]))) + 1), '');
  }
  if (isMap(parent)) {
    const items = parent.items as Pair[],
      at = items.findIndex(p => keyText(p) === String(last));
    if (at < 0) return text;
    const spans = items.map(p => [start(p.key), pairEnd(text, p)]);
    if (isFlow(parent))
      return items.length === 1 ? cut(text, start(parent), end(parent), '{}') : removeFlow(text, spans, at);
    const [from, to] = spans[at],
      line = lineStart(text, from);
    if (items.length === 1) {
      return path.length === 1
        ? cut(text, line, Math.min(text.length, lineEnd(text, to) + 1), '')
        : cut(text, written(text, from), to, ' {}');
    }
    /* Behind a dash the next pair moves up. */
    if (/\S/.test(text.slice(line, from))) return cut(text, from, spans[at + 1]?.[0] ?? to, '');
    return cut(text, line, Math.min(text.length, lineEnd(text, to) + 1), '');
  }
  return text;
}

function removeFlow(text: string, spans: number[][], at: number): string {
  return at > 0 ? cut(text, spans[at - 1][1], spans[at][1], '') : cut(text, spans[0][0], spans[1][0], '');
}

/* Adds an entry to a map in front of another; without that one, at the end. */
export function insertEntry(text: string, path: Path, key: string, value: Value, before: string | null): string {
  text = owned(text, [...path, key]);
  const map = nodeAt(text, path);
  const next = isMap(map) && before !== null ? childOf(map, before)?.pair : undefined;
  if (!isMap(map) || !next) return setValue(text, [...path, key], value);
  const at = start(next.key);
  if (isFlow(map)) return cut(text, at, at, `${key}: ${flow(value)}, `);
  return cut(text, at, at, `${key}: ${flow(value)}\n${' '.repeat(column(text, at))}`);
}

/* Gives an entry of a map another key, and its place in front of another entry. */
export function moveEntry(text: string, path: Path, key: string, to: string, before: string | null): string {
  text = owned(text, [...path, key]);
  const map = nodeAt(text, path);
  if (!isMap(map)) return text;
  const items = map.items as Pair[], at = items.findIndex(p => keyText(p) === key);
  if (at < 0) return text;
  const next = items[at + 1] ? keyText(items[at + 1]) : null;
  if (next === before || before === key) return renameKey(text, [...path, key], new Raw(to));
  const value = items[at].value;
  const body = value ? unfolded(text, parseText(text), value) : 'null';
  return insertEntry(removeAt(text, [...path, key]), path, to, new Raw(body), before);
}

/* Gives an entry of a map another name. */
export function renameKey(text: string, path: Path, name: string | Raw): string {
  text = owned(text, path);
  const doc = parseText(text);
  const parent = path.length > 1 ? doc.getIn(path.slice(0, -1), true) : doc.contents;
  if (!isMap(parent)) return text;
  const pair = (parent.items as Pair[]).find(p => isPair(p) && keyText(p) === String(path[path.length - 1]));
  return pair ? cut(text, start(pair.key), end(pair.key), flow(name)) : text;
}

/* A copy of a list's item right behind it, in the same style. */
export function duplicateItem(text: string, path: Path): string {
  const seq = parseText(text).getIn(path.slice(0, -1), true),
    at = path[path.length - 1] as number;
  if (!isSeq(seq) || at >= seq.items.length) return text;
  const item = seq.items[at];
  const indent = column(text, start(item));
  const body = unnamed(text, start(item), written(text, end(item)));
  /* Further lines lose the item's own indentation, which comes back where it is inserted. */
  return insertItem(
    text,
    seq,
    body
      .split('\n')
      .map((l, i) => (i ? l.slice(Math.min(indent, l.search(/\S|$/))) : l))
      .join('\n'),
    at,
  );
}

/* A copy of a map's entry, under another name. */
export function duplicateEntry(text: string, path: Path, name: string): string {
  const map = parseText(text).getIn(path.slice(0, -1), true);
  if (!isMap(map)) return text;
  const pair = (map.items as Pair[]).find(p => keyText(p) === String(path[path.length - 1]));
  if (!pair) return text;
  const to = pairEnd(text, pair),
    key = end(pair.key);
  const body = `${name}${unnamed(text, key, to)}`;
  if (isFlow(map)) return cut(text, to, to, `, ${body}`);
  const at = lineEnd(text, to);
  return cut(text, at, at, `\n${' '.repeat(column(text, start(pair.key)))}${body}`);
}
