/* Time: play, step, and back through kept frames. Engines leave out pictures that the page is too slow for; while
 * something is recorded, play goes by whole frames instead, and each waits for the one before to be taken. */
import type {App} from './app.ts';
import type {Speed} from './app_state.ts';
import type {FrameEvent} from './engine/engine.ts';

const SAME = 1e-6; /* of a frame */

export class Time {
  private byFrames = false;
  private pausing = false; /* an engine that plays was told to stop, and has not answered */
  private goal = 0; /* the frame that the recording waits for */
  private due = 0; /* ms of the clock at which the next frame may begin */
  private timer = 0;

  constructor(private readonly app: App) {
    const {state} = app;
    state.watch(['recording'], () => {
      const on = state.get('recording');
      if (on === this.byFrames) return;
      if (!on) {
        this.leaveFrames();
        this.toggle();
      } else if (app.compare.on || state.get('mode') === 'run') {
        if (!state.get('playing')) this.toggle();
      } else if (app.canRun()) {
        if (!state.get('playing')) return this.playFrames();
        this.byFrames = this.pausing = true;
        app.engine.send({do: 'pause'});
      }
    });
  }

  /* Whether time goes on, also between two steps of a recording. */
  isPlaying(engine: boolean): boolean {
    return this.app.compare.on ? this.app.compare.isPlaying : this.byFrames || engine;
  }

  toggle(): void {
    const {app} = this,
      {state, engine} = app;
    if (!app.canRun() && !state.get('playing')) return;
    if (app.compare.on) return app.compare.togglePlay();
    if (state.get('playing')) return this.pause();
    if (state.get('recording') && state.get('mode') !== 'run') return this.playFrames();
    if (state.get('done') && state.get('scrub') === null) this.restart();
    this.leaveScrub();
    engine.send({do: 'play', speed: Number(state.get('speed'))});
  }

  setSpeed(speed: Speed): void {
    const {app} = this;
    app.state.set({speed});
    if (app.compare.on) app.compare.setSpeed(Number(speed));
    else if (app.state.get('playing') && !this.byFrames) app.engine.send({do: 'play', speed: Number(speed)});
  }

  step(unit: 'frame' | 'substep'): void {
    const {app} = this;
    if (!app.canRun()) return;
    if (app.compare.on) return app.compare.step();
    if (app.state.get('playing')) this.pause();
    this.leaveScrub();
    app.engine.send({do: 'step', unit});
  }

  back(): void {
    const {app} = this;
    if (!app.canRun()) return;
    const place = app.state.get('scrub') ?? app.state.get('frame');
    this.scrubTo(Math.max(app.state.get('kept')[0], Math.ceil(place) - 1));
  }

  restart(): void {
    const {app} = this;
    if (app.state.get('connection') !== 'ready' || app.state.get('error') !== null || app.isEmpty()) return;
    if (app.compare.on) return app.compare.restart();
    this.leaveFrames();
    app.forget();
    app.state.set({waiting: [], scrub: null});
    app.engine.send({do: 'restart'});
  }

  private pause(): void {
    this.leaveFrames();
    this.app.engine.send({do: 'pause'});
  }

  /* ---- whole frames ---- */

  /* Begins with the frame on screen, or with the picture that a restart or a seek brings. */
  private playFrames(): void {
    const {app} = this,
      {state} = app,
      scrub = state.get('scrub'),
      place = scrub ?? state.get('frame'),
      again = state.get('done') && scrub === null,
      back = Math.abs(place - state.get('frame')) >= SAME;
    if (again) this.restart();
    this.leaveScrub();
    this.byFrames = true;
    this.due = performance.now();
    this.goal = again ? (state.get('scene')?.first ?? 0) : Math.floor(place);
    state.set({playing: true});
    if (!again && !back) app.takeAgain();
  }

  /* After a state of the engine. Pictures of before may still come: none of them is of the next frame. */
  told(playing: boolean): void {
    if (!this.pausing || playing) return;
    this.pausing = false;
    this.due = performance.now();
    if (this.app.state.get('done')) this.leaveFrames();
    else this.nextFrame();
  }

  private nextFrame(): void {
    const {state, engine} = this.app,
      speed = Number(state.get('speed')),
      wait = speed > 0 ? this.due - performance.now() : 0;
    clearTimeout(this.timer);
    if (wait > 0) {
      this.timer = window.setTimeout(() => this.nextFrame(), wait);
      return;
    }
    if (speed > 0) this.due = performance.now() + 1000 / ((state.get('scene')?.fps ?? 24) * speed);
    this.goal = Math.floor(state.get('frame')) + 1;
    engine.send({do: 'step', unit: 'frame'});
  }

  /* Whether a recording has use for the picture. Others are left from play, or come when colours change: the engine
   * is further on, and what is asked of it now is not theirs. */
  isAwaited(frame: FrameEvent): boolean {
    return !this.byFrames || (!this.pausing && frame.frame >= this.goal);
  }

  /* The frame is in the recording, and no other waits. */
  taken(frame: FrameEvent): void {
    if (!this.byFrames || !this.isAwaited(frame)) return;
    if (frame.frame >= (this.app.state.get('scene')?.last ?? 0)) this.leaveFrames();
    else this.nextFrame();
  }

  leaveFrames(): void {
    clearTimeout(this.timer);
    if (!this.byFrames) return;
    this.byFrames = this.pausing = false;
    this.app.state.set({playing: false});
  }

  /* ---- the past ---- */

  /* Shows a frame that is kept here, or asks the engine for it. */
  scrubTo(frame: number): void {
    const {app} = this;
    if (app.compare.on) return app.compare.seek(frame);
    if (app.state.get('playing')) this.pause();
    const kept = app.pane.history.at(frame);
    if (!kept || Math.abs(kept.frame.frame + kept.frame.part - frame) > 0.999) {
      app.state.set({scrub: null});
      app.engine.send({do: 'seek', frame});
      return;
    }
    app.state.set({scrub: frame});
    app.present(kept.frame, kept.picture, kept.tags, kept.grid);
    app.graphs.setPlayhead(kept.frame.time);
  }

  scrubToTime(time: number): void {
    const scene = this.app.state.get('scene'),
      [low, high] = this.app.state.get('kept');
    if (scene && this.app.canRun())
      this.scrubTo(Math.max(low, Math.min(high, Math.round(scene.first + time * scene.fps))));
  }

  /* Time goes on from the frame that is shown; the later ones are discarded. */
  leaveScrub(): void {
    const {app} = this,
      {state} = app,
      scrub = state.get('scrub'),
      scene = state.get('scene');
    if (scrub === null) return;
    state.set({scrub: null});
    if (Math.abs(scrub - state.get('frame')) < SAME) return;
    app.engine.send({do: 'seek', frame: scrub});
    app.pane.history.discardAfter(scrub);
    app.dock.strip.discard(scrub);
    if (scene) app.graphs.discardAfter((scrub - scene.first) / scene.fps);
  }
}
