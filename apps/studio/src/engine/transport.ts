/* Two ways to an engine: a Worker with WebAssembly in this page, and a WebSocket of `firn view`. */
import type {Command, Event} from '../protocol.ts';

export type Receiver = {
  event(e: Event): void;
  bytes(b: ArrayBuffer): void;
  up(): void;
  down(reason: string): void;
};

export interface Transport {
  send(c: Command): void;
  /* A file that the page's scenes may name. Only an engine within the page takes some. */
  put?(file: string, bytes: ArrayBuffer): void;
  /* Serves another engine of the page from now on. */
  hand?(to: Receiver): void;
  /* A page that is loaded again comes back to this one. */
  keep?(): void;
  close(): void;
}

/* The single-file build has the worker's text in an element of the page. */
function workerAddress(): string {
  const inside = document.getElementById('worker-text');
  if (!inside?.textContent) return 'worker.js';
  return URL.createObjectURL(new Blob([inside.textContent], {type: 'text/javascript'}));
}

export class WorkerTransport implements Transport {
  private readonly worker: Worker;

  constructor(private to: Receiver) {
    this.worker = new Worker(workerAddress());
    this.worker.onmessage = m => {
      if (m.data instanceof ArrayBuffer) this.to.bytes(m.data);
      else this.to.event((typeof m.data === 'string' ? JSON.parse(m.data) : m.data) as Event);
    };
    this.worker.onerror = e =>
      this.to.down(e.message?.replace(/^Uncaught (\w*Error: )?/, '') || 'The engine did not load.');
    to.up();
  }

  hand(to: Receiver): void {
    this.to = to;
  }

  send(c: Command): void {
    this.worker.postMessage(c);
  }

  put(file: string, bytes: ArrayBuffer): void {
    this.worker.postMessage({file, bytes});
  }

  close(): void {
    this.worker.terminate();
  }
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

/* How the page is let in by `firn view`: once by the token of the address it printed, from then on by a secret
 * that the first message brings. The secret lasts as long as the tab, also when it is loaded again. */
export type Pass = {token: string; secret: string; session: number};

const KEPT = 'firn.pass';

export function findPass(): Pass | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('live');
  if (token) {
    history.replaceState(null, '', location.pathname + location.search);
    return {token, secret: '', session: 0};
  }
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? 'null') as Pass | null;
  } catch {
    return null;
  }
}

/* Connects again by itself, to the same session, after waits that double. */
export class SocketTransport implements Transport {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT_MS;
  private timer = 0;
  private closed = false;
  private session: number; /* 0: a new one */

  /* `own`: a session of its own, beside the page's. */
  constructor(
    private readonly pass: Pass,
    own: boolean,
    private to: Receiver,
  ) {
    this.session = own ? 0 : pass.session;
    this.connect();
  }

  hand(to: Receiver): void {
    this.to = to;
  }

  keep(): void {
    this.pass.session = this.session;
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(this.pass));
    } catch {
      /* It lasts until the page is loaded again. */
    }
  }

  send(c: Command): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(c));
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private address(): string {
    const {token, secret} = this.pass,
      {session} = this,
      scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const query = new URLSearchParams(secret ? {secret, ...(session ? {session: String(session)} : {})} : {token});
    return `${scheme}://${location.host}/live?${query}`;
  }

  private connect(): void {
    const socket = (this.socket = new WebSocket(this.address()));
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.to.up();
    };
    socket.onmessage = m => {
      if (m.data instanceof ArrayBuffer) this.to.bytes(m.data);
      else this.text(String(m.data));
    };
    socket.onclose = e => {
      if (this.closed) return;
      this.to.down(e.reason);
      this.timer = window.setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
    };
  }

  private text(text: string): void {
    const e = JSON.parse(text) as Event | {event: 'session'; secret: string; session: number; resumed: boolean};
    if (e.event !== 'session') return this.to.event(e);
    const kept = this.session === this.pass.session;
    this.pass.secret = e.secret;
    this.session = e.session;
    if (kept) this.keep();
  }
}
