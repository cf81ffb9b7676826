/* Two engines with two sets of values, A and B, side by side: the same scene but for some values, the same clock. Both
 * go from frame to frame, and neither begins the next before both have shown theirs. The page shows it. */
import {isMap, isScalar, isSeq, parseDocument} from 'yaml';
import type {Command, Event, SceneInfo} from './protocol.ts';

type Of<K extends Event['event']> = Extract<Event, {event: K}>;
export type FrameEvent = Of<'frame'>;
export type Side = 'A' | 'B';

/* What is needed of the page's engine. */
export interface ComparedEngine {
  send(c: Command): void;
  on(name: 'scene', listener: (e: Of<'scene'>) => void): () => void;
  on(name: 'state', listener: (e: Of<'state'>) => void): () => void;
  on(name: 'error', listener: (e: Of<'error'>) => void): () => void;
  on(name: 'picture', listener: (e: {frame: FrameEvent}) => void): () => void;
}

/* ---- values ---- */

export type ValueRow = {path: string; a: string; b: string; differs: boolean};

/* Not about the simulation. */
const SHOW_ONLY = /^(firn|name|camera|light|output|statistics|checkpoint)\b|\.look\b|\.color\b|\.visible\b/;

/* Values by their paths as the engine names them: materials.snow.young, colliders[0].friction. Lists of numbers are
 * one value. */
export function flatten(text: string): Map<string, string> {
  const values = new Map<string, string>();
  const walk = (node: unknown, path: string): void => {
    if (isMap(node)) {
      for (const {key, value} of node.items) {
        const name = isScalar(key) ? String(key.value) : String(key);
        walk(value, path ? `${path}.${name}` : name);
      }
    } else if (isSeq(node) && !node.items.every(isScalar)) {
      node.items.forEach((item, i) => walk(item, `${path}[${i}]`));
    } else if (isSeq(node)) {
      values.set(path, node.items.map(i => (i as {value: unknown}).value).join(', '));
    } else if (isScalar(node)) {
      values.set(path, String(node.value));
    }
  };
  walk(parseDocument(text).contents, '');
  return values;
}

/* Materials as simulated, presets resolved, if the engines have told them. */
function simulated(text: string, scene: SceneInfo | null): Map<string, string> {
  const values = flatten(text);
  for (const m of scene?.materials ?? []) {
    for (const [name, value] of Object.entries(m.values)) values.set(`materials.${m.name}.${name}`, String(value));
  }
  return values;
}

type Told = {text: string; scene: SceneInfo | null};

/* Those that differ first. */
export function compareValues(a: Told, b: Told): ValueRow[] {
  const left = simulated(a.text, a.scene), right = simulated(b.text, b.scene);
  const paths = [...new Set([...left.keys(), ...right.keys()])].filter(path => !SHOW_ONLY.test(path));
  const rows = paths.map((path): ValueRow => {
    const x = left.get(path) ?? '', y = right.get(path) ?? '';
    return {path, a: x, b: y, differs: x !== y && !(x !== '' && y !== '' && Number(x) === Number(y))};
  });
  return [...rows.filter(r => r.differs), ...rows.filter(r => !r.differs)];
}

/* ---- results ---- */

export type Result = {time: number; kinetic: number | null; lost: number | null; steps: number; milliseconds: number};

/* ---- two engines ---- */

type Half = Told & {
  engine: ComparedEngine;
  energy: number | null; /* J at the first frame */
  steps: number; seconds: number; /* of the frame under way */
  result: Result | null;
  frame: number; /* the last whole one; -Infinity: not told yet */
  waiting: boolean; /* for the end of a step */
  done: boolean; /* at the last frame */
  stop: (() => void)[]; /* end what listens to the engine */
};

export type CompareEvents = {
  /* A scene or a result has changed. */
  change(): void;
  /* B's text has an error, or a step failed: both stop. */
  error(side: Side, e: Of<'error'>): void;
  playing(yes: boolean): void;
};

export class Compare {
  private readonly halves: Record<Side, Half>;
  private playing = false;
  private speed = 0;
  private due = 0; /* ms of the clock at which the next frame may begin */
  private timer: ReturnType<typeof setTimeout> | undefined;
  private fps = 24;

  /* A is the page's engine, at whatever frame it is, with B's text; B a new one. Both begin their scenes. */
  constructor(a: ComparedEngine, b: ComparedEngine, texts: Record<Side, string>, private readonly on: CompareEvents) {
    this.halves = {A: this.half(a, texts.A, 'A'), B: this.half(b, texts.B, 'B')};
    for (const {engine} of Object.values(this.halves)) engine.send({do: 'want', totals: true});
    a.send({do: 'pause'});
    if (texts.A !== texts.B) a.send({do: 'edit', text: texts.A});
    a.send({do: 'restart'});
    b.send({do: 'open', text: texts.B});
  }

  private half(engine: ComparedEngine, text: string, side: Side): Half {
    const h: Half = {engine, text, scene: null, energy: null, steps: 0, seconds: 0, result: null, frame: -Infinity,
      waiting: false, done: false, stop: []};
    h.stop = [
      engine.on('scene', e => {
        h.scene = e.scene;
        this.fps = e.scene.fps;
        this.on.change();
      }),
      engine.on('error', e => {
        h.waiting = false;
        this.pause();
        this.on.error(side, e);
      }),
      engine.on('picture', ({frame}) => this.arrived(h, frame)),
      engine.on('state', e => {
        h.done = e.done;
        this.reached(h, e.frame);
      }),
    ];
    return h;
  }

  text(side: Side): string { return this.halves[side].text; }
  result(side: Side): Result | null { return this.halves[side].result; }
  get isPlaying(): boolean { return this.playing; }

  rows(): ValueRow[] {
    return compareValues(this.halves.A, this.halves.B);
  }

  /* A new text for one side. What can act at once does; the rest waits for restart, as with one engine. */
  edit(side: Side, text: string): void {
    this.halves[side].text = text;
    this.halves[side].engine.send({do: 'edit', text});
    this.on.change();
  }

  restart(): void {
    this.pause();
    for (const h of Object.values(this.halves)) {
      h.energy = null;
      h.result = null;
      h.steps = h.seconds = 0;
      h.frame = -Infinity;
      h.waiting = h.done = false;
      h.engine.send({do: 'restart'});
    }
    this.on.change();
  }

  /* Simulated seconds per second of the clock at most; 0: as fast as both go. */
  play(speed: number): void {
    this.speed = speed;
    this.due = performance.now();
    if (this.playing) return;
    this.playing = true;
    this.on.playing(true);
    this.next();
  }

  pause(): void {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.playing = false;
    this.on.playing(false);
  }

  step(): void {
    this.pause();
    this.advance();
  }

  seek(frame: number): void {
    this.pause();
    for (const h of Object.values(this.halves)) {
      h.frame = -Infinity;
      h.waiting = false;
      h.engine.send({do: 'seek', frame});
    }
  }

  /* The engines stay as they are. */
  end(): void {
    this.pause();
    for (const h of Object.values(this.halves)) for (const stop of h.stop) stop();
  }

  /* ---- clock ---- */

  private both(test: (h: Half) => boolean): boolean {
    return test(this.halves.A) && test(this.halves.B);
  }

  private idle(h: Half): boolean {
    return !h.waiting && h.frame > -Infinity;
  }

  private advance(): void {
    if (!this.both(h => this.idle(h) && !h.done)) return;
    for (const h of Object.values(this.halves)) {
      h.waiting = true;
      h.steps = h.seconds = 0;
      h.engine.send({do: 'step', unit: 'frame'});
    }
  }

  private next(): void {
    if (!this.playing) return;
    if (this.halves.A.done || this.halves.B.done) {
      this.pause();
      return;
    }
    if (!this.both(h => this.idle(h))) return; /* reached() comes back here */
    const wait = this.speed > 0 ? this.due - performance.now() : 0;
    clearTimeout(this.timer);
    if (wait > 0) {
      this.timer = setTimeout(() => this.next(), wait);
      return;
    }
    if (this.speed > 0) this.due = Math.max(this.due, performance.now() - 100) + 1000 / (this.fps * this.speed);
    this.advance();
  }

  private arrived(h: Half, frame: FrameEvent): void {
    const t = frame.totals, energy = t ? t.kinetic + t.elastic + t.gravitational : null;
    if (energy !== null && h.energy === null) h.energy = energy;
    h.steps += frame.steps;
    h.seconds += frame.seconds;
    h.result = {time: frame.time, kinetic: t?.kinetic ?? null, lost: energy === null ? null : h.energy! - energy,
      steps: h.steps, milliseconds: 1000 * h.seconds};
    this.on.change();
    if (frame.part === 0) this.reached(h, frame.frame);
  }

  /* A picture or a state tells that a frame is there; states of the frame before may still come after a step began. */
  private reached(h: Half, frame: number): void {
    const further = frame > h.frame;
    /* Back in time: what said more was of before a restart, and on its way when that began. */
    if (frame < h.frame) h.frame = frame;
    if (!further && !(h.waiting && h.done)) return;
    h.frame = frame;
    h.waiting = false;
    this.next();
  }
}
