/* The menu of overlays, of looks and of what colours show. */
import type {App} from '../app.ts';
import type {Look} from '../app_state.ts';
import {showMenu, type Entry} from '../ui/menu.ts';
import {labelOf} from './params.ts';

const LOOKS: [Look, string][] = [
  ['surface', 'Surface'],
  ['points', 'Points'],
  ['mesh', 'Mesh'],
];

export function overlaysMenu(app: App, at: HTMLElement): void {
  const {state} = app,
    o = state.get('overlays'),
    schema = state.get('schema'),
    scene = state.get('scene');
  /* Caches have columns of their own. */
  const colors =
    scene?.colors?.filter(name => name !== 'material' && name !== 'object') ??
    (schema?.colors ?? []).filter(a => !a.heat || scene?.heat).map(a => a.name);
  const set = (change: Partial<typeof o>) => state.set({overlays: {...state.get('overlays'), ...change}});
  const color = state.get('color');
  const by = (name: string, text: string): Entry => ({
    kind: 'radio',
    group: 'color',
    text,
    on: color === name,
    run: () => state.set({color: name, range: null}),
  });
  showMenu(
    'Overlays',
    [
      {kind: 'title', text: 'Show'},
      {kind: 'check', text: 'Velocity', key: '1', on: o.velocity, run: velocity => set({velocity})},
      {kind: 'check', text: 'Force', key: '2', on: o.force, run: force => set({force})},
      {kind: 'check', text: 'Grid nodes', key: '3', on: o.grid !== 'off', run: on => set({grid: on ? 'mass' : 'off'})},
      {kind: 'check', text: 'Active blocks', key: '4', on: o.blocks, run: blocks => set({blocks})},
      {kind: 'check', text: 'Colliders and ground', key: '5', on: o.colliders, run: colliders => set({colliders})},
      {kind: 'check', text: 'Grid velocity', key: '6', on: o.flow, run: flow => set({flow})},
      {kind: 'title', text: 'Nodes by'},
      {
        kind: 'columns',
        entries: [
          {kind: 'radio', group: 'nodes', text: 'Mass', on: o.grid !== 'speed', run: () => set({grid: 'mass'})},
          {kind: 'radio', group: 'nodes', text: 'Speed', on: o.grid === 'speed', run: () => set({grid: 'speed'})},
        ],
      },
      {kind: 'line'},
      {kind: 'title', text: 'Look'},
      {
        kind: 'columns',
        entries: LOOKS.map(([look, text]) => ({
          kind: 'radio',
          group: 'look',
          text,
          on: state.get('look') === look,
          run: () => state.set({look}),
        })),
      },
      {kind: 'line'},
      {kind: 'title', text: 'Colour by'},
      {
        kind: 'columns',
        entries: [
          by('', 'Material'),
          ...colors.map(name => by(name, colorLabel(name))),
          by('object', 'Object'),
        ],
      },
    ],
    at,
    'overlays',
  );
}

export const colorLabel = (name: string): string =>
  ({J: 'Volume ratio', Jp: 'Packing', speed: 'Speed'})[name] ?? labelOf(name);
