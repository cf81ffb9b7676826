/* The tree of what a scene contains. Like-named things (brick_11, brick_12, ...) share a row that opens. */
import type {App} from '../app.ts';
import {el, button, replace} from '../ui/dom.ts';
import {icon, shapeIcon, type IconName} from '../ui/icons.ts';
import {showMenu, type Entry} from '../ui/menu.ts';
import {count, readNumber, showWithUnit} from '../ui/units.ts';
import {countsOf, isCopied} from '../app_scene.ts';
import {isKeyed} from '../document/frames.ts';
import {addGroup, addMaterial, addShape, SHAPE_NAMES} from '../document/make.ts';
import {SCENE, type Item, type ItemKind, type Model} from '../document/model.ts';
import {swatchColor} from './colors.ts';
import {SectionView} from './rows.ts';

type Part = {kind: ItemKind; title: string; add: string; hint: string; optional?: boolean};
const PARTS: Part[] = [
  {
    kind: 'group',
    title: 'Groups',
    add: 'Add a group',
    hint: 'Places that other things are in.',
    optional: true,
  },
  {kind: 'object', title: 'Objects', add: 'Add an object', hint: 'What is made of particles.'},
  {kind: 'collider', title: 'Colliders', add: 'Add a collider', hint: 'What objects bounce off.'},
  {kind: 'emitter', title: 'Emitters', add: 'Add an emitter', hint: 'Sources that pour material in.'},
  {kind: 'sink', title: 'Sinks', add: 'Add a sink', hint: 'Shapes that delete particles.', optional: true},
  {
    kind: 'source',
    title: 'Heat sources',
    add: 'Add a heat source',
    hint: 'Shapes that heat what is in them.',
    optional: true,
  },
  {kind: 'material', title: 'Materials', add: 'Add a material', hint: 'Come with the first object.'},
];
const GROUP_LEAST = 4; /* like names that share a row */
const GROUP_SHOWN = 3; /* of them at first */

const ICONS: Partial<Record<ItemKind, IconName>> = {group: 'group', emitter: 'emit', source: 'flame'};

/* The group that a thing's row is below. */
function holderOf(model: Model, item: Item): Item | null {
  if (item.of || item.group === '') return null;
  return model.items.find(i => i.kind === 'group' && i.name === item.group && (item.kind !== 'group' || before(i, item))) ?? null;
}
const before = (a: Item, b: Item): boolean => (a.path[1] as number) < (b.path[1] as number);

export class Outline {
  readonly element = el('div', {class: 'p-body', role: 'tree', 'aria-label': 'Scene'});
  private readonly open = new Map<string, 'some' | 'all' | 'none'>();
  private readonly folded = new Set<string>(); /* keys of items whose members or parts are not shown */
  private shown = ''; /* the selection that was brought into sight */
  private readonly shut = new Map<string, boolean>();
  private drawn = '';

  constructor(private readonly app: App) {
    app.doc.on('change', () => this.update());
    app.state.watch(['selection', 'schema', 'scene', 'hidden'], () => this.update());
    this.element.addEventListener('keydown', e => this.key(e));
  }

  update(): void {
    const {app} = this,
      scene = app.state.get('scene');
    this.reveal();
    const signature = JSON.stringify([
      app.state.get('selection'),
      [...app.state.get('hidden')],
      [...this.open],
      [...this.folded],
      app.state.get('schema') !== null,
      app.doc.model.items.map(i => [
        i.key,
        i.name,
        i.kind,
        i.material,
        i.visible,
        i.shape?.word,
        i.fields.temperature,
        i.group,
        i.fields.instances !== undefined,
        isKeyed(i),
      ]),
      scene?.materials.map(m => [m.name, m.color]),
      scene?.objects.map(o => [o.count, o.entry]),
      scene?.colliders.map(c => c.entry),
    ]);
    if (signature === this.drawn) return;
    this.drawn = signature;
    const focused = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>('.item')?.dataset.key;
    const items = app.doc.model.items;
    const content: Node[] = [
      this.row(
        items[0] ?? SCENE,
        'scene',
      ),
    ];
    for (const part of PARTS) {
      const all = items.filter(i => i.kind === part.kind),
        own = all.filter(i => !holderOf(app.doc.model, i));
      if (part.optional && (part.kind === 'group' ? !all.length : !own.length)) continue;
      const view = new SectionView(part.title, {
        remember: this.shut,
        shut: part.kind === 'emitter' && !all.length && items.length > 3,
        add: {label: part.add, run: at => this.addMenu(part, at)},
      });
      view.set(String(own.length));
      const hint = all.length ? 'In groups.' : part.hint;
      view.append(...(own.length ? this.rows(own, 0) : [el('p', {class: 'hint'}, hint)]));
      content.push(view.element);
    }
    const more = PARTS.filter(p => p.optional && !items.some(i => i.kind === p.kind));
    if (more.length) {
      content.push(
        el(
          'div',
          {class: 'act'},
          button(
            {
              icon: 'plus',
              label: 'Add a group, a sink or a heat source',
              text: 'More',
              class: 'small',
              do: 'add-more',
              attributes: {'aria-haspopup': 'menu'},
            },
            e =>
              showMenu(
                'Add',
                more.map(p => ({
                  kind: 'do' as const,
                  text: p.add,
                  note: '',
                  icon: p.kind === 'sink' ? ('sink' as const) : ICONS[p.kind],
                  run: () => this.add(p.kind, app.doc.model.dimension === 2 ? 'rectangle' : 'box'),
                })),
                e.currentTarget as HTMLElement,
              ),
          ),
        ),
      );
    }
    const scroll = this.element.scrollTop;
    replace(this.element, ...content);
    this.element.scrollTop = scroll;
    if (focused !== undefined)
      this.element.querySelector<HTMLElement>(`.item[data-key="${focused}"]`)?.focus({preventScroll: true});
  }

  /* What is in a group, or the parts of a shape. */
  private below(item: Item): Item[] {
    const {model} = this.app.doc;
    if (item.kind !== 'group') return item.parts;
    return model.items.filter(i => holderOf(model, i) === item);
  }

  /* A row, and those of what is in it. */
  private branch(item: Item, depth: number, kid = false): Node[] {
    const below = this.below(item);
    const row = this.row(item, undefined, kid, depth, below.length > 0);
    return below.length && !this.folded.has(item.key) ? [row, ...this.rows(below, depth + 1)] : [row];
  }

  /* Opens what the selection is in, once. */
  private reveal(): void {
    const key = this.app.state.get('selection'), {model} = this.app.doc;
    if (key === this.shown) return;
    this.shown = key;
    for (let at: Item | null = model.items.find(i => i.key === key) ?? null; at; ) {
      at = at.of ?? holderOf(model, at);
      if (at) this.folded.delete(at.key);
    }
  }

  private rows(items: Item[], depth: number): Node[] {
    const stem = (i: Item) => i.name.replace(/[_ ]?\d+$/, '');
    const sizes = new Map<string, number>();
    for (const i of items) sizes.set(stem(i), (sizes.get(stem(i)) ?? 0) + 1);
    const out: Node[] = [],
      done = new Set<string>();
    for (const item of items) {
      const s = stem(item),
        n = sizes.get(s) ?? 0;
      if (n < GROUP_LEAST || s === item.name || item.kind === 'part') {
        out.push(...this.branch(item, depth));
        continue;
      }
      if (done.has(s)) continue;
      done.add(s);
      const group = items.filter(i => stem(i) === s && i.name !== s),
        state = this.open.get(s) ?? (n > 12 ? 'some' : 'all');
      out.push(this.groupRow(s, group.length, state, depth));
      if (state === 'none') continue;
      const selected = group.findIndex(i => i.key === this.app.state.get('selection'));
      const shown = state === 'all' || selected >= GROUP_SHOWN ? group : group.slice(0, GROUP_SHOWN);
      out.push(...shown.flatMap(i => this.branch(i, depth + 1, true)));
      if (shown.length < group.length) {
        out.push(
          el(
            'div',
            {
              class: 'item kid more',
              style: `--d:${depth + 1}`,
              role: 'treeitem',
              tabindex: -1,
              onclick: () => this.setOpen(s, 'all'),
            },
            el('span', {class: 't'}, `${group.length - shown.length} more`),
          ),
        );
      }
    }
    return out;
  }

  private setOpen(stem: string, state: 'some' | 'all' | 'none'): void {
    this.open.set(stem, state);
    this.update();
  }

  private groupRow(stem: string, n: number, state: string, depth: number): HTMLElement {
    return el(
      'div',
      {
        class: 'item group' + (state === 'none' ? ' closed' : ''),
        style: `--d:${depth}`,
        role: 'treeitem',
        'data-stem': stem,
        tabindex: -1,
        'aria-expanded': String(state !== 'none'),
        onclick: () => this.setOpen(stem, state === 'none' ? 'some' : 'none'),
      },
      icon('down'),
      el('span', {class: 't'}, stem),
      el('span', {class: 'n'}, String(n)),
      el('span', {class: 'gap'}),
    );
  }

  private row(item: Item, iconName?: IconName, kid = false, depth = 0, opens = false): HTMLElement {
    const {app} = this,
      scene = app.state.get('scene');
    const hidden = app.isHidden(item);
    const selected = app.state.get('selection') === item.key;
    const name =
      iconName ?? (item.kind === 'material' ? null : (ICONS[item.kind] ?? shapeIcon(item.shape?.word ?? 'box')));
    const folded = this.folded.has(item.key);
    const color = (of: string, object?: string) =>
      el('i', {class: 'sw', style: `background:${swatchColor(scene, of, object)}`, title: of});
    /* Objects of the only material need not name it. */
    const all = app.doc.model.items.filter(i => i.kind === 'material');
    const material =
      item.material || (all.length === 1 && (item.kind === 'object' || item.kind === 'emitter') ? all[0].name : '');
    const hides = item.kind === 'object' || item.kind === 'collider' || item.kind === 'emitter';
    return el(
      'div',
      {
        class: `item${kid ? ' kid' : ''}${hidden ? ' off' : ''}`,
        style: depth ? `--d:${depth}` : null,
        role: 'treeitem',
        'aria-level': depth + 1,
        'aria-expanded': opens ? String(!folded) : null,
        'data-key': item.key,
        tabindex: selected ? 0 : -1,
        'aria-selected': String(selected),
        onclick: () => app.select(item.key),
        ondblclick: (e: MouseEvent) => item.kind !== 'scene' && app.itemMenu(item, e.currentTarget as HTMLElement),
        oncontextmenu: (e: MouseEvent) => {
          e.preventDefault();
          app.select(item.key);
          if (item.kind !== 'scene') app.itemMenu(item, e.currentTarget as HTMLElement);
        },
      },
      opens &&
        el(
          'button',
          {
            type: 'button',
            class: 'fold' + (folded ? ' closed' : ''),
            tabindex: -1,
            'aria-label': `${folded ? 'Open' : 'Close'} ${item.name}`,
            onclick: (e: MouseEvent) => {
              e.stopPropagation();
              this.setFolded(item.key, !folded);
            },
          },
          icon('down'),
        ),
      name && icon(name),
      item.kind === 'material' && color(item.name),
      el('span', {class: 't'}, item.name),
      this.note(item),
      material !== '' && color(material, item.name),
      hides
        ? el(
            'button',
            {
              type: 'button',
              class: 'eye',
              tabindex: -1,
              'aria-label': `${hidden ? 'Show' : 'Hide'} ${item.name}`,
              onclick: (e: MouseEvent) => {
                e.stopPropagation();
                app.toggleVisible(item);
              },
            },
            icon(hidden ? 'noeye' : 'eye'),
          )
        : el('span', {class: 'gap'}),
    );
  }

  private setFolded(key: string, fold: boolean): void {
    if (fold) this.folded.add(key);
    else this.folded.delete(key);
    this.update();
  }

  /* How many copies there are, particles of an object, the temperature of a hot plate. */
  private note(item: Item): HTMLElement | null {
    const {copies, particles} = countsOf(this.app.state.get('scene'), item);
    const temperature = item.kind === 'collider' ? readNumber(item.fields.temperature) : null;
    const text = isCopied(this.app.doc.model, item) && copies > 0
      ? `\u00d7 ${count(copies)}`
      : particles > 0
        ? count(particles)
        : temperature !== null
          ? showWithUnit(temperature, 'K', 'temperature')
          : '';
    const title = copies > 1 && particles > 0 ? `${count(copies)} copies, ${count(particles)} particles` : null;
    return text || isKeyed(item)
      ? el('span', {class: 'n', title}, isKeyed(item) ? icon('key') : null, text)
      : null;
  }

  private key(e: KeyboardEvent): void {
    const row = (e.target as HTMLElement).closest<HTMLElement>('.item');
    if (!row || e.target !== row) return;
    const all = [...this.element.querySelectorAll<HTMLElement>('.item')].filter(r => r.offsetParent);
    const at = all.indexOf(row),
      to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1}[e.key];
    if (to !== undefined) {
      e.preventDefault();
      e.stopPropagation();
      const next = all[Math.max(0, Math.min(all.length - 1, to))];
      if (next.dataset.key !== undefined) this.app.select(next.dataset.key);
      const key = next.dataset.key;
      (key !== undefined ? this.element.querySelector<HTMLElement>(`.item[data-key="${key}"]`) : next)?.focus();
    } else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
      this.fold(e, row, all);
    } else if (e.key === 'Enter') {
      e.preventDefault();
      row.click();
      const item = this.app.selected();
      if (item.kind !== 'scene' && row.dataset.key === item.key) this.app.itemMenu(item, row);
    }
  }

  /* Left closes a group, or goes up to it; right opens it. On other rows these keys step through time. */
  private fold(e: KeyboardEvent, row: HTMLElement, all: HTMLElement[]): void {
    const left = e.key === 'ArrowLeft',
      key = row.dataset.key,
      item = key === undefined ? undefined : this.app.doc.model.items.find(i => i.key === key),
      holder = item && (item.of ?? holderOf(this.app.doc.model, item));
    if (item && (row.getAttribute('aria-expanded') === String(left) || (left && holder))) {
      e.preventDefault();
      e.stopPropagation();
      if (row.getAttribute('aria-expanded') === String(left)) this.setFolded(item.key, left);
      else this.app.select(holder!.key);
      const to = row.getAttribute('aria-expanded') === String(left) ? item.key : holder!.key;
      this.element.querySelector<HTMLElement>(`.item[data-key="${to}"]`)?.focus();
      return;
    }
    const group = row.classList.contains('kid')
        ? all.slice(0, all.indexOf(row)).filter(r => r.dataset.stem !== undefined).pop()
        : row,
      stem = group?.dataset.stem;
    if (group === undefined || stem === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    if (group !== row) {
      if (left) group.focus();
      return;
    }
    if (left !== group.classList.contains('closed')) this.setOpen(stem, left ? 'none' : 'some');
    [...this.element.querySelectorAll<HTMLElement>('.item.group')].find(r => r.dataset.stem === stem)?.focus();
  }

  /* ---- adding ---- */

  private addMenu(part: Part, at: HTMLElement): void {
    const {app} = this,
      schema = app.state.get('schema'),
      flat = app.doc.model.dimension === 2;
    if (!schema) return;
    if (part.kind === 'group') return this.add('group', '');
    if (part.kind === 'material') {
      const known = ['snow', 'jelly_soft', 'sand', 'water', 'clay', 'honey', 'chocolate', 'snow_melting', 'wax', 'ice'];
      const entry = (name: string): Entry => {
        const p = schema.presets.find(x => x.name === name)!;
        return {
          kind: 'do',
          text: name,
          run: () => {
            app.add(addMaterial(app.doc.text, app.doc.model, name, p.law === 'melting'), `Add ${name}`);
          },
        };
      };
      const first = known.filter(k => schema.presets.some(p => p.name === k)),
        rest = schema.presets.map(p => p.name).filter(n => !first.includes(n));
      showMenu(
        'Add a material',
        [
          {kind: 'title', text: 'From a preset'},
          {kind: 'columns', entries: first.map(entry)},
          {kind: 'line'},
          {kind: 'columns', entries: rest.map(entry)},
        ],
        at,
        'wide',
      );
      return;
    }
    const bit = flat ? 1 : 2;
    const fits = schema.sections.filter(
      s => s.shape && s.dimensions & bit && (part.kind === 'collider' || part.kind === 'source' || s.filled & bit),
    );
    const entries: Entry[] = fits
      .filter(s => s.name !== 'mesh')
      .map(s => ({
        kind: 'do',
        text: SHAPE_NAMES[s.name] ?? s.name,
        icon: shapeIcon(s.name),
        run: () => this.add(part.kind, s.name),
      }));
    if (fits.some(s => s.name === 'mesh'))
      entries.push({kind: 'do', text: 'Mesh file', icon: 'mesh', run: () => app.pickMesh(part.kind)});
    if (flat && (part.kind === 'object' || part.kind === 'collider')) {
      entries.push(
        {kind: 'line'},
        {
          kind: 'do',
          text: 'Draw an outline',
          icon: 'pen',
          run: () => app.state.set({drawing: part.kind as 'object' | 'collider', tool: 'select'}),
        },
      );
    }
    showMenu(part.add, entries, at);
  }

  private add(kind: ItemKind, word: string): void {
    const {app} = this;
    if (kind === 'group') {
      app.add(addGroup(app.doc.text, app.doc.model), 'Add a group');
      return;
    }
    app.add(addShape(app.doc.text, app.doc.model, kind, word), `Add a ${(SHAPE_NAMES[word] ?? word).toLowerCase()}`);
  }
}
