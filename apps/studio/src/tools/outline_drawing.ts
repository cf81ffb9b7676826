/* An outline drawn by hand in a 2D scene: drag freely, or click corner after corner and the first one again. */
import type {App} from '../app.ts';
import {addOutline} from '../document/make.ts';
import {el} from '../ui/dom.ts';

type Point = [number, number];

const CLOSE_PX = 12;
const STEP_PX = 6; /* between points of a free drag */

export class OutlineDrawing {
  readonly element = el(
    'div',
    {class: 'note card drawing', hidden: true, role: 'status'},
    'Draw an outline: drag, or click its corners and the first one again. Esc ends it.',
  );
  private readonly svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private points: Point[] = []; /* of the scene */
  private dragging = false;

  constructor(private readonly app: App) {
    this.svg.setAttribute('class', 'sketch');
    app.viewElement.append(this.svg);
    app.state.watch(['drawing'], () => {
      const on = app.state.get('drawing') !== null;
      this.element.hidden = !on;
      this.svg.classList.toggle('on', on);
      this.clear();
    });
  }

  get active(): boolean {
    return this.app.state.get('drawing') !== null;
  }

  down(x: number, y: number): void {
    const first = this.points[0];
    if (first && this.points.length >= 3 && this.near(first, x, y)) return this.finish();
    this.add(x, y);
    this.dragging = true;
  }

  move(x: number, y: number): void {
    if (this.dragging) {
      const last = this.points[this.points.length - 1],
        p = this.app.view.project([last[0], last[1], 0]);
      if (Math.hypot(p[0] - x, p[1] - y) >= STEP_PX) this.add(x, y);
    }
    this.draw(x, y);
  }

  up(): void {
    this.dragging = false;
    /* A free drag ends where it began, or is closed across. */
    if (this.points.length >= 8) this.finish();
  }

  private add(x: number, y: number): void {
    const at = this.app.view.pointAt(x, y);
    if (at) this.points.push([at[0], at[1]]);
    this.draw(x, y);
  }

  private near(p: Point, x: number, y: number): boolean {
    const q = this.app.view.project([p[0], p[1], 0]);
    return Math.hypot(q[0] - x, q[1] - y) < CLOSE_PX;
  }

  private draw(x: number, y: number): void {
    const dots = this.points.map(p => this.app.view.project([p[0], p[1], 0]));
    const path = [...dots.map(d => `${d[0].toFixed(1)},${d[1].toFixed(1)}`), `${x},${y}`].join(' ');
    this.svg.innerHTML = dots.length
      ? `<polyline points="${path}"/><circle cx="${dots[0][0]}" cy="${dots[0][1]}" r="5"/>`
      : '';
  }

  private clear(): void {
    this.points = [];
    this.dragging = false;
    this.svg.innerHTML = '';
  }

  private finish(): void {
    const kind = this.app.state.get('drawing'),
      {doc} = this.app;
    const points = simplify(this.points, doc.model.resolution / 2),
      [first, last] = [points[0], points[points.length - 1]];
    /* A drag that ends where it began has that corner twice. */
    if (Math.hypot(first[0] - last[0], first[1] - last[1]) < doc.model.resolution) points.pop();
    this.app.state.set({drawing: null});
    if (!kind || points.length < 3) return;
    this.app.add(addOutline(doc.text, doc.model, kind, points), 'Draw an outline');
  }
}

/* Leaves points out that lie within `off` of the line through their neighbours (Douglas and Peucker 1973). */
export function simplify(points: Point[], off: number): Point[] {
  if (points.length < 3) return points;
  const a = points[0],
    b = points[points.length - 1],
    dx = b[0] - a[0],
    dy = b[1] - a[1],
    l = Math.hypot(dx, dy);
  let far = 0,
    at = 0;
  for (let i = 1; i < points.length - 1; i++) {
    const p = points[i],
      d = l > 0 ? Math.abs((p[0] - a[0]) * dy - (p[1] - a[1]) * dx) / l : Math.hypot(p[0] - a[0], p[1] - a[1]);
    if (d > far) {
      far = d;
      at = i;
    }
  }
  if (far <= off) return [a, b];
  return [...simplify(points.slice(0, at + 1), off).slice(0, -1), ...simplify(points.slice(at), off)];
}
