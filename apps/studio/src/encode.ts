/* YAML text as the engine reads it in WebAssembly, where it has no parser of its own: the values in the order
 * of the text with their lines and columns, in the encoding that src/scene/yaml.h describes. What a scene must
 * not have is passed on, for the engine to refuse it in the same words as elsewhere. */
import {isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments} from 'yaml';
import type {Node, Pair, YAMLError} from 'yaml';

/* The engine refuses what is deeper; there is no need to follow it down. */
const MOST_DEPTH = 66;

/* Bytes of a string in UTF-8. */
function sizeOf(text: string): number {
  let size = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) continue;
    size += c < 0x800 ? 1 : 2;
    if (c >= 0xd800 && c < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++; /* a pair: four bytes */
  }
  return size;
}

class Writer {
  readonly records: string[] = [];
  private readonly text: string;
  private readonly lines: LineCounter;

  constructor(text: string, lines: LineCounter) {
    this.text = text;
    this.lines = lines;
  }

  /* Where a mark stands that comes before an offset. */
  before(mark: string, offset: number): number {
    const found = this.text.lastIndexOf(mark, offset);
    return found < 0 ? offset : found;
  }

  /* A record at an offset of the text. Columns count characters, not halves of them. */
  put(kind: string, offset: number, content = ''): void {
    const place = this.lines.linePos(Math.min(offset, this.text.length));
    const line = Math.max(place.line, 1);
    const begin = this.lines.lineStarts[line - 1] ?? 0;
    let column = 1;
    for (let i = begin; i < offset && i < this.text.length; i++) {
      if ((this.text.charCodeAt(i) & 0xfc00) !== 0xdc00) column++;
    }
    this.records.push(`${kind} ${line} ${column} ${sizeOf(content)}:${content}\n`);
  }
}

function startOf(node: Node | null | undefined, otherwise: number): number {
  return node?.range?.[0] ?? otherwise;
}

function putPair(out: Writer, pair: Pair, offset: number, depth: number): void {
  const key = pair.key as Node | null;
  const at = startOf(key, offset);
  if (key !== null && !isScalar(key)) {
    out.put('?', at);
    return;
  }
  out.put('k', at, key === null ? '' : String(key.value ?? ''));
  putValue(out, pair.value as Node | null, at, depth + 1);
}

function putValue(out: Writer, node: Node | null, offset: number, depth: number): void {
  const at = startOf(node, offset);
  if (node === null || depth > MOST_DEPTH) {
    out.put('s', at);
    return;
  }
  if (isAlias(node)) {
    out.put('*', at, node.source);
    return;
  }
  if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor) {
    out.put('&', out.before(`&${node.anchor}`, at), node.anchor);
  }
  if (isScalar(node)) {
    out.put(node.type === 'PLAIN' ? 's' : 'q', at, String(node.value ?? ''));
  } else if (isMap(node)) {
    out.put('{', at);
    for (const pair of node.items) putPair(out, pair, at, depth);
    out.put('}', at);
  } else if (isSeq(node)) {
    out.put('[', at);
    for (const item of node.items) putValue(out, item as Node | null, at, depth + 1);
    out.put(']', at);
  }
}

function wordsOf(error: YAMLError): string {
  if (error.code === 'RESOURCE_EXHAUSTION') return 'more than 64 levels; write it flatter';
  if (error.code === 'TAB_AS_INDENT' || error.code === 'BAD_SCALAR_START') {
    return 'a value cannot begin like this: indent with spaces, not tabs, and quote text that begins with @ or `';
  }
  return error.message;
}

/* What no YAML may have. */
function refuse(text: string, offset: number, words: string): string {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) lines.addNewLine(i + 1);
  const out = new Writer(text, lines);
  out.put('!', offset, `${words}; scenes are UTF-8 text`);
  return out.records.join('');
}

function write(text: string): string {
  const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.exec(text);
  if (control) return refuse(text, control.index, 'control characters are not allowed');
  const lines = new LineCounter();
  const out = new Writer(text, lines);
  const parsed = parseAllDocuments(text, {
    schema: 'failsafe', uniqueKeys: false, prettyErrors: false, strict: false, logLevel: 'silent',
    lineCounter: lines,
  });
  const documents = Array.isArray(parsed) ? parsed : [];
  const errors = documents.flatMap((d) => d.errors).sort((a, b) => a.pos[0] - b.pos[0]);
  const first = errors[0];
  if (first) {
    out.put('!', first.pos[0], wordsOf(first));
    return out.records.join('');
  }
  documents.forEach((d, i) => {
    const at = startOf(d.contents, d.range[0]);
    if (i > 0) out.put('-', at);
    else if (d.contents && !(isScalar(d.contents) && d.contents.source === '' && d.contents.type === 'PLAIN')) {
      putValue(out, d.contents, at, 0);
    }
  });
  return out.records.join('');
}

/* Of text in UTF-8. */
export function encode(utf8: Uint8Array): Uint8Array {
  const read = (fatal: boolean) => new TextDecoder('utf-8', {fatal, ignoreBOM: true}).decode(utf8);
  let text;
  try {
    text = read(true);
  } catch {
    text = read(false);
    return new TextEncoder().encode(refuse(text, text.indexOf('\ufffd'), 'invalid UTF-8'));
  }
  return new TextEncoder().encode(write(text));
}
