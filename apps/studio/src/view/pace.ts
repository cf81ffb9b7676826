/* How finely a picture is drawn: while things move, at a resolution that the machine keeps up with; after a rest,
 * in full. One drawing is under way at a time; a fence tells how long it took. */

/* Parts of the canvas's resolution. */
const SCALES = [1, 0.75, 0.5, 0.35];
const SLOW_MS = 30, QUICK_MS = 12, REST_MS = 180, LOST_MS = 2000;

export class Pace {
  #scale = 0; /* number of the one for motion */
  #drawn = -1; /* ... and of the last drawing */
  #moved = 0;
  #fence: WebGLSync | null = null;
  #submitted = 0;
  /* Milliseconds that the last drawings took, from their commands to their end. */
  frameMs = 0;

  moved(): void {
    this.#moved = performance.now();
  }

  get movingScale(): number {
    return SCALES[this.#scale]!;
  }

  /* For the next drawing. `flat`: 2D is cheap, and always fine. */
  next(flat: boolean): number {
    this.#drawn = flat || performance.now() - this.#moved >= REST_MS ? 0 : this.#scale;
    return SCALES[this.#drawn]!;
  }

  /* A finer drawing is due. */
  get refines(): boolean {
    return this.#drawn > 0 && performance.now() - this.#moved >= REST_MS && !this.#fence;
  }

  get busy(): boolean {
    return this.#fence !== null;
  }

  submit(gl: WebGL2RenderingContext): void {
    this.#fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.#submitted = performance.now();
  }

  /* The context is lost. */
  forget(): void {
    this.#fence = null;
  }

  /* Looks whether the last drawing has ended, and learns from how long it took. */
  poll(gl: WebGL2RenderingContext): void {
    if (!this.#fence) return;
    const done = gl.getSyncParameter(this.#fence, gl.SYNC_STATUS) === gl.SIGNALED;
    const ms = performance.now() - this.#submitted;
    if (!done && ms < LOST_MS) return;
    gl.deleteSync(this.#fence);
    this.#fence = null;
    this.frameMs = this.frameMs ? 0.7 * this.frameMs + 0.3 * ms : ms;
    if (this.#drawn !== this.#scale) return; /* a fine one after a rest says nothing about the others */
    if (ms > SLOW_MS) this.#scale = Math.min(this.#scale + (ms > 4 * SLOW_MS ? 2 : 1), SCALES.length - 1);
    else if (this.frameMs < QUICK_MS && this.#scale > 0) this.#scale--;
  }
}
