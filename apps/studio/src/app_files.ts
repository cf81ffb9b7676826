/* Files, links and recordings: what goes in and out of the page. */
import type {App} from './app.ts';
import {parseText} from './document/edit.ts';
import {addFileObject, addShape} from './document/make.ts';
import {setValue} from './document/edit.ts';
import type {Item, ItemKind} from './document/model.ts';
import type {FrameEvent} from './engine/engine.ts';
import type {Receiver, Transport} from './engine/transport.ts';
import {Cache, type Sequence} from './files/cache.ts';
import {CacheTransport} from './files/cache_transport.ts';
import {readPoints, writePoints, type SavedFormat} from './files/formats.ts';
import type {Points} from './files/points.ts';
import {FileSequence, startRecording, videoExtension, type Recording} from './files/recorder.ts';
import {makeLink} from './files/share.ts';
import {addParticleObject} from './files/state_object.ts';
import {fileName, OPEN_ACCEPT, pickFiles, saveFile, saveScene, sortFiles, watchDrops} from './files/yaml_file.ts';
import type {IconName} from './ui/icons.ts';
import type {Entry} from './ui/menu.ts';

const MESH_ACCEPT = '.obj,.ply,.stl';
const MOST_SCENE = 4 << 20; /* bytes */
const WHOLE = 1e-6; /* of a frame: times are rounded */

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

export class AppFiles {
  /* How the page reaches its own engine; a cache takes its place for a while. */
  engineTransport: (to: Receiver) => Transport = () => {
    throw new Error('no engine');
  };
  cache: {name: string; withScene: boolean} | null = null; /* that the page plays itself */
  private readonly kept = new Map<string, ArrayBuffer>(); /* files that scenes may name, for every engine */
  private recording: Recording | null = null;
  private sequence: {of: 'picture' | 'particle'; files: FileSequence} | null = null;

  constructor(private readonly app: App) {
    watchDrops(document.body, {
      over: yes => app.element.classList.toggle('drop', yes),
      files: files => void this.take(files),
    });
  }

  /* The page's own engine, or another like it, with the files that scenes may name. */
  readonly transport = (to: Receiver): Transport => {
    const made = this.engineTransport(to);
    for (const [file, bytes] of this.kept) made.put?.(file, bytes);
    return made;
  };

  private put(file: string, bytes: ArrayBuffer): void {
    this.kept.set(file, bytes);
    this.app.engine.put(file, bytes);
    this.app.compare.put(file, bytes);
  }

  /* ---- scenes ---- */

  save(): void {
    const {doc} = this.app;
    if (doc.text === '') return this.app.toasts.show('There is no scene to save.', {bad: true});
    const name = saveScene(doc.title, doc.text);
    doc.markSaved();
    this.app.toasts.show(`Saved ${name}`);
  }

  async share(): Promise<void> {
    const {doc, view, state, toasts} = this.app;
    if (doc.text === '') return toasts.show('There is no scene to share.', {bad: true});
    try {
      const link = await makeLink(
        {
          scene: doc.text,
          title: doc.title,
          camera: view.camera,
          base: doc.edited ? doc.openedText : undefined,
          view: {look: state.get('look'), color: state.get('color')},
        },
        location.href.replace(/[?#].*$/, ''),
      );
      history.replaceState(null, '', link);
      const text = doc.edited
        ? 'It holds the scene, the camera and your changes.'
        : 'It holds the scene and the camera.';
      try {
        await navigator.clipboard.writeText(link);
        toasts.show(`Link copied. ${text}`);
      } catch {
        toasts.show(`The link is in the address bar. ${text}`);
      }
    } catch (e) {
      toasts.show(messageOf(e), {bad: true});
    }
  }

  revert(): void {
    this.app.change(this.app.doc.openedText, 'Go back to how it was opened');
  }

  /* The line of an item in the text, from 0. */
  lineOf(item: Item): number {
    const {text} = this.app.doc,
      node = item.path.length
        ? (parseText(text).getIn(item.path, true) as {range?: [number, number, number]} | undefined)
        : undefined;
    return node?.range ? text.slice(0, node.range[0]).split('\n').length - 1 : 0;
  }

  async pick(): Promise<void> {
    await this.take(await pickFiles(OPEN_ACCEPT));
  }

  /* Files of any kind: a scene opens, a mesh or particles become an object, several numbered files a cache. */
  async take(files: File[]): Promise<void> {
    const {toasts} = this.app;
    if (!files.length) return;
    try {
      const {scenes, meshes, sequences, others} = await sortFiles(files);
      const scene = scenes[0];
      if (scene) {
        if (scene.size > MOST_SCENE) throw new Error(`${scene.name} is too large for a scene.`);
        this.app.open(await scene.text(), scene.name.replace(/\.ya?ml$/i, ''));
      }
      for (const mesh of meshes) await this.addMesh(mesh, 'object');
      const sequence = sequences[0];
      if (sequence && (sequence.frames.length > 1 || scene)) this.playCache(sequence, scene !== undefined);
      else if (sequence) await this.oneFile(sequence);
      if (others.length && !scene && !meshes.length && !sequence)
        toasts.show(
          `${others[0].name}: the page does not read such files. It reads scenes (.yaml), meshes and particles.`,
          {bad: true},
        );
    } catch (e) {
      toasts.show(messageOf(e), {bad: true});
    }
  }

  /* ---- meshes and particles ---- */

  async pickMesh(kind: ItemKind): Promise<void> {
    const [file] = await pickFiles(MESH_ACCEPT, false);
    if (file) await this.addMesh(file, kind).catch(e => this.app.toasts.show(messageOf(e), {bad: true}));
  }

  private async addMesh(file: File, kind: ItemKind): Promise<void> {
    const {app} = this,
      name = file.name.replace(/[^\w.-]+/g, '_');
    if (!app.canEdit()) throw new Error('Open a scene first.');
    if (!app.engine.takesFiles)
      throw new Error(
        `Put ${file.name} beside the scene's file, and name it in the text: the native engine reads files there.`,
      );
    this.put(name, await file.arrayBuffer());
    const {doc} = app;
    if (kind === 'object' || kind === 'emitter') {
      app.add(addFileObject(doc.text, doc.model, name, 'mesh'), `Add ${name}`);
      return;
    }
    const made = addShape(doc.text, doc.model, kind, 'box');
    const path = made.key.split('.').map(k => (/^\d+$/.test(k) ? Number(k) : k));
    app.add({key: made.key, text: setValue(made.text, [...path, 'shape'], {mesh: {file: name}})}, `Add ${name}`);
  }

  /* One particle file: shown by itself, or added to the scene. */
  private async oneFile(sequence: Sequence): Promise<void> {
    const {app} = this,
      file = sequence.frames[0].file;
    this.playCache(sequence);
    const before = {text: app.doc.text, title: app.doc.title};
    if (!app.engine.hello || before.text === '') return;
    app.toasts.show(`Showing ${file.name}.`, {
      action: {text: 'Add it to the scene', run: () => void this.addParticles(file.name, file, before)},
    });
  }

  private async addParticles(name: string, file: Blob, scene: {text: string; title: string}): Promise<void> {
    const {app} = this;
    try {
      const points = await readPoints(name, new Uint8Array(await file.arrayBuffer()));
      const made = addParticleObject(scene.text, points, name.replace(/\..*$/, ''));
      app.open(scene.text, scene.title, {saved: false});
      if (!app.engine.takesFiles)
        throw new Error(`Put ${made.file.name} beside the scene's file: the native engine reads files there.`);
      this.put(made.file.name, made.file.bytes.buffer);
      app.change(made.text, `Add ${made.object}`);
    } catch (e) {
      app.toasts.show(messageOf(e), {bad: true});
    }
  }

  /* Of the engine's newest state. */
  private async points(format: SavedFormat): Promise<Uint8Array<ArrayBuffer>> {
    const points = await this.app.engine.points();
    return writePoints(format, points as unknown as Points, this.app.state.get('scene')?.fps);
  }

  async savePoints(format: SavedFormat): Promise<void> {
    const {app} = this;
    try {
      const frame = String(Math.floor(app.state.get('frame'))).padStart(4, '0');
      const bytes = await this.points(format);
      app.toasts.show(`Saved ${saveFile(fileName(app.title, `.${frame}.${format}`), bytes)}`);
    } catch (e) {
      app.toasts.show(messageOf(e), {bad: true});
    }
  }

  /* ---- caches ---- */

  /* `withScene`: the open scene is the one that the cache was made of. */
  playCache(sequence: Sequence, withScene = false): void {
    const {app} = this,
      schema = app.state.get('schema');
    if (!schema) throw new Error('The engine is still starting.');
    const cache = new Cache(sequence);
    if (app.compare.on) app.compare.end();
    this.cache = {name: sequence.name, withScene};
    app.state.set({selection: '', probe: null, scrub: null, playing: false});
    app.engine.connect(to => new CacheTransport(cache, schema, to));
  }

  /* Back to the page's own engine. */
  leaveCache(): void {
    this.cache = null;
    this.app.state.set({mode: 'scene', scene: null, error: null, probe: null, scrub: null, playing: false});
    this.app.engine.connect(this.transport);
  }

  backToScene(): void {
    const {doc} = this.app;
    if (doc.text === '') return this.app.newScene(3);
    this.leaveCache();
  }

  /* ---- recording ---- */

  /* Starts a video, or ends whatever is recorded. */
  async toggleRecord(): Promise<void> {
    const {app} = this;
    if (this.sequence) {
      await this.endSequence();
      if (!this.recording) return;
    }
    if (this.recording) {
      const recording = this.recording;
      this.recording = null;
      app.state.set({recording: false});
      try {
        const video = await recording.stop();
        if (!video.frames) app.toasts.show('Nothing was recorded: press play while recording.', {bad: true});
        else
          app.toasts.show(
            `Saved ${saveFile(fileName(app.title, videoExtension(video)), video.blob)}, ${video.seconds.toFixed(1)} s`,
          );
      } catch (e) {
        app.toasts.show(messageOf(e), {bad: true});
      }
      return;
    }
    try {
      const scene = app.state.get('scene');
      this.recording = await startRecording(app.view.canvas, {fps: scene?.playback || 30});
      app.state.set({recording: true});
    } catch (e) {
      app.toasts.show(messageOf(e), {bad: true});
    }
  }

  /* What is recorded keeps up; if not, the next picture waits. */
  get readyToRecord(): boolean {
    return (this.recording?.ready ?? true) && (this.sequence?.files.ready ?? true);
  }

  /* Right after the view was drawn. */
  recordFrame(frame: FrameEvent): void {
    const {app} = this,
      scene = app.state.get('scene');
    if (this.recording) {
      this.recording.frame(scene ? (frame.time * scene.fps) / scene.playback : undefined);
      app.top.showRecording(this.recording.seconds);
    }
    if (this.sequence && frame.part < WHOLE) {
      const {files} = this.sequence;
      files.add(frame.frame);
      app.top.showRecording(files.count / (scene?.playback || 30));
    }
  }

  async savePicture(): Promise<void> {
    const {app} = this,
      {clientWidth: w, clientHeight: h} = app.view.canvas;
    try {
      const blob = await app.view.screenshot(w * 2, h * 2);
      app.toasts.show(`Saved ${saveFile(fileName(app.title, '.png'), blob)}`);
    } catch (e) {
      app.toasts.show(messageOf(e), {bad: true});
    }
  }

  private async toggleSequence(of: 'picture' | 'particle'): Promise<void> {
    if (this.sequence) return this.endSequence();
    const {app} = this,
      {clientWidth: w, clientHeight: h} = app.view.canvas,
      name = fileName(app.title, '');
    const picture = async () => new Uint8Array(await (await app.view.screenshot(w, h)).arrayBuffer());
    const files =
      of === 'picture' ? new FileSequence(name, 'png', picture) : new FileSequence(name, 'prt', () => this.points('prt'));
    this.sequence = {of, files};
    app.state.set({recording: true});
  }

  private async endSequence(): Promise<void> {
    const {app} = this,
      {of, files} = this.sequence!;
    this.sequence = null;
    app.state.set({recording: this.recording !== null});
    try {
      const zip = await files.finish();
      if (files.count)
        app.toasts.show(`Saved ${saveFile(fileName(app.title, '.zip'), zip)}, ${files.count} ${of} files`);
      else app.toasts.show('Nothing was recorded: press play while recording.', {bad: true});
    } catch (e) {
      app.toasts.show(messageOf(e), {bad: true});
    }
  }

  entries(): Entry[] {
    const off = this.app.state.get('scene') === null;
    const entry = (of: 'picture' | 'particle', icon: IconName, text: string): Entry => ({
      kind: 'do',
      text: this.sequence?.of === of ? `Stop the ${of} sequence` : text,
      icon,
      off: off || (this.sequence !== null && this.sequence.of !== of),
      run: () => void this.toggleSequence(of),
    });
    return [
      {kind: 'do', text: 'Save a picture (PNG)', icon: 'camera', off, run: () => void this.savePicture()},
      entry('picture', 'layers', 'Record a picture sequence'),
      {kind: 'do', text: 'Save particles (PRT)', icon: 'points', off, run: () => void this.savePoints('prt')},
      {kind: 'do', text: 'Save particles (geo)', icon: 'points', off, run: () => void this.savePoints('geo')},
      entry('particle', 'points', 'Record a particle sequence (PRT)'),
    ];
  }
}
