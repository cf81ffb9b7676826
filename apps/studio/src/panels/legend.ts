/* The legend of the particles' colours, with ends that can be typed, and of the grid's nodes. */
import type {App} from '../app.ts';
import {el, button, setText, setAttribute} from '../ui/dom.ts';
import {showMenu} from '../ui/menu.ts';
import {figures, spellUnit, readNumber} from '../ui/units.ts';
import {colorLabel} from './overlays.ts';

const TICKS = 5;

type Shown = NonNullable<App['view']['legend']>;

/* A ramp with its name and numbers. */
class Ramp {
  readonly element: HTMLElement;
  private readonly name = el('span', {class: 'grow'});
  private readonly ramp = el('div', {class: 'ramp'});
  private readonly ticks = Array.from({length: TICKS}, () => el('span'));
  private drawn = '';
  title = '';

  constructor(private readonly prefix: string, range?: HTMLButtonElement) {
    this.element = el(
      'div',
      {hidden: true},
      el('div', {class: 'hd'}, this.name, range),
      this.ramp,
      el('div', {class: 'tk'}, ...this.ticks),
    );
  }

  update(l: Shown | null): void {
    this.element.hidden = !l;
    if (!l) return;
    const celsius = l.unit === 'K' && l.name === 'temperature';
    const shift = celsius ? 273.15 : 0,
      unit = celsius ? '°C' : spellUnit(l.unit);
    const signature = [l.name, unit, l.lo.toPrecision(3), l.hi.toPrecision(3), ...l.stops].join();
    if (signature === this.drawn) return;
    this.drawn = signature;
    this.title = this.prefix + colorLabel(l.name) + (unit ? `, ${unit}` : '');
    setText(this.name, this.title);
    this.ramp.style.background = `linear-gradient(90deg,${l.stops.join(',')})`;
    const even = l.hi - l.lo <= 1e-6 * (l.lo === 0 ? l.hi : Math.max(1, Math.abs(l.hi))); /* one value everywhere */
    this.ticks.forEach((t, i) =>
      setText(
        t,
        even
          ? i
            ? ''
            : figures(+((l.lo + l.hi) / 2 - shift).toFixed(6), 3)
          : figures(+(l.lo - shift + ((l.hi - l.lo) * i) / (TICKS - 1)).toPrecision(2), 2),
      ),
    );
  }
}

export class Legend {
  readonly element: HTMLElement;
  private readonly particles: Ramp;
  private readonly nodes = new Ramp('Nodes: ');

  constructor(private readonly app: App) {
    this.particles = new Ramp(
      '',
      button(
        {
          icon: 'dials',
          label: 'Range of the colours',
          class: 'small',
          do: 'range',
          attributes: {'aria-haspopup': 'menu'},
        },
        e => this.menu(e.currentTarget as HTMLElement),
      ),
    );
    this.element = el('div', {class: 'legend card', hidden: true}, this.particles.element, this.nodes.element);
  }

  update(): void {
    const {legend, nodeLegend} = this.app.view;
    this.element.hidden = !legend && !nodeLegend;
    if (this.element.hidden) return;
    this.particles.update(legend);
    this.nodes.update(nodeLegend);
    const shown = [legend && this.particles.title, nodeLegend && this.nodes.title].filter(Boolean);
    setAttribute(this.element, 'aria-label', `Legend: ${shown.join('; ')}`);
  }

  private menu(at: HTMLElement): void {
    const l = this.app.view.legend;
    if (!l) return;
    const celsius = l.unit === 'K' && l.name === 'temperature',
      shift = celsius ? 273.15 : 0;
    const field = (label: string, value: number) =>
      el('input', {value: +(value - shift).toPrecision(3), 'aria-label': label, inputmode: 'decimal'});
    const lo = field('Least', l.lo),
      hi = field('Most', l.hi);
    const give = () => {
      const a = readNumber(lo.value),
        b = readNumber(hi.value);
      if (a !== null && b !== null && b > a) this.app.state.set({range: [a + shift, b + shift]});
    };
    for (const f of [lo, hi]) {
      f.addEventListener('change', give);
      f.addEventListener('keydown', e => {
        if (e.key !== 'Escape' && e.key !== 'Tab') e.stopPropagation();
      });
    }
    showMenu(
      'Range of the colours',
      [
        {kind: 'title', text: 'Range'},
        {
          kind: 'element',
          element: el(
            'div',
            {class: 'ends'},
            el('span', {class: 'num text'}, lo),
            el('span', {class: 'sub'}, 'to'),
            el('span', {class: 'num text'}, hi),
          ),
        },
        {
          kind: 'check',
          text: 'Automatic',
          on: this.app.state.get('range') === null,
          run: on => this.app.state.set({range: on ? null : [l.lo, l.hi]}),
        },
      ],
      at,
    );
  }
}
