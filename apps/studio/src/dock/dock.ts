/* The dock at the bottom: graphs, the strip of frames, transport, and figures on time and cost. */
import type {App} from '../app.ts';
import type {FrameEvent} from '../engine/engine.ts';
import type {Speed} from '../app_state.ts';
import {el, button, Segment, setAttribute, setText} from '../ui/dom.ts';
import {icon} from '../ui/icons.ts';
import {count, figures, large, showWithUnit} from '../ui/units.ts';
import {Strip} from './strip.ts';

const FIGURES_EVERY_MS = 100;
const AVERAGE_S = 1; /* of figures on speed */

type Cost = {at: number; simulated: number; seconds: number; steps: number; particles: number};

export class Dock {
  readonly element: HTMLElement;
  readonly graphs = el('div', {class: 'graphs', hidden: true});
  readonly strip: Strip;
  readonly playButton: HTMLButtonElement;
  private readonly speed: Segment<Speed>;
  private readonly time = el('b', {}, '0 s');
  private readonly frame = el('span', {}, 'frame 0');
  private readonly values: Record<'ratio' | 'steps' | 'particles' | 'rate', HTMLElement>;
  private readonly stepNote = el('span', {}, '\u00a0');
  private readonly controls: HTMLButtonElement[];
  private readonly graphsButton: HTMLButtonElement;
  private last: FrameEvent | null = null;
  private costs: Cost[] = [];
  private timer = 0;

  constructor(private readonly app: App) {
    this.strip = new Strip(app);
    this.playButton = playButton(app);
    const make = (name: 'reset' | 'back' | 'frame' | 'sub', label: string, key: string, run: () => void) =>
      button({icon: name, label, key, do: `transport-${name}`}, run);
    const reset = make('reset', 'Reset to the start', 'R', () => app.time.restart());
    const back = make('back', 'Back one frame', '←', () => app.time.back());
    const frame = make('frame', 'Step one frame', '→', () => app.time.step('frame'));
    const sub = make('sub', 'Step one substep', 'Shift →', () => app.time.step('substep'));
    this.controls = [reset, back, frame, sub];
    this.speed = new Segment<Speed>(
      'Speed',
      [
        {value: '0.25', text: '¼×', label: 'A quarter of real time'},
        {value: '0.5', text: '½×', label: 'Half of real time'},
        {value: '1', text: '1×', label: 'Real time'},
        {value: '0', text: 'Max', label: 'As fast as possible'},
      ],
      app.state.get('speed'),
      speed => app.time.setSpeed(speed),
    );
    const figure = (label: Node | string, title: string) => {
      const b = el('b', {}, '–');
      return {
        b,
        element: el('div', {class: 'st', title}, b, typeof label === 'string' ? el('span', {}, label) : label),
      };
    };
    const ratio = figure('of real time', 'Simulated time over elapsed time'),
      particles = figure('particles', 'Particles in the scene now');
    const steps = figure(this.stepNote, 'Substeps of a frame, the last time step, and what limits it');
    const rate = figure('particle-steps/s', 'Particles times substeps in a second of computing');
    this.values = {ratio: ratio.b, steps: steps.b, particles: particles.b, rate: rate.b};
    this.graphsButton = button(
      {
        icon: 'chart',
        label: 'Graphs',
        text: 'Graphs',
        textClass: 'hide-s',
        key: 'K',
        class: 'hide-p',
        do: 'graphs',
        attributes: {'aria-expanded': 'false'},
      },
      () => app.state.set({graphs: !app.state.get('graphs')}),
    );
    this.element = el(
      'section',
      {class: 'dock card', 'aria-label': 'Transport'},
      this.graphs,
      this.strip.element,
      el(
        'div',
        {class: 'bar'},
        reset,
        back,
        this.playButton,
        frame,
        sub,
        el('div', {class: 'time'}, this.time, this.frame),
        this.speed.element,
        el('div', {class: 'stats'}, ratio.element, steps.element, particles.element, rate.element),
        el('span', {class: 'sep hide-p'}),
        this.graphsButton,
      ),
    );
    app.state.watch(['error', 'scene', 'connection', 'mode'], () => this.enable());
    app.state.watch(['graphs'], () => {
      this.graphs.hidden = !app.state.get('graphs');
      setAttribute(this.graphsButton, 'aria-expanded', app.state.get('graphs'));
    });
    app.state.watch(['speed'], () => {
      this.speed.value = app.state.get('speed');
    });
    app.state.watch(['scrub', 'frame', 'time', 'scene'], () => this.soon());
  }

  /* Figures of a picture that was shown. */
  take(f: FrameEvent): void {
    this.last = f;
    const now = performance.now() / 1000;
    if (f.steps > 0 || f.simulated > 0)
      this.costs.push({at: now, simulated: f.simulated, seconds: f.seconds, steps: f.steps, particles: f.particles});
    while (this.costs.length > 1 && this.costs[0].at < now - AVERAGE_S) this.costs.shift();
    this.soon();
  }

  clear(): void {
    this.last = null;
    this.costs = [];
    this.soon();
  }

  private enable(): void {
    const on = this.app.canRun(),
      cache = this.app.state.get('mode') !== 'scene';
    for (const c of this.controls) c.disabled = !on;
    this.controls[3].disabled = !on || cache;
    this.graphsButton.disabled = !this.app.state.get('scene');
  }

  private soon(): void {
    if (!this.timer) this.timer = window.setTimeout(() => this.show(), FIGURES_EVERY_MS);
  }

  private show(): void {
    this.timer = 0;
    const s = this.app.state,
      scene = s.get('scene'),
      f = this.last,
      scrub = s.get('scrub');
    const at = scrub ?? s.get('frame'),
      time = scrub !== null && scene ? (scrub - scene.first) / scene.fps : s.get('time');
    setText(this.time, `${time.toFixed(3)} s`);
    setText(this.frame, scene ? `frame ${Math.floor(at)} of ${scene.last}` : 'frame 0');
    if (!f) {
      const particles = scene?.objects.reduce((n, o) => n + o.count, 0) ?? 0;
      for (const [b, text] of [
        [this.values.ratio, '–'],
        [this.values.steps, 'No steps yet'],
        [this.values.particles, count(particles)],
        [this.values.rate, '–'],
      ] as const)
        setText(b, text);
      setText(this.stepNote, '\u00a0');
      return;
    }
    const sum = (of: (c: Cost) => number) => this.costs.reduce((n, c) => n + of(c), 0);
    const simulated = sum(c => c.simulated),
      seconds = sum(c => c.seconds),
      first = this.costs[0];
    /* While it plays, the clock includes waiting for it; else what computing took. */
    const clock = s.get('playing') && this.costs.length > 2 ? performance.now() / 1000 - first.at : seconds;
    const inWindow = s.get('playing') && this.costs.length > 2 ? simulated - first.simulated : simulated;
    setText(this.values.ratio, inWindow > 0 && clock > 0 ? ratioText(inWindow / clock) : '–');
    const steps = simulated > 0 && scene ? Math.max(1, Math.round(sum(c => c.steps) / simulated / scene.fps)) : 0;
    setText(this.values.steps, steps ? `${count(steps)} substep${steps === 1 ? '' : 's'}` : 'No steps yet');
    if (!steps) {
      setText(this.stepNote, '\u00a0');
    } else if (f.dt > 0) {
      const note = `dt ${showWithUnit(+f.dt.toPrecision(3), 's')}, `;
      if (this.stepNote.textContent !== note + f.limit) this.stepNote.replaceChildren(note, el('em', {}, f.limit));
    }
    setText(this.values.particles, count(f.particles));
    setText(this.values.rate, seconds > 0 ? large(sum(c => c.steps * c.particles) / seconds) : '–');
  }
}

export const ratioText = (r: number): string =>
  `${r >= 10 ? r.toFixed(0) : r >= 1 ? r.toFixed(1) : figures(+r.toPrecision(2))}×`;

/* One in the dock, one beside the tabs of a phone. */
export function playButton(app: App): HTMLButtonElement {
  const b = el('button', {type: 'button', class: 'play', 'data-do': 'play', onclick: () => app.time.toggle()});
  app.state.watch(['playing', 'error', 'scene', 'connection'], () => {
    const playing = app.state.get('playing');
    b.disabled = !app.canRun() && !playing;
    setAttribute(b, 'aria-label', playing ? 'Pause' : 'Play');
    setAttribute(b, 'title', `${playing ? 'Pause' : 'Play'} (Space)`);
    b.replaceChildren(icon(playing ? 'pause' : 'play'));
  });
  return b;
}
