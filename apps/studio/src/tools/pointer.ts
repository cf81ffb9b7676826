/* What the pointer does on the view: select and drag shapes, probe, and tools that act while held. The view
 * turns the camera with whatever is left to it. */
import type {App} from '../app.ts';
import type {Pane} from '../pane.ts';
import type {Tool, Vec3} from '../protocol.ts';
import {add, length, scale, sub} from '../view/math.ts';
import {el, setText} from '../ui/dom.ts';
import {showWithUnit} from '../ui/units.ts';
import type {Handle} from '../view/handles.ts';
import type {ToolMark, View} from '../view/view.ts';
import {HandleDrag} from './handles.ts';
import {OutlineDrawing} from './outline_drawing.ts';
import {inwards, onPlane} from './screen.ts';

const CLICK_PX = 4;
const SEND_EVERY_MS = 30;
const AIM_LEAST_PX = 12; /* a shorter drag does not aim a push */

type Held = {
  view: View; /* that it is held in */
  tool: Tool;
  id: number;
  start: Vec3;
  normal: Vec3;
  at: Vec3;
  lastAt: Vec3;
  lastTime: number;
  velocity: Vec3;
  x: number;
  y: number;
  x0: number;
  y0: number;
};

export class PointerTools {
  readonly drawing: OutlineDrawing;
  readonly label = el('div', {class: 'tag toollabel', hidden: true});
  private held: Held | null = null;
  private drag: HandleDrag | null = null;
  private press: {x: number; y: number; id: number} | null = null;
  private timer = 0;
  private hover: {x: number; y: number} | null = null;
  private hoverDue = false;

  constructor(private readonly app: App) {
    this.drawing = new OutlineDrawing(app);
    const area = app.viewElement;
    area.addEventListener('pointerdown', e => this.down(e), true);
    area.addEventListener('pointermove', e => this.move(e), true);
    for (const end of ['pointerup', 'pointercancel'] as const) area.addEventListener(end, e => this.up(e), true);
    area.addEventListener('pointerleave', () => {
      this.hover = null;
      this.showRing();
    });
    app.state.watch(['tool', 'radius'], () => this.showRing());
  }

  /* Esc: lets go. True if there was something to let go of. */
  drop(): boolean {
    if (this.app.state.get('drawing') !== null) {
      this.app.state.set({drawing: null});
      return true;
    }
    if (this.held) {
      this.release();
      return true;
    }
    return false;
  }

  private at(e: PointerEvent): [number, number] {
    const r = this.app.viewElement.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  }

  private own(e: PointerEvent): void {
    e.stopPropagation();
    e.preventDefault();
    this.app.viewElement.setPointerCapture(e.pointerId);
  }

  private down(e: PointerEvent): void {
    if (e.button !== 0 || e.shiftKey || (this.held && e.pointerId !== this.held.id)) return;
    if (document.activeElement instanceof HTMLElement && document.activeElement !== document.body)
      document.activeElement.blur();
    const [x, y] = this.at(e),
      {app} = this,
      tool = app.state.get('tool'),
      pane = app.paneAt(x, y),
      {view} = pane;
    if (this.drawing.active) {
      this.own(e);
      this.drawing.down(x, y);
      return;
    }
    this.press = {x, y, id: e.pointerId};
    if (tool === 'select') {
      const handle = app.canEdit() ? (view.pickHandle(x, y) ?? this.body(pane, x, y)) : null;
      if (handle) {
        this.own(e);
        this.press = null;
        this.drag = new HandleDrag(app, view, handle, x, y);
      }
      return;
    }
    if (tool === 'probe' || !app.canRun() || app.state.get('mode') !== 'scene') return;
    const at = view.pointAt(x, y);
    if (!at || (tool === 'grab' && view.pick(x, y) < 0 && app.doc.model.dimension === 3)) return;
    this.own(e);
    this.press = null;
    app.time.leaveScrub();
    const normal: Vec3 = app.doc.model.dimension === 2 ? [0, 0, 1] : inwards(view, at);
    this.held = {
      view,
      tool,
      id: e.pointerId,
      start: at,
      normal,
      at,
      lastAt: at,
      lastTime: performance.now(),
      velocity: [0, 0, 0],
      x,
      y,
      x0: x,
      y0: y,
    };
    this.send();
    this.timer = window.setInterval(() => this.send(), SEND_EVERY_MS);
  }

  /* Before the first step, the selected object itself is a handle. */
  private body(pane: Pane, x: number, y: number): Handle | null {
    const {app} = this,
      item = app.selected();
    if (item.kind !== 'object' || app.state.get('time') > 0 || pane !== app.editPane) return null;
    const index = pane.view.pick(x, y);
    return index >= 0 && pane.itemOf(index) === item.key ? {do: 'move', axis: -1} : null;
  }

  private move(e: PointerEvent): void {
    const [x, y] = this.at(e);
    this.hover = e.pointerType === 'touch' && !this.held ? null : {x, y};
    if (this.drawing.active) {
      this.drawing.move(x, y);
      return;
    }
    if (this.drag) {
      e.stopPropagation();
      this.drag.move(x, y, e.ctrlKey || e.metaKey);
      return;
    }
    const h = this.held;
    if (h && h.id === e.pointerId) {
      e.stopPropagation();
      h.x = x;
      h.y = y;
      const free = h.tool === 'cut' || h.tool === 'heat' || h.tool === 'emit' ? h.view.pointAt(x, y) : null;
      const to = free ?? onPlane(h.view, x, y, h.start, h.normal);
      if (to && h.tool !== 'push') h.at = to;
    }
    if (!this.hoverDue) {
      this.hoverDue = true;
      requestAnimationFrame(() => {
        this.hoverDue = false;
        this.showRing();
      });
    }
  }

  private up(e: PointerEvent): void {
    const [x, y] = this.at(e);
    if (this.drawing.active) {
      this.drawing.up();
      return;
    }
    if (this.drag) {
      this.drag.done();
      this.drag = null;
      return;
    }
    if (this.held?.id === e.pointerId) {
      this.release();
      return;
    }
    const p = this.press;
    this.press = null;
    if (p && p.id === e.pointerId && Math.hypot(p.x - x, p.y - y) < CLICK_PX && e.type === 'pointerup')
      this.click(x, y);
  }

  private click(x: number, y: number): void {
    const {app} = this,
      tool = app.state.get('tool'),
      pane = app.paneAt(x, y),
      index = pane.view.pick(x, y);
    if (tool === 'probe') {
      app.setProbe(index < 0 ? null : index, pane);
    } else if (tool === 'select') {
      app.select((index >= 0 ? pane.itemOf(index) : null) ?? pane.view.pickShape(x, y) ?? '');
    }
  }

  /* What a tool does now, to the engines: two that are compared feel the same. */
  private send(): void {
    const h = this.held,
      {app} = this;
    if (!h) return;
    const now = performance.now(),
      dt = Math.max(1e-3, (now - h.lastTime) / 1000);
    const velocity = scale(sub(h.at, h.lastAt), 1 / dt);
    h.velocity = add(scale(h.velocity, 0.4), scale(velocity, 0.6));
    h.lastAt = h.at;
    h.lastTime = now;
    const radius = app.state.get('radius'),
      strength = app.state.get('strength');
    if (h.tool === 'push') {
      const aim = this.aim(h);
      app.sendAll({do: 'tool', tool: 'push', at: h.at, radius, velocity: aim, strength: strength.push});
    } else if (h.tool === 'heat') {
      app.sendAll({do: 'tool', tool: 'heat', at: h.at, radius, strength: strength.heat});
    } else if (h.tool === 'emit') {
      app.sendAll({do: 'tool', tool: 'emit', at: h.at, radius, velocity: [0, 0, 0], material: app.emitMaterial()});
    } else {
      app.sendAll({do: 'tool', tool: h.tool, at: h.at, radius, velocity: h.velocity});
    }
    this.showRing();
  }

  /* The direction of a push: along the drag, or into the screen. */
  private aim(h: Held): Vec3 {
    const to = onPlane(h.view, h.x, h.y, h.start, h.normal),
      by = to ? sub(to, h.start) : ([0, 0, 0] as Vec3);
    if (Math.hypot(h.x - h.x0, h.y - h.y0) < AIM_LEAST_PX || length(by) === 0)
      return this.app.doc.model.dimension === 2 ? [0, -1, 0] : h.normal;
    return scale(by, 1 / length(by));
  }

  private release(): void {
    clearInterval(this.timer);
    this.held = null;
    this.app.sendAll({do: 'tool', tool: null});
    this.showRing();
  }

  private showRing(): void {
    const {app} = this,
      tool = app.state.get('tool'),
      h = this.held,
      view = h?.view ?? (this.hover ? app.paneAt(this.hover.x, this.hover.y).view : app.view),
      mark = (m: ToolMark | null) => app.views.forEach(v => v.setTool(m));
    if (tool === 'select' || tool === 'probe') {
      mark(null);
      if (tool === 'select' && this.hover && !this.press && !this.drag) {
        const handle = app.canEdit() ? view.pickHandle(this.hover.x, this.hover.y) : null;
        view.hotHandle = handle;
        app.viewElement.style.cursor = handle ? 'grab' : '';
      }
      this.label.hidden = true;
      return;
    }
    const at = h?.at ?? (this.hover && view.pointAt(this.hover.x, this.hover.y));
    if (!at) {
      mark(null);
    } else {
      const radius = app.state.get('radius'),
        strength = app.state.get('strength');
      const arrow = h?.tool === 'push' ? scale(this.aim(h), radius * 2.5) : undefined;
      mark({at, radius, arrow});
      if (h?.tool === 'push' || h?.tool === 'heat') {
        setText(
          this.label,
          h.tool === 'push'
            ? showWithUnit(+strength.push.toPrecision(2), 'N')
            : `${strength.heat > 0 ? '+' : ''}${strength.heat.toFixed(0)} K/s`,
        );
        const [x, y] = view.project(at),
          v = app.viewElement.getBoundingClientRect(),
          s = app.stage.getBoundingClientRect();
        this.label.style.left = `${x + v.left - s.left}px`;
        this.label.style.top = `${y + v.top - s.top - radius / view.pixelAt(at) - 28}px`;
      }
    }
    this.label.hidden = !at || (h?.tool !== 'push' && h?.tool !== 'heat');
  }
}
