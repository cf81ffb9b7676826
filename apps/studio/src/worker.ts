/* The engine in a Worker: commands come in as messages, events (as JSON text) and ArrayBuffers go out. Runs with
 * threads where the page is cross-origin isolated, and with one if that fails. A failure of the engine is reported,
 * and the next scene starts a new one; an engine that does not start at all is an error of the Worker. */
import {encode} from './encode.ts';
import type {Command, Event, FilePut} from './protocol.ts';

type Module = {
  HEAPU8: Uint8Array;
  PThread?: {terminateAllThreads(): void};
  _malloc(size: number): number;
  _free(pointer: number): void;
  _firn_web_start(threads: number): number;
  _firn_web_receive(json: number, size: number): void;
  _firn_web_turn(seconds: number): number;
  _firn_web_put(path: number, data: number, size: number): number;
};
type Create = (options: object) => Promise<Module>;

declare const self: {
  crossOriginIsolated: boolean;
  location: {href: string};
  createFirn?: Create; /* the scripts' own, or that of a page in one file */
  firnBinary?: string; /* of a page in one file: gzip, base64 */
  onmessage: ((message: {data: Command | FilePut}) => void) | null;
  postMessage(data: string | ArrayBuffer, transfer?: ArrayBuffer[]): void;
};
declare function importScripts(name: string): void;

const TURN = 0.008; /* s: of work between messages */
const MOST_THREADS = 16;

let engine: Module | null = null;
let files: FilePut[] = []; /* as put, for the next engine */
let text: string | null = null; /* of the newest scene, likewise */
let starting: Promise<void> | null = null;
let single = self.firnBinary !== undefined || !self.crossOriginIsolated;
let asked = false; /* open or edit, not answered yet */
let last: Extract<Event, {event: 'state'}> | null = null;

function send(event: Event): void {
  self.postMessage(JSON.stringify(event));
}

/* Passes an event on, and notes what a failure has to answer for. */
function pass(json: string): void {
  const kind = json.match(/^\{"event":"(scene|error|state)"/)?.[1];
  if (kind) {
    const event = JSON.parse(json) as Event;
    if (event.event === 'state') last = event;
    else if (event.event === 'scene' || (event.event === 'error' && event.from === 'scene')) asked = false;
  }
  self.postMessage(json);
}

/* ---- starting ---- */

async function unpack(packed: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

function textAt(from: Module, pointer: number): string {
  return new TextDecoder().decode(from.HEAPU8.slice(pointer, from.HEAPU8.indexOf(0, pointer)));
}

async function create(): Promise<void> {
  const threads = single ? 1 : Math.min(navigator.hardwareConcurrency, MOST_THREADS);
  const script = threads > 1 ? 'firn_threads.js' : 'firn.js';
  if (!self.createFirn) importScripts(script);
  const made = await self.createFirn!({
    threads, encode,
    ...(threads > 1 ? {mainScriptUrlOrBlob: new URL(script, self.location.href).href} : {}),
    ...(self.firnBinary === undefined ? {} : {wasmBinary: await unpack(self.firnBinary)}),
    send: pass,
    sendBytes: (bytes: ArrayBuffer) => self.postMessage(bytes, [bytes]),
    printErr: (line: string) => send({event: 'log', text: line}),
  });
  const wrong = made._firn_web_start(threads);
  if (wrong) throw new Error(textAt(made, wrong));
  for (const file of files) put(made, file);
  engine = made;
}

function start(): Promise<void> {
  starting ??= create()
    .catch((error: unknown) => {
      if (single) throw error;
      single = true;
      self.createFirn = undefined;
      send({event: 'log', text: `The engine did not start with threads: ${reasonOf(error)}`});
      return create();
    })
    .catch((error: unknown) => {
      starting = null;
      /* Outside of the promise, so that the page hears of it. */
      setTimeout(() => {
        throw new Error(`The engine did not start: ${reasonOf(error)}`);
      });
    });
  return starting;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/* What an engine leaves behind is not to be trusted. */
function fail(error: unknown): void {
  engine?.PThread?.terminateAllThreads();
  engine = starting = null;
  const text = `The engine stopped: ${reasonOf(error)}.`;
  if (asked) send({event: 'error', from: 'scene', text: `${text} Change the scene, or open another.`});
  else send({event: 'error', from: 'step', text: `${text} Reset the scene to start again.`});
  asked = false;
  const {speed, frame, time} = last ?? {speed: 1, frame: 0, time: 0};
  send({event: 'state', playing: false, speed, frame, time, done: false, kept: [frame, frame]});
}

/* ---- commands ---- */

/* The bytes in the engine's memory, for as long as `use` takes. */
function lend<T>(to: Module, bytes: Uint8Array, use: (pointer: number, size: number) => T): T {
  const pointer = to._malloc(bytes.length + 1);
  if (!pointer) throw new RangeError('no memory');
  to.HEAPU8.set(bytes, pointer);
  to.HEAPU8[pointer + bytes.length] = 0;
  try {
    return use(pointer, bytes.length);
  } finally {
    to._free(pointer);
  }
}

function put(to: Module, {file, bytes}: FilePut): void {
  const done = lend(to, new TextEncoder().encode(file), path =>
    lend(to, new Uint8Array(bytes), (data, size) => to._firn_web_put(path, data, size)));
  if (!done) send({event: 'error', from: 'command', text: `${file}: the file could not be kept`});
}

function receive(to: Module, command: Command): void {
  lend(to, new TextEncoder().encode(JSON.stringify(command)), (json, size) => to._firn_web_receive(json, size));
}

/* For an engine that has no scene yet: what it takes to have the page's. */
function reopen(command: Command): Command | null {
  if (command.do === 'open') return command;
  if (command.do === 'edit') return {do: 'open', text: command.text};
  return command.do === 'restart' && text !== null ? {do: 'open', text} : null;
}

async function take(message: Command | FilePut): Promise<void> {
  if ('file' in message) {
    files = [...files.filter(f => f.file !== message.file), message];
  } else if (message.do === 'open' || message.do === 'edit') {
    text = message.text;
    asked = true;
  }
  let command = 'do' in message ? message : null;
  if (!engine) {
    command = command && reopen(command);
    if (command) await start();
    if (!engine) return;
  }
  try {
    if ('file' in message) put(engine, message);
    else if (command) receive(engine, command);
  } catch (error) {
    fail(error);
  }
  schedule(0);
}

/* ---- turns ---- */

const channel = new MessageChannel();
let posted = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/* Turns queue up behind the page's messages, so that neither starves the other. */
function schedule(seconds: number): void {
  clearTimeout(timer);
  if (posted) return;
  if (seconds > 0) {
    if (seconds < Infinity) timer = setTimeout(() => schedule(0), 1000 * seconds);
    return;
  }
  posted = true;
  channel.port2.postMessage(null);
}

channel.port1.onmessage = () => {
  posted = false;
  if (!engine) return;
  try {
    schedule(engine._firn_web_turn(TURN));
  } catch (error) {
    fail(error);
  }
};

/* One after the other, also while the engine starts. */
let queue: Promise<void> = start();
self.onmessage = message => {
  queue = queue.then(() => take(message.data));
};
