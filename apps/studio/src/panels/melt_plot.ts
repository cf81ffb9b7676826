/* A small plot of a melting material: its yield stress by temperature, solid, melting and melt. */
import {el} from '../ui/dom.ts';
import {show} from '../ui/units.ts';

const W = 256,
  TOP = 6,
  BOTTOM = 54;

export function meltPlot(value: (name: string) => number): {element: HTMLElement; update: () => void} {
  const holder = el('div'),
    element = el('div', {class: 'plot'}, el('div', {class: 'sub'}, 'Strength by temperature'), holder);
  let before = '';
  const update = () => {
    const point = value('melting_point'),
      range = Math.max(0, value('melting_range')),
      solid = value('yield'),
      melt = value('liquid_yield');
    const soft = value('softening'),
      signature = [point, range, solid, melt, soft].join();
    if (signature === before) return;
    before = signature;
    const lo = point - Math.max(30, 2 * range),
      hi = point + range + Math.max(40, 2 * range);
    const x = (t: number) => ((t - lo) / (hi - lo)) * W,
      end = point + range;
    /* By powers of ten, from a pascal up, so that a melt's yield shows beside a solid's. */
    const top = Math.log10(1 + Math.max((solid * (1 + Math.exp(Math.min(4, soft * 30)))) / 2, melt, 10));
    const y = (stress: number) => BOTTOM - (BOTTOM - TOP) * Math.min(1, Math.log10(1 + Math.max(0, stress)) / top);
    const line = (from: number, to: number, f: (t: number) => number) =>
      Array.from({length: 17}, (_, i) => {
        const t = from + ((to - from) * i) / 16;
        return `${i ? 'L' : 'M'}${x(t).toFixed(1)} ${y(f(t)).toFixed(1)}`;
      }).join('');
    const strength = (t: number) => solid * Math.exp(soft * Math.min(point - t, 40));
    const c = (k: number) => show(k, 'K', 'temperature');
    holder.innerHTML = `<svg viewBox="0 0 ${W} 72" height="72" role="img" aria-label="Strength against temperature: melts from ${c(point).text} to ${c(end).text} degrees">
      <rect x="${x(point)}" y="4" width="${Math.max(2, x(end) - x(point))}" height="${BOTTOM - 4}" fill="var(--c2)" opacity=".2"/>
      <path d="${line(lo, point, strength)}" fill="none" stroke="var(--text-2)" stroke-width="1.5"/>
      <path d="${line(point, Math.max(end, point + (hi - lo) / 200), t => solid + ((melt - solid) * (t - point)) / Math.max(range, 1e-3))}" fill="none" stroke="var(--c2)" stroke-width="1.5"/>
      <path d="${line(end, hi, () => melt)}" fill="none" stroke="var(--accent)" stroke-width="1.5"/>
      <path d="M0 56.500h${W}" stroke="var(--line-2)"/>
      <text x="0" y="70">${c(lo).text} °C</text><text x="${x(point)}" y="70" text-anchor="middle">${c(point).text} °C</text><text x="${W}" y="70" text-anchor="end">${c(hi).text} °C</text>
      <text x="2" y="${Math.min(50, y(strength(lo)) + 16)}">solid</text><text x="${x(end) + 6}" y="14" style="fill:var(--c2)">melting</text><text x="${W - 28}" y="${y(melt) - 5}">melt</text></svg>`;
  };
  return {element, update};
}
