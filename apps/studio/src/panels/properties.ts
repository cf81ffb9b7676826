/* The right panel: the rows of what is selected, made from the engine's table. Rows are made anew when
 * something else is selected; while values change only their texts do. */
import type {App} from '../app.ts';
import type {Param, Section} from '../protocol.ts';
import {countsOf} from '../app_scene.ts';
import {el, button, replace, setText} from '../ui/dom.ts';
import {icon} from '../ui/icons.ts';
import {showMenu} from '../ui/menu.ts';
import {count, readNumber, writeNumber} from '../ui/units.ts';
import {nodeAt, Raw, removeAt, setNumbers, setValue, sourceAt, type Value} from '../document/edit.ts';
import {duplicate, followPreset, putIntoGroup, remove, rename, setPreset, SHAPE_NAMES} from '../document/make.ts';
import {isFields, valueAt, vector, withParts, type Fields, type Item} from '../document/model.ts';
import {moveTo, placeOf, turnTo} from '../document/place.ts';
import {pathText, type Path} from '../document/path.ts';
import {actsAtOnce, COLLIDER_GROUPS, labelOf, MATERIAL_GROUPS, OBJECT_GROUPS, SCENE_GROUPS, type Group} from './params.ts';
import {copiesSection} from './copies.ts';
import {KeyedRow, KeyList, type KeyColumn} from './key_list.ts';
import {besideSection, partRows} from './parts.ts';
import {makeRow, RowTip, SectionView, type Row, type RowSource} from './rows.ts';
import {meltPlot} from './melt_plot.ts';
import {swatches} from './swatches.ts';
import {swatchColor} from './colors.ts';

const AMBIENT = '20C'; /* of scenes that name none */
const KIND_WORDS: Record<Item['kind'], string> = {
  scene: 'Scene',
  group: 'Group',
  part: 'Part',
  object: 'Object',
  emitter: 'Emitter',
  collider: 'Collider',
  sink: 'Sink',
  source: 'Heat source',
  material: 'Material',
};
const SECTION_OF: Partial<Record<Item['kind'], string>> = {
  object: 'an object',
  emitter: 'an object',
  group: 'a group',
  part: 'an object',
  collider: 'a collider',
  sink: 'a sink',
  source: 'a source',
  material: 'a material',
};
const PLACED = [
  'translate',
  'rotate',
  'scale',
  'shape',
  'mesh',
  'voxels',
  'particles',
  'name',
  'keys',
  'visible',
  'emit',
  'instances',
];

/* What moves a thing, in the order of its rows. */
const MOTION = ['keys', 'interpolation', 'pivot', 'spin'];

export class Properties {
  readonly element: HTMLElement;
  readonly body = el('div', {class: 'p-body'});
  private readonly head: HTMLElement;
  private readonly foot = el('div', {class: 'p-foot', hidden: true});
  private readonly search: HTMLInputElement;
  private readonly searchBox: HTMLElement;
  readonly shut = new Map<string, boolean>();
  private rows: Row[] = [];
  private others: (() => void)[] = []; /* further things to update */
  private keyLists: KeyList[] = [];
  private built = '';
  private readonly tip: RowTip;

  constructor(readonly app: App) {
    this.search = el('input', {placeholder: 'Find a property', 'aria-label': 'Find a property', autocomplete: 'off'});
    this.search.addEventListener('input', () => this.filter());
    this.search.addEventListener('keydown', e => {
      if (e.key === 'Escape') this.find(false);
    });
    this.searchBox = el('label', {class: 'find small', hidden: true}, icon('search'), this.search);
    this.head = el(
      'div',
      {class: 'p-head'},
      el('h2', {}, 'Properties'),
      el('span', {class: 'grow'}),
      button({icon: 'search', label: 'Find a property', key: '/', class: 'small', do: 'find'}, () =>
        this.find(this.searchBox.hidden === true),
      ),
      button({icon: 'foldr', label: 'Fold the properties', class: 'small fold'}, () =>
        app.state.set({foldRight: true}),
      ),
    );
    this.element = el(
      'aside',
      {class: 'panel card right', 'aria-label': 'Properties'},
      el(
        'button',
        {
          type: 'button',
          class: 'unfold',
          'aria-label': 'Show the properties',
          onclick: () => app.state.set({foldRight: false}),
        },
        icon('dials'),
      ),
      el('div', {
        class: 'sizer',
        role: 'separator',
        'aria-orientation': 'vertical',
        'aria-label': 'Width of the properties',
      }),
      this.head,
      this.searchBox,
      this.body,
      this.foot,
    );
    this.tip = new RowTip(app.element, this.element);
    app.doc.on('change', () => this.update());
    app.state.watch(['selection', 'schema', 'scene', 'waiting', 'comparing', 'playing'], () => this.update());
    app.state.watch(['shown'], () => {
      for (const row of this.rows) row.showTime?.();
      for (const keys of this.keyLists) keys.showTime();
    });
  }

  find(open: boolean): void {
    this.searchBox.hidden = !open;
    if (open) {
      this.search.focus();
    } else {
      this.search.value = '';
      this.filter();
    }
  }

  private filter(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of this.rows) row.element.hidden = !words.every(w => row.name.includes(w));
    for (const section of this.body.querySelectorAll<HTMLElement>('.sec')) {
      section.classList.toggle('found', words.length > 0);
      section.hidden = words.length > 0 && ![...section.querySelectorAll('.row')].some(r => !(r as HTMLElement).hidden);
    }
  }

  update(): void {
    const {app} = this,
      item = app.selected(),
      schema = app.state.get('schema');
    if (!schema || app.state.get('comparing')) return;
    const info = app.state.get('scene');
    const material = item.kind === 'material' ? info?.materials.find(m => m.name === item.name) : undefined;
    const signature = JSON.stringify([
      item.key,
      item.kind,
      item.shape?.word,
      item.fields.preset,
      item.fields.law,
      material?.law,
      material?.preset,
      app.doc.model.dimension,
      app.doc.model.heat,
      app.doc.model.items.filter(i => i.kind === 'material').map(i => i.name),
      app.doc.model.items.filter(i => i.kind === 'group').map(i => i.name),
      shapeOfRows(item),
      item.kind === 'scene' && [keyedOfScene(app.doc.model.root), app.doc.model.root.forces !== undefined],
    ]);
    if (signature !== this.built) {
      this.built = signature;
      this.build(item);
    }
    for (const row of this.rows) row.update();
    for (const other of this.others) other();
    this.updateFoot(item);
  }

  /* ---- making the rows ---- */

  section(name: string): Section | undefined {
    return this.app.state.get('schema')?.sections.find(s => s.name === name);
  }

  private build(item: Item): void {
    this.rows = [];
    this.others = [];
    this.keyLists = [];
    this.tip.hide();
    const content: Node[] = [this.title(item)];
    if (item.kind === 'scene') content.push(...this.sceneSections());
    else if (item.kind === 'material') content.push(...this.materialSections(item));
    else if (item.kind === 'group') content.push(...this.groupSections(item));
    else content.push(...this.placedSections(item));
    const scroll = this.body.scrollTop;
    replace(this.body, ...content);
    this.body.scrollTop = scroll;
    if (this.search.value) this.filter();
  }

  private title(item: Item): HTMLElement {
    const name = el('div', {class: 'big'}),
      sub = el('div', {class: 'sub'});
    const color = item.kind === 'material' ? el('i', {class: 'sw large'}) : null;
    this.others.push(() => {
      const now = this.app.selected(),
        scene = this.app.state.get('scene');
      setText(name, item.kind === 'scene' ? 'Scene' : now.name);
      if (color) color.style.background = swatchColor(scene, now.name);
      setText(sub, this.subtitle(now));
    });
    return el(
      'div',
      {class: 'tit'},
      color,
      el('div', {class: 'grow'}, name, sub),
      item.kind !== 'scene' &&
        button(
          {
            icon: 'more',
            label: 'Duplicate, rename, delete',
            class: 'small',
            do: 'item-menu',
            attributes: {'aria-haspopup': 'menu'},
          },
          e => this.app.itemMenu(this.app.selected(), e.currentTarget as HTMLElement),
        ),
    );
  }

  private subtitle(item: Item): string {
    const scene = this.app.state.get('scene');
    if (item.kind === 'scene') return this.app.doc.title;
    if (item.kind === 'material') {
      const info = scene?.materials.find(m => m.name === item.name);
      const changed = this.rows.filter(r => r.element.classList.contains('changed')).length;
      const base =
        typeof item.fields.preset === 'string' ? `preset ${item.fields.preset}` : info?.law && `law ${info.law}`;
      return ['Material', base && base + (changed ? `, ${changed} changed` : '')].filter(Boolean).join(' · ');
    }
    const {copies, particles} = countsOf(scene, item), {model} = this.app.doc;
    const word = item.shape?.word, members = item.kind === 'group' ? model.items.filter(i => i.group === item.name && !i.of).length : 0;
    return [
      item.of ? `${KIND_WORDS[item.kind]} of ${item.of.name}` : KIND_WORDS[item.kind],
      word && (SHAPE_NAMES[word] ?? word).toLowerCase(),
      members > 0 && `${members} member${members === 1 ? '' : 's'}`,
      copies > 1 && `${count(copies)} copies`,
      particles > 0 && `${count(particles)} particles`,
    ]
      .filter(Boolean)
      .join(' · ');
  }

  /* A row for a parameter of the section at `at`. */
  row(
    param: Param,
    at: Path,
    o: {
      base?: unknown;
      word?: RowSource['baseWord'];
      label?: string;
      choices?: string[];
      color?: (name: string) => string;
      give?: RowSource['give'];
      read?: () => unknown;
    } = {},
  ): Row | null {
    const {app} = this,
      path: Path = [...at, param.name];
    const opened = app.doc.baseline,
      known = this.knownBefore(at);
    const before = known ? valueAt(opened.root, path) : undefined;
    const fallback = param.fallback === '' ? undefined : parseFallback(param);
    const given = () =>
      valueAt(app.doc.model.root, path) ??
      (param.alias ? valueAt(app.doc.model.root, [...at, param.alias]) : undefined);
    const base = o.word ? o.base : isKeyedValue(before) ? fallback : (before ?? fallback);
    if (!o.read && isKeyedValue(given())) {
      const keyed = new KeyedRow(app, param, path, o.label ?? labelOf(param.name), this.interpolation(), v =>
        this.give(path, param, v, true),
      );
      this.rows.push(keyed);
      return keyed;
    }
    const row = makeRow(
      {
        param,
        path,
        label: o.label,
        axes: app.doc.model.dimension,
        resolution: app.doc.model.resolution,
        live: actsAtOnce(path),
        base,
        baseWord: o.word ?? (before !== undefined ? 'As opened' : 'Default'),
        marks: known || o.word === 'Preset',
        read: o.read ?? given,
        written: () => this.written(path),
        give: o.give ?? ((value, done) => this.give(path, param, value, done)),
      },
      o.choices,
      o.color,
    );
    if (row) this.rows.push(row);
    if (row && param.keys && !o.read) this.addKeyButton(row, param, path);
    return row;
  }

  /* Makes keys of a value that can have them. */
  private addKeyButton(row: Row, param: Param, path: Path): void {
    const {app} = this, label = labelOf(param.name);
    row.element.firstElementChild?.append(
      button({icon: 'key', label: `Keys for ${label}`, class: 'small', do: 'key-value'}, e => {
        e.preventDefault();
        const now = valueAt(app.doc.model.root, path) ?? parseFallback(param) ?? 0;
        const keys: Value = {0: now as Value, ...(app.shownTime() > 0 ? {[writeNumber(+app.shownTime().toFixed(4))]: now as Value} : {})};
        app.change(setValue(app.doc.text, path, {keys}), `Key ${label.toLowerCase()}`);
      }),
    );
  }

  /* Whether the thing was there, under the same name, when the scene was opened. */
  private knownBefore(at: Path): boolean {
    if (typeof at[1] !== 'number' || at[0] === 'heat') return true;
    const then = valueAt(this.app.doc.baseline.root, at.slice(0, 2)),
      now = valueAt(this.app.doc.model.root, at.slice(0, 2));
    return isFields(then) && isFields(now) && then.name === now.name;
  }

  /* An expression at a path, as it stands in the text. */
  private written(path: Path): string {
    const {doc} = this.app, {numbers} = doc.model;
    if (!Object.keys(numbers).length) return '';
    const node = nodeAt(doc.text, path) as {toJSON?: () => unknown} | undefined, value = node?.toJSON?.();
    const some = (v: unknown) => typeof v === 'string' && Object.hasOwn(numbers, v);
    if (Array.isArray(value)) return value.some(some) ? value.join(', ') : '';
    return some(value) ? String(value) : '';
  }

  private interpolation(): Param | undefined {
    return this.section('a group')?.params.find(p => p.name === 'interpolation');
  }

  private give(path: Path, param: Param, value: Value | null, done: boolean): void {
    const {doc} = this.app,
      name = pathText(path);
    const alias = param.alias ? [...path.slice(0, -1), param.alias] : null;
    const target = alias && valueAt(doc.model.root, alias) !== undefined ? alias : path;
    const numbers = Array.isArray(value) && value.every(v => typeof v === 'number');
    const text =
      value === null
        ? removeAt(doc.text, target)
        : numbers
          ? setNumbers(doc.text, target, value as number[], vector(valueAt(doc.model.root, target)), 1e-12)
          : setValue(doc.text, target, value);
    this.app.change(text, value === null ? `Reset ${param.name}` : `Change ${param.name}`, `row ${name}`);
    if (done) doc.settle();
  }

  private groups(
    section: Section | undefined,
    groups: Group[],
    at: Path,
    o: {skip?: string[]; more?: boolean; titles?: Record<string, string>} = {},
  ): SectionView[] {
    if (!section) return [];
    const views: SectionView[] = [],
      used = new Set(o.skip ?? []);
    const add = (title: string, params: Param[], shut?: boolean) => {
      const flat = this.app.doc.model.dimension === 2;
      const rows = params
        .map(p => (flat && /spin$/.test(p.name) ? this.spinRow(p, at) : this.row(p, at, this.optionsFor(p, at))))
        .filter((r): r is Row => !!r);
      if (!rows.length) return;
      const view = new SectionView(o.titles?.[title] ?? title, {shut, remember: this.shut});
      view.append(...rows.map(r => r.element));
      views.push(view);
    };
    for (const g of groups) {
      const params = g.names
        .map(n => section.params.find(p => p.name === n))
        .filter((p): p is Param => !!p && !used.has(p.name) && this.applies(p, at));
      params.forEach(p => used.add(p.name));
      add(g.title, params, g.shut);
    }
    if (o.more !== false)
      add(
        'More',
        section.params.filter(p => !used.has(p.name) && p.kind !== 'value'),
        true,
      );
    return views;
  }

  /* Rows of heat only where there is heat, and so on. */
  private applies(p: Param, at: Path): boolean {
    const {model} = this.app.doc;
    if (['temperature', 'concentration'].includes(p.name) || (p.name === 'transfer' && at[0] === 'colliders'))
      return model.heat;
    if (p.name === 'per_voxel') return this.app.selected().shape?.word === 'voxels';
    return true;
  }

  /* What is put into another group stays where it is in the scene. A parent stands further up in the list. */
  private groupChoice(at: Path): {choices: string[]; read: () => unknown; give: RowSource['give']} {
    const {app} = this, {items} = app.doc.model, own = (i: Item) => i.kind === 'group' && at[0] === 'groups';
    const names = items.filter(i => i.kind === 'group' && (at[0] !== 'groups' || (i.path[1] as number) < (at[1] as number)));
    const item = () => app.doc.model.items.find(i => pathText(i.path) === pathText(at)) ?? app.selected();
    return {
      choices: ['', ...names.map(i => i.name)],
      read: () => item().group,
      give: value =>
        app.change(
          putIntoGroup(app.doc.text, app.doc.model, item(), String(value ?? '')),
          value ? `Put ${item().name} into ${String(value)}` : `Take ${item().name} out of its ${own(item()) ? 'parent' : 'group'}`,
        ),
    };
  }

  private optionsFor(p: Param, at: Path): {
    choices?: string[];
    base?: unknown;
    word?: 'Default';
    color?: (name: string) => string;
    read?: () => unknown;
    give?: RowSource['give'];
  } {
    /* Objects start as warm as the air. */
    if (p.name === 'temperature' && at[0] === 'objects' && valueAt(this.app.doc.baseline.root, [...at, p.name]) === undefined)
      return {base: valueAt(this.app.doc.model.root, ['heat', 'ambient']) ?? AMBIENT, word: 'Default'};
    if ((p.name === 'group' || p.name === 'parent') && p.kind === 'text') return this.groupChoice(at);
    if (p.name !== 'material') return {};
    const names = this.app.doc.model.items.filter(i => i.kind === 'material').map(i => i.name);
    return {
      choices: names,
      ...(names.length === 1 ? {base: names[0], word: 'Default'} : {}),
      color: name => swatchColor(this.app.state.get('scene'), name),
    };
  }

  /* In 2D things spin about z alone. */
  private spinRow(param: Param, at: Path): Row | null {
    const path: Path = [...at, param.name],
      now = () => vector(valueAt(this.app.doc.model.root, path))[2];
    const row = makeRow({
      param: {...param, kind: 'real', least: 0, most: 0},
      path,
      axes: 2,
      resolution: 1,
      live: actsAtOnce(path),
      base: 0,
      baseWord: 'Default',
      read: now,
      give: (value, done) => this.give(path, param, value === null ? null : [0, 0, value], done),
    });
    if (row) this.rows.push(row);
    return row;
  }

  private sceneSections(): Node[] {
    const {model} = this.app.doc,
      views = new Map<string, SectionView>(),
      used = new Set<string>();
    for (const {section, at, group} of SCENE_GROUPS) {
      if (section === 'heat' && !model.heat) continue;
      let view = views.get(group.title);
      if (!view) views.set(group.title, (view = new SectionView(group.title, {shut: group.shut, remember: this.shut})));
      const all = this.section(section)?.params ?? [];
      for (const param of group.names.length ? group.names.map(n => all.find(p => p.name === n)) : all) {
        const row = param && this.row(param, at, this.computed(param.name));
        used.add(`${section}.${param?.name}`);
        if (row) view.append(row.element);
      }
    }
    if (model.root.forces !== undefined) views.set('Forces', this.forces());
    if (!model.heat) {
      const heat = new SectionView('Heat', {shut: true, remember: this.shut});
      heat.append(
        el('p', {class: 'hint'}, 'Heat is off. Things neither warm nor melt.'),
        el(
          'div',
          {class: 'act'},
          button({label: 'Switch heat on', text: 'Switch heat on', class: 'small solid', do: 'heat-on'}, () =>
            this.app.change(setValue(this.app.doc.text, ['heat'], {speed: 1000}), 'Switch heat on'),
          ),
        ),
      );
      views.set('Heat', heat);
    }
    const out = [...views.values()];
    const rest = this.section('simulation');
    if (rest) {
      const view = new SectionView('Steps and solver', {shut: true, remember: this.shut});
      for (const p of rest.params) {
        const row = used.has(`simulation.${p.name}`) ? null : this.row(p, ['simulation']);
        if (row) view.append(row.element);
      }
      out.push(view);
    }
    return out.map(v => v.element);
  }

  private forces(): SectionView {
    const param: Param = {name: 'acceleration', kind: 'vector', unit: 'm/s2', fallback: '', least: 0, most: 0, help: ''};
    const view = new SectionView('Forces', {remember: this.shut});
    const keys = new KeyList(this.app, ['forces'], [{field: null, param}], 'forces', () => 'linear');
    this.keyLists.push(keys);
    this.others.push(() => keys.update());
    view.append(keys.element);
    return view;
  }

  /* What holds if the scene does not say, where the table cannot know it. */
  private computed(name: string): {base?: unknown; word?: 'Default'} {
    const scene = this.app.state.get('scene'),
      {model} = this.app.doc;
    if (name === 'particles_per_cell') return {base: model.dimension === 2 ? 4 : 8, word: 'Default'};
    if (name === 'cell_size' && scene && valueAt(model.root, ['simulation', 'cell_size']) === undefined)
      return {base: scene.cell_size, word: 'Default'};
    return {};
  }

  private placedSections(item: Item): Node[] {
    const out: Node[] = [],
      section = this.section(SECTION_OF[item.kind] ?? '');
    const placement = new SectionView('Placement', {remember: this.shut});
    const vectorParam = (name: string, unit: string, help: string): Param => ({
      name,
      kind: 'vector',
      unit,
      fallback: '',
      least: 0,
      most: 0,
      help,
    });
    const live = item.kind === 'collider';
    if (item.shape && item.shape.word !== 'polygon') {
      const position = makeRow({
        param: vectorParam('position', 'm', item.shape.word === 'plane' ? 'a point on it' : 'where its middle is'),
        path: item.path,
        axes: this.app.doc.model.dimension,
        resolution: this.app.doc.model.resolution,
        live,
        base: this.knownBefore(item.path) ? this.openedPivot(item) : undefined,
        baseWord: 'As opened',
        read: () => placeOf(this.app.selected()).pivot,
        give: (value, done) =>
          this.place(
            v => moveTo(this.app.doc.text, this.app.doc.model, this.app.selected(), v),
            value,
            'Move',
            done,
            this.openedPivot(item),
          ),
      });
      if (position) {
        this.rows.push(position);
        placement.append(position.element);
      }
    }
    if (item.kind !== 'sink' && item.shape?.word !== 'plane') {
      const flat = this.app.doc.model.dimension === 2;
      const param = section?.params.find(p => p.name === 'rotate');
      const row =
        param &&
        (flat
          ? makeRow({
              param: {...param, kind: 'real', least: -360, most: 360},
              path: [...item.path, 'rotate'],
              axes: 2,
              resolution: 1,
              live,
              base: 0,
              baseWord: 'Default',
              label: 'Rotation',
              read: () => placeOf(this.app.selected()).rotate[2],
              give: (value, done) =>
                this.place(
                  v => turnTo(this.app.doc.text, this.app.doc.model, this.app.selected(), [0, 0, v[0]]),
                  value === null ? [0, 0, 0] : [readNumber(textOf(value)) ?? 0, 0, 0],
                  'Turn',
                  done,
                ),
            })
          : makeRow({
              param,
              path: [...item.path, 'rotate'],
              axes: 3,
              resolution: 1,
              live,
              base: [0, 0, 0],
              baseWord: 'Default',
              read: () => placeOf(this.app.selected()).rotate,
              give: (value, done) =>
                this.place(
                  v => turnTo(this.app.doc.text, this.app.doc.model, this.app.selected(), v),
                  value ?? [0, 0, 0],
                  'Turn',
                  done,
                ),
            }));
      if (row) {
        this.rows.push(row);
        placement.append(row.element);
      }
    }
    const shape = item.shape && this.section(item.shape.word);
    if (item.shape && shape && item.shape.path.length > item.path.length) {
      for (const p of shape.params) {
        if (p.name === 'center' || p.name === 'point') continue;
        const row = this.row(p, item.shape.path);
        if (row) placement.append(row.element);
      }
      if (item.shape.word === 'polygon')
        placement.append(
          el(
            'p',
            {class: 'hint'},
            `An outline of ${Array.isArray(item.shape.params.points) ? item.shape.params.points.length : 0} points.`,
          ),
        );
    }
    const scale =
      item.shape && ['mesh', 'voxels', 'particles'].includes(item.shape.word)
        ? section?.params.find(p => p.name === 'scale')
        : undefined;
    const scaleRow = scale && this.row(scale, item.path);
    if (scaleRow) placement.append(scaleRow.element);
    const group = item.kind === 'part' ? undefined : section?.params.find(p => p.name === 'group');
    const groupRow = group && this.app.doc.model.items.some(i => i.kind === 'group') ? this.row(group, item.path, this.groupChoice(item.path)) : null;
    if (groupRow) placement.append(groupRow.element);
    if (item.kind === 'part' || item.shape) placement.append(...partRows(this, item));
    out.push(placement.element);
    const beside = besideSection(this, item);
    if (beside) out.push(beside.element);
    if (item.kind === 'part') return out;
    if (item.kind === 'collider' || item.kind === 'source') out.push(this.motionSection(item));
    if (section?.params.some(p => p.name === 'instances')) out.push(copiesSection(this, item).element);
    if (item.kind === 'emitter') {
      const emit = this.section('emit'),
        view = new SectionView('Emission', {remember: this.shut});
      for (const p of emit?.params ?? []) {
        const row = this.row({...p, most: Math.min(p.most || 1e9, 1e9)}, [...item.path, 'emit']);
        if (row) view.append(row.element);
      }
      out.push(view.element);
    }
    const groups =
      item.kind === 'collider'
        ? COLLIDER_GROUPS
        : item.kind === 'sink' || item.kind === 'source'
          ? [{title: item.kind === 'source' ? 'Heat' : 'Time', names: ['power', 'start', 'end']}]
          : OBJECT_GROUPS;
    out.push(...this.groups(section, groups, item.path, {skip: [...PLACED, 'group', ...(live || item.kind === 'source' ? MOTION : [])]}).map(v => v.element));
    return out;
  }

  private groupSections(item: Item): Node[] {
    const section = this.section('a group'), placement = new SectionView('Placement', {remember: this.shut});
    const members = this.app.doc.model.items.filter(i => i.group === item.name && !i.of).length;
    for (const name of ['parent', 'translate', 'rotate', 'scale']) {
      const param = section?.params.find(p => p.name === name);
      if (!param || (name === 'parent' && this.groupChoice(item.path).choices.length < 2)) continue;
      const row = this.row(param, item.path, {
        ...this.optionsFor(param, item.path),
        ...(name === 'translate' ? {label: 'Position'} : {}),
      });
      if (row) placement.append(row.element);
    }
    if (!members) placement.append(el('p', {class: 'hint'}, 'Nothing is in it. Choose it as the group of other things.'));
    return [placement.element, this.motionSection(item), copiesSection(this, item).element];
  }

  /* Keys, and what else moves a thing. */
  private motionSection(item: Item): HTMLElement {
    const section = this.section(SECTION_OF[item.kind]!), flat = this.app.doc.model.dimension === 2;
    const moves = MOTION.some(k => item.fields[k] !== undefined);
    const view = new SectionView('Motion', {remember: this.shut, shut: !moves});
    const help = section?.params.find(p => p.name === 'keys')?.help ?? '';
    const column = (field: string, unit: string): KeyColumn => ({
      field,
      param: {name: field, kind: 'vector', unit, fallback: '', least: 0, most: 0, help},
    });
    const ways = waysOf(item);
    const keys = new KeyList(
      this.app,
      [...item.path, 'keys'],
      [column('at', 'm'), column('rotate', 'degrees')],
      item.name,
      () => valueAt(this.app.doc.model.root, [...item.path, 'interpolation']),
    );
    for (const name of ways) {
      const path: Path = [...item.path, 'keys', name];
      const row = this.row({name, kind: 'text', unit: '', fallback: '', least: 0, most: 0, help: 'numbers and expressions of time'}, path.slice(0, -1), {
        read: () => sourceAt(this.app.doc.text, path),
        give: (value, done) => {
          this.give(path, {} as Param, value === null ? null : new Raw(String(value)), done);
        },
      });
      if (row) view.append(row.element);
    }
    if (!ways.length) {
      this.keyLists.push(keys);
      this.others.push(() => keys.update());
      view.append(keys.element);
    }
    for (const name of MOTION.filter(n => n !== 'keys')) {
      const param = section?.params.find(p => p.name === name);
      const row = param && (name === 'spin' && flat ? this.spinRow(param, item.path) : this.row(param, item.path));
      if (row) view.append(row.element);
    }
    return view.element;
  }

  private openedPivot(item: Item): unknown {
    const then = this.app.doc.baseline.items.find(i => i.key === item.key);
    return then ? placeOf(then).pivot : undefined;
  }

  private place(
    make: (v: [number, number, number]) => string,
    value: Value | null,
    label: string,
    done: boolean,
    base?: unknown,
  ): void {
    const v = (value ?? base) as number[] | undefined;
    if (v)
      this.app.change(
        make([v[0] ?? 0, v[1] ?? 0, v[2] ?? 0]),
        `${label} ${this.app.selected().name}`,
        `place ${this.app.selected().key}`,
      );
    if (done) this.app.doc.settle();
  }

  private materialSections(item: Item): Node[] {
    const {app} = this,
      schema = app.state.get('schema')!,
      section = this.section('a material');
    const info = app.state.get('scene')?.materials.find(m => m.name === item.name);
    /* Aliases of presets are the engine's to know. */
    const presetName =
      item.fields.law !== undefined && item.fields.preset === undefined
        ? ''
        : info?.preset || String(item.fields.preset ?? 'jelly_soft');
    const preset = schema.presets.find(p => p.name === presetName);
    const lawName = typeof item.fields.law === 'string' ? item.fields.law : (info?.law ?? preset?.law ?? 'neo_hookean');
    const law = schema.laws.find(l => l.name === lawName);
    const out: Node[] = [];
    if (law?.melts) {
      const plot = meltPlot(
        name =>
          readNumber(valueAt(app.doc.model.root, [...app.selected().path, name])) ??
          preset?.values[name] ??
          info?.values[name] ??
          0,
      );
      out.push(plot.element);
      this.others.push(plot.update);
    }
    const looks = new SectionView('Look and law', {remember: this.shut});
    looks.append(
      swatches(
        app,
        () => app.selected(),
        update => this.others.push(update),
      ),
    );
    const presetParam = section?.params.find(p => p.name === 'preset');
    if (presetParam) {
      const row = this.row(presetParam, item.path, {
        choices: [...(preset ? [] : ['']), ...schema.presets.map(p => p.name)],
        base: undefined,
        word: 'Default',
        read: () => presetName,
        give: value => {
          if (value === null || value === '') return;
          const to = schema.presets.find(p => p.name === value);
          const {doc} = app,
            set = setPreset(doc.text, doc.model, app.selected(), String(value), to?.law === 'melting');
          const made = followPreset(set, doc.model, app.selected(), String(value));
          app.change(made.text, `Make ${item.name} ${String(value)}`);
          app.select(made.key);
        },
      });
      if (row) looks.append(row.element);
    }
    const lawParam = section?.params.find(p => p.name === 'law');
    if (lawParam) {
      const row = this.row(lawParam, item.path, {
        choices: schema.laws.map(l => l.name),
        base: preset?.law ?? lawName,
        word: preset ? 'Preset' : 'As opened',
      });
      if (row) looks.append(row.element);
    }
    out.push(looks.element);
    const reads = new Set(law?.params ?? []);
    for (const group of MATERIAL_GROUPS) {
      if (group.title === 'Heat' && !app.doc.model.heat) continue;
      const title =
        law?.melts || (group.title !== 'Solid' && group.title !== 'Melt')
          ? group.title
          : group.title === 'Solid'
            ? law?.liquid
              ? 'Liquid'
              : 'Solid'
            : 'Flow';
      const view = new SectionView(title, {shut: group.shut, remember: this.shut});
      let any = false;
      for (const name of group.names) {
        const param = reads.has(name) ? section?.params.find(p => p.name === name) : undefined;
        if (!param) continue;
        const value = preset?.values[name] ?? info?.values[name];
        const row = this.row(
          param,
          item.path,
          preset
            ? {base: value, word: 'Preset'}
            : {base: valueAt(app.doc.baseline.root, [...item.path, name]) ?? value, word: 'As opened'},
        );
        if (!row) continue;
        any = true;
        view.append(row.element);
      }
      if (any) out.push(view.element);
    }
    if (item.fields.noise !== undefined)
      out.push(el('p', {class: 'hint'}, 'Noise varies some values in space. Edit it in the text.'));
    return out;
  }

  /* ---- below the rows ---- */

  private updateFoot(item: Item): void {
    const {app} = this,
      waiting = app.state.get('waiting');
    const changed = this.rows.filter(r => r.element.classList.contains('changed'));
    const state = waiting.length
      ? `w${waiting.length}`
      : item.kind === 'material' && changed.length
        ? `m${changed.length}`
        : '';
    if (this.foot.dataset.state === state) return;
    this.foot.dataset.state = state;
    this.foot.hidden = state === '';
    if (waiting.length) {
      replace(
        this.foot,
        icon('reset'),
        el(
          'span',
          {class: 'grow'},
          waiting.length === 1 ? '1 change is waiting' : `${waiting.length} changes are waiting`,
        ),
        button({label: 'Undo', text: 'Undo', class: 'small', do: 'undo-waiting'}, () => app.undo()),
        button({label: 'Restart', text: 'Restart', class: 'small primary', do: 'restart'}, () => app.time.restart()),
      );
      this.foot.title = waiting.join('\n');
    } else if (state) {
      this.foot.title = '';
      replace(
        this.foot,
        el('span', {class: 'grow'}, `${changed.length} changed value${changed.length === 1 ? '' : 's'}`),
        button({label: 'Reset all', text: 'Reset all', class: 'small', do: 'reset-all'}, () => this.resetAll()),
      );
    }
  }

  private resetAll(): void {
    const item = this.app.selected();
    let text = this.app.doc.text;
    if (item.fields.preset === undefined) {
      const then = valueAt(this.app.doc.baseline.root, item.path);
      if (isFields(then)) this.app.change(setValue(text, item.path, then as Value), `Reset ${item.name}`);
      return;
    }
    for (const key of Object.keys(item.fields))
      if (!['preset', 'look', 'noise', 'law'].includes(key)) text = removeAt(text, [...item.path, key]);
    this.app.change(text, `Reset ${item.name}`);
  }
}

/* Values of the scene itself that have keys. */
const keyedOfScene = (root: Fields): unknown =>
  ['simulation', 'heat', 'camera', 'light', 'domain'].map(section => {
    const of = root[section];
    return isFields(of) ? Object.keys(of).filter(k => isKeyedValue(of[k])) : [];
  });

/* What decides which rows there are: names, words and lengths of lists, but no numbers. */
function shapeOfRows(item: Item): unknown {
  const {fields} = item, copies = isFields(fields.instances) ? fields.instances : {};
  return [
    Object.keys(fields).filter(k => isKeyedValue(fields[k])),
    waysOf(item),
    Object.entries(copies).map(([k, v]) => [k, Array.isArray(v) ? v.length : isFields(v) ? [v.shape].map(wordsOf) : 0]),
    withParts(item).map(i => [i.key, i.shape?.word]),
  ];
}

/* Fields of a place that are expressions of time, in place of keys at times. */
const waysOf = (item: Item): string[] =>
  isFields(item.fields.keys) ? ['at', 'rotate'].filter(k => Object.hasOwn(item.fields.keys as object, k)) : [];

const wordsOf = (v: unknown): unknown => (isFields(v) ? Object.keys(v) : v);
const isKeyedValue = (v: unknown): boolean => isFields(v) && isFields(v.keys);

/* The table's default as a scene's value. */
function parseFallback(p: Param): unknown {
  const n = readNumber(p.fallback);
  if (p.kind === 'vector') {
    const v = p.fallback.replace(/[[\]]/g, '').split(',').map(Number);
    return v.every(Number.isFinite) ? v : undefined;
  }
  if (n !== null && ['real', 'whole', 'temperature'].includes(p.kind)) return n;
  if (p.kind === 'flag') return p.fallback === 'true';
  return p.kind === 'choice' || p.kind === 'text' ? p.fallback : undefined;
}

const textOf = (v: Value): unknown => (typeof v === 'object' && 'text' in v ? v.text : v);

/* Things that the menu of an item offers, in the outline and in the properties. */
export function itemMenu(app: App, item: Item, at: HTMLElement): void {
  const {doc} = app;
  const field = el('input', {value: item.name, 'aria-label': 'Name', spellcheck: 'false', autocomplete: 'off'});
  const submit = () => {
    const name = field.value.trim().replace(/\s+/g, '_');
    if (name && name !== item.name && !doc.model.items.some(i => i.name === name)) {
      const hidden = new Set(app.state.get('hidden'));
      app.change(rename(doc.text, doc.model, item, name), `Rename ${item.name}`);
      if (hidden.delete(item.name)) app.state.set({hidden: hidden.add(name)});
      if (item.kind === 'material') app.state.set({selection: `materials.${name}`});
    }
  };
  field.addEventListener('change', submit);
  field.addEventListener('keydown', e => {
    if (e.key === 'Enter') {
      submit();
      app.closeMenu();
    }
    if (e.key !== 'Escape' && e.key !== 'Tab') e.stopPropagation();
  });
  const used = item.kind === 'material' && doc.model.items.some(i => i.material === item.name);
  showMenu(
    `${item.name}`,
    [
      ...(item.kind === 'sink' || item.kind === 'source'
        ? []
        : [
            {
              kind: 'element' as const,
              element: el('label', {class: 'rename'}, el('span', {class: 'sub'}, 'Name'), field),
            },
          ]),
      {
        kind: 'do',
        text: 'Duplicate',
        icon: 'copy',
        key: 'Ctrl D',
        run: () => {
          app.add(duplicate(doc.text, doc.model, item), `Duplicate ${item.name}`);
        },
      },
      {
        kind: 'do',
        text: used ? 'Delete (in use)' : 'Delete',
        icon: 'trash',
        key: 'Del',
        off: used,
        run: () => {
          app.change(remove(doc.text, doc.model, item), `Delete ${item.name}`);
          app.select('');
        },
      },
      ...(item.kind === 'object' || item.kind === 'collider' || item.kind === 'emitter'
        ? [
            {
              kind: 'do' as const,
              text: app.isHidden(item) ? 'Show' : 'Hide',
              icon: app.isHidden(item) ? ('eye' as const) : ('noeye' as const),
              run: () => app.toggleVisible(item),
            },
          ]
        : []),
      {kind: 'line'},
      {kind: 'do', text: 'Show in the text', icon: 'list', run: () => app.showInText(item)},
    ],
    at,
  );
}
