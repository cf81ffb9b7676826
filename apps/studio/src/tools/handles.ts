/* Drags of the selected shape's handles: move, turn, scale. Each works from how things were when the drag
 * began, so that rounding does not add up. */
import type {App} from '../app.ts';
import type {Vec3} from '../protocol.ts';
import type {Handle} from '../view/handles.ts';
import type {View} from '../view/view.ts';
import type {Item} from '../document/model.ts';
import type {Frame} from '../document/frames.ts';
import {anglesOf, multiply, rotation, transposed, type Matrix} from '../document/matrix.ts';
import {canScale, moveInScene, placeOf, scaleBy, turnTo} from '../document/place.ts';
import {add, length, scale, sub} from '../view/math.ts';
import {alongAxis, angleAbout, inwards, onPlane} from './screen.ts';

const UNIT: Vec3[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const SNAP_DEGREES = 15;

export class HandleDrag {
  private readonly item: Item;
  private readonly text: string;
  private readonly pivot: Vec3;
  private readonly frame: Frame;
  private readonly normal: Vec3;
  private readonly from: Vec3 | null;
  private readonly fromAlong: number;
  private readonly fromAngle: number;

  constructor(
    private readonly app: App,
    private readonly view: View,
    private readonly handle: Handle,
    x: number,
    y: number,
  ) {
    this.item = app.selected();
    this.text = app.doc.text;
    const {pivot, frame} = app.handles(this.item);
    this.pivot = pivot;
    this.frame = frame;
    this.normal = app.doc.model.dimension === 2 ? [0, 0, 1] : inwards(view, this.pivot);
    this.from = onPlane(view, x, y, this.pivot, this.normal);
    const axis = handle.axis >= 0 ? UNIT[handle.axis] : this.normal;
    this.fromAlong = alongAxis(view, x, y, this.pivot, axis) ?? 0;
    this.fromAngle = angleAbout(view, x, y, this.pivot, axis) ?? 0;
  }

  move(x: number, y: number, snap: boolean): void {
    const {app, handle, item} = this,
      model = app.doc.model,
      tag = `drag ${item.key}`;
    const axis = handle.axis >= 0 ? UNIT[handle.axis] : this.normal;
    if (handle.do === 'move') {
      let by: Vec3 | null;
      if (handle.axis >= 0) {
        const t = alongAxis(this.view, x, y, this.pivot, axis);
        by = t === null ? null : scale(axis, t - this.fromAlong);
      } else {
        const hit = onPlane(this.view, x, y, this.pivot, this.normal);
        by = hit && this.from ? sub(hit, this.from) : null;
      }
      if (!by) return;
      let to = add(this.pivot, by);
      if (snap) to = to.map(v => Math.round(v / model.resolution) * model.resolution) as Vec3;
      app.change(moveInScene(this.text, model, item, this.frame, to), `Move ${item.name}`, tag);
    } else if (handle.do === 'turn') {
      const angle = angleAbout(this.view, x, y, this.pivot, axis);
      if (angle === null) return;
      let degrees = ((angle - this.fromAngle) * 180) / Math.PI;
      if (snap) degrees = Math.round(degrees / SNAP_DEGREES) * SNAP_DEGREES;
      const {turn} = this.frame, now = multiply(turn, rotation(placeOf(item).rotate));
      const turned = multiply(transposed(turn), multiply(about(axis, degrees), now));
      app.change(turnTo(this.text, model, item, anglesOf(turned)), `Turn ${item.name}`, tag);
    } else if (canScale(item)) {
      let factor: Vec3 = [1, 1, 1];
      if (handle.axis >= 0) {
        const t = alongAxis(this.view, x, y, this.pivot, axis);
        if (t === null || Math.abs(this.fromAlong) < 1e-9) return;
        factor[handle.axis as 0 | 1 | 2] = Math.max(0.05, t / this.fromAlong);
      } else {
        const hit = onPlane(this.view, x, y, this.pivot, this.normal);
        if (!hit || !this.from) return;
        const f = Math.max(0.05, length(sub(hit, this.pivot)) / Math.max(1e-9, length(sub(this.from, this.pivot))));
        factor = [f, f, f];
      }
      app.change(scaleBy(this.text, item, factor), `Scale ${item.name}`, tag);
    }
  }

  done(): void {
    this.app.doc.settle();
  }
}

function about(axis: Vec3, degrees: number): Matrix {
  const a = (degrees * Math.PI) / 180,
    c = Math.cos(a),
    s = Math.sin(a),
    [x, y, z] = axis,
    t = 1 - c;
  return [
    [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
    [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
    [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
  ];
}
