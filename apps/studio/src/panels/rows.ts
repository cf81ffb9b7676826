/* Rows of the properties: one parameter each, made from the engine's table. A row knows how to show the
 * scene's value; giving it another is the caller's. */
import type {Param, Vec3} from '../protocol.ts';
import {el, button, Segment, setText, setAttribute} from '../ui/dom.ts';
import {icon} from '../ui/icons.ts';
import {NumberField, Slider, type Range} from '../ui/number.ts';
import {readNumber, showWithUnit, spellUnit, writeNumber} from '../ui/units.ts';
import {Raw, type Value} from '../document/edit.ts';
import type {Path} from '../document/path.ts';
import {vector} from '../document/model.ts';
import {hintOf, labelOf, rangeOf} from './params.ts';

export type RowSource = {
  param: Param;
  path: Path;
  label?: string;
  axes: 2 | 3;
  resolution: number;
  live: boolean; /* acts without a restart */
  base: unknown; /* what Reset goes back to; undefined: the scene need not give it */
  baseWord: 'Preset' | 'Default' | 'As opened';
  marks?: boolean; /* amber where it differs from the base; by default it does */
  range?: Range; /* of its slider */
  written?(): string; /* an expression, as the scene has it; "" for none */
  read(): unknown; /* the scene's value, undefined if it gives none */
  give(value: Value | null, done: boolean): void; /* null: as if not given */
};

export interface Row {
  element: HTMLElement;
  name: string; /* for search */
  update(): void;
  showTime?(): void; /* another time is on screen */
}

const same = (a: unknown, b: unknown): boolean => {
  const x = readNumber(a),
    y = readNumber(b);
  if (x !== null && y !== null) return Math.abs(x - y) <= 1e-6 * Math.max(Math.abs(x), Math.abs(y));
  if (Array.isArray(a) && Array.isArray(b)) return vector(a).every((v, i) => same(v, vector(b)[i]));
  return a === b;
};

/* What all rows share: label with the restart's sign, reset button, amber mark and help. */
abstract class Base implements Row {
  readonly element: HTMLElement;
  readonly name: string;
  protected readonly label: string;
  private readonly resetButton: HTMLButtonElement;
  private readonly formula = el('span', {class: 'formula', hidden: true}, '\u0192');

  constructor(
    protected readonly s: RowSource,
    id: string | null,
    wide: boolean,
  ) {
    this.label = s.label ?? labelOf(s.param.name);
    this.name = `${this.label} ${s.param.name} ${s.param.help}`.toLowerCase();
    const unit = s.param.kind === 'vector' && s.param.unit ? `, ${spellUnit(s.param.unit)}` : '';
    this.resetButton = button(
      {icon: 'revert', label: `Reset ${this.label}`, class: 'small reset', do: 'reset', attributes: {tabindex: -1}},
      () => this.reset(),
    );
    this.element = el(
      'div',
      {class: 'row' + (wide ? ' wide' : ''), 'data-p': s.param.name},
      el(
        id ? 'label' : 'span',
        {class: id ? null : 'lab', for: id, ondblclick: () => this.reset()},
        this.label + unit,
        this.formula,
        s.live ? null : el('span', {class: 'wait', title: 'Needs a restart'}, icon('reset')),
      ),
    );
    (this.element as HTMLElement & {source?: RowSource}).source = s;
  }

  protected finish(...content: Node[]): void {
    this.element.append(...content, this.resetButton);
  }

  protected reset(): void {
    const {base} = this.s;
    this.s.give(base === undefined || this.s.baseWord !== 'As opened' ? null : (base as Value), true);
  }

  /* The value in force: the scene's, or what holds if it gives none. */
  protected now(): unknown {
    return this.s.read() ?? this.s.base;
  }

  update(): void {
    const given = this.s.read();
    const changed =
      this.s.base !== undefined && this.s.marks !== false ? given !== undefined && !same(given, this.s.base) : false;
    if (this.element.classList.contains('changed') !== changed) this.element.classList.toggle('changed', changed);
    const written = this.s.written?.() ?? '';
    this.formula.hidden = written === '';
    this.formula.title = written;
    const to = describeValue(this.s, this.s.base);
    setAttribute(this.resetButton, 'title', to ? `Reset to ${to}` : 'Reset');
    this.show(this.now());
  }

  protected abstract show(value: unknown): void;
}

export function describeValue(s: RowSource, value: unknown): string {
  if (value === undefined) return '';
  const n = readNumber(value);
  if (n !== null) return showWithUnit(n, s.param.unit, s.param.kind);
  return Array.isArray(value) ? value.join(', ') : String(value);
}

let ids = 0;

class NumberRow extends Base {
  private readonly field: NumberField;
  private readonly slider: Slider;

  constructor(s: RowSource) {
    const id = `p${++ids}`;
    super(s, id, false);
    const first = readNumber(s.read() ?? s.base),
      base = readNumber(s.base);
    const range = (s.range = rangeOf(s.param, first, s.resolution));
    const give = (v: number, done: boolean) => {
      const text = writeNumber(v, s.param.kind);
      s.give(new Raw(text), done);
    };
    this.field = new NumberField({label: this.label, unit: s.param.unit, kind: s.param.kind, range, oninput: give});
    this.field.input.id = id;
    this.slider = new Slider(this.label, range, give);
    this.slider.notch(base);
    this.finish(this.slider.element, this.field.element);
    this.update();
  }

  protected show(value: unknown): void {
    const n = readNumber(value);
    this.element.classList.toggle('none', n === null);
    if (n === null) {
      this.field.clear(typeof value === 'string' ? value : undefined);
      return;
    }
    this.field.set(n);
    this.slider.set(n);
  }
}

class VectorRow extends Base {
  private readonly fields: NumberField[];

  constructor(s: RowSource) {
    super(s, null, true);
    const range = {...rangeOf({...s.param, kind: 'real'}, null, s.resolution)};
    const span =
      s.param.unit === 'm'
        ? s.resolution * 100
        : s.param.unit.startsWith('degrees')
          ? 360
          : s.param.name === 'color'
            ? 1
            : 10;
    const ends = {...range, lo: s.param.name === 'color' ? 0 : -span, hi: span, log: false};
    this.fields = ['x', 'y', 'z']
      .slice(0, s.axes)
      .map(
        (axis, i) =>
          new NumberField({
            label: `${this.label} ${axis}`,
            unit: s.param.unit,
            kind: s.param.name === 'count' ? 'whole' : 'real',
            range: ends,
            axis,
            oninput: (v, done) => this.give(i, v, done),
          }),
      );
    this.finish(el('span', {class: 'vec'}, ...this.fields.map(f => f.element)));
    this.update();
  }

  private give(axis: number, v: number, done: boolean): void {
    const now = vector(this.now(), vector(this.s.base)),
      given = this.s.read();
    now[axis] = +v.toPrecision(6);
    this.s.give(
      Array.isArray(given) ? now.slice(0, Math.max(given.length, this.s.axes)) : now.slice(0, this.s.axes),
      done,
    );
  }

  protected show(value: unknown): void {
    const v = vector(value, vector(this.s.base, (this.s.param.name === 'scale' ? [1, 1, 1] : [0, 0, 0]) as Vec3));
    this.fields.forEach((f, i) => {
      const own: unknown = Array.isArray(value) ? value[i] : undefined;
      if (value === undefined) f.clear();
      else if (typeof own === 'string' && readNumber(own) === null) f.clear(own);
      else f.set(v[i]);
    });
  }
}

class ChoiceRow extends Base {
  private segment: Segment<string> | null = null;
  private select: HTMLSelectElement | null = null;
  private swatch: HTMLElement | null = null;

  /* `color`: of a name, for a dot beside it. */
  constructor(
    s: RowSource,
    options: string[],
    names: boolean,
    private readonly color?: (name: string) => string,
  ) {
    super(s, null, true);
    const short = !names && options.length <= 4 && options.join('').length <= 26;
    if (short) {
      this.segment = new Segment(
        this.label,
        options.map(value => ({value, text: labelOf(value)})),
        '',
        v => s.give(v, true),
      );
      this.finish(this.segment.element);
    } else {
      if (color) this.swatch = el('i', {class: 'sw'});
      this.select = el(
        'select',
        {class: 'sel', 'aria-label': this.label},
        ...options.map(o => el('option', {value: o}, o === '' ? 'None' : names ? o : labelOf(o))),
      );
      this.select.addEventListener('change', () => s.give(this.select!.value, true));
      this.finish(el('span', {class: 'holds'}, ...(this.swatch ? [this.swatch] : []), this.select));
    }
    this.update();
  }

  protected show(value: unknown): void {
    const text = value === undefined ? '' : String(value);
    if (this.segment) this.segment.value = text;
    if (this.select && this.select.value !== text) this.select.value = text;
    if (this.swatch && this.color) this.swatch.style.background = this.color(text);
  }
}

class FlagRow extends Base {
  private readonly segment: Segment<'true' | 'false'>;

  constructor(s: RowSource) {
    super(s, null, true);
    this.segment = new Segment(
      this.label,
      [
        {value: 'true', text: 'Yes'},
        {value: 'false', text: 'No'},
      ],
      'true',
      v => s.give(v === 'true', true),
    );
    this.finish(this.segment.element);
    this.update();
  }

  protected show(value: unknown): void {
    this.segment.value = String(value) === 'true' ? 'true' : 'false';
  }
}

class TextRow extends Base {
  private readonly input: HTMLInputElement;

  constructor(s: RowSource) {
    super(s, null, true);
    this.input = el('input', {autocomplete: 'off', spellcheck: 'false', 'aria-label': this.label});
    this.input.addEventListener('change', () => s.give(this.input.value === '' ? null : this.input.value, true));
    this.finish(el('span', {class: 'num text'}, this.input));
    this.update();
  }

  protected show(value: unknown): void {
    const text = value === undefined ? '' : String(value);
    if (document.activeElement !== this.input && this.input.value !== text) this.input.value = text;
  }
}

/* null: a value with a structure of its own, which only the text shows. */
export function makeRow(s: RowSource, options?: string[], color?: (name: string) => string): Row | null {
  if (options) return new ChoiceRow(s, options, true, color);
  if (s.param.choices?.length) return new ChoiceRow(s, s.param.choices, false);
  switch (s.param.kind) {
    case 'real':
    case 'temperature':
    case 'whole':
      return new NumberRow(s);
    case 'vector':
      return new VectorRow(s);
    case 'flag':
      return new FlagRow(s);
    case 'text':
      return new TextRow(s);
    default:
      return null;
  }
}

/* ---- help of a row, beside the panel ---- */

export class RowTip {
  private readonly element = el('div', {class: 'pop tip', role: 'tooltip', id: 'row-tip', hidden: true});
  private shown: HTMLElement | null = null;
  private timer = 0;

  constructor(
    private readonly app: HTMLElement,
    panel: HTMLElement,
  ) {
    app.append(this.element);
    panel.addEventListener('pointerover', e => {
      const label = e.pointerType === 'mouse' ? (e.target as Element).closest('.row>label,.row>.lab') : null;
      clearTimeout(this.timer);
      if (label) this.timer = window.setTimeout(() => this.show(label.parentElement as HTMLElement), 150);
      else if (this.shown && !this.shown.contains(document.activeElement)) this.hide();
    });
    panel.addEventListener('pointerleave', () => this.hide());
    panel.addEventListener('focusin', e => {
      const row = (e.target as Element).closest<HTMLElement>('.row');
      if (row && (e.target as Element).matches(':focus-visible')) this.show(row);
      else this.hide();
    });
    panel.addEventListener('focusout', () => this.hide());
    panel.addEventListener('scroll', () => this.hide(), true);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.shown?.querySelectorAll('[aria-describedby=row-tip]').forEach(c => c.removeAttribute('aria-describedby'));
    this.shown = null;
    this.element.hidden = true;
  }

  private show(row: HTMLElement): void {
    const s = (row as HTMLElement & {source?: RowSource}).source;
    if (!s || innerWidth < 720) return;
    this.hide();
    this.shown = row;
    row.querySelectorAll('input,select').forEach(c => c.setAttribute('aria-describedby', 'row-tip'));
    const facts: [string, string][] = [];
    const base = describeValue(s, s.base);
    if (base) facts.push([s.baseWord, base]);
    const written = s.written?.();
    if (written) facts.push(['Written', written]);
    if (s.range) {
      const {lo, hi, log} = s.range,
        text = (v: number) => showWithUnit(v, s.param.unit, s.param.kind);
      facts.push(['Range', `${text(lo)} to ${text(hi)}${log ? ', logarithmic' : ''}`]);
    }
    facts.push(['Applies', s.live ? 'at once' : 'after a restart']);
    const help = s.param.help ? s.param.help[0].toUpperCase() + s.param.help.slice(1) + '. ' : '';
    this.element.replaceChildren(
      el('b', {}, s.label ?? labelOf(s.param.name), el('code', {}, s.param.name)),
      el('p', {}, help + hintOf(s.param.name)),
      el('dl', {}, ...facts.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
    );
    this.element.hidden = false;
    const a = this.app.getBoundingClientRect(),
      b = row.getBoundingClientRect(),
      p = row.closest('.panel')!.getBoundingClientRect();
    this.element.style.left = `${p.left - a.left - this.element.offsetWidth - 8}px`;
    this.element.style.top = `${Math.max(60, Math.min(b.top - a.top - 8, a.height - this.element.offsetHeight - 16))}px`;
  }
}

/* ---- sections of rows ---- */

export class SectionView {
  readonly element: HTMLElement;
  private readonly head: HTMLButtonElement;
  private readonly count = el('span', {class: 'n'});

  constructor(
    title: string,
    o: {shut?: boolean; add?: {label: string; run: (at: HTMLElement) => void}; remember?: Map<string, boolean>} = {},
  ) {
    const shut = o.remember?.get(title) ?? o.shut ?? false;
    this.head = el(
      'button',
      {
        type: 'button',
        'aria-expanded': String(!shut),
        onclick: () => {
          const now = this.element.classList.toggle('shut');
          setAttribute(this.head, 'aria-expanded', !now);
          o.remember?.set(title, now);
        },
      },
      icon('down'),
      title,
      this.count,
    );
    const add = o.add;
    this.element = el(
      'section',
      {class: 'sec' + (shut ? ' shut' : ''), 'data-title': title},
      el(
        'div',
        {class: 'sec-h'},
        this.head,
        add &&
          button({icon: 'plus', label: add.label, class: 'small', attributes: {'aria-haspopup': 'menu'}}, e =>
            add.run(e.currentTarget as HTMLElement),
          ),
      ),
    );
  }

  set(count: string): void {
    setText(this.count, count);
  }

  append(...content: Node[]): void {
    this.element.append(...content);
  }

  open(): void {
    this.element.classList.remove('shut');
    setAttribute(this.head, 'aria-expanded', true);
  }
}
