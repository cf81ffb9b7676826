/* Keys: a block for each, with its time and what it sets then. They are added at the time on screen, with the values
 * that hold there, so that adding one changes nothing yet. */
import type {App} from '../app.ts';
import type {Param, Vec3} from '../protocol.ts';
import {insertEntry, moveEntry, Raw, removeAt, setNumbers, setValue, type Value} from '../document/edit.ts';
import {keyedAt, timeOf} from '../document/frames.ts';
import {isFields, valueAt, vector} from '../document/model.ts';
import {pathText, type Path} from '../document/path.ts';
import {el, button, replace, setText} from '../ui/dom.ts';
import {NumberField} from '../ui/number.ts';
import {readNumber, showWithUnit, writeNumber} from '../ui/units.ts';
import {labelOf} from './params.ts';
import {makeRow, type Row} from './rows.ts';

/* What a key sets: a field of it, or with null all of it. */
export type KeyColumn = {field: string | null; param: Param};

const SAME_S = 1e-6; /* times that count as one */
const TIME = {lo: 0, hi: 10, log: false, least: -1e9, most: 1e9};

export class KeyList {
  readonly element = el('div', {class: 'key-list'});
  private readonly add: HTMLButtonElement;
  private rows: Row[] = [];
  private blocks: {time: number; element: HTMLElement}[] = [];
  private built = '';

  constructor(
    private readonly app: App,
    private readonly path: Path, /* of the map */
    private readonly columns: KeyColumn[],
    private readonly what: string,
    private readonly interpolation: () => unknown,
  ) {
    this.add = button({icon: 'key', label: `Add a key of ${what}`, text: 'Add a key', class: 'small solid', do: 'add-key'}, () =>
      this.addHere(),
    );
    this.update();
  }

  private entries(): {text: string; time: number; value: unknown}[] {
    const {model} = this.app.doc, keys = valueAt(model.root, this.path);
    return Object.entries(isFields(keys) ? keys : {})
      .map(([text, value]) => ({text, value, time: timeOf(text, model.numbers)}))
      .sort((a, b) => a.time - b.time);
  }

  update(): void {
    const entries = this.entries(), built = JSON.stringify(entries.map(e => e.text));
    if (built !== this.built) {
      this.built = built;
      this.rows = [];
      this.blocks = entries.map(e => this.block(e.text, e.time));
      replace(this.element, ...this.blocks.map(b => b.element), el('div', {class: 'act'}, this.add));
    }
    for (const row of this.rows) row.update();
    this.showTime();
  }

  /* Which key is on screen; what a new one would be. */
  showTime(): void {
    const time = this.app.shownTime(), half = 0.5 / (this.app.state.get('scene')?.fps ?? 24);
    for (const b of this.blocks) b.element.classList.toggle('now', Math.abs(b.time - time) < half);
    this.add.disabled = this.blocks.some(b => Math.abs(b.time - time) < SAME_S);
    setText(this.add.lastElementChild!, `Add a key at ${showWithUnit(+time.toFixed(4), 's')}`);
  }

  private block(text: string, time: number): {time: number; element: HTMLElement} {
    const path: Path = [...this.path, text];
    const field = new NumberField({
      label: `Time of the key of ${this.what}`,
      unit: 's',
      kind: 'real',
      range: TIME,
      oninput: (v, done) => done && this.move(text, v),
    });
    if (Number.isFinite(time)) field.set(time);
    const element = el(
      'div',
      {class: 'key', 'data-key-time': text},
      el(
        'div',
        {class: 'key-h'},
        button({icon: 'key', label: `Go to ${text} s`, class: 'small', do: 'go-key'}, () => this.app.time.scrubToTime(time)),
        field.element,
        el('span', {class: 'grow'}),
        button({icon: 'trash', label: `Delete the key at ${text} s`, class: 'small', do: 'delete-key'}, () => this.remove(text)),
      ),
    );
    for (const c of this.columns) {
      const row = this.cell(c, c.field === null ? path : [...path, c.field]);
      if (!row) continue;
      this.rows.push(row);
      element.append(row.element);
    }
    return {time, element};
  }

  /* In 2D things turn about z alone. */
  private cell(c: KeyColumn, path: Path): Row | null {
    const {app} = this, {dimension, resolution} = app.doc.model;
    const spins = c.field === 'rotate' && dimension === 2, read = () => valueAt(app.doc.model.root, path);
    return makeRow({
      param: spins ? {...c.param, kind: 'real', least: -360, most: 360} : c.param,
      path,
      label: c.field === null ? 'Value' : labelOf(c.field === 'rotate' ? 'turn' : c.field),
      axes: dimension,
      resolution,
      live: false,
      base: c.param.kind === 'vector' && !spins ? [0, 0, 0] : 0,
      baseWord: 'Default',
      marks: false,
      read: () => (spins ? vector(read())[2] : read()),
      give: (value, done) => this.give(path, spins && value !== null ? [0, 0, value] : value, done),
    });
  }

  private give(path: Path, value: Value | null, done: boolean): void {
    const {doc} = this.app, tag = `key ${pathText(path)}`;
    if (value === null) {
      if (path.length > this.path.length + 1) this.app.change(removeAt(doc.text, path), 'Reset a key', tag);
    } else {
      const numbers = Array.isArray(value) && value.every(v => typeof v === 'number');
      const text = numbers
        ? setNumbers(doc.text, path, value as number[], vector(valueAt(doc.model.root, path)), 1e-12)
        : setValue(doc.text, path, value);
      this.app.change(text, 'Change a key', tag);
    }
    if (done) doc.settle();
  }

  private move(text: string, to: number): void {
    const others = this.entries().filter(e => e.text !== text);
    if (others.some(e => Math.abs(e.time - to) < SAME_S)) {
      this.app.toasts.show(`There is a key at ${showWithUnit(to, 's')} already.`, {bad: true});
      this.built = '';
      this.update();
      return;
    }
    const next = others.find(e => e.time > to);
    this.app.change(moveEntry(this.app.doc.text, this.path, text, writeNumber(to), next?.text ?? null), 'Move a key');
  }

  /* The last key goes with the map that it is in. */
  private remove(text: string): void {
    const {doc} = this.app, last = this.entries().length === 1;
    const field = this.columns[0].field === null && this.path.length > 1 ? this.path.slice(0, -1) : this.path;
    this.app.change(removeAt(doc.text, last ? field : [...this.path, text]), 'Delete a key');
  }

  private addHere(): void {
    const {app} = this, entries = this.entries(), time = +app.shownTime().toFixed(4);
    const value = this.valueAt(time);
    let {text} = app.doc;
    /* A way begins at the start. */
    if (!entries.length && time > 0) text = setValue(text, [...this.path, '0'], this.valueAt(0));
    const next = entries.find(e => e.time > time);
    app.change(insertEntry(text, this.path, writeNumber(time), value, next?.text ?? null), `Add a key of ${this.what}`);
  }

  private valueAt(time: number): Value {
    const entries = this.entries(), flat = this.app.doc.model.dimension === 2;
    const cut = (v: Vec3): number[] => (flat ? v.slice(0, 2) : v).map(x => +x.toPrecision(6) + 0);
    const way = (of: (value: unknown) => Vec3): Vec3 =>
      keyedAt(entries.map(e => ({text: e.text, time: e.time, at: of(e.value), rotate: [0, 0, 0]})), this.interpolation(), time).at;
    const [first] = this.columns;
    if (first.field === null) {
      if (first.param.kind === 'vector') return cut(way(v => vector(v)));
      const numbers = entries.every(e => readNumber(e.value) !== null);
      if (numbers && entries.length) return new Raw(writeNumber(way(v => [readNumber(v)!, 0, 0])[0], first.param.kind));
      const before = entries.filter(e => e.time <= time).pop() ?? entries[0];
      return (before?.value ?? 0) as Value;
    }
    const out: Record<string, Value> = {};
    for (const {field, param} of this.columns) {
      const given = entries.some(e => isFields(e.value) && e.value[field!] !== undefined);
      if (!given && (entries.length || field !== 'at')) continue;
      const v = way(value => vector(isFields(value) ? value[field!] : undefined));
      out[field!] = param.unit === 'degrees' ? v.map(x => +x.toPrecision(6) + 0) : cut(v);
    }
    return out;
  }
}

/* A value that is keyed: {keys: {0: 0.1, 1: 0.5}, interpolation: step}. */
export class KeyedRow implements Row {
  readonly element: HTMLElement;
  readonly name: string;
  private readonly list: KeyList;
  private readonly choice: Row | null;
  private readonly count = el('span', {class: 'chip'});

  constructor(app: App, param: Param, path: Path, label: string, interpolation: Param | undefined, plain: (v: Value) => void) {
    const value = () => valueAt(app.doc.model.root, path);
    this.name = `${label} ${param.name} ${param.help} keys`.toLowerCase();
    this.list = new KeyList(app, [...path, 'keys'], [{field: null, param}], label.toLowerCase(), () => {
      const v = value();
      return isFields(v) ? v.interpolation : undefined;
    });
    const at: Path = [...path, 'interpolation'];
    this.choice =
      interpolation?.choices && (param.kind === 'real' || param.kind === 'vector' || param.kind === 'temperature')
        ? makeRow({
            param: interpolation,
            path: at,
            axes: 3,
            resolution: 1,
            live: false,
            base: interpolation.fallback,
            baseWord: 'Default',
            read: () => valueAt(app.doc.model.root, at),
            give: v =>
              app.change(v === null ? removeAt(app.doc.text, at) : setValue(app.doc.text, at, v), 'Change interpolation'),
          })
        : null;
    this.element = el(
      'div',
      {class: 'keyed', 'data-p': param.name},
      el(
        'div',
        {class: 'row wide'},
        el('span', {class: 'lab', title: param.help}, label),
        el('span', {class: 'holds'}, this.count),
        button({icon: 'x', label: `One value of ${label}, without keys`, class: 'small', do: 'unkey'}, () => {
          const v = value(), first = isFields(v) && isFields(v.keys) ? Object.values(v.keys)[0] : undefined;
          if (first !== undefined) plain(first as Value);
        }),
      ),
      this.choice?.element ?? null,
      this.list.element,
    );
    this.update();
  }

  showTime(): void {
    this.list.showTime();
  }

  update(): void {
    this.list.update();
    this.choice?.update();
    const n = this.list.element.querySelectorAll('.key').length;
    setText(this.count, `${n} key${n === 1 ? '' : 's'}`);
  }
}
