/* The page's side of an engine: commands out, typed events in. Edits wait for the answer to the one before,
 * so that a drag never piles them up: the newest text wins. */
import type {Command, Event} from '../protocol.ts';
import {decode, type Grid, type Mesh, type Picture, type Points, type Tags} from '../view/decode.ts';
import {Emitter} from '../store.ts';
import type {Receiver, Transport} from './transport.ts';

type Of<K extends Event['event']> = Extract<Event, {event: K}>;
export type Hello = Of<'hello'>;
export type SceneEvent = Of<'scene'>;
export type ErrorEvent = Of<'error'>;
export type StateEvent = Of<'state'>;
export type FrameEvent = Of<'frame'>;
export type Connection = 'connecting' | 'ready' | 'lost';

export type EngineEvents = {
  connection: Connection;
  hello: Hello;
  scene: SceneEvent;
  error: ErrorEvent;
  state: StateEvent;
  log: Of<'log'>;
  tags: Tags;
  grid: Grid;
  mesh: Mesh;
  /* A picture with its frame's figures. */
  picture: {frame: FrameEvent; picture: Picture; bytes: ArrayBuffer};
};

export class Engine extends Emitter<EngineEvents> implements Receiver {
  connection: Connection = 'connecting';
  hello: Hello | null = null;
  reason = ''; /* why the connection was lost */
  private transport: Transport | null = null;
  private readonly frames = new Map<number, FrameEvent>();
  private waiting = false; /* for the answer to open or edit */
  private next: Command | null = null;
  private token = 0;
  private readonly asked = new Map<number, (answer: Points | string) => void>();

  connect(make: (to: Receiver) => Transport): void {
    this.transport?.close();
    this.up();
    this.setConnection('connecting');
    this.transport = make(this);
  }

  get takesFiles(): boolean {
    return this.transport?.put !== undefined;
  }

  put(file: string, bytes: ArrayBuffer): void {
    this.transport?.put?.(file, bytes);
  }

  close(): void {
    this.transport?.close();
    this.transport = null;
  }

  /* A page that is loaded again comes back to this engine. */
  keep(): void {
    this.transport?.keep?.();
  }

  send(c: Command): void {
    this.transport?.send(c);
  }

  /* Goes on with the other's transport in place of its own, which ends. */
  takeOver(other: Engine): void {
    this.transport?.close();
    this.up();
    this.transport = other.transport;
    other.transport = null;
    this.transport?.hand?.(this);
    this.hello = other.hello;
    for (const [number, frame] of other.frames) this.frames.set(number, frame);
    this.setConnection(other.connection);
  }

  /* A whole text: open or edit. */
  sendText(c: {do: 'open' | 'edit'; text: string}): void {
    if (this.waiting) {
      /* An edit of a scene that was never opened is its opening. */
      this.next = this.next?.do === 'open' && c.do === 'edit' ? {do: 'open', text: c.text} : c;
      return;
    }
    this.waiting = true;
    this.send(c);
  }

  points(attributes?: string[]): Promise<Points> {
    return this.ask(token => ({do: 'points', token, attributes})) as Promise<Points>;
  }

  hash(): Promise<string> {
    return this.ask(token => ({do: 'hash', token})) as Promise<string>;
  }

  private ask(make: (token: number) => Command): Promise<Points | string> {
    const token = ++this.token;
    return new Promise(resolve => {
      this.asked.set(token, resolve);
      this.send(make(token));
    });
  }

  /* ---- what transports call ---- */

  up(): void {
    this.waiting = false;
    this.next = null;
    this.frames.clear();
  }

  down(reason: string): void {
    this.reason = reason;
    this.setConnection('lost');
  }

  event(e: Event): void {
    switch (e.event) {
      case 'hello':
        this.hello = e;
        this.setConnection('ready');
        this.emit('hello', e);
        break;
      case 'scene':
        if (this.answered()) this.emit('scene', e);
        break;
      case 'error':
        if (e.from !== 'scene' || this.answered()) this.emit('error', e);
        break;
      case 'state':
        this.emit('state', e);
        break;
      case 'frame':
        this.frames.set(e.picture, e);
        break;
      case 'hash':
        this.asked.get(e.token)?.(e.hash);
        this.asked.delete(e.token);
        break;
      case 'log':
        this.emit('log', e);
        break;
    }
  }

  bytes(b: ArrayBuffer): void {
    const message = decode(b);
    if (!('number' in message)) {
      if ('token' in message) {
        this.asked.get(message.token)?.(message);
        this.asked.delete(message.token);
      } else {
        this.emit('mesh', message);
      }
      return;
    }
    if ('places' in message) {
      const frame = this.frames.get(message.number);
      for (const n of this.frames.keys()) if (n <= message.number) this.frames.delete(n);
      if (frame) this.emit('picture', {frame, picture: message, bytes: b});
      else this.shown(message.number);
    } else if ('nodes' in message) {
      this.emit('grid', message);
    } else {
      this.emit('tags', message);
    }
  }

  shown(picture: number): void {
    this.send({do: 'shown', picture});
  }

  /* False: the answer is to a scene that was left, since another is to be opened. */
  private answered(): boolean {
    this.waiting = false;
    const next = this.next as {do: 'open' | 'edit'; text: string} | null;
    this.next = null;
    if (next) this.sendText(next);
    return next?.do !== 'open';
  }

  private setConnection(c: Connection): void {
    if (c === this.connection) return;
    this.connection = c;
    this.emit('connection', c);
  }
}

/* What the badge says. */
export function describeEngine(engine: Engine): string {
  const h = engine.hello;
  if (engine.connection === 'lost')
    return h?.engine === 'native' ? 'Connection lost, trying again' : 'The engine did not load';
  if (engine.connection === 'connecting' || !h) return 'Starting the engine';
  if (h.mode === 'cache') return 'Playing a cache';
  const threads = `${h.threads} thread${h.threads === 1 ? '' : 's'}`;
  return `${h.mode === 'run' ? 'Watching a run' : h.engine === 'native' ? 'Native' : 'WebAssembly'}, ${threads}`;
}
