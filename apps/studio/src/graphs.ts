/* Graphs over time: energies, momentum, the time step with what limits it, particle-steps per second. Set B is dashed.
 * A line marks the playhead; a click or drag moves it. Redrawn at most ten times a second, and not while hidden. */
import uPlot from 'uplot';
import type {Event} from './protocol.ts';
import {brief, type Quantity, Trace} from './graph_data.ts';

type FrameEvent = Extract<Event, {event: 'frame'}>;
export type Side = 'A' | 'B';
export type GraphName = 'energy' | 'momentum' | 'step' | 'rate';
export type GraphsOptions = {
  graphs?: GraphName[];
  onSeek?: (time: number) => void; /* s */
};

type Line = {quantity: Quantity; label: string; token: string; unit: string; own?: boolean /* scale */};

const LINES: Record<GraphName, Line[]> = {
  energy: [
    {quantity: 'kinetic', label: 'kinetic', token: '--c1', unit: 'J'},
    {quantity: 'elastic', label: 'elastic', token: '--c2', unit: 'J'},
    {quantity: 'height', label: 'height', token: '--c4', unit: 'J'},
    {quantity: 'lost', label: 'lost', token: '--c3', unit: 'J'},
    {quantity: 'heat', label: 'heat', token: '--text-3', unit: 'J', own: true},
  ],
  momentum: [
    {quantity: 'x', label: 'x', token: '--x', unit: 'kg m/s'},
    {quantity: 'y', label: 'y', token: '--y', unit: 'kg m/s'},
    {quantity: 'z', label: 'z', token: '--z', unit: 'kg m/s'},
  ],
  step: [{quantity: 'dt', label: '', token: '--c1', unit: 'ms'}],
  rate: [{quantity: 'rate', label: '', token: '--c1', unit: ''}],
};
const TITLES: Record<GraphName, string> =
  {energy: 'Energy', momentum: 'Momentum', step: 'Time step', rate: 'Particle-steps/s'};
const BAND_TOKENS = ['--c1', '--c2', '--c3', '--c4', '--text-3'];
const BAND = 3, HEIGHT = 80, REDRAW_MS = 100;

/* What uPlot needs of its own style sheet, and the rows around a plot. Colours are the page's tokens. */
const STYLE = `
.graphs:not([hidden]){display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr))}
@media (min-width:1100px){.graphs.four:not([hidden]){grid-template-columns:1.7fr 1.1fr 1.3fr .8fr}}
.graphs .g{min-width:0}
.graphs .g h3 [hidden]{display:none}
.graphs .u-wrap,.graphs .uplot{position:relative;user-select:none}
.graphs .uplot{width:100%}
.graphs .u-over,.graphs .u-under{position:absolute}
.graphs .u-under{overflow:hidden}
.graphs .uplot canvas{display:block;position:relative;width:100%;height:100%}
.graphs .u-axis,.graphs .u-select,.graphs .u-legend,.graphs .u-cursor-pt,.graphs .u-cursor-y{display:none}
.graphs .u-hz .u-cursor-x{height:100%;border-right:1px dashed var(--text-3)}
.graphs .u-cursor-x{position:absolute;left:0;top:0;pointer-events:none;will-change:transform}
.graphs .u-off{display:none}
.graphs .g-plot{height:${HEIGHT}px;cursor:crosshair;touch-action:pan-y}
.graphs .g-foot{display:flex;justify-content:space-between;gap:8px;white-space:nowrap}
.graphs .g-foot{font-size:var(--t-xs);line-height:14px;color:var(--text-3)}
.graphs .g-foot :nth-child(2){overflow:hidden;text-overflow:ellipsis}`;

function addStyle(): void {
  if (document.getElementById('graphs-style')) return;
  const style = document.createElement('style');
  style.id = 'graphs-style';
  style.textContent = STYLE;
  document.head.append(style);
}

type Tags = HTMLElementTagNameMap;

function make<K extends keyof Tags>(tag: K, className: string, ...children: (Node | string)[]): Tags[K] {
  const e = document.createElement(tag);
  e.className = className;
  e.append(...children);
  return e;
}

function setText(e: HTMLElement, text: string): void {
  if (e.textContent !== text) e.textContent = text;
}

/* What all graphs of a page share. */
type Shared = {
  traces: Record<Side, Trace>;
  playhead: number; span: number; /* s */
  compare: boolean;
  dimension: 2 | 3;
  heat: boolean;
  hover: number | null; /* s, under the pointer */
  color(token: string): string;
};

class Graph {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly holder = make('div', 'g-plot');
  private readonly lines: Line[];
  private readonly values: HTMLSpanElement[];
  private readonly foot = [make('span', ''), make('span', ''), make('span', '')] as const;
  private footKey = '';
  private shown = ''; /* versions that the plot's data are of */

  constructor(readonly name: GraphName, private shared: Shared, onSeek?: (time: number) => void) {
    this.lines = LINES[name];
    this.values = this.lines.map(() => make('span', ''));
    const h3 = make('h3', '', TITLES[name], ...this.lines.map((l, i) => {
      const dot = make('i', '');
      dot.style.background = `var(${l.token})`;
      return make('span', '', dot, this.values[i]!);
    }));
    this.holder.setAttribute('role', 'img');
    this.holder.setAttribute('aria-label', `${TITLES[name]} over time`);
    this.element = make('div', 'g', h3, this.holder, make('div', 'g-foot', ...this.foot));
    if (onSeek) this.watchPointer(onSeek);
  }

  private watchPointer(onSeek: (time: number) => void): void {
    const seek = (e: PointerEvent): void => {
      const box = this.holder.getBoundingClientRect();
      onSeek(Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * this.shared.span);
    };
    this.holder.addEventListener('pointerdown', e => {
      if (e.button !== 0) return;
      this.holder.setPointerCapture(e.pointerId);
      seek(e);
    });
    this.holder.addEventListener('pointermove', e => {
      if (this.holder.hasPointerCapture(e.pointerId)) seek(e);
    });
  }

  private visible(line: Line): boolean {
    if (line.quantity === 'z') return this.shared.dimension === 3;
    if (line.quantity === 'heat') return this.shared.heat;
    return line.quantity !== 'lost' || !this.shared.heat;
  }

  private series(): uPlot.Series[] {
    const sides: Side[] = this.shared.compare ? ['A', 'B'] : ['A'];
    return sides.flatMap(side => this.lines.map((l): uPlot.Series => ({
      scale: l.own ? 'own' : 'y', stroke: () => this.shared.color(l.token), width: 1.5, spanGaps: true,
      points: {show: false}, dash: side === 'B' ? [4, 3] : undefined,
      show: this.visible(l),
    })));
  }

  private build(width: number): uPlot {
    /* Zero is always in it. */
    const range = (_: uPlot, least: number | null, most: number | null): [number, number] => {
      const low = Math.min(0, least ?? 0), high = Math.max(0, most ?? 0) || low + 1, room = (high - low) * 0.04;
      return [low < 0 ? low - room : low, high + room];
    };
    return new uPlot({
      width, height: HEIGHT, padding: [4, 0, this.name === 'step' ? BAND + 3 : 4, 0], legend: {show: false},
      scales: {x: {time: false, range: () => [0, this.shared.span]}, y: {range}, own: {range}},
      axes: [{show: false}, {show: false}], series: [{}, ...this.series()],
      cursor: {drag: {x: false, y: false, setScale: false}, y: false, points: {show: false},
        sync: {key: 'firn-graphs'}},
      hooks: {
        drawClear: [u => this.drawLines(u)], draw: [u => this.drawMarks(u)],
        setCursor: [u => {
          const left = u.cursor.left ?? -1;
          this.shared.hover = left < 0 ? null : u.posToVal(left, 'x');
          this.write();
        }],
      },
    }, this.data(), this.holder);
  }

  /* Times of A and B together; without B, those of A as they are. */
  private data(): uPlot.AlignedData {
    const table = (t: Trace): uPlot.AlignedData =>
      [t.column('time') as number[], ...this.lines.map(l => t.column(l.quantity))];
    const a = table(this.shared.traces.A);
    return this.shared.compare ? uPlot.join([a, table(this.shared.traces.B)]) : a;
  }

  private drawLines(u: uPlot): void {
    const {ctx, bbox} = u;
    ctx.fillStyle = this.shared.color('--line');
    for (const part of [0, 0.5, 1]) {
      ctx.fillRect(bbox.left, Math.round(bbox.top + part * (bbox.height - 1)), bbox.width, 1);
    }
  }

  private drawMarks(u: uPlot): void {
    const {ctx, bbox} = u, x = (t: number): number => bbox.left + bbox.width * Math.min(1, t / this.shared.span);
    const dots = devicePixelRatio || 1;
    if (this.name === 'step') {
      const trace = this.shared.traces.A, order = trace.shares().map(s => s.limit);
      for (const band of trace.limits()) {
        ctx.fillStyle = this.shared.color(BAND_TOKENS[Math.min(order.indexOf(band.limit), BAND_TOKENS.length - 1)]!);
        ctx.fillRect(x(band.from), bbox.top + bbox.height + dots, Math.max(1, x(band.to) - x(band.from)), BAND * dots);
      }
    }
    ctx.fillStyle = this.shared.color('--accent');
    ctx.fillRect(Math.round(x(this.shared.playhead)), bbox.top, Math.max(1, Math.round(dots)), bbox.height);
  }

  /* Values at the pointer or the playhead, and what is below the plot. */
  write(): void {
    const {traces, hover, playhead, span} = this.shared, s = traces.A.at(hover ?? playhead);
    this.lines.forEach((l, i) => {
      const value = s?.[l.quantity], known = value !== null && value !== undefined;
      const text = !known ? '–' : l.quantity === 'dt' ? `${brief(value / 1000, 's')}, limited by ${s!.limit}`
        : brief(value, this.name === 'momentum' ? '' : l.unit), sign = l.quantity === 'heat' && value! > 0 ? '+' : '';
      setText(this.values[i]!, `${l.label} ${sign}${text}`.trim());
    });
    setText(this.foot[0], '0 s');
    setText(this.foot[2], `${+span.toPrecision(3)} s`);
    if (this.name === 'energy') {
      const total = s && s.kinetic !== null ? s.kinetic + s.elastic! + s.height! : null;
      const parts = [total === null ? '' : `total ${brief(total, 'J')}`, this.shared.heat ? 'heat on its own scale' : '',
        this.shared.compare ? 'B dashed' : ''];
      setText(this.foot[1], parts.filter(Boolean).join(' · '));
    } else if (this.name === 'momentum') {
      setText(this.foot[1], 'kg m/s');
    } else if (this.name === 'step') {
      this.writeShares();
    }
  }

  private writeShares(): void {
    const shares = this.shared.traces.A.shares().slice(0, 3).map(x => `${x.limit} ${Math.round(100 * x.part)} %`);
    const key = shares.join();
    if (key === this.footKey) return;
    this.footKey = key;
    this.foot[1].replaceChildren(...shares.flatMap((text, i) => {
      const span = make('span', '', text);
      span.style.color = `var(${BAND_TOKENS[i]!})`;
      return i ? [' · ', span] : [span];
    }));
  }

  /* Shows and hides lines: after a change of dimension, heat or comparison. */
  arrange(): void {
    this.values.forEach((v, i) => { (v.parentElement as HTMLElement).hidden = !this.visible(this.lines[i]!); });
    this.plot?.destroy();
    this.plot = null;
    this.shown = '';
  }

  draw(): void {
    const width = this.holder.clientWidth;
    if (width === 0) return;
    if (!this.plot) {
      this.plot = this.build(width);
    } else if (this.plot.width !== width) {
      this.plot.setSize({width, height: HEIGHT});
    }
    const shown = `${this.shared.traces.A.version} ${this.shared.traces.B.version}`;
    if (shown !== this.shown) this.plot.setData(this.data());
    else this.plot.redraw(false);
    this.shown = shown;
    this.write();
  }

  destroy(): void {
    this.plot?.destroy();
    this.element.remove();
  }
}

export class Graphs {
  private readonly shared: Shared;
  private readonly graphs: Graph[];
  private readonly colors = new Map<string, string>();
  private readonly observer: ResizeObserver;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private drawn = 0;

  /* Fills `host`, which gets the class "graphs". */
  constructor(private readonly host: HTMLElement, options: GraphsOptions = {}) {
    addStyle();
    this.shared = {traces: {A: new Trace(), B: new Trace()}, playhead: 0, span: 1, compare: false, dimension: 3,
      heat: false, hover: null, color: token => this.color(token)};
    const names = options.graphs ?? ['energy', 'momentum', 'step', 'rate'];
    this.graphs = names.map(n => new Graph(n, this.shared, options.onSeek));
    host.classList.add('graphs');
    host.classList.toggle('four', this.graphs.length === 4);
    host.append(...this.graphs.map(g => g.element));
    for (const g of this.graphs) g.arrange();
    this.observer = new ResizeObserver(() => this.later());
    this.observer.observe(host);
  }

  private color(token: string): string {
    let value = this.colors.get(token);
    if (value === undefined) {
      value = getComputedStyle(this.host).getPropertyValue(token).trim() || '#888';
      this.colors.set(token, value);
    }
    return value;
  }

  /* A new scene. `seconds`: how long it is; graphs grow when it goes on. */
  reset(seconds: number, dimension: 2 | 3, heat: boolean): void {
    this.clear();
    Object.assign(this.shared, {span: Math.max(seconds, 1e-3), dimension, heat, playhead: 0, hover: null});
    for (const g of this.graphs) g.arrange();
    this.later();
  }

  /* `totals` of the event are needed for energies and momentum (`want`). */
  add(frame: FrameEvent, side: Side = 'A'): void {
    this.shared.traces[side].add(frame);
    if (side === 'A') this.shared.playhead = frame.time;
    this.shared.span = Math.max(this.shared.span, frame.time);
    this.later();
  }

  setPlayhead(time: number): void {
    if (time === this.shared.playhead) return;
    this.shared.playhead = time;
    this.later();
  }

  /* Play goes on from there: later samples go. */
  discardAfter(time: number): void {
    for (const trace of Object.values(this.shared.traces)) trace.discardFrom(time + 1e-9);
    this.later();
  }

  setCompare(on: boolean): void {
    if (on === this.shared.compare) return;
    this.shared.compare = on;
    this.shared.traces.B.clear();
    for (const g of this.graphs) g.arrange();
    this.later();
  }

  /* What was B's is A's. */
  keepB(): void {
    const {A, B} = this.shared.traces;
    Object.assign(this.shared.traces, {A: B, B: A});
    this.later();
  }

  clear(): void {
    for (const trace of Object.values(this.shared.traces)) trace.clear();
    this.later();
  }

  /* Colours of the page's theme have changed. */
  setTheme(): void {
    this.colors.clear();
    this.later();
  }

  /* After the host was shown again. */
  refresh(): void {
    this.later();
  }

  private later(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.drawn = performance.now();
      if (this.host.offsetParent !== null) for (const g of this.graphs) g.draw();
    }, Math.max(0, REDRAW_MS - (performance.now() - this.drawn)));
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
    for (const g of this.graphs) g.destroy();
  }
}
