/* Colours of a line of YAML, and what would mend an error. */
import {el} from '../ui/dom.ts';

const TOKEN =
  /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')|([A-Za-z_][\w.]*)(?=\s*:(?:\s|$))|([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:\s?°?C|\s?K)?)(?=[\s,\]}]|$)/gi;

export function highlight(line: string): Node[] {
  const out: Node[] = [];
  let at = 0;
  for (const m of line.matchAll(TOKEN)) {
    if (m[1] && m.index > 0 && !/\s/.test(line[m.index - 1])) continue; /* a # inside a word */
    if (m[4] && m.index > 0 && /[\w.$]/.test(line[m.index - 1])) continue; /* digits of a word */
    if (m.index < at) continue;
    if (m.index > at) out.push(document.createTextNode(line.slice(at, m.index)));
    out.push(el('span', {class: m[1] ? 'cm' : m[2] ? 'v' : m[3] ? 'k' : 'v'}, m[0]));
    at = m.index + m[0].length;
    if (m[1]) break;
  }
  if (at < line.length || !out.length) out.push(document.createTextNode(line.slice(at)));
  return out;
}

export type Fix = {label: string; from: number; to: number; text: string}; /* columns of the line, from 0 */

/* From the engine's words: the nearest name, the end of a range that is near, the other sign. */
export function fixesOf(message: string, line: string, column: number): Fix[] {
  const fixes: Fix[] = [],
    from = Math.max(0, column - 1);
  const near = message.match(/"([^"]*)"[^"]*did you mean "([^"]*)"/);
  if (near) {
    const at = find(line, near[1], from);
    if (at >= 0) fixes.push({label: `Use ${near[2]}`, from: at, to: at + near[1].length, text: near[2]});
  }
  const range = message.match(
    /(\S+) (-?[\d.]+(?:e[+-]?\d+)?)[^;]*must be (?:from (-?\S+) to (-?\S+)|at least (-?\S+)|above (-?\S+)|at most (-?\S+)|below (-?\S+))/,
  );
  if (range) {
    const value = Number(range[2]);
    const clean = (t: string | undefined) => (t === undefined ? NaN : Number(t.replace(/[;,.]+$/, '')));
    const lo = clean(range[3] ?? range[5] ?? range[6]),
      hi = clean(range[4] ?? range[7] ?? range[8]);
    const number = /[+-]?[\d.]+(?:e[+-]?\d+)?/gi;
    let at = -1,
      length = 0;
    for (const m of line.matchAll(number)) {
      if (Number(m[0]) === value && (at < 0 || Math.abs(m.index - from) < Math.abs(at - from))) {
        at = m.index;
        length = m[0].length;
      }
    }
    if (at >= 0) {
      const add = (v: number) => {
        if (Number.isFinite(v) && !fixes.some(f => f.text === String(v)))
          fixes.push({label: `Use ${v}`, from: at, to: at + length, text: String(v)});
      };
      if (value < 0 && !(-value < lo) && !(-value > hi)) add(-value);
      if (value < lo && lo > -1e11 && !range[6]) add(lo);
      if (value > hi && hi < 1e11 && !range[8]) add(hi);
    }
  }
  return fixes;
}

function find(line: string, word: string, near: number): number {
  let best = -1;
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    if (best < 0 || Math.abs(at - near) < Math.abs(best - near)) best = at;
  }
  return best;
}
