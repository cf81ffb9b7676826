/* Fingers, mouse and wheel on the canvas move the camera: drag to orbit (2D: to pan), right or middle drag
 * or Shift to pan, wheel or two fingers to zoom. `claim` gives a drag to somebody else. */

import type {Camera} from './camera.ts';

type Finger = {x: number; y: number};

export class Controls {
  /* Asked at the beginning of a drag with one finger or the main button. */
  claim: (e: PointerEvent) => boolean = () => false;
  readonly #camera: Camera;
  readonly #canvas: HTMLCanvasElement;
  readonly #changed: () => void;
  readonly #fingers = new Map<number, Finger>();
  #pan = false;

  constructor(canvas: HTMLCanvasElement, camera: Camera, changed: () => void) {
    this.#canvas = canvas;
    this.#camera = camera;
    this.#changed = changed;
    canvas.style.touchAction = 'none';
    canvas.addEventListener('pointerdown', (e) => this.#down(e));
    canvas.addEventListener('pointermove', (e) => this.#move(e));
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
      canvas.addEventListener(end, (e) => this.#fingers.delete(e.pointerId));
    }
    canvas.addEventListener('wheel', (e) => this.#wheel(e), {passive: false});
    canvas.addEventListener('contextmenu', (e) => e.preventDefault());
  }

  get dragging(): boolean {
    return this.#fingers.size > 0;
  }

  #at(e: MouseEvent): Finger {
    const r = this.#canvas.getBoundingClientRect();
    return {x: e.clientX - r.left, y: e.clientY - r.top};
  }

  #down(e: PointerEvent): void {
    if (this.#fingers.size === 0 && e.button === 0 && this.claim(e)) return;
    this.#fingers.set(e.pointerId, this.#at(e));
    this.#pan = e.button !== 0 || e.shiftKey;
    this.#canvas.setPointerCapture(e.pointerId);
  }

  #move(e: PointerEvent): void {
    const before = this.#fingers.get(e.pointerId);
    if (!before) return;
    const at = this.#at(e), dx = at.x - before.x, dy = at.y - before.y;
    if (dx === 0 && dy === 0) return;
    const other = [...this.#fingers].find(([id]) => id !== e.pointerId)?.[1];
    if (other) {
      const from = Math.hypot(before.x - other.x, before.y - other.y);
      const to = Math.hypot(at.x - other.x, at.y - other.y);
      this.#camera.pan(dx / 2, dy / 2);
      if (from > 10 && to > 10) this.#camera.zoom(from / to, (at.x + other.x) / 2, (at.y + other.y) / 2);
    } else if (this.#pan) {
      this.#camera.pan(dx, dy);
    } else {
      this.#camera.orbit(dx, dy);
    }
    this.#fingers.set(e.pointerId, at);
    this.#changed();
  }

  #wheel(e: WheelEvent): void {
    e.preventDefault();
    const lines = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1, {x, y} = this.#at(e);
    const by = Math.max(-300, Math.min(300, e.deltaY * lines));
    this.#camera.zoom(Math.exp(by * (e.ctrlKey ? 0.01 : 0.0016)), x, y);
    this.#changed();
  }
}
