/* The section of an object, a collider or a group about its copies: how they stand, and how far each differs. Kinds and
 * rows come from the engine's tables of `instances`. */
import type {App} from '../app.ts';
import type {Param} from '../protocol.ts';
import {addItem, removeAt, renameKey, setValue, type Value} from '../document/edit.ts';
import {isFields, valueAt, type Item, type Model} from '../document/model.ts';
import type {Path} from '../document/path.ts';
import {el, button, setAttribute} from '../ui/dom.ts';
import {showMenu} from '../ui/menu.ts';
import {count} from '../ui/units.ts';
import {labelOf} from './params.ts';
import type {Properties} from './properties.ts';
import {SectionView} from './rows.ts';

const NOT_KINDS = ['jitter', 'materials', 'seed']; /* of the table's rows; the others are ways to stand */
const LISTED = 12; /* copies of a list that have rows */

/* Copies to begin with: some that do not overlap. */
function begin(model: Model, kind: string, size: number): Value {
  const flat = model.dimension === 2, round = (x: number) => +x.toPrecision(2), step = round(1.5 * size);
  const cut = (v: number[]): number[] => (flat ? v.slice(0, 2) : v);
  switch (kind) {
    case 'list':
      return [{translate: cut([0, 0, 0])}, {translate: cut([step, 0, 0])}];
    case 'grid':
      return {count: cut([3, 1, 3]), spacing: cut([step, step, step])};
    case 'ring':
      return {count: 8, radius: round(2 * step)};
    case 'points':
      return 'points.ply';
    default:
      return {shape: {[flat ? 'disc' : 'sphere']: {radius: round(2 * step)}}, count: 12};
  }
}

/* How wide a thing is, about. */
function sizeOf(model: Model, item: Item): number {
  const p = item.shape?.params ?? {}, of = (v: unknown): number => (Array.isArray(v) ? Number(v[0]) || 0 : Number(v) || 0);
  return 2 * of(p.radius) || of(p.size) || 2 * of(p.radii) || 16 * model.resolution;
}

export function copiesSection(of: Properties, item: Item): SectionView {
  const {app} = of, path: Path = [...item.path, 'instances'], given = item.fields.instances;
  const table = of.section('instances')?.params ?? [], kinds = table.filter(p => !NOT_KINDS.includes(p.name));
  const view = new SectionView('Copies', {remember: of.shut, shut: given === undefined});
  const kind = isFields(given) ? kinds.find(k => given[k.name] !== undefined)?.name : undefined;
  const {model} = app.doc;
  if (given === undefined || kind === undefined) {
    view.append(
      el('p', {class: 'hint'}, 'Copies stand in a list, a grid or a ring, at points or in a shape.'),
      el('div', {class: 'act'}, button(
        {icon: 'plus', label: 'Make copies', text: 'Make copies', class: 'small solid', do: 'make-copies', attributes: {'aria-haspopup': 'menu'}},
        e => showMenu('Make copies', kinds.map(k => ({
          kind: 'do' as const,
          text: labelOf(k.name),
          note: '',
          run: () => app.change(setValue(app.doc.text, path, {[k.name]: begin(app.doc.model, k.name, sizeOf(app.doc.model, item))}), `Make copies of ${item.name}`),
        })), e.currentTarget as HTMLElement),
      )),
    );
    return view;
  }
  if (item.kind !== 'group')
    view.append(el('p', {class: 'hint'}, 'Copies follow what is copied, which is outlined where it is written.'));
  const choice = of.row({name: 'kind', kind: 'text', unit: '', fallback: '', least: 0, most: 0, help: 'how copies stand'}, path, {
    label: 'Stand in',
    choices: kinds.map(k => k.name),
    base: kind,
    word: 'Default',
    read: () => kind,
    give: value => {
      if (value === null || value === kind) return;
      const text = renameKey(app.doc.text, [...path, kind], String(value));
      app.change(setValue(text, [...path, String(value)], begin(model, String(value), sizeOf(model, item))), `Change copies of ${item.name}`);
    },
  });
  if (choice) view.append(choice.element);
  const put = (params: Param[], at: Path): void => {
    for (const p of params) {
      const row = of.row(p, at, p.name === 'material' ? {choices: ['', ...materials(app)], base: '', word: 'Default'} : {});
      if (row) view.append(row.element);
    }
  };
  if (kind === 'list') view.append(...listRows(of, item, [...path, 'list']));
  else if (kind === 'points') put(table.filter(p => p.name === 'points'), path);
  else put(of.section(`instances.${kind}`)?.params ?? [], [...path, kind]);
  if (kind === 'inside') view.append(...insideRows(of, [...path, kind, 'shape']));
  const jitter = of.section('instances.jitter')?.params ?? [];
  view.append(el('h4', {class: 'sub-h'}, 'Chance'));
  put(jitter.filter(p => p.name !== 'velocity' || item.kind === 'object' || item.kind === 'emitter'), [...path, 'jitter']);
  if (item.path[0] === 'objects') view.append(materialRow(app, path));
  put(table.filter(p => p.name === 'seed'), path);
  view.append(
    el('div', {class: 'act'}, button({label: 'Remove the copies', text: 'Remove the copies', class: 'small', do: 'remove-copies'}, () =>
      app.change(removeAt(app.doc.text, path), `Remove copies of ${item.name}`),
    )),
  );
  return view;
}

const materials = (app: App): string[] => app.doc.model.items.filter(i => i.kind === 'material').map(i => i.name);

/* Entries of a list, those that are shown each with all rows of a copy. */
function listRows(of: Properties, item: Item, path: Path): Node[] {
  const {app} = of, list = valueAt(app.doc.model.root, path), n = Array.isArray(list) ? list.length : 0;
  const objects = item.path[0] === 'objects', out: Node[] = [];
  const params = (of.section('a copy')?.params ?? []).filter(p => objects || !['velocity', 'material', 'seed'].includes(p.name));
  for (let i = 0; i < Math.min(n, LISTED); i++) {
    const view = new SectionView(`${item.name}[${i}]`, {remember: of.shut, shut: i > 0});
    for (const p of params) {
      const row = of.row(p, [...path, i], p.name === 'material' ? {choices: ['', ...materials(app)], base: '', word: 'Default'} : {});
      if (row) view.append(row.element);
    }
    if (n > 1)
      view.append(el('div', {class: 'act'}, button({icon: 'trash', label: `Remove copy ${i}`, text: 'Remove', class: 'small'}, () =>
        app.change(removeAt(app.doc.text, [...path, i]), `Remove ${item.name}[${i}]`),
      )));
    view.element.classList.add('inner');
    out.push(view.element);
  }
  if (n > LISTED) out.push(el('p', {class: 'hint'}, `${count(n - LISTED)} more are in the text.`));
  out.push(el('div', {class: 'act'}, button({icon: 'plus', label: 'Add a copy', text: 'Add a copy', class: 'small solid', do: 'add-copy'}, () => {
    const {model, text} = app.doc, step = +(1.5 * n * sizeOf(model, item)).toPrecision(2);
    app.change(addItem(text, path, {translate: model.dimension === 2 ? [step, 0] : [step, 0, 0]}), `Add a copy of ${item.name}`);
  })));
  return out;
}

/* The shape that copies are throughout. */
function insideRows(of: Properties, path: Path): Node[] {
  const {app} = of, bit = app.doc.model.dimension === 2 ? 1 : 2, shape = valueAt(app.doc.model.root, path);
  const word = typeof shape === 'string' ? shape : isFields(shape) ? Object.keys(shape)[0] : undefined;
  const words = app.state.get('schema')!.sections.filter(s => s.shape && s.dimensions & bit && s.filled & bit).map(s => s.name);
  const row = of.row({name: 'shape', kind: 'text', unit: '', fallback: '', least: 0, most: 0, help: 'that copies are throughout'}, path.slice(0, -1), {
    choices: words,
    base: word,
    word: 'Default',
    read: () => word,
    give: v => v !== null && v !== word && app.change(setValue(app.doc.text, path, {[String(v)]: {}}), 'Change the shape of copies'),
  });
  const out: Node[] = row ? [row.element] : [];
  if (word && isFields(shape)) {
    for (const p of of.section(word)?.params ?? []) {
      const r = of.row(p, [...path, word]);
      if (r) out.push(r.element);
    }
  }
  return out;
}

/* Materials of which each copy has one by chance: pressed ones are in the list. */
function materialRow(app: App, of: Path): HTMLElement {
  const path: Path = [...of, 'materials'];
  const now = (): string[] => {
    const list = valueAt(app.doc.model.root, path);
    return Array.isArray(list) ? list.map(String) : [];
  };
  const toggle = (name: string) => {
    const list = now(), next = list.includes(name) ? list.filter(m => m !== name) : [...list, name];
    app.change(next.length ? setValue(app.doc.text, path, next) : removeAt(app.doc.text, path), 'Change materials of copies');
    for (const b of element.querySelectorAll<HTMLElement>('[data-name]')) setAttribute(b, 'aria-pressed', now().includes(b.dataset.name!));
  };
  const element = el(
    'div',
    {class: 'row wide', 'data-p': 'materials'},
    el('span', {class: 'lab'}, 'Materials'),
    el('span', {class: 'chips'}, ...materials(app).map(name =>
      el('button', {
        type: 'button',
        class: 'chip press',
        'data-name': name,
        'aria-pressed': String(now().includes(name)),
        onclick: () => toggle(name),
      }, name),
    )),
  );
  return element;
}
