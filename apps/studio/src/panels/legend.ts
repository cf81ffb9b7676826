/* The legend of colours, with ends that can be typed. */
import type {App} from '../app.ts';
import {el, button, setText, setAttribute} from '../ui/dom.ts';
import {showMenu} from '../ui/menu.ts';
import {figures, spellUnit, readNumber} from '../ui/units.ts';
import {colorLabel} from './overlays.ts';

const TICKS = 5;

export class Legend {
  readonly element: HTMLElement;
  private readonly name = el('span', {class: 'grow'});
  private readonly ramp = el('div', {class: 'ramp'});
  private readonly ticks = Array.from({length: TICKS}, () => el('span'));
  private drawn = '';

  constructor(private readonly app: App) {
    this.element = el(
      'div',
      {class: 'legend card', hidden: true},
      el(
        'div',
        {class: 'hd'},
        this.name,
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
      ),
      this.ramp,
      el('div', {class: 'tk'}, ...this.ticks),
    );
  }

  update(): void {
    const l = this.app.view.legend;
    this.element.hidden = !l;
    if (!l) return;
    const celsius = l.unit === 'K' && l.name === 'temperature';
    const shift = celsius ? 273.15 : 0,
      unit = celsius ? '°C' : spellUnit(l.unit);
    const signature = [l.name, unit, l.lo.toPrecision(3), l.hi.toPrecision(3), ...l.stops].join();
    if (signature === this.drawn) return;
    this.drawn = signature;
    const title = colorLabel(l.name) + (unit ? `, ${unit}` : '');
    setText(this.name, title);
    setAttribute(this.element, 'aria-label', `Legend: ${title}`);
    this.ramp.style.background = `linear-gradient(90deg,${l.stops.join(',')})`;
    const even = l.hi - l.lo < 1e-6 * Math.max(1, Math.abs(l.hi)); /* one value everywhere */
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
