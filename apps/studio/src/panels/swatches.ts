/* The colour of a material: six to pick from, or any. */
import type {App} from '../app.ts';
import {el, setAttribute} from '../ui/dom.ts';
import {setValue} from '../document/edit.ts';
import {isFields, type Item} from '../document/model.ts';
import {linear, swatchColor} from './colors.ts';

const COLORS: [string, string][] = [
  ['#eef4fa', 'White'],
  ['#5d2f1b', 'Brown'],
  ['#d84b52', 'Red'],
  ['#efb24a', 'Amber'],
  ['#5cb79a', 'Green'],
  ['#5b94d6', 'Blue'],
];

export function swatches(app: App, item: () => Item, watch: (update: () => void) => void): HTMLElement {
  const give = (hex: string, done: boolean) => {
    const now = item(),
      look = now.fields.look;
    const value = [...linear(hex)];
    const text = isFields(look)
      ? setValue(app.doc.text, [...now.path, 'look', 'color'], value)
      : setValue(
          app.doc.text,
          [...now.path, 'look'],
          typeof look === 'string' ? {name: look, color: value} : {color: value},
        );
    app.change(text, `Colour ${now.name}`, `colour ${now.key}`);
    if (done) app.doc.settle();
  };
  const buttons = COLORS.map(([hex, name]) =>
    el('button', {
      type: 'button',
      role: 'radio',
      'aria-label': name,
      title: name,
      'aria-checked': 'false',
      style: `background:${hex}`,
      onclick: () => give(hex, true),
    }),
  );
  const own = el('input', {type: 'color', 'aria-label': 'Another colour', title: 'Another colour'});
  own.addEventListener('input', () => give(own.value, false));
  own.addEventListener('change', () => app.doc.settle());
  watch(() => {
    const look = item().fields.look,
      color = isFields(look) ? look.color : undefined;
    COLORS.forEach(([hex], i) =>
      setAttribute(
        buttons[i],
        'aria-checked',
        Array.isArray(color) && linear(hex).every((x, k) => Math.abs(x - Number(color[k])) < 0.01),
      ),
    );
    const m = swatchColor(app.state.get('scene'), item().name).match(/\d+/g);
    if (m && document.activeElement !== own) own.value = '#' + m.map(x => (+x).toString(16).padStart(2, '0')).join('');
  });
  return el(
    'div',
    {class: 'row wide'},
    el('span', {class: 'lab'}, 'Colour'),
    el('span', {class: 'swatches', role: 'radiogroup', 'aria-label': 'Colour'}, ...buttons, own),
    el('span'),
  );
}
