/* A cache behind the words of protocol.ts: play, pause, step and seek through its files, as an engine would through
 * time. It takes the place of a Worker or a WebSocket. */
import {type Attribute, type Command, type Event, type SceneInfo, type Schema} from '../protocol.ts';
import {type Cache} from './cache.ts';
import {colorsOf, encodePicture, encodePoints, encodeTags, totalsOf} from './picture.ts';
import {findColumn, type Points} from './points.ts';

export type Receiver = {event(e: Event): void; bytes(b: ArrayBuffer): void; up(): void; down(reason: string): void};

const UNDER_WAY = 2; /* pictures that the page has not shown yet */

export class CacheTransport {
  private at = 0; /* of the files */
  private playing = false;
  private speed = 1;
  private picture = 0;
  private shown = 0;
  private wanted = {color: '', velocity: false, totals: false};
  private probe: number | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private tagged = ''; /* which particles the last tags were for */
  private scene: SceneInfo | undefined;
  private busy = false; /* reading a file */
  private again = false; /* ... while another was asked for */
  private closed = false;

  /* `schema`: of any engine, for units and help. `scene`: what the scene's text says, if it came with the cache. */
  constructor(private cache: Cache, private schema: Schema, private to: Receiver, scene?: SceneInfo) {
    this.scene = scene && {...scene, first: cache.first, last: cache.last};
    /* The receiver may not know this object yet. */
    queueMicrotask(() => void this.open());
  }

  close(): void {
    this.closed = true;
    this.pause();
    this.cache.close();
  }

  send(c: Command): void {
    switch (c.do) {
    case 'play':
      if (this.at === this.cache.frames.length - 1) this.at = 0;
      this.speed = c.speed;
      this.playing = true;
      this.state();
      this.later();
      break;
    case 'pause':
      this.pause();
      this.state();
      break;
    case 'step': this.go(this.at + 1); break;
    case 'seek': this.go(this.cache.indexOf(c.frame)); break;
    case 'restart': this.go(0); break;
    case 'want':
      this.wanted.color = c.color ?? this.wanted.color;
      this.wanted.velocity = c.velocity ?? this.wanted.velocity;
      this.wanted.totals = c.totals ?? this.wanted.totals;
      void this.show();
      break;
    case 'probe':
      this.probe = c.id;
      void this.show();
      break;
    case 'shown':
      this.shown = Math.max(this.shown, c.picture);
      break;
    case 'points':
      void this.cache.read(this.at).then(p => this.to.bytes(encodePoints(p, c.token, c.attributes)), () => {});
      break;
    default: this.refuse('A cache plays what was simulated before. Open its scene to change it.');
    }
  }

  private refuse(text: string): void {
    this.to.event({event: 'error', from: 'command', text});
  }

  private async open(): Promise<void> {
    if (this.closed) return;
    this.to.up();
    let points: Points | undefined;
    for (let i = 0; i < this.cache.frames.length && !points; i++) {
      points = await this.cache.read(i).catch(() => undefined);
      if (this.closed) return;
    }
    const {schema} = this, known = (name: string): Attribute | undefined =>
      [...schema.colors, ...schema.attributes].find(a => a.name === name);
    const colors = points ? colorsOf(points).map((c): Attribute =>
      ({unit: '', help: 'An attribute of the files.', heat: false, ...known(c.name), ...c})) : [];
    this.to.event({event: 'hello', engine: 'wasm', version: '', threads: 0, isa: '', mode: 'cache',
      schema: {...schema, colors}});
    if (!points) {
      const [first] = this.cache.errors.values();
      this.to.event({event: 'error', from: 'scene', text: first ?? 'No file of the cache could be read.'});
      return;
    }
    this.scene ??= this.cache.describe(points);
    this.to.event({event: 'scene', scene: this.scene, live: [], restart: []});
    this.state();
    await this.show();
  }

  private pause(): void {
    this.playing = false;
    clearTimeout(this.timer);
  }

  private later(): void {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.timer = setTimeout(() => {
      const full = this.picture - this.shown >= UNDER_WAY;
      if (!full && !this.busy) this.go(this.at + 1);
      this.later();
    }, this.speed > 0 ? 1000 / (this.cache.fps * this.speed) : 0);
  }

  private go(index: number): void {
    const last = this.cache.frames.length - 1;
    this.at = Math.max(0, Math.min(last, index));
    if (this.at === last) this.pause();
    void this.show();
  }

  private time(frame: number): number {
    return (frame - this.cache.first) / this.cache.fps;
  }

  private state(): void {
    const frame = this.cache.frames[this.at]!.frame;
    this.to.event({event: 'state', playing: this.playing, speed: this.speed, frame, time: this.time(frame),
      done: this.at === this.cache.frames.length - 1, kept: [this.cache.first, this.cache.last]});
  }

  /* Shows the file that is due; if another becomes due meanwhile, that one next. */
  private async show(): Promise<void> {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    do {
      this.again = false;
      const index = this.at;
      try {
        const points = await this.cache.read(index);
        if (!this.closed) this.present(index, points);
      } catch (error) {
        if (!this.closed) this.to.event({event: 'error', from: 'step', text: (error as Error).message});
      }
      if (this.closed) return;
      this.state();
    } while (this.again);
    this.busy = false;
    if (this.playing && this.at + 1 < this.cache.frames.length) void this.cache.read(this.at + 1).catch(() => {});
  }

  private present(index: number, points: Points): void {
    const frame = this.cache.frames[index]!.frame, number = ++this.picture, time = this.time(frame);
    const dimension = this.scene?.dimension ?? 3, {color, velocity, totals} = this.wanted;
    const id = findColumn(points, 'id')?.data, tagged = `${points.count} ${id?.[0]} ${id?.[points.count - 1]}`;
    if (tagged !== this.tagged) this.to.bytes(encodeTags(points, number));
    this.tagged = tagged;
    this.to.event({event: 'frame', picture: number, frame, part: 0, time, particles: points.count, steps: 0, dt: 0,
      limit: '', integrator: '', blocks: 0, seconds: 0, simulated: 1 / this.cache.fps, poses: [],
      ...(totals ? {totals: totalsOf(points)} : {}), ...this.probed(points)});
    this.to.bytes(encodePicture(points, number, time, dimension, color, velocity));
  }

  private probed(points: Points): {probe?: Record<string, number | number[] | string>} {
    if (this.probe === null) return {};
    const id = findColumn(points, 'id');
    let i = this.probe;
    if (id) {
      i = 0;
      while (i < points.count && Number(id.data[i]) !== this.probe) i++;
    }
    if (i >= points.count) return {};
    const probe: Record<string, number | number[] | string> = {id: this.probe};
    for (const c of points.columns) {
      const values = Array.from({length: c.components}, (_, a) => Number(c.data[i * c.components + a]));
      const word = c.words?.[values[0]!];
      probe[c.name] = word ?? (c.components === 1 ? values[0]! : values);
    }
    return {probe};
  }
}
