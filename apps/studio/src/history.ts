/* The last pictures, for scrubbing without the engine: bounded by bytes and by number, the oldest go first. */
import type {Event} from './protocol.ts';

export type FrameEvent = Extract<Event, {event: 'frame'}>;

/* Tags, pictures and grids in whatever form the page has them; their bytes are counted by `bytes`. Pictures whose
 * particles are the same share one `tags`. */
export type Kept<Tags, Picture, Grid> = {frame: FrameEvent; tags: Tags; picture: Picture; grid: Grid | null};
export type HistoryOptions = {bytes?: number; count?: number};

/* Where a picture is in time, in frames; a whole number at the end of a frame. */
export function placeOf(frame: FrameEvent): number {
  return frame.frame + frame.part;
}

export class History<Tags extends object, Picture, Grid> {
  private entries: (Kept<Tags, Picture, Grid> & {bytes: number})[] = [];
  private shares = new Map<Tags, number>(); /* how many entries have them */
  private most: Required<HistoryOptions>;
  bytes = 0;

  /* `size`: the bytes of one of the three. */
  constructor(private size: (part: Tags | Picture | Grid) => number, options: HistoryOptions = {}) {
    this.most = {bytes: options.bytes ?? 256 << 20, count: options.count ?? 2000};
  }

  get count(): number {
    return this.entries.length;
  }

  /* The first and last place, or null. */
  get range(): [number, number] | null {
    const first = this.entries[0], last = this.entries[this.entries.length - 1];
    return first && last ? [placeOf(first.frame), placeOf(last.frame)] : null;
  }

  /* A picture of the same place, or a later one, gives way: time went back there. */
  add(frame: FrameEvent, tags: Tags, picture: Picture, grid: Grid | null): void {
    for (let last = this.latest(); last && placeOf(last.frame) >= placeOf(frame); last = this.latest()) {
      this.drop(this.entries.pop()!);
    }
    const bytes = this.size(picture) + (grid === null ? 0 : this.size(grid));
    this.entries.push({frame, tags, picture, grid, bytes});
    this.bytes += bytes;
    const shared = this.shares.get(tags) ?? 0;
    if (!shared) this.bytes += this.size(tags);
    this.shares.set(tags, shared + 1);
    const full = (): boolean => this.bytes > this.most.bytes || this.entries.length > this.most.count;
    while (this.entries.length > 1 && full()) this.drop(this.entries.shift()!);
  }

  private drop(entry: Kept<Tags, Picture, Grid> & {bytes: number}): void {
    this.bytes -= entry.bytes;
    const shared = this.shares.get(entry.tags)! - 1;
    if (shared) {
      this.shares.set(entry.tags, shared);
    } else {
      this.shares.delete(entry.tags);
      this.bytes -= this.size(entry.tags);
    }
  }

  /* The index of the last picture at or before a place; -1 if there is none. */
  private find(place: number): number {
    let low = 0, high = this.entries.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (placeOf(this.entries[middle]!.frame) <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /* The last picture at or before a place, in frames; null if it is not kept. */
  at(place: number): Kept<Tags, Picture, Grid> | null {
    return this.entries[this.find(place)] ?? null;
  }

  /* The picture before, or after, the one at a place. */
  neighbour(place: number, direction: -1 | 1): Kept<Tags, Picture, Grid> | null {
    return this.entries[this.find(place) + direction] ?? null;
  }

  latest(): Kept<Tags, Picture, Grid> | null {
    return this.entries[this.entries.length - 1] ?? null;
  }

  /* Play goes on from there: what was after it is no more. */
  discardAfter(place: number): void {
    for (let i = this.entries.length - 1; i > this.find(place); i--) this.drop(this.entries.pop()!);
  }

  clear(): void {
    this.entries = [];
    this.shares.clear();
    this.bytes = 0;
  }

  /* Every kept frame event, from the first on: for a strip. */
  frames(): FrameEvent[] {
    return this.entries.map(e => e.frame);
  }
}
