/* The card of a probed particle, with a line to it that follows. */
import type {App} from '../app.ts';
import {el, button, clamp, replace, setText, isPhone} from '../ui/dom.ts';
import {figures, showWithUnit} from '../ui/units.ts';
import {labelOf} from '../panels/params.ts';
import type {Pane} from '../pane.ts';

type Values = Record<string, number | number[] | string>;

const ROWS: [string, string, string, string][] = [
  ['object', 'Object', '', ''],
  ['material', 'Material', '', ''],
  ['P', 'Position', 'm', ''],
  ['v', 'Velocity', 'm/s', ''],
  ['speed', 'Speed', 'm/s', ''],
  ['pressure', 'Pressure', 'Pa', ''],
  ['J', 'Volume ratio J', '', ''],
  ['Jp', 'Packing Jp', '', ''],
  ['density', 'Density', 'kg/m3', ''],
  ['temperature', 'Temperature', 'K', 'temperature'],
  ['liquid', 'Liquid', '', ''],
  ['mass', 'Mass', 'kg', ''],
];
const UPDATE_EVERY_MS = 100;

export class ProbeCard {
  readonly element = el('div', {class: 'probe card', role: 'dialog', hidden: true});
  readonly pin = el('div', {class: 'pin', hidden: true});
  private readonly line = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private readonly title = el('span', {class: 'grow'});
  private readonly list = el('dl');
  pane: Pane; /* that the particle was chosen in */
  private fields = new Map<string, HTMLElement>();
  private values: Values = {}; /* the newest */
  private last = 0; /* ms of the clock when values were written */
  private timer = 0;
  private index = -1;

  constructor(private readonly app: App) {
    this.pane = app.pane;
    this.line.setAttribute('class', 'leadline');
    app.viewElement.append(this.line);
    this.element.append(
      el(
        'h3',
        {},
        this.title,
        button({icon: 'x', label: 'Close', class: 'small', do: 'close-probe'}, () => app.setProbe(null)),
      ),
      this.list,
    );
    app.state.watch(['probe'], () => {
      const id = app.state.get('probe');
      this.element.hidden = this.pin.hidden = id === null;
      if (id === null) {
        this.line.innerHTML = '';
        this.index = -1;
        for (const view of app.views) view.highlight(-1);
      } else {
        setText(this.title, `Particle ${id.toLocaleString('en')}`);
        this.element.setAttribute('aria-label', `Particle ${id}`);
      }
    });
  }

  show(values: Values | undefined, pane: Pane): void {
    if (!values || pane !== this.pane || this.element.hidden) return;
    this.values = values;
    clearTimeout(this.timer);
    const wait = this.last + UPDATE_EVERY_MS - performance.now();
    if (wait > 0) this.timer = window.setTimeout(() => this.write(), wait);
    else this.write();
  }

  private write(): void {
    const {values} = this;
    this.last = performance.now();
    const rows = ROWS.filter(([key]) => values[key] !== undefined);
    if (rows.some(([key]) => !this.fields.has(key)) || rows.length !== this.fields.size) {
      this.fields = new Map(rows.map(([key]) => [key, el('dd')]));
      replace(
        this.list,
        ...rows.flatMap(([key, label]) => [el('dt', {}, label || labelOf(key)), this.fields.get(key)!]),
      );
    }
    for (const [key, , unit, kind] of rows) setText(this.fields.get(key)!, this.text(values[key], unit, kind));
  }

  private text(v: number | number[] | string, unit: string, kind: string): string {
    if (typeof v === 'string') return v;
    if (typeof v === 'number') return showWithUnit(+v.toPrecision(4), unit, kind);
    return (
      v
        .slice(0, this.app.doc.model.dimension)
        .map(x => figures(+x.toFixed(3)))
        .join(', ') + (unit ? ` ${unit}` : '')
    );
  }

  /* Puts pin, line and card where the particle is. */
  follow(): void {
    const id = this.app.state.get('probe');
    if (id === null) return;
    this.index = this.pane.indexOf(id, this.index);
    const at = this.index >= 0 ? this.pane.placeOf(this.index) : null;
    this.pane.view.highlight(this.index);
    this.pin.hidden = !at || isPhone();
    if (!at) {
      this.line.innerHTML = '';
      return;
    }
    const [x, y] = this.pane.view.project(at),
      v = this.app.viewElement.getBoundingClientRect(),
      s = this.app.stage.getBoundingClientRect();
    const px = x + v.left - s.left,
      py = y + v.top - s.top;
    this.pin.style.left = `${px}px`;
    this.pin.style.top = `${py}px`;
    if (isPhone()) return;
    const w = this.element.offsetWidth,
      h = this.element.offsetHeight;
    /* In the farthest corner of the stage, where it covers least of what is looked at. */
    const left = px > s.width / 2 ? 0 : Math.max(0, s.width - w),
      top = py > s.height / 2 ? 0 : Math.max(0, s.height - h - 60);
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
    const cx = clamp(px, left, left + w) + s.left - v.left,
      cy = clamp(py, top, top + h) + s.top - v.top;
    const inside = px > left && px < left + w && py > top && py < top + h;
    this.line.innerHTML = inside
      ? ''
      : `<line x1="${cx}" y1="${cy}" x2="${x}" y2="${y}"/><line x1="${cx}" y1="${cy}" x2="${x}" y2="${y}"/>`;
  }
}
