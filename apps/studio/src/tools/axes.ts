/* The axes in a corner of 3D views: which way they point; a click on one looks along it. */
import type {App} from '../app.ts';
import type {Vec3} from '../protocol.ts';
import {add} from '../view/math.ts';

const SVG = 'http://www.w3.org/2000/svg';
const ARM = 21,
  MIDDLE = 32; /* of 64 */
const NAMES = ['x', 'y', 'z'] as const;

export class AxesGizmo {
  readonly element = document.createElementNS(SVG, 'svg');
  private readonly arms: {line: SVGPathElement; ball: SVGGElement}[] = [];
  private drawn = '';

  constructor(private readonly app: App) {
    this.element.setAttribute('class', 'gizmo');
    this.element.setAttribute('viewBox', '0 0 64 64');
    this.element.setAttribute('role', 'group');
    this.element.setAttribute('aria-label', 'Axes');
    this.element.innerHTML = '<circle cx="32" cy="32" r="31" fill="var(--surface)" opacity=".85"/>';
    NAMES.forEach((name, i) => {
      const line = document.createElementNS(SVG, 'path'),
        ball = document.createElementNS(SVG, 'g');
      line.setAttribute('stroke', `var(--${name})`);
      line.setAttribute('stroke-width', '2');
      ball.innerHTML = `<title>Look along ${name}</title><circle r="7" fill="var(--${name})"/><text y="3.5" text-anchor="middle" font-size="10" font-weight="700" fill="var(--surface)">${name}</text>`;
      ball.setAttribute('role', 'button');
      ball.setAttribute('tabindex', '-1');
      ball.setAttribute('aria-label', `Look along ${name}`);
      ball.addEventListener('click', () => this.look(i));
      this.element.append(line, ball);
      this.arms.push({line, ball});
    });
  }

  update(): void {
    const {view} = this.app,
      flat = this.app.doc.model.dimension === 2 || view.scaleBar !== null;
    this.element.toggleAttribute('hidden', flat || this.app.compare.on);
    if (flat) return;
    const {target, distance} = view.camera,
      o = view.project(target),
      size = distance * 0.05;
    const at = NAMES.map((_, i) => {
      const e: Vec3 = [0, 0, 0];
      e[i] = size;
      const p = view.project(add(target, e));
      return {x: p[0] - o[0], y: p[1] - o[1], depth: p[2] - o[2]};
    });
    const most = Math.max(1e-9, ...at.map(a => Math.hypot(a.x, a.y, (a.depth / size) * Math.hypot(at[0].x, at[0].y))));
    const long = Math.max(most, ...at.map(a => Math.hypot(a.x, a.y)));
    const places = at.map(a => [MIDDLE + (a.x / long) * ARM, MIDDLE + (a.y / long) * ARM]);
    const signature = places
      .flat()
      .map(v => v.toFixed(1))
      .join();
    if (signature === this.drawn) return;
    this.drawn = signature;
    /* The nearest is drawn last. */
    for (const i of [0, 1, 2].sort((a, b) => at[b].depth - at[a].depth)) {
      this.arms[i].line.setAttribute('d', `M${MIDDLE} ${MIDDLE}L${places[i][0].toFixed(1)} ${places[i][1].toFixed(1)}`);
      this.arms[i].ball.setAttribute('transform', `translate(${places[i][0].toFixed(1)} ${places[i][1].toFixed(1)})`);
      this.element.append(this.arms[i].line, this.arms[i].ball);
    }
  }

  private look(axis: number): void {
    const {view} = this.app,
      up = this.app.doc.model.up === 'z' ? 2 : 1,
      camera = view.camera;
    view.camera =
      axis === up ? {...camera, azimuth: 0, elevation: 89} : {...camera, azimuth: axis === 0 ? 90 : 0, elevation: 0};
    this.app.compare.cameraMoved(view);
  }
}
