/* What graphs show, from `frame` events: one sample for each, thinned when there are many. */
import type {Event} from './protocol.ts';

type FrameEvent = Extract<Event, {event: 'frame'}>;

export type Sample = {
  time: number; /* s */
  kinetic: number | null; elastic: number | null; height: number | null; /* J; null: not measured */
  lost: number | null; /* of these three since the first sample */
  heat: number | null; /* J since the first sample */
  x: number | null; y: number | null; z: number | null; /* momentum, kg m/s */
  dt: number | null; /* ms */
  rate: number | null; /* particle-steps/s */
  limit: string; /* of dt */
  steps: number;
};
export type Quantity = Exclude<keyof Sample, 'limit' | 'steps'>;

const MOST = 4000; /* samples; beyond, every other one goes */

export class Trace {
  private samples: Sample[] = [];
  private start: {energy: number; heat: number} | null = null;
  private spacing = 0; /* s between samples, once thinned */
  version = 0; /* grows with each change */

  get length(): number { return this.samples.length; }
  get end(): number { return this.samples[this.samples.length - 1]?.time ?? 0; }

  add(f: FrameEvent): void {
    const last = this.samples[this.samples.length - 1];
    if (last && f.time <= last.time) this.discardFrom(f.time);
    const t = f.totals, energy = t ? t.kinetic + t.elastic + t.gravitational : null;
    if (t && !this.start) this.start = {energy: energy!, heat: t.heat};
    const sample: Sample = {
      time: f.time,
      kinetic: t?.kinetic ?? null, elastic: t?.elastic ?? null, height: t?.gravitational ?? null,
      lost: energy === null ? null : this.start!.energy - energy,
      heat: t ? t.heat - this.start!.heat : null,
      x: t?.momentum[0] ?? null, y: t?.momentum[1] ?? null, z: t?.momentum[2] ?? null,
      dt: f.steps > 0 ? f.dt * 1000 : null,
      rate: f.steps > 0 && f.seconds > 0 ? f.particles * f.steps / f.seconds : null,
      limit: f.steps > 0 ? f.limit : '', steps: f.steps,
    };
    this.version++;
    const before = this.samples[this.samples.length - 2];
    if (before && this.spacing > 0 && sample.time - before.time < this.spacing) {
      const replaced = this.samples[this.samples.length - 1]!;
      this.samples[this.samples.length - 1] = {...sample, steps: sample.steps + replaced.steps};
      return;
    }
    this.samples.push(sample);
    if (this.samples.length > MOST) this.thin();
  }

  private thin(): void {
    const kept: Sample[] = [];
    for (let i = 0; i < this.samples.length; i += 2) {
      const next = this.samples[i + 1];
      kept.push(next ? {...next, steps: next.steps + this.samples[i]!.steps} : this.samples[i]!);
    }
    kept[0] = {...this.samples[0]!, steps: kept[0]!.steps};
    this.samples = kept;
    this.spacing = (this.end - kept[0]!.time) / kept.length;
  }

  /* Time went back to there. */
  discardFrom(time: number): void {
    while (this.samples.length && this.samples[this.samples.length - 1]!.time >= time) this.samples.pop();
    if (!this.samples.length) this.clear();
    this.version++;
  }

  clear(): void {
    this.samples = [];
    this.start = null;
    this.spacing = 0;
    this.version++;
  }

  column(quantity: Quantity): (number | null)[] {
    return this.samples.map(s => s[quantity]);
  }

  /* The last sample at or before a time; the first if there is none. */
  at(time: number): Sample | undefined {
    let low = 0, high = this.samples.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (this.samples[middle]!.time <= time + 1e-9) low = middle + 1;
      else high = middle;
    }
    return this.samples[Math.max(0, low - 1)];
  }

  /* Stretches of time with the same limit of dt. */
  limits(): {limit: string; from: number; to: number}[] {
    const bands: {limit: string; from: number; to: number}[] = [];
    let before = 0;
    for (const s of this.samples) {
      const last = bands[bands.length - 1];
      if (s.limit && last?.limit === s.limit) last.to = s.time;
      else if (s.limit) bands.push({limit: s.limit, from: before, to: s.time});
      before = s.time;
    }
    return bands;
  }

  /* The part of all substeps that each limit had, the largest first. */
  shares(): {limit: string; part: number}[] {
    const steps = new Map<string, number>();
    let all = 0;
    for (const s of this.samples) {
      if (!s.limit) continue;
      steps.set(s.limit, (steps.get(s.limit) ?? 0) + s.steps);
      all += s.steps;
    }
    return [...steps].map(([limit, n]) => ({limit, part: n / all})).sort((a, b) => b.part - a.part);
  }
}

const PREFIXES: [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ']];

/* Two digits and a prefix: 3.1 J, 0.34 J, 0.8 mJ, 21 kJ. Without a unit only large numbers take one: 12 M. */
export function brief(value: number, unit: string, digits = 2): string {
  if (value === 0 || !isFinite(value)) return `${value || 0} ${unit}`.trim();
  const size = Math.abs(value), small = !['', 'kg m/s'].includes(unit);
  const found = PREFIXES.find(([f]) => size >= f * (f > 1 ? 0.9995 : 0.1)) ?? PREFIXES[PREFIXES.length - 1]!;
  const [factor, prefix] = found[0] < 1 && !small || unit === 'kg m/s' ? [1, ''] as const : found;
  const whole = Math.floor(Math.log10(size / factor)) + 1; /* digits before the point */
  const text = String(+(value / factor).toPrecision(Math.max(digits, Math.min(4, whole))));
  return `${text.replace('-', '−')} ${prefix}${unit}`.trim();
}
