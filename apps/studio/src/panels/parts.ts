/* Rows of shapes that are made of others, and of their parts: the operator, what is added and taken away. */
import type {Param} from '../protocol.ts';
import {addItem, renameKey, setValue, Raw, sourceAt, type Value} from '../document/edit.ts';
import {isFields, isOperator, OPERATORS, type Item} from '../document/model.ts';
import {shapeFor, SHAPE_NAMES} from '../document/make.ts';
import type {Path} from '../document/path.ts';
import {middle, placeOf} from '../document/place.ts';
import {el, button} from '../ui/dom.ts';
import {shapeIcon} from '../ui/icons.ts';
import {showMenu, type Entry} from '../ui/menu.ts';
import {labelOf} from './params.ts';
import type {Properties} from './properties.ts';
import {SectionView} from './rows.ts';

/* The shapes that can be parts, in a menu. */
function shapeEntries(of: Properties, run: (word: string) => void): Entry[] {
  const {app} = of, bit = app.doc.model.dimension === 2 ? 1 : 2;
  return app.state.get('schema')!.sections
    .filter(s => s.shape && s.dimensions & bit && s.filled & bit && s.name !== 'mesh' && s.name !== 'polygon' && s.name !== 'heightfield' && !isOperator(s.name))
    .map(s => ({kind: 'do', text: SHAPE_NAMES[s.name] ?? s.name, icon: shapeIcon(s.name), run: () => run(s.name)}));
}

/* The map that holds the word of an item's shape. */
const holderOf = (item: Item): Path => (item.kind === 'part' ? item.path : [...item.path, 'shape']);

export function partRows(of: Properties, item: Item): Node[] {
  const {app} = of, shape = item.shape, out: Node[] = [];
  if (!shape || shape.path.length <= item.path.length) return out;
  const holder = holderOf(item), combined = isOperator(shape.word);
  if (combined) {
    const row = of.row({name: 'operator', kind: 'text', unit: '', fallback: '', least: 0, most: 0, help: 'how its parts make the shape'}, holder, {
      choices: [...OPERATORS],
      base: shape.word,
      word: 'Default',
      read: () => app.selected().shape?.word,
      give: v => v !== null && app.change(renameKey(app.doc.text, shape.path, String(v)), `Make it a ${String(v)}`),
    });
    if (row) out.push(row.element);
  }
  /* Where the first is, in the frame of the whole. */
  const first = item.parts[0] ?? item, at = first.kind === 'part' ? placeOf(first).pivot : middle(item);
  const add = (word: string): Value => shapeFor(app.doc.model, word, at);
  if (combined) {
    out.push(
      el('div', {class: 'parts'}, ...item.parts.map(p =>
        button({icon: shapeIcon(p.shape?.word ?? 'box'), label: `Select ${p.name}`, text: p.name, class: 'small'}, () => app.select(p.key)),
      )),
      el('div', {class: 'act'}, button({icon: 'plus', label: 'Add a part', text: 'Add a part', class: 'small solid', do: 'add-part', attributes: {'aria-haspopup': 'menu'}}, e =>
        showMenu('Add a part', shapeEntries(of, word => {
          app.change(addItem(app.doc.text, shape.path, add(word)), `Add a part to ${item.name}`);
          app.select([...shape.path, item.parts.length].join('.'));
        }), e.currentTarget as HTMLElement),
      )),
    );
  } else if (!['plane', 'inside', 'particles', 'voxels'].includes(shape.word)) {
    out.push(
      el('div', {class: 'act'}, button({icon: 'union', label: 'Combine with another shape', text: 'Combine', class: 'small', do: 'combine', attributes: {'aria-haspopup': 'menu'}}, e =>
        showMenu('Combine', OPERATORS.flatMap((operator): Entry[] => [
          {kind: 'title', text: labelOf(operator)},
          {kind: 'columns', entries: shapeEntries(of, word => {
            app.change(combinedWith(app.doc.text, item, operator, add(word)), `Combine ${item.name}`);
            app.select([...holder, operator, 1].join('.'));
          })},
        ]), e.currentTarget as HTMLElement),
      )),
    );
  }
  return out;
}

const ROUNDED = ['box', 'rectangle', 'cylinder', 'tube', 'cone', 'frustum', 'ring']; /* that `round` acts on */

/* What a shape says beside its word. The place of a part is its own; that of a whole shape, beside the item's, is shown
 * if it is given. */
export function besideSection(of: Properties, item: Item): SectionView | null {
  const {shape} = item, table = of.section('a shape')?.params ?? [];
  if (!shape || !table.length || shape.path.length <= item.path.length + (item.kind === 'part' ? 0 : 1)) return null;
  if (['plane', 'inside', 'mesh', 'polygon', 'heightfield'].includes(shape.word)) return null;
  const given = isFields(item.fields.shape) ? item.fields.shape : item.kind === 'part' ? item.fields : {};
  const places = (p: Param): boolean => p.name === 'translate' || p.name === 'rotate';
  const shown = table.filter(p =>
    places(p) ? item.kind !== 'part' && given[p.name] !== undefined : p.name !== 'round' || ROUNDED.includes(shape.word),
  );
  const rows = shown.map(p =>
    of.row(p, holderOf(item), places(p) ? {label: `Shape's ${labelOf(p.name).toLowerCase()}`} : {}),
  );
  const view = new SectionView('Walls and edges', {
    remember: of.shut,
    shut: !shown.some(p => given[p.name] !== undefined),
  });
  view.append(...rows.flatMap(r => (r ? [r.element] : [])));
  return view;
}

/* A shape with another: a part becomes the first of two; what stands beside the word of a whole stays. */
function combinedWith(text: string, item: Item, operator: string, other: Value): string {
  const {path, word} = item.shape!, at = holderOf(item);
  if (item.kind === 'part') return setValue(text, at, {[operator]: [new Raw(sourceAt(text, at)), other]});
  if (typeof item.fields.shape === 'string') return setValue(text, at, {[operator]: [{[word]: {}}, other]});
  const own = new Raw(`{${word}: ${sourceAt(text, path)}}`);
  return setValue(renameKey(text, path, operator), [...at, operator], [own, other]);
}
