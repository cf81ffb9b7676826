/* Messages that were under way when a comparison began must not hold it up. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Compare, type ComparedEngine} from '../../src/compare.ts';
import type {Command} from '../../src/protocol.ts';

class Scripted {
  readonly sent: Command[] = [];
  private readonly listeners: Record<string, (e: never) => void> = {};

  send(c: Command): void {
    this.sent.push(c);
  }

  on(name: string, listener: (e: never) => void): () => void {
    this.listeners[name] = listener;
    return () => {};
  }

  picture(frame: number): void {
    const event = {frame: {frame, part: 0, time: 0, steps: 1, seconds: 0}};
    this.listeners['picture']!(event as never);
  }

  state(frame: number): void {
    this.listeners['state']!({frame, done: false} as never);
  }

  get steps(): number {
    return this.sent.filter(c => c.do === 'step').length;
  }
}

test('each side begins its scene once', () => {
  const a = new Scripted(), b = new Scripted(), engine = (e: Scripted): ComparedEngine => e as unknown as ComparedEngine;
  new Compare(engine(a), engine(b), {A: 'firn: 1', B: 'firn: 2'}, {change() {}, error() {}, playing() {}});
  assert.deepEqual(a.sent.map(c => c.do), ['want', 'pause', 'edit', 'restart']);
  assert.deepEqual(b.sent.map(c => c.do), ['want', 'open']);
});

test('a picture of the time before a restart does not stop the clock', () => {
  const a = new Scripted(), b = new Scripted();
  const engine = (e: Scripted): ComparedEngine => e as unknown as ComparedEngine;
  const compare = new Compare(engine(a), engine(b), {A: 'firn: 1', B: 'firn: 1'}, {change() {}, error() {}, playing() {}});
  compare.restart();
  a.picture(4); /* was on its way */
  for (const e of [a, b]) e.state(1);
  for (const e of [a, b]) e.picture(1);
  compare.play(0);
  for (let frame = 2; frame <= 6; frame++) {
    assert.deepEqual([a.steps, b.steps], [frame - 1, frame - 1], `both were asked for frame ${frame}`);
    for (const e of [a, b]) e.state(frame);
  }
});
