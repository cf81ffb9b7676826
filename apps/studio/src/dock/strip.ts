/* The strip of frames: a bar for each, high where much moved; the playhead; amber marks at live edits; keys of what is
 * selected. Drag to scrub through kept frames. */
import type {App} from '../app.ts';
import {keyTimes} from '../document/frames.ts';
import {el, clamp, setAttribute} from '../ui/dom.ts';

const BAR = 5,
  GAP = 2; /* CSS px */

export class Strip {
  readonly element = el('div', {class: 'strip', role: 'slider', tabindex: 0, 'aria-label': 'Frame'});
  private readonly canvas = el('canvas');
  private readonly head = el('span', {class: 'head'});
  private readonly energy = new Map<number, number>(); /* frame: kinetic energy, or speed */
  private marks: number[] = [];
  private drawn = '';
  private due = false;

  constructor(private readonly app: App) {
    this.element.append(this.canvas, this.head);
    this.element.addEventListener('pointerdown', e => this.press(e));
    this.element.addEventListener('keydown', e => this.key(e));
    app.state.watch(['frame', 'scrub', 'kept', 'scene', 'theme', 'tab', 'graphs', 'selection'], () => this.update());
    app.doc.on('change', () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  /* How lively a frame is. */
  add(frame: number, level: number): void {
    this.energy.set(frame, level);
  }

  /* Puts a mark at the present frame. */
  mark(): void {
    const at = this.app.state.get('frame');
    if (this.marks[this.marks.length - 1] !== at) this.marks.push(at);
    this.redraw();
  }

  /* Forgets what comes after a frame. */
  discard(after: number): void {
    for (const f of this.energy.keys()) if (f > after) this.energy.delete(f);
    this.marks = this.marks.filter(m => m <= after);
    this.redraw();
  }

  clear(): void {
    this.energy.clear();
    this.marks = [];
    this.redraw();
  }

  private ends(): [number, number] {
    const scene = this.app.state.get('scene'),
      [, kept] = this.app.state.get('kept');
    const first = scene?.first ?? 0;
    return [first, Math.max(scene?.last ?? 1, kept, first + 1)];
  }

  private update(): void {
    const s = this.app.state,
      [first, last] = this.ends(),
      at = s.get('scrub') ?? s.get('frame');
    this.head.style.left = `${clamp((at - first) / (last - first), 0, 1) * 100}%`;
    this.head.hidden = !s.get('scene');
    setAttribute(this.element, 'aria-valuemin', first);
    setAttribute(this.element, 'aria-valuemax', last);
    setAttribute(this.element, 'aria-valuenow', Math.floor(at));
    this.redraw();
  }

  private redraw(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.draw();
    });
  }

  private draw(): void {
    const c = this.canvas;
    if (!c.offsetParent) return;
    const s = this.app.state,
      dpr = devicePixelRatio || 1,
      w = c.clientWidth,
      h = c.clientHeight,
      [first, last] = this.ends();
    const at = s.get('scrub') ?? s.get('frame'),
      kept = s.get('kept')[1],
      scene = s.get('scene');
    const keys = scene ? keyTimes(this.app.selected(), this.app.doc.model).map(t => scene.first + t * scene.fps) : [];
    const signature = [
      w,
      h,
      dpr,
      first,
      last,
      Math.floor(at),
      kept,
      this.energy.size,
      this.marks.length,
      keys.join(),
      s.get('theme'),
      s.get('scene') === null,
    ].join();
    if (signature === this.drawn) return;
    this.drawn = signature;
    c.width = w * dpr;
    c.height = h * dpr;
    const g = c.getContext('2d');
    if (!g) return;
    g.scale(dpr, dpr);
    const css = getComputedStyle(document.documentElement),
      color = (n: string) => css.getPropertyValue(n);
    const [past, later, none] = [color('--text-3'), color('--line-2'), color('--line')];
    const bars = Math.max(1, Math.floor(w / BAR)),
      most = Math.max(1e-30, ...this.energy.values());
    const frames = [...this.energy.keys()].sort((a, b) => a - b);
    for (let i = 0, next = 0, level = 0; i < bars; i++) {
      const frame = first + (i / bars) * (last - first),
        known = s.get('scene') !== null && frame <= kept;
      /* Frames that were never shown look like those before them. */
      for (; next < frames.length && frames[next] <= frame + 0.5; next++) level = this.energy.get(frames[next]) ?? 0;
      const height = known ? 5 + Math.sqrt(level / most) * (h - 17) : 3;
      g.fillStyle = known && frame <= at ? past : known ? later : none;
      g.fillRect(i * BAR, h - height - 2, BAR - GAP, height);
    }
    const xOf = (frame: number): number => clamp((frame - first) / (last - first), 0, 1) * w;
    g.fillStyle = color('--accent');
    g.strokeStyle = color('--surface');
    g.lineWidth = 4;
    for (const k of keys.filter(k => k >= first && k <= last)) {
      const x = Math.max(5, Math.min(w - 5, xOf(k)));
      g.beginPath();
      g.moveTo(x, h - 12);
      g.lineTo(x + 5, h - 7);
      g.lineTo(x, h - 2);
      g.lineTo(x - 5, h - 7);
      g.closePath();
      g.stroke();
      g.fill();
    }
    g.fillStyle = color('--changed');
    for (const m of this.marks) {
      const x = xOf(m);
      g.beginPath();
      g.moveTo(x - 4, 2);
      g.lineTo(x + 4, 2);
      g.lineTo(x, 8);
      g.fill();
    }
  }

  private press(e: PointerEvent): void {
    if (!this.app.canRun()) return;
    const move = (m: PointerEvent) => {
      const box = this.element.getBoundingClientRect(),
        [first, last] = this.ends(),
        [low, high] = this.app.state.get('kept');
      const frame = Math.round(first + clamp((m.clientX - box.left) / box.width, 0, 1) * (last - first));
      this.app.time.scrubTo(clamp(frame, low, high));
    };
    const up = () => {
      this.element.removeEventListener('pointermove', move);
      this.element.removeEventListener('pointerup', up);
      this.element.removeEventListener('pointercancel', up);
    };
    this.element.setPointerCapture(e.pointerId);
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', up);
    this.element.addEventListener('pointercancel', up);
    move(e);
  }

  private key(e: KeyboardEvent): void {
    const [low, high] = this.app.state.get('kept'),
      at = Math.floor(this.app.state.get('scrub') ?? this.app.state.get('frame'));
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: low, End: high, PageUp: at - 10, PageDown: at + 10}[e.key];
    if (to === undefined || e.shiftKey) return;
    e.preventDefault();
    e.stopPropagation();
    if (to > high) this.app.time.step('frame');
    else this.app.time.scrubTo(clamp(to, low, high));
  }
}
