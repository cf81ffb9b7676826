/* Reads particle files in a Worker, so that the page does not wait for a large one; in the page where there is none.
 * The Worker is files.js, built from worker.ts; the page that is one file has its text in the element files-worker. */
import {readPoints} from './formats.ts';
import {sortById} from './picture.ts';
import {FileError, type Points} from './points.ts';

export type ReadJob = {token: number; name: string; bytes: ArrayBuffer};
export type ReadAnswer = {token: number; points?: Points; error?: string};

/* What worker.ts does with a job. */
export async function doJob(job: ReadJob): Promise<ReadAnswer> {
  try {
    return {token: job.token, points: sortById(await readPoints(job.name, new Uint8Array(job.bytes)))};
  } catch (error) {
    const known = error instanceof FileError;
    return {token: job.token, error: known ? error.message : 'The file could not be read; it may be too large.'};
  }
}

function workerAddress(): string {
  const inside = document.getElementById('files-worker');
  if (!inside?.textContent) return 'files.js';
  return URL.createObjectURL(new Blob([inside.textContent], {type: 'text/javascript'}));
}

export class Reader {
  private worker: Worker | null = null;
  private token = 0;
  private waiting = new Map<number, {job: ReadJob; done: (a: ReadAnswer) => void}>();

  constructor() {
    if (typeof Worker === 'undefined' || typeof document === 'undefined') return;
    try {
      this.worker = new Worker(workerAddress());
    } catch {
      return;
    }
    this.worker.onmessage = m => this.answer(m.data as ReadAnswer);
    this.worker.onerror = () => this.giveUp();
  }

  async read(name: string, file: Blob): Promise<Points> {
    const job: ReadJob = {token: ++this.token, name, bytes: await file.arrayBuffer()};
    const answer = !this.worker ? await doJob(job) : await new Promise<ReadAnswer>(done => {
      this.waiting.set(job.token, {job, done});
      this.worker!.postMessage(job);
    });
    if (!answer.points) throw new FileError(answer.error ?? '');
    return answer.points;
  }

  close(): void {
    this.worker?.terminate();
    for (const {job, done} of this.waiting.values()) done({token: job.token, error: 'The file was closed.'});
    this.waiting.clear();
  }

  private answer(a: ReadAnswer): void {
    this.waiting.get(a.token)?.done(a);
    this.waiting.delete(a.token);
  }

  /* The Worker did not load: jobs are done here. */
  private giveUp(): void {
    this.worker?.terminate();
    this.worker = null;
    for (const {job, done} of this.waiting.values()) void doJob(job).then(done);
    this.waiting.clear();
  }
}
