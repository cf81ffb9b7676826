/* Two sets of values side by side: a second engine and a second view, a divider between them, and a table of
 * what differs in place of the properties. A is the scene as it was opened, B has the page's changes. Looks, tools and
 * the camera are the same for both. */
import type {App} from './app.ts';
import {applyLooks} from './app_looks.ts';
import {drawnShapes} from './app_scene.ts';
import type {Command} from './protocol.ts';
import {Compare, type Side, type ValueRow} from './compare.ts';
import {parseText, setValue, Raw} from './document/edit.ts';
import {readModel, type Model} from './document/model.ts';
import {Engine, type StateEvent} from './engine/engine.ts';
import {Pane} from './pane.ts';
import {labelOf} from './panels/params.ts';
import {SectionView} from './panels/rows.ts';
import {button, clamp, el, isPhone, replace, Segment, setText} from './ui/dom.ts';
import {readNumber, show, parse, showWithUnit} from './ui/units.ts';
import {View, type DrawnShape, type Rect} from './view/view.ts';

const FEW = 8; /* rows that are shown before all */

export class CompareMode {
  pane: Pane | null = null; /* B's */
  model: Model | null = null; /* of A's text */
  private run: Compare | null = null;
  private engine: Engine | null = null;
  private told: StateEvent | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private divider: HTMLElement | null = null;
  private panel: HTMLElement | null = null;
  private labels: HTMLElement[] = [];
  private table = el('div', {class: 'cmp'});
  private hint = el('p', {class: 'hint'});
  private results = el('div', {class: 'cmp'});
  private at = 0.5; /* of the stage's width */
  private layout: 'side' | 'wipe' = 'side';
  private shared = true;
  private all = false;
  private stage: Rect | null = null;
  private drawn = '';
  private unfold = false;
  private inB: (x: number, y: number) => boolean = () => false;

  constructor(private readonly app: App) {}

  get on(): boolean {
    return this.run !== null;
  }

  get isPlaying(): boolean {
    return this.run?.isPlaying ?? false;
  }

  begin(): void {
    const {app} = this;
    if (!app.canRun() || !app.canEdit()) return app.toasts.show('Open a scene that runs first.', {bad: true});
    const text = app.doc.text,
      opened = app.doc.edited ? app.doc.openedText : text;
    const engine = (this.engine = new Engine());
    this.canvas = el('canvas', {class: 'second', role: 'img', 'aria-label': 'The scene with the values of B'});
    app.viewElement.append(this.canvas);
    const view = new View(this.canvas, {theme: app.state.get('theme')}),
      pane = (this.pane = new Pane(view));
    view.onCamera = () => this.cameraMoved(view);
    applyLooks(view, app);
    pane.listen(engine);
    engine.on('scene', e => {
      app.state.set({error: null});
      pane.setScene(e.scene, this.shapes());
      engine.send(this.wanted ?? {do: 'want', totals: true});
    });
    engine.on('state', e => {
      this.told = e;
    });
    engine.on('picture', ({frame, picture}) => {
      const {tags} = pane,
        grid = pane.gridOf(picture);
      if (tags) pane.history.add(frame, tags, picture, grid);
      pane.show(frame, picture, tags, grid);
      app.probe.show(frame.probe, pane);
      app.graphs.add(frame, 'B');
      engine.shown(picture.number);
    });
    engine.on('hello', () => {
      if (!this.run) this.start(opened, text);
    });
    app.state.set({playing: false, scrub: null, comparing: true, selection: '', probe: null, tool: 'select'});
    this.unfold = !app.state.get('foldLeft');
    app.state.set({foldLeft: true, foldRight: false});
    this.build();
    engine.connect(app.files.transport);
  }

  private wanted: Command | null = null;

  private start(a: string, b: string): void {
    const {app} = this;
    this.engine!.keep(); /* it has the page's text */
    app.graphs.clear();
    app.graphs.setCompare(true);
    this.run = new Compare(app.engine, this.engine!, {A: a, B: b}, {
      change: () => this.show(),
      error: (side, e) => {
        if (side === 'B' && e.from === 'scene') app.state.set({error: e});
        app.toasts.show(`${side}: ${e.text}`, {bad: true});
      },
      playing: playing => app.state.set({playing}),
    });
    this.model = readModel(parseText(a));
    app.showShapes();
    app.layout.stageChanged();
    this.pane!.view.camera = app.view.camera;
    app.frameAll();
    this.show();
  }

  /* Back to one, which goes on from where it is: B, whose values are the page's, unless A is kept. */
  end(keep: Side = 'B'): void {
    const {app, run, engine, pane} = this,
      view = pane?.view,
      plays = this.isPlaying;
    if (!engine || !pane || !view) return;
    run?.end();
    this.run = this.engine = this.model = this.pane = null;
    app.state.set({comparing: false, playing: false});
    if (run && keep === 'B') {
      app.graphs.keepB();
      app.view.camera = view.camera;
      app.takeOver(engine, pane, this.told);
    } else {
      pane.leave();
      engine.close();
      app.engine.keep();
    }
    view.free();
    this.canvas?.remove();
    this.divider?.remove();
    this.panel?.remove();
    this.labels.forEach(l => l.remove());
    this.labels = [];
    this.canvas = this.divider = this.panel = this.told = null;
    app.graphs.setCompare(false);
    applyLooks(app.view, app);
    if (app.probe.pane !== app.pane) app.setProbe(null);
    if (this.unfold) app.state.set({foldLeft: false});
    app.properties.element.hidden = false;
    const text = run && keep === 'A' ? run.text('A') : app.doc.text;
    if (text !== app.doc.text) app.change(text, 'Keep A');
    else app.engine.sendText({do: 'edit', text});
    if (plays) app.time.toggle();
    app.showShapes();
    app.layout.stageChanged();
    app.properties.update();
  }

  /* ---- time, to both ---- */

  togglePlay(): void {
    if (this.run?.isPlaying) this.run.pause();
    else this.run?.play(Number(this.app.state.get('speed')));
  }

  setSpeed(speed: number): void {
    if (this.run?.isPlaying) this.run.play(speed);
  }

  step(): void {
    this.run?.step();
  }

  restart(): void {
    this.app.graphs.clear();
    this.app.pane.history.clear();
    this.pane?.history.clear();
    this.run?.restart();
  }

  seek(frame: number): void {
    this.run?.seek(frame);
  }

  /* The page's text is B's. */
  edited(text: string): void {
    this.run?.edit('B', text);
  }

  put(file: string, bytes: ArrayBuffer): void {
    this.engine?.put(file, bytes);
  }

  send(command: Command): void {
    this.engine?.send(command);
  }

  want(command: Command): void {
    this.wanted = command;
    this.send(command);
  }

  /* ---- view ---- */

  private shapes(): DrawnShape[] {
    const {doc, state} = this.app;
    return drawnShapes({
      model: doc.model,
      selection: state.get('selection'),
      hidden: state.get('hidden'),
      scene: this.pane?.scene ?? null,
      time: this.app.shownTime(),
    });
  }

  showShapes(): void {
    this.pane?.view.setShapes(this.shapes());
  }

  paneAt(x: number, y: number): Pane | null {
    return this.inB(x, y) ? this.pane : null;
  }

  frame(): void {
    const {app, pane} = this;
    if (!pane) return;
    if (app.state.get('range') === null) {
      /* One range for both, so that their colours mean the same. */
      const a = app.view.automaticRange,
        b = pane.view.automaticRange,
        both: [number, number] | null = a && b ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : null;
      for (const view of app.views) view.range = both;
    }
    if (pane.view.needsDraw) pane.view.draw();
  }

  cameraMoved(by: View): void {
    if (!this.pane || !this.shared) return;
    const other = by === this.pane.view ? this.app.view : this.pane.view;
    other.camera = by.camera;
  }

  /* Both canvases fill the view; the second is cut off at the divider. */
  stageChanged(stage: Rect): void {
    this.stage = stage;
    const view = this.pane?.view;
    if (!view || !this.canvas || !this.divider) return;
    const [a, b] = this.labels;
    if (isPhone()) {
      const h = Math.round(stage.y + stage.height / 2);
      this.inB = (_, y) => y >= h;
      this.app.view.setStage({...stage, height: h - stage.y});
      view.setStage({...stage, y: h, height: stage.y + stage.height - h});
      this.canvas.style.clipPath = `inset(${h}px 0 0 0)`;
      this.divider.style.cssText = `left:0;top:${h}px;width:100%;height:2px;bottom:auto`;
      b.style.cssText = `left:0;top:${h - stage.y + 8}px`;
      return;
    }
    const x = Math.round(stage.x + stage.width * this.at);
    this.inB = left => left >= x;
    if (this.layout === 'wipe') {
      this.app.view.setStage(stage);
      view.setStage(stage);
    } else {
      this.app.view.setStage({...stage, width: x - stage.x});
      view.setStage({...stage, x, width: stage.x + stage.width - x});
    }
    this.canvas.style.clipPath = `inset(0 0 0 ${x}px)`;
    this.divider.style.cssText = `left:${x}px`;
    a.style.cssText = 'left:0';
    b.style.cssText = `left:${x - stage.x + 12}px`;
  }

  /* ---- panel ---- */

  private build(): void {
    const {app} = this;
    const label = (side: Side, name: string) =>
      el('div', {class: `ab card ${side}`}, el('b', {}, side), name, el('span', {class: 'sub'}));
    this.labels = [
      label('A', app.doc.edited ? 'As opened' : 'As it is'),
      label('B', app.doc.edited ? 'With your changes' : 'To change'),
    ];
    app.stage.append(...this.labels);
    this.divider = el('div', {
      class: 'cut',
      role: 'separator',
      tabindex: 0,
      'aria-label': 'Divider',
      onkeydown: (e: KeyboardEvent) => {
        const by = {ArrowLeft: -0.02, ArrowRight: 0.02}[e.key];
        if (by) {
          e.preventDefault();
          e.stopPropagation();
          this.move(this.at + by);
        }
      },
    });
    this.divider.addEventListener('pointerdown', e => {
      e.preventDefault();
      e.stopPropagation();
      const d = e.currentTarget as HTMLElement;
      d.setPointerCapture(e.pointerId);
      d.onpointermove = m => {
        if (this.stage)
          this.move((m.clientX - app.viewElement.getBoundingClientRect().left - this.stage.x) / this.stage.width);
      };
      d.onpointerup = () => {
        d.onpointermove = null;
      };
    });
    app.viewElement.append(this.divider);
    const view = new SectionView('View');
    const row = (text: string, s: Segment<string>) =>
      el('div', {class: 'row wide'}, el('span', {class: 'lab'}, text), s.element, el('span'));
    view.append(
      row(
        'Layout',
        new Segment<string>(
          'Layout',
          [
            {value: 'side', text: 'Side by side'},
            {value: 'wipe', text: 'Wipe'},
          ],
          this.layout,
          v => {
            this.layout = v as 'side' | 'wipe';
            app.layout.stageChanged();
          },
        ),
      ),
      row(
        'Camera',
        new Segment<string>(
          'Camera',
          [
            {value: 'shared', text: 'Shared'},
            {value: 'own', text: 'Own'},
          ],
          'shared',
          v => {
            this.shared = v === 'shared';
            this.cameraMoved(app.view);
          },
        ),
      ),
    );
    const results = new SectionView('Results');
    results.append(this.results);
    this.panel = el(
      'aside',
      {class: 'panel card right compare', 'aria-label': 'Compare'},
      el(
        'div',
        {class: 'p-head'},
        el('h2', {}, 'Compare'),
        el('span', {class: 'grow'}),
        button({icon: 'x', label: 'End the comparison', class: 'small', do: 'end-compare'}, () => this.end()),
      ),
      el('div', {class: 'p-body'}, this.table, this.hint, results.element, view.element),
      el(
        'div',
        {class: 'p-foot'},
        el('span', {class: 'grow'}),
        button({label: 'Keep A', text: 'Keep A', class: 'small solid', do: 'keep-a'}, () => this.end('A')),
        button({label: 'Keep B', text: 'Keep B', class: 'small solid', do: 'keep-b'}, () => this.end('B')),
      ),
    );
    app.properties.element.after(this.panel);
    app.properties.element.hidden = true;
    this.drawn = '';
  }

  private move(at: number): void {
    this.at = clamp(at, 0.1, 0.9);
    if (this.stage) this.stageChanged(this.stage);
  }

  private show(): void {
    const {run} = this;
    if (!run) return;
    const rows = run.rows(),
      differ = rows.filter(r => r.differs).length;
    const signature = JSON.stringify([rows, this.all]);
    if (signature !== this.drawn && !this.table.contains(document.activeElement)) {
      this.drawn = signature;
      const heat = this.app.doc.model.heat;
      const materials = rows.filter(
        r =>
          r.differs ||
          (/^materials\./.test(r.path) &&
            readNumber(r.b) !== null &&
            (heat || !/(heat_capacity|conductivity|diffusivity)$/.test(r.path))),
      );
      const shown = this.all ? rows : materials.slice(0, Math.max(FEW, differ));
      const head = (side: Side, name: string) => el('span', {class: 'hd'}, el('b', {class: side}, side), name);
      replace(
        this.table,
        el('span'),
        head('A', this.app.doc.edited ? 'Opened' : 'As it is'),
        head('B', 'Changed'),
        ...shown.flatMap(r => this.row(r)),
      );
      replace(
        this.hint,
        `${differ} of ${rows.length} values differ. `,
        el(
          'button',
          {
            type: 'button',
            class: 'link',
            onclick: () => {
              this.all = !this.all;
              this.show();
            },
          },
          this.all ? 'Show fewer' : 'Show all values',
        ),
      );
      setText(this.labels[1].querySelector('.sub')!, differ === 1 ? '1 value differs' : `${differ} values differ`);
    }
    const a = run.result('A'),
      b = run.result('B');
    const line = (name: string, of: (r: NonNullable<typeof a>) => string) => [
      el('span', {class: 'lab'}, name),
      el('span', {class: 'r'}, a ? of(a) : '–'),
      el('span', {class: 'r'}, b ? of(b) : '–'),
    ];
    const joule = (v: number | null) => (v === null ? '–' : showWithUnit(+v.toPrecision(2), 'J'));
    replace(
      this.results,
      ...line('Time', r => `${r.time.toFixed(3)} s`),
      ...line('Kinetic energy', r => joule(r.kinetic)),
      ...line('Energy lost', r => joule(r.lost)),
      ...line('Substeps per frame', r => String(r.steps)),
      ...line('Time for a frame', r => `${r.milliseconds.toFixed(0)} ms`),
    );
  }

  private row(r: ValueRow): Node[] {
    const name = r.path.split('.').pop() ?? r.path,
      param = this.app.state
        .get('schema')
        ?.sections.flatMap(s => (/material/.test(s.name) ? s.params : []))
        .find(p => p.name === name);
    const cell = (text: string, side: Side) => {
      const n = readNumber(text),
        s = n === null ? null : show(n, param?.unit ?? '', param?.kind);
      const input = el('input', {
        value: s ? s.text : text,
        'aria-label': `${labelOf(name)}, ${side}`,
        autocomplete: 'off',
      });
      input.addEventListener('change', () => {
        const v = s ? parse(input.value, param?.unit ?? '', param?.kind ?? 'real', s) : null;
        const raw =
          v !== null
            ? new Raw(param?.kind === 'temperature' ? `${+(v - 273.15).toPrecision(6)}C` : String(v))
            : new Raw(input.value);
        input.blur();
        this.give(r.path, side, raw);
      });
      return el(
        'span',
        {class: `num${side === 'B' && r.differs ? ' dif' : ''}`},
        input,
        s?.unit && el('span', {class: 'u'}, s.unit),
      );
    };
    return [
      el('span', {class: 'lab', title: r.path}, labelOf(name.replace(/\[\d+\]$/, ''))),
      cell(r.a, 'A'),
      cell(r.b, 'B'),
    ];
  }

  private give(path: string, side: Side, value: Raw): void {
    const steps = [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(m => (m[2] !== undefined ? Number(m[2]) : m[1]));
    if (side === 'B') this.app.change(setValue(this.app.doc.text, steps, value), `Change ${steps[steps.length - 1]}`);
    else if (this.run) {
      const text = setValue(this.run.text('A'), steps, value);
      this.run.edit('A', text);
      this.model = readModel(parseText(text));
      this.app.showShapes();
    }
  }
}
