/* Gravity as an arrow in the view, shown while the scene itself is selected: drag its tip to aim it. */
import type {App} from '../app.ts';
import type {Vec3} from '../protocol.ts';
import {setValue} from '../document/edit.ts';
import {valueAt, vector} from '../document/model.ts';
import {add, length, scale} from '../view/math.ts';
import {fromPixels} from './screen.ts';
import {figures} from '../ui/units.ts';

const SVG = 'http://www.w3.org/2000/svg';
const EARTH = 9.81,
  LENGTH = 56; /* px of the earth's */
const MOST = 100; /* m/s2 */

export class GravityArrow {
  readonly element = document.createElementNS(SVG, 'svg');
  private drawn = '';

  constructor(private readonly app: App) {
    this.element.setAttribute('class', 'gravity');
    this.element.setAttribute('viewBox', '-90 -90 180 180');
    this.element.setAttribute('role', 'group');
    this.element.setAttribute('aria-label', 'Gravity: drag the tip');
    this.element.innerHTML =
      '<line class="halo"/><line/><path/><circle r="11" class="tip"><title>Gravity: drag to aim</title></circle><circle r="3.5"/><text text-anchor="middle" class="halo"></text><text text-anchor="middle"></text>';
    this.element.querySelector('.tip')!.addEventListener('pointerdown', e => this.drag(e as PointerEvent));
    app.state.watch(['selection', 'mode', 'scene', 'tool'], () => this.update());
  }

  private value(): Vec3 {
    const {model} = this.app.doc;
    return vector(
      valueAt(model.root, ['simulation', 'gravity']),
      model.up === 'z' && model.dimension === 3 ? [0, 0, -EARTH] : [0, -EARTH, 0],
    );
  }

  update(): void {
    const {app} = this;
    const on =
      app.state.get('selection') === '' &&
      app.state.get('tool') === 'select' &&
      app.state.get('scene') !== null &&
      app.canEdit() &&
      !app.compare.on;
    this.element.toggleAttribute('hidden', !on);
    if (!on) return;
    const {target, distance} = app.view.camera,
      size = distance * 0.02,
      g = this.value();
    const o = app.view.project(target),
      p = app.view.project(add(target, scale(g, size / EARTH)));
    /* The length that g has on the screen, of a unit that does not depend on zoom. */
    const e = app.view.pixelAt(target),
      k = (LENGTH * e) / size,
      x = (p[0] - o[0]) * k,
      y = (p[1] - o[1]) * k;
    const signature = `${x.toFixed(1)} ${y.toFixed(1)} ${g.join()}`;
    if (signature === this.drawn) return;
    this.drawn = signature;
    const far = Math.hypot(x, y),
      s = far > 76 ? 76 / far : 1,
      tx = x * s,
      ty = y * s;
    for (const line of this.element.querySelectorAll('line')) {
      line.setAttribute('x2', tx.toFixed(1));
      line.setAttribute('y2', ty.toFixed(1));
    }
    const a = (Math.atan2(ty, tx) * 180) / Math.PI;
    this.element.querySelector('path')!.setAttribute('d', 'M7 0L-5 -5.500L-5 5.500Z');
    this.element
      .querySelector('path')!
      .setAttribute('transform', `translate(${tx.toFixed(1)} ${ty.toFixed(1)}) rotate(${a.toFixed(1)})`);
    this.element.querySelector('.tip')!.setAttribute('transform', `translate(${tx.toFixed(1)} ${ty.toFixed(1)})`);
    const above = ty > 0 ? -12 : 20;
    for (const text of this.element.querySelectorAll('text')) {
      text.textContent = `${figures(+length(g).toPrecision(3))} m/s²`;
      text.setAttribute('y', String(above));
    }
  }

  private drag(e: PointerEvent): void {
    e.preventDefault();
    e.stopPropagation();
    const {app} = this,
      from = this.value(),
      tip = e.currentTarget as SVGElement;
    tip.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => {
      const {target} = app.view.camera,
        perPixel = app.view.pixelAt(target);
      const by = scale(
        fromPixels(app.view, target, m.clientX - e.clientX, m.clientY - e.clientY, perPixel * 10),
        EARTH / LENGTH / perPixel,
      );
      const snap = m.ctrlKey ? 0 : 0.35;
      const to = add(from, by).map(v => (Math.abs(v) < snap ? 0 : +Math.max(-MOST, Math.min(MOST, v)).toFixed(2)));
      app.change(
        setValue(app.doc.text, ['simulation', 'gravity'], app.doc.model.dimension === 2 ? to.slice(0, 2) : to),
        'Aim gravity',
        'gravity',
      );
      this.update();
    };
    const up = () => {
      tip.removeEventListener('pointermove', move);
      tip.removeEventListener('pointerup', up);
      app.doc.settle();
    };
    tip.addEventListener('pointermove', move);
    tip.addEventListener('pointerup', up);
  }
}
