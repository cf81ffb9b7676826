/* A number to type, to drag sideways and to step with arrow keys, and a slider that goes with it. */
import {el, clamp, setText} from './dom.ts';
import {show, parse, type Shown} from './units.ts';

export type Range = {
  lo: number;
  hi: number;
  log: boolean; /* of the slider */
  least: number;
  most: number; /* of what may be typed */
};
export type Input = (value: number, done: boolean) => void; /* done: the drag has ended, or it was typed */

export function toPlace(r: Range, v: number): number {
  if (r.log) return clamp(Math.log(Math.max(v, r.lo * 1e-6) / r.lo) / Math.log(r.hi / r.lo), 0, 1);
  return clamp((v - r.lo) / (r.hi - r.lo), 0, 1);
}

export function toValue(r: Range, t: number): number {
  return r.log ? r.lo * Math.pow(r.hi / r.lo, t) : r.lo + t * (r.hi - r.lo);
}

/* Rounds to what a step along the range can tell apart. */
function tidy(r: Range, v: number, fine: boolean): number {
  if (r.log) return +v.toPrecision(fine ? 4 : 3);
  const step = Math.pow(10, Math.floor(Math.log10((r.hi - r.lo) / 100)) - (fine ? 1 : 0));
  return +(Math.round(v / step) * step).toPrecision(12);
}

const speed = (e: {shiftKey: boolean; altKey: boolean}): number => (e.shiftKey ? 10 : e.altKey ? 0.1 : 1);
const DRAG_START_PX = 3;
const PLACE_PER_PX = 0.002;

export class NumberField {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly unitText = el('span', {class: 'u'});
  private shown: Shown; /* without text: there is no value */
  private value = 0;

  constructor(
    private readonly o: {label: string; unit: string; kind: string; range: Range; axis?: string; oninput: Input},
  ) {
    this.shown = {...this.show(0), text: ''};
    this.input = el('input', {inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false', 'aria-label': o.label});
    this.element = el(
      'span',
      {class: 'num'},
      o.axis && el('span', {class: `ax ax-${o.axis}`, 'aria-hidden': 'true'}, o.axis),
      this.input,
      o.axis ? null : this.unitText,
    );
    this.input.addEventListener('change', () => this.typed());
    this.input.addEventListener('keydown', e => this.key(e));
    this.input.addEventListener('blur', () => (this.shown.text ? this.set(this.value) : this.clear()));
    this.element.addEventListener('pointerdown', e => this.press(e));
  }

  /* Fields beside each other share a label, and so its unit. */
  private show(value: number): Shown {
    return show(value, this.o.unit, this.o.kind, this.o.axis !== undefined);
  }

  /* No value: what the engine finds by itself, or an expression that changes with time. */
  clear(placeholder = 'auto'): void {
    this.shown = {...this.show(0), text: ''};
    this.input.value = this.input.defaultValue = '';
    this.input.placeholder = placeholder;
    setText(this.unitText, placeholder === 'auto' ? this.shown.unit : '');
  }

  set(value: number): void {
    this.value = value;
    this.shown = this.show(value);
    const focused = document.activeElement === this.input && this.input.value !== this.input.defaultValue;
    if (!focused && this.input.value !== this.shown.text) this.input.value = this.input.defaultValue = this.shown.text;
    setText(this.unitText, this.shown.unit);
    this.input.setAttribute('aria-label', this.shown.unit ? `${this.o.label}, ${this.shown.unit}` : this.o.label);
  }

  private give(value: number, done: boolean): void {
    const {least, most} = this.o.range;
    value = clamp(this.o.kind === 'whole' ? Math.round(value) : value, least, most);
    this.value = value;
    this.shown = this.show(value);
    this.input.value = this.input.defaultValue = this.shown.text;
    setText(this.unitText, this.shown.unit);
    this.o.oninput(value, done);
  }

  private typed(): void {
    const v = parse(this.input.value, this.o.unit, this.o.kind, this.shown);
    this.input.value = this.input.defaultValue = this.shown.text;
    if (v !== null && (v !== this.value || !this.shown.text)) this.give(v, true);
  }

  /* The value a step on: places on a slider, or a tenth of the size where there is no end. */
  private stepped(from: number, places: number, fine: boolean): number {
    const r = this.o.range;
    if (this.o.kind === 'whole')
      return from + Math.sign(places) * Math.max(1, Math.round(Math.abs(places) * (r.hi - r.lo)));
    if (from < r.lo || from > r.hi) return tidy(r, from * (1 + places), fine);
    return clamp(tidy(r, toValue(r, toPlace(r, from) + places), fine), Math.min(r.lo, from), Math.max(r.hi, from));
  }

  private key(e: KeyboardEvent): void {
    const way = {ArrowUp: 1, ArrowDown: -1}[e.key];
    if (way) {
      e.preventDefault();
      this.give(this.stepped(this.value, way * 0.01 * speed(e), e.altKey), true);
      this.input.select();
    } else if (e.key === 'Enter') {
      this.typed();
      this.input.select();
    } else if (e.key === 'Escape') {
      this.input.value = this.input.defaultValue;
      this.input.blur();
      e.stopPropagation();
    }
  }

  private press(e: PointerEvent): void {
    if (document.activeElement === this.input || e.button !== 0) return;
    const x0 = e.clientX,
      from = this.value;
    let moved = false;
    e.preventDefault();
    this.element.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => {
      if (!moved && Math.abs(m.clientX - x0) < DRAG_START_PX) return;
      moved = true;
      const places = (m.clientX - x0) * PLACE_PER_PX * speed(m);
      const r = this.o.range;
      const v =
        this.o.kind === 'whole' ? from + places * Math.max(r.hi - r.lo, 50) : this.stepped(from, places, m.altKey);
      this.give(v, false);
    };
    const up = () => {
      this.element.removeEventListener('pointermove', move);
      this.element.removeEventListener('pointerup', up);
      this.element.removeEventListener('pointercancel', up);
      if (moved) {
        this.o.oninput(this.value, true);
      } else {
        this.input.focus();
        this.input.select();
      }
    };
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', up);
    this.element.addEventListener('pointercancel', up);
  }
}

const STEPS = 1000;

export class Slider {
  readonly input: HTMLInputElement;
  readonly element: HTMLElement;

  constructor(
    label: string,
    private readonly range: Range,
    oninput: Input,
    tabStop = false,
  ) {
    this.input = el('input', {
      type: 'range',
      min: 0,
      max: STEPS,
      step: 1,
      'aria-label': label,
      tabindex: tabStop ? 0 : -1,
    });
    this.element = el('span', {class: 'sl'}, this.input);
    const read = () => tidy(range, toValue(range, Number(this.input.value) / STEPS), false);
    this.input.addEventListener('input', () => {
      this.fill();
      oninput(read(), false);
    });
    this.input.addEventListener('change', () => oninput(read(), true));
  }

  set(value: number): void {
    const place = String(Math.round(toPlace(this.range, value) * STEPS));
    if (this.input.value === place && this.input.style.getPropertyValue('--f')) return;
    this.input.value = place;
    this.fill();
  }

  notch(value: number | null): void {
    this.element.style.setProperty('--d', value === null ? '-9px' : along(toPlace(this.range, value)));
  }

  private fill(): void {
    this.input.style.setProperty('--f', along(Number(this.input.value) / STEPS));
  }
}

const along = (t: number): string => `calc(3px + (100% - 6px) * ${t.toFixed(4)})`;
