/* History, graphs' data, and two engines in step. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Command, Event} from '../../src/protocol.ts';
import {Compare, type ComparedEngine, compareValues, flatten} from '../../src/compare.ts';
import {brief, Trace} from '../../src/graph_data.ts';
import {type FrameEvent, History} from '../../src/history.ts';

function frame(n: number, part = 0, more: Partial<FrameEvent> = {}): FrameEvent {
  return {event: 'frame', picture: n, frame: n, part, time: (n - 1 + part) / 24, particles: 100, steps: 10, dt: 1e-3, limit: 'wave',
    integrator: 'explicit', blocks: 1, seconds: 0.01, simulated: 1 / 24, poses: [], ...more};
}

test('history keeps the last pictures within its bytes, tags counted once', () => {
  const h = new History<Uint8Array, Uint8Array, Uint8Array>(b => b.length, {bytes: 1000, count: 50});
  const tags = new Uint8Array(100);
  for (let n = 1; n <= 20; n++) h.add(frame(n), tags, new Uint8Array(100), null);
  assert.equal(h.count, 9);
  assert.equal(h.bytes, 1000);
  assert.deepEqual(h.range, [12, 20]);
  assert.equal(h.at(15.5)!.frame.frame, 15);
  assert.equal(h.at(11), null);
  assert.equal(h.neighbour(15, -1)!.frame.frame, 14);
  assert.equal(h.neighbour(20, 1), null);
  h.discardAfter(16);
  assert.deepEqual(h.range, [12, 16]);
  h.add(frame(14), new Uint8Array(10), new Uint8Array(5), new Uint8Array(5)); /* time went back */
  assert.deepEqual(h.range, [12, 14]);
  assert.equal(h.bytes, 200 + 100 + 20);
  h.clear();
  assert.deepEqual([h.bytes, h.range], [0, null]);
  for (let n = 1; n <= 60; n++) h.add(frame(n, n % 2 / 2), new Uint8Array(0), new Uint8Array(1), null);
  assert.equal(h.count, 50);
});

test('a trace measures from its start, finds limits and shares, and goes back', () => {
  const t = new Trace(), totals = (kinetic: number): FrameEvent['totals'] =>
    ({mass: 1, momentum: [1, 2, 3], kinetic, elastic: 1, gravitational: 2, heat: 50 + kinetic, liquid: 0, max_speed: 1});
  for (let n = 1; n <= 10; n++) t.add(frame(n, 0, {limit: n <= 4 ? 'wave' : 'impact', steps: n === 1 ? 0 : 10, totals: totals(10 - n)}));
  assert.equal(t.at(9 / 24)!.lost, 9);
  assert.equal(t.at(9 / 24)!.heat, -9);
  assert.equal(t.at(0)!.dt, null);
  assert.equal(t.at(1 / 24)!.rate, 1e5);
  assert.deepEqual(t.shares().map(s => [s.limit, +s.part.toFixed(2)]), [['impact', 0.67], ['wave', 0.33]]);
  assert.deepEqual(t.limits().map(b => b.limit), ['wave', 'impact']);
  t.add(frame(5, 0, {limit: 'wave'}));
  assert.equal(t.length, 5);
  assert.deepEqual(t.shares().map(s => s.limit), ['wave']);
});

test('a trace of many frames stays small and keeps its shares', () => {
  const t = new Trace();
  for (let n = 1; n <= 50000; n++) t.add(frame(n, 0, {limit: n % 10 < 3 ? 'a' : 'b'}));
  assert.ok(t.length <= 4000);
  assert.equal(t.end, 49999 / 24);
  const times = t.column('time') as number[];
  assert.ok(times.every((x, i) => i === 0 || x > times[i - 1]!));
});

test('numbers are brief', () => {
  assert.deepEqual([brief(3.14159, 'J'), brief(8e-4, 'J'), brief(21000, 'J'), brief(-31.2, 'kg m/s'), brief(0, 'J'), brief(12.13e6, ''), brief(118, 'J'), brief(0.02, '')],
    ['3.1 J', '0.8 mJ', '21 kJ', '−31 kg m/s', '0 J', '12 M', '118 J', '0.02']);
});

test('values are compared by path', () => {
  const text = (y: string): string => `firn: 1\nname: a\nmaterials:\n  snow: {preset: snow, young: ${y}}\ncolliders:\n  - {shape: {plane: {}}, friction: 0.5}\nsimulation: {gravity: [0, -9.8, 0]}\n`;
  assert.equal(flatten(text('1e5')).get('simulation.gravity'), '0, -9.8, 0');
  const rows = compareValues({text: text('1e5'), scene: null}, {text: text('2e5'), scene: null});
  assert.deepEqual(rows[0], {path: 'materials.snow.young', a: '100000', b: '200000', differs: true});
  assert.ok(rows.some(r => r.path === 'colliders[0].friction' && !r.differs));
  assert.equal(rows.filter(r => r.differs).length, 1);
  assert.ok(!rows.some(r => r.path === 'name'));
});

/* An engine that takes its time. */
class Slow implements ComparedEngine {
  frame = 1;
  sent: string[] = [];
  private listeners = new Map<string, Set<(e: never) => void>>();
  constructor(private ms: number, private last: number, private log: string[], private name: string) {}
  on(name: string, f: (e: never) => void): () => void {
    const set = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, set.add(f));
    return () => set.delete(f);
  }
  private emit(name: string, e: unknown): void {
    for (const f of this.listeners.get(name) ?? []) f(e as never);
  }
  private state(): void {
    this.emit('state', {event: 'state', playing: false, speed: 0, frame: this.frame, time: 0, done: this.frame === this.last, kept: [1, this.frame]} as Event);
  }
  send(c: Command): void {
    this.sent.push(c.do);
    if (c.do === 'open' || c.do === 'restart') setTimeout(() => { this.frame = 1; this.state(); }, 3);
    if (c.do !== 'step') return;
    this.state(); /* of the frame before */
    this.log.push(`${this.name}${this.frame + 1} begins`);
    setTimeout(() => {
      this.frame++;
      this.log.push(`${this.name}${this.frame} ends`);
      this.emit('picture', {frame: frame(this.frame)});
      this.state();
    }, this.ms);
  }
}

test('neither engine begins a frame before both have ended theirs', async () => {
  const log: string[] = [], a = new Slow(1, 6, log, 'A'), b = new Slow(9, 6, log, 'B');
  let stopped = false;
  const c = new Compare(a, b, {A: 'firn: 1', B: 'firn: 1'}, {change() {}, error() {}, playing: yes => { stopped = !yes; }});
  c.play(0);
  for (let i = 0; i < 400 && !stopped; i++) await new Promise(done => setTimeout(done, 5));
  assert.ok(stopped);
  assert.deepEqual([a.frame, b.frame], [6, 6]);
  for (let n = 2; n < 6; n++) assert.ok(log.indexOf(`B${n} ends`) < log.indexOf(`A${n + 1} begins`), `${n}`);
  assert.equal(c.result('B')!.steps, 10);
  c.edit('B', 'firn: 1\nresolution: 2');
  assert.equal(c.rows()[0]!.differs, true);
  assert.equal(c.text('B'), 'firn: 1\nresolution: 2');
});
