/* The bar of tools over the view, with the options of the one in hand. */
import type {App} from '../app.ts';
import type {ToolName} from '../app_state.ts';
import {el, button, setAttribute, setText, replace} from '../ui/dom.ts';
import {Slider, type Range} from '../ui/number.ts';
import type {IconName} from '../ui/icons.ts';
import {showWithUnit} from '../ui/units.ts';

export const TOOLS: {name: ToolName; icon: IconName; label: string; key: string}[] = [
  {name: 'select', icon: 'cursor', label: 'Select', key: 'V'},
  {name: 'probe', icon: 'probe', label: 'Probe', key: 'P'},
  {name: 'grab', icon: 'hand', label: 'Grab', key: 'G'},
  {name: 'push', icon: 'push', label: 'Push', key: 'B'},
  {name: 'cut', icon: 'knife', label: 'Cut', key: 'X'},
  {name: 'heat', icon: 'flame', label: 'Heat', key: 'H'},
  {name: 'emit', icon: 'emit', label: 'Emit', key: 'E'},
];

const open = {least: 0, most: Infinity};
const STRENGTH: Record<'push' | 'heat', {label: string; unit: string; range: Range}> = {
  push: {label: 'Strength', unit: 'N', range: {lo: 1, hi: 1e5, log: true, ...open}},
  heat: {label: 'Heat', unit: 'K/s', range: {lo: -200, hi: 500, log: false, ...open}},
};

export class Toolbar {
  readonly element = el('div', {class: 'tools card', role: 'toolbar', 'aria-label': 'Tools'});
  private readonly buttons: HTMLButtonElement[];
  private readonly options = el('span', {class: 'opt', hidden: true});
  private built = '';
  private updates: (() => void)[] = [];

  constructor(private readonly app: App) {
    this.buttons = TOOLS.map(t =>
      button(
        {icon: t.icon, label: t.label, key: t.key, do: `tool-${t.name}`, attributes: {'aria-pressed': 'false'}},
        () => app.setTool(t.name),
      ),
    );
    this.element.append(...this.buttons, this.options);
    this.element.addEventListener('keydown', e => this.key(e));
    app.state.watch(['tool', 'radius', 'strength', 'material', 'scene', 'schema', 'mode'], () => this.update());
  }

  private update(): void {
    const {state} = this.app,
      tool = state.get('tool'),
      scene = state.get('scene'),
      limited = state.get('mode') !== 'scene';
    TOOLS.forEach((t, i) => {
      setAttribute(this.buttons[i], 'aria-pressed', t.name === tool);
      this.buttons[i].tabIndex = t.name === tool ? 0 : -1;
      this.buttons[i].disabled = limited && t.name !== 'select' && t.name !== 'probe';
      if (t.name === 'heat') {
        setAttribute(
          this.buttons[i],
          'title',
          scene && !scene.heat ? 'Heat (H): the scene has none; offers to switch it on' : 'Heat (H)',
        );
      }
    });
    const materials = scene?.materials.map(m => m.name) ?? [];
    const signature = `${tool} ${tool === 'emit' ? materials.join() : ''} ${scene?.resolution}`;
    if (signature !== this.built) {
      this.built = signature;
      this.build(tool, materials, scene?.resolution ?? 0.02);
    }
    for (const update of this.updates) update();
  }

  private build(tool: ToolName, materials: string[], resolution: number): void {
    this.updates = [];
    const {state} = this.app,
      acts = tool !== 'select' && tool !== 'probe';
    this.options.hidden = !acts;
    if (!acts) return;
    const parts: Node[] = [el('span', {class: 'sep'})];
    const slider = (label: string, unit: string, range: Range, read: () => number, give: (v: number) => void) => {
      const s = new Slider(label, range, give, true),
        b = el('b');
      this.updates.push(() => {
        s.set(read());
        setText(b, showWithUnit(+read().toPrecision(2), unit));
      });
      parts.push(el('span', {class: 'pair'}, el('span', {class: 'hide-s'}, label), s.element, b));
    };
    slider(
      'Radius',
      'm',
      {lo: resolution, hi: resolution * 40, log: true, ...open},
      () => state.get('radius'),
      radius => state.set({radius}),
    );
    if (tool === 'push' || tool === 'heat') {
      const o = STRENGTH[tool];
      slider(
        o.label,
        o.unit,
        o.range,
        () => state.get('strength')[tool],
        v => state.set({strength: {...state.get('strength'), [tool]: v}}),
      );
    }
    if (tool === 'emit') {
      const select = el(
        'select',
        {class: 'sel', 'aria-label': 'Material'},
        ...materials.map(m => el('option', {value: m}, m)),
      );
      select.addEventListener('change', () => state.set({material: select.value}));
      this.updates.push(() => {
        select.value = state.get('material') || materials[0] || '';
      });
      parts.push(el('span', {class: 'pair'}, select));
    }
    replace(this.options, ...parts);
  }

  private key(e: KeyboardEvent): void {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key],
      at = this.buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (!step || at < 0) return;
    e.preventDefault();
    e.stopPropagation();
    const usable = this.buttons.filter(b => !b.disabled),
      here = usable.indexOf(this.buttons[at]);
    usable[(here + step + usable.length) % usable.length].focus();
  }
}
