/* The page: holds scene, engine, view and state together, and does what panels, tools and keys ask for. */
import type {Command, SceneInfo, Vec3} from './protocol.ts';
import {Store} from './store.ts';
import {firstState, remember, type State, type ToolName} from './app_state.ts';
import {AppFiles} from './app_files.ts';
import {AppLayout} from './app_layout.ts';
import {CompareMode} from './app_compare.ts';
import {carriedColor, watchLooks} from './app_looks.ts';
import {cameraOf, drawnShapes, emptyScene} from './app_scene.ts';
import {Time} from './app_time.ts';
import {SceneDocument} from './document/document.ts';
import {setValue} from './document/edit.ts';
import {newScene, type Made} from './document/make.ts';
import {isEmptyModel, SCENE, type Item, type ItemKind} from './document/model.ts';
import {handlesOf} from './document/place.ts';
import {moves, type Frame} from './document/frames.ts';
import {Dock, playButton} from './dock/dock.ts';
import {Engine, type FrameEvent, type SceneEvent, type StateEvent} from './engine/engine.ts';
import {Graphs} from './graphs.ts';
import {Pane} from './pane.ts';
import {EmptyCard} from './panels/empty.ts';
import {Gallery} from './panels/gallery.ts';
import {Help} from './panels/help.ts';
import {Legend} from './panels/legend.ts';
import {Outline} from './panels/outline.ts';
import {itemMenu, Properties} from './panels/properties.ts';
import {TextPanel} from './panels/text.ts';
import {TopBar} from './panels/top.ts';
import {AxesGizmo} from './tools/axes.ts';
import {GravityArrow} from './tools/gravity.ts';
import {PointerTools} from './tools/pointer.ts';
import {ProbeCard} from './tools/probe.ts';
import {Toolbar} from './tools/toolbar.ts';
import {el} from './ui/dom.ts';
import {closeMenu, type Entry} from './ui/menu.ts';
import {Toasts} from './ui/toast.ts';
import type {Grid, Picture, Tags} from './view/decode.ts';
import type {CameraState} from './view/camera.ts';
import {View, type DrawnShape} from './view/view.ts';

type Due = {frame: FrameEvent; picture: Picture; tags: Tags | null; grid: Grid | null};

const PICTURE = 16 / 9; /* width over height of what a scene's camera is for */
const EDGE = 90; /* px from the edge of the stage, within which handles would not fit */

export class App {
  readonly element = el('div', {class: 'app'});
  readonly viewElement = el('div', {class: 'view'});
  readonly stage = el('main', {class: 'stage', 'aria-label': 'View'});
  readonly state = new Store<State>(firstState());
  readonly doc = new SceneDocument();
  readonly engine = new Engine();
  readonly view: View;
  readonly toasts = new Toasts();
  readonly files: AppFiles;
  readonly compare: CompareMode;
  readonly dock: Dock;
  readonly graphs: Graphs;
  readonly time: Time;
  pane: Pane;
  readonly textPanel: TextPanel;
  readonly properties: Properties;
  readonly layout: AppLayout;
  readonly tools: PointerTools;
  readonly top: TopBar;
  readonly probe: ProbeCard;
  private readonly gallery: Gallery;
  private readonly help: Help;
  private readonly legend: Legend;
  private readonly axes: AxesGizmo;
  private readonly gravity: GravityArrow;
  private latest: {frame: FrameEvent; picture: Picture} | null = null; /* the engine's newest */
  private due: Due[] = []; /* not shown yet */
  private opened = false; /* the engine has a scene */
  private opening = false; /* ... or is about to */
  private framing = false; /* the next picture is the first of a scene */
  private reframe = false; /* the next has something out of sight */
  private camera: CameraState | null = null; /* of a link */
  private rate: number | null = null;

  constructor() {
    const canvas = el('canvas', {'aria-label': 'The scene', role: 'img'});
    this.viewElement.append(canvas);
    this.element.append(this.viewElement);
    document.getElementById('root')!.append(this.element);
    document.documentElement.dataset.theme = this.state.get('theme');
    this.view = new View(canvas, {theme: this.state.get('theme')});
    this.pane = new Pane(this.view);
    this.pane.listen(this.engine);

    this.files = new AppFiles(this);
    this.compare = new CompareMode(this);
    this.time = new Time(this);
    this.gallery = new Gallery(this);
    this.help = new Help(this);
    this.top = new TopBar(this);
    const outline = new Outline(this);
    this.textPanel = new TextPanel(this);
    this.properties = new Properties(this);
    this.dock = new Dock(this);
    this.graphs = new Graphs(this.dock.graphs, {
      graphs: ['energy', 'momentum', 'step', 'rate'],
      onSeek: t => this.time.scrubToTime(t),
    });
    this.legend = new Legend(this);
    this.tools = new PointerTools(this);
    this.probe = new ProbeCard(this);
    this.axes = new AxesGizmo(this);
    this.gravity = new GravityArrow(this);
    const empty = new EmptyCard(this);
    this.stage.append(
      new Toolbar(this).element,
      this.axes.element,
      this.gravity.element,
      this.legend.element,
      this.probe.pin,
      this.probe.element,
      this.tools.drawing.element,
      this.tools.label,
      empty.element,
      this.toasts.element,
    );
    this.layout = new AppLayout(this, outline.element, playButton(this));
    this.listen();
    this.watch();
    /* Asked for first, so that a frame that fails is not the last. */
    const loop = () => {
      requestAnimationFrame(loop);
      this.frame();
    };
    requestAnimationFrame(loop);
  }

  /* ---- scenes ---- */

  /* `offer`: to go back to a scene whose changes would be lost. */
  open(text: string, title: string, o: {saved?: boolean; camera?: CameraState; offer?: boolean} = {}): void {
    const before = {text: this.doc.text, title: this.doc.title},
      offer = (o.offer ?? true) && this.doc.edited && before.text !== text;
    if (this.state.get('mode') !== 'scene' || this.files.cache) this.files.leaveCache();
    if (this.compare.on) this.compare.end();
    this.camera = o.camera ?? null;
    this.opened = this.opening = false;
    this.state.set({
      error: null,
      waiting: [],
      selection: '',
      hidden: new Set(),
      probe: null,
      scrub: null,
      drawing: null,
      range: null,
      tab: 'transport',
    });
    this.doc.open(text, title, o.saved ?? true);
    if (offer) this.offerBack(`Opened ${title}.`, before);
  }

  private offerBack(said: string, before: {text: string; title: string}): void {
    this.toasts.show(said, {
      action: {text: 'Go back', run: () => this.open(before.text, before.title, {saved: false, offer: false})},
    });
  }

  newScene(dimension: 2 | 3, asSwitch = false): void {
    const before = {text: this.doc.text, title: this.doc.title};
    const offer = before.text !== '' && (asSwitch || this.doc.edited);
    this.open(newScene(dimension), 'Untitled', {offer: false});
    if (offer) this.offerBack(`New ${dimension}D scene.`, before);
  }

  revert(): void {
    this.files.revert();
  }

  /* Every change of the scene by the page comes through here. */
  change(text: string, label: string, tag = ''): void {
    if (this.canEdit()) this.doc.edit(text, label, tag);
  }

  /* Something new: selected, and in sight. */
  add(made: Made, label: string): void {
    if (!this.canEdit()) return;
    this.change(made.text, label);
    this.select(made.key);
    const item = this.selected();
    if (!item.shape) return;
    const [x, y] = this.view.project(this.handles(item).pivot),
      v = this.viewElement.getBoundingClientRect(),
      s = this.stage.getBoundingClientRect();
    const left = x + v.left - s.left,
      top = y + v.top - s.top;
    this.reframe = left < EDGE || top < EDGE || left > s.width - EDGE || top > s.height - EDGE;
  }

  /* Of what is shown: the scene, or the cache in its place. */
  get title(): string {
    return this.files.cache?.name ?? this.doc.title;
  }

  canEdit(): boolean {
    return this.state.get('mode') === 'scene' && !this.files.cache;
  }

  /* Whether time can go on. */
  canRun(): boolean {
    return (
      this.state.get('connection') === 'ready' &&
      this.state.get('error') === null &&
      this.state.get('scene') !== null &&
      !this.isEmpty()
    );
  }

  /* The scene has nothing to simulate yet, and nothing that an engine would have to call wrong. */
  isEmpty(): boolean {
    if (this.state.get('mode') !== 'scene' || !this.doc.isRead) return false;
    const keys = this.state.get('schema')?.sections.find(s => s.name === 'the scene')?.params;
    return isEmptyModel(this.doc.model, keys?.flatMap(p => (p.alias ? [p.name, p.alias] : [p.name])) ?? null);
  }

  undo(): void {
    if (!this.canEdit()) return;
    const label = this.doc.undo();
    if (label !== null) this.toasts.show(`Undid: ${label[0].toLowerCase()}${label.slice(1)}`);
  }

  redo(): void {
    if (this.canEdit()) this.doc.redo();
  }

  /* ---- selection ---- */

  selected(): Item {
    const {items} = this.doc.model;
    return items.find(i => i.key === this.state.get('selection')) ?? items[0] ?? SCENE;
  }

  select(key: string): void {
    this.state.set({selection: key});
  }

  selectNamed(name: string | null): void {
    const item =
      name === null
        ? undefined
        : this.doc.model.items.find(i => i.kind !== 'material' && i.kind !== 'scene' && i.name === name);
    this.select(item?.key ?? '');
  }

  itemMenu(item: Item, at: HTMLElement): void {
    itemMenu(this, item, at);
  }

  closeMenu(): void {
    closeMenu();
  }

  isHidden(item: Item): boolean {
    return item.kind === 'collider' ? !item.visible : this.state.get('hidden').has(item.name);
  }

  toggleVisible(item: Item): void {
    if (item.kind === 'collider') {
      this.change(
        setValue(this.doc.text, [...item.path, 'visible'], !item.visible),
        `${item.visible ? 'Hide' : 'Show'} ${item.name}`,
      );
      return;
    }
    const hidden = new Set(this.state.get('hidden'));
    if (!hidden.delete(item.name)) hidden.add(item.name);
    this.state.set({hidden});
  }

  showInText(item: Item): void {
    this.state.set({left: 'text', foldLeft: false, tab: 'objects'});
    this.textPanel.reveal(this.files.lineOf(item));
  }

  /* Particle-steps a second, as measured. */
  measuredRate(): number | null {
    return this.rate;
  }

  /* ---- tools ---- */

  /* Whether a tool has something to act on. */
  private fits(tool: ToolName, scene: SceneInfo | null): boolean {
    if (tool === 'select' || tool === 'probe') return true;
    return this.canEdit() && (tool !== 'heat' || scene?.heat === true);
  }

  setTool(tool: ToolName): void {
    if (!this.canEdit() && !this.fits(tool, null)) return;
    if (tool === 'heat' && !this.state.get('scene')?.heat) {
      this.toasts.show('This scene has no heat.', {
        bad: true,
        action: {
          text: 'Switch heat on',
          run: () => {
            this.change(setValue(this.doc.text, ['heat'], {speed: 1000}), 'Switch heat on');
          },
        },
      });
      return;
    }
    this.state.set({tool, drawing: null});
  }

  emitMaterial(): string {
    const materials = this.state.get('scene')?.materials.map(m => m.name) ?? [],
      wish = this.state.get('material');
    return materials.includes(wish) ? wish : (materials[0] ?? '');
  }

  /* Follows a particle by its number in the pane's picture. */
  setProbe(index: number | null, pane = this.pane): void {
    const id = index === null ? null : pane.idOf(index);
    this.probe.pane = pane;
    this.state.set({probe: id});
    this.sendAll({do: 'probe', id});
  }

  /* ---- panes ---- */

  get views(): View[] {
    return this.compare.pane ? [this.view, this.compare.pane.view] : [this.view];
  }

  /* The one that the page's text is for. */
  get editPane(): Pane {
    return this.compare.pane ?? this.pane;
  }

  /* The one at a place of the view element. */
  paneAt(x: number, y: number): Pane {
    return this.compare.paneAt(x, y) ?? this.pane;
  }

  /* To the engines of all panes. */
  sendAll(c: Command): void {
    this.engine.send(c);
    this.compare.send(c);
  }

  /* ---- page ---- */

  toggleTheme(): void {
    const theme = this.state.get('theme') === 'dark' ? 'light' : 'dark';
    remember('theme', theme);
    this.state.set({theme});
  }

  openGallery(): void {
    closeMenu();
    void this.gallery.open();
  }

  openHelp(): void {
    closeMenu();
    this.help.open();
  }

  closeModal(): void {
    this.gallery.close();
    this.help.close();
  }

  get modal(): boolean {
    return this.gallery.isOpen || this.help.isOpen;
  }

  frameAll(): void {
    this.view.frame('all');
    this.compare.cameraMoved(this.view);
  }

  toggleCompare(): void {
    if (this.state.get('comparing')) this.compare.end();
    else this.compare.begin();
  }

  toggleRecord(): void {
    void this.files.toggleRecord();
  }

  save(): void {
    this.files.save();
  }

  share(): Promise<void> {
    return this.files.share();
  }

  pickFile(): Promise<void> {
    return this.files.pick();
  }

  pickMesh(kind: ItemKind): void {
    void this.files.pickMesh(kind);
  }

  fileEntries(): Entry[] {
    return this.files.entries();
  }

  /* ---- the engine's side ---- */

  private listen(): void {
    const {engine, state, doc} = this;
    engine.on('connection', connection => {
      state.set({connection});
      if (connection === 'lost') state.set({playing: false});
    });
    engine.on('hello', h => {
      state.set({schema: h.schema, mode: h.mode});
      this.opened = h.open === true && doc.text !== '' && state.get('scene') !== null;
      this.opening = false;
      this.want();
      const text = h.text ?? h.newest,
        title = (h.file ?? 'Scene').replace(/^.*[\\/]/, '').replace(/\.ya?ml$/, '');
      if (h.mode !== 'scene') {
        this.framing = true;
        if (h.file) doc.title = title;
        if (h.text) doc.open(h.text, doc.title);
      } else if (text !== undefined && doc.text === '') {
        if (h.open || h.newest !== undefined) {
          /* The page was loaded again: its scene goes on. */
          this.opening = h.open === true;
          doc.open(text, title, h.text !== undefined, h.newest);
          if (h.newest !== undefined && doc.model.name) doc.title = doc.model.name;
        } else {
          this.open(text, title);
        }
      } else if (doc.text !== '') {
        this.sendText();
      }
    });
    engine.on('scene', e => this.takeScene(e));
    engine.on('error', e => {
      if (e.from === 'scene') {
        this.opening = false;
        state.set({error: e});
        if (!this.opened) this.showNothing();
      } else {
        this.time.leaveFrames();
        this.toasts.show(e.text, {bad: true});
      }
    });
    engine.on('state', e => this.takeState(e));
    engine.on('log', e => console.info(e.text));
    engine.on('picture', p => this.takePicture(p.frame, p.picture));
    doc.on('change', ({opened, computed}) => {
      if (opened) this.state.set({scene: null});
      if (doc.isRead && !doc.model.items.some(i => i.key === state.get('selection'))) this.select('');
      if (state.get('mode') === 'scene' && !computed) this.sendText();
      this.showShapes();
    });
  }

  /* The scene's text to the engine, as far as it has something to simulate. */
  private sendText(): void {
    if (this.state.get('connection') !== 'ready') return;
    if (this.compare.on) {
      this.compare.edited(this.doc.text);
      return;
    }
    if (this.isEmpty()) {
      if (this.state.get('playing')) this.engine.send({do: 'pause'});
      this.opened = this.opening = false;
      this.state.set({error: null});
      this.showNothing();
      this.view.frame('all');
      return;
    }
    if (!this.opened && !this.opening) {
      this.opening = true;
      this.engine.sendText({do: 'open', text: this.doc.text});
    } else {
      this.engine.sendText({do: 'edit', text: this.doc.text});
    }
  }

  /* Without particles: a scene that has none, or could not be opened. */
  private showNothing(): void {
    this.forget();
    this.state.set({scene: null, waiting: [], frame: 0, time: 0, kept: [0, 0]});
    this.latest = null;
    this.pane.clear();
    this.setView(emptyScene(this.doc.model));
  }

  private takeState(e: StateEvent): void {
    const {state} = this;
    state.set({playing: this.time.isPlaying(e.playing), done: e.done, kept: e.kept, time: e.time});
    if (!this.latest || Math.floor(state.get('frame')) !== e.frame) state.set({frame: e.frame});
    this.time.told(e.playing);
  }

  private takeScene(e: SceneEvent): void {
    const first = this.opening || !this.opened;
    if (this.isEmpty()) return; /* of a scene that was left meanwhile */
    this.opening = false;
    this.opened = true;
    this.state.set({error: null, scene: e.scene, waiting: e.restart});
    this.doc.setNumbers(e.scene.numbers ?? {});
    if (first) {
      this.forget();
      this.framing = true;
      this.latest = null;
      this.pane.clear();
      this.graphs.reset((e.scene.last - e.scene.first) / e.scene.fps, e.scene.dimension, e.scene.heat);
      if (!this.fits(this.state.get('tool'), e.scene)) this.state.set({tool: 'select'});
      this.state.set({frame: e.scene.first, time: 0, shown: null, radius: +(e.scene.resolution * 4).toPrecision(2)});
    } else if (e.live.length && this.state.get('frame') > e.scene.first) {
      this.dock.strip.mark();
    }
    this.setView(e.scene);
    this.want();
    const probe = this.state.get('probe');
    if (probe !== null) this.engine.send({do: 'probe', id: probe});
  }

  private setView(scene: SceneInfo): void {
    this.pane.scene = scene; /* which has the copies */
    this.pane.setScene(scene, this.shapes());
  }

  /* Goes on with another engine and what it has sent, in the page's view. */
  takeOver(engine: Engine, pane: Pane, told: StateEvent | null): void {
    this.due = [];
    this.engine.takeOver(engine);
    this.pane.leave();
    pane.view = this.view;
    pane.listen(this.engine);
    this.pane = pane;
    this.dock.strip.clear();
    for (const f of pane.history.frames()) this.dock.strip.add(f.frame, f.totals?.kinetic ?? 0);
    this.latest = pane.history.latest();
    if (told) this.takeState(told);
    if (!pane.scene || !this.latest) return;
    this.state.set({scene: pane.scene});
    this.setView(pane.scene);
    const {frame, picture, tags, grid} = pane.history.latest()!;
    this.state.set({frame: frame.frame + frame.part, time: frame.time});
    this.present(frame, picture, tags, grid);
  }

  private shapes(): DrawnShape[] {
    const {cache} = this.files;
    if (cache && !cache.withScene) return []; /* the scene's are not the cache's */
    const {model} = this.compare, hidden = this.state.get('hidden'), {scene} = this.pane;
    if (model) return drawnShapes({model, selection: '', hidden, scene, time: this.shownTime()});
    return drawnShapes({model: this.doc.model, selection: this.state.get('selection'), hidden, scene, time: this.shownTime()});
  }

  /* s: of what is on screen. */
  shownTime(): number {
    return this.state.get('shown')?.time ?? 0;
  }

  /* Where an item's handles are on screen, and the frame that drags are taken into. */
  handles(item = this.selected()): {pivot: Vec3; frame: Frame} {
    return handlesOf(this.doc.model, item, this.shownTime());
  }

  showShapes(): void {
    this.view.setShapes(this.shapes());
    this.compare.showShapes();
  }

  /* Forgets the past: a scene begins. */
  forget(): void {
    this.pane.history.clear();
    this.graphs.clear();
    this.dock.clear();
    this.dock.strip.clear();
    this.acknowledge();
  }

  /* Tells the engine that it may send more. */
  private acknowledge(): void {
    for (const d of this.due) this.engine.shown(d.picture.number);
    this.due = [];
  }

  private takePicture(frame: FrameEvent, picture: Picture): void {
    if (!this.opened) {
      this.engine.shown(picture.number); /* of a scene that was left */
      return;
    }
    const place = frame.frame + frame.part,
      before = this.latest ? this.latest.frame.frame + this.latest.frame.part : place;
    this.latest = {frame, picture};
    if (place < before) this.acknowledge();
    const {tags} = this.pane,
      grid = this.pane.gridOf(picture);
    this.due.push({frame, picture, tags, grid});
    /* Two that keep in step do not wait for a slow drawing. */
    if (this.compare.on) this.engine.shown(picture.number);
    if (tags) this.pane.history.add(frame, tags, picture, grid);
    if (frame.seconds > 0 && frame.steps > 0) {
      const rate = (frame.steps * frame.particles) / frame.seconds;
      this.rate = this.rate === null ? rate : 0.9 * this.rate + 0.1 * rate;
    }
    this.graphs.add(frame);
    this.dock.take(frame);
    this.dock.strip.add(frame.frame, frame.totals?.kinetic ?? 0);
    this.state.set({frame: place, time: frame.time});
  }

  /* The newest picture once more, if none waits: a recording begins with it. */
  takeAgain(): void {
    const {latest, pane} = this;
    if (latest && !this.due.length) this.due.push({...latest, tags: pane.tags, grid: pane.gridOf(latest.picture)});
  }

  present(frame: FrameEvent, picture: Picture, tags: Tags | null, grid: Grid | null): void {
    this.pane.show(frame, picture, tags, grid);
    const later = this.shownTime() !== frame.time;
    this.state.set({shown: frame});
    if (later && this.follows()) this.showShapes();
    this.probe.show(frame.probe, this.pane);
    if (this.framing && picture.count > 0) {
      this.framing = false;
      this.frameFirst();
    } else if (this.reframe) {
      this.reframe = false;
      this.view.frame('all');
    }
  }

  /* Whether what is drawn from the text alone moves with time. Poses of colliders come from the engine. */
  private follows(): boolean {
    const {model} = this.doc;
    return model.items.some(
      i => (i.kind === 'source' || i.kind === 'sink' || i.key === this.state.get('selection')) && moves(model, i),
    );
  }

  /* The camera for a scene's first picture: a link's, the scene's, or in its direction with everything in sight. */
  private frameFirst(): void {
    if (this.camera) {
      this.view.camera = this.camera;
      this.camera = null;
      return;
    }
    const camera = cameraOf(this.doc.model), stage = this.view.stage;
    this.view.camera = {...this.view.camera, ...camera};
    if (camera.distance === undefined || this.doc.model.dimension === 2) return this.view.frame('all');
    /* A picture is wider than the stage: from further away it sees as much. */
    const wider = Math.max(1, (PICTURE * stage.height) / stage.width);
    this.view.camera = {...this.view.camera, distance: camera.distance * wider};
  }

  /* An animation frame: the newest picture, then whatever has changed. */
  private frame(): void {
    const records = this.state.get('recording') && this.state.get('scrub') === null;
    let drawn: Due | undefined;
    /* A recording takes every picture, each once it can be drawn and encoded. */
    if (this.due.length && !(records && (this.view.busy || !this.files.readyToRecord))) {
      drawn = this.due[records ? 0 : this.due.length - 1];
      if (this.state.get('scrub') === null)
        this.present(drawn.frame, drawn.picture, drawn.tags, drawn.grid ?? (this.needsGrid() ? this.pane.grid : null));
    }
    if (!this.view.needsDraw && !drawn) {
      this.compare.frame();
      return;
    }
    this.view.draw();
    this.compare.frame();
    if (drawn) {
      if (records) {
        if (this.time.isAwaited(drawn.frame)) this.files.recordFrame(drawn.frame);
        this.due.shift();
        this.engine.shown(drawn.picture.number);
        if (!this.due.length) this.time.taken(drawn.frame);
      } else {
        this.acknowledge();
      }
    }
    this.legend.update();
    this.probe.follow();
    this.axes.update();
    this.gravity.update();
    this.layout.showScale();
  }

  private needsGrid(): boolean {
    const o = this.state.get('overlays');
    return o.grid !== 'off' || o.force || o.flow || o.blocks;
  }

  private want(): void {
    const command = {
      do: 'want' as const,
      color: carriedColor(this),
      velocity: this.state.get('overlays').velocity,
      grid: this.needsGrid(),
      totals: true,
    };
    this.engine.send(command);
    this.compare.want(command);
    if (this.needsGrid()) return;
    this.pane.grid = null;
    this.view.setGrid(null);
  }

  private watch(): void {
    const {state, view} = this;
    watchLooks(this);
    state.watch(['theme'], () => {
      document.documentElement.dataset.theme = state.get('theme');
      this.graphs.setTheme();
    });
    state.watch(['color', 'overlays'], () => this.want());
    state.watch(['selection', 'hidden'], () => this.showShapes());
    state.watch(['graphs'], () => this.graphs.refresh());
    view.onCamera = () => this.compare.cameraMoved(view);
  }
}
