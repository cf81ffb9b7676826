/* How things are shown: the page's state to its views. */
import type {App} from './app.ts';
import type {State} from './app_state.ts';
import type {View} from './view/view.ts';

/* The attribute that pictures carry: the one to colour by, else the temperature, which makes hot things glow. */
export function carriedColor(app: App): string {
  const color = app.state.get('color');
  return color !== '' && color !== 'object' ? color : app.state.get('scene')?.heat ? 'temperature' : '';
}

const RULES: [(keyof State)[], (view: View, app: App) => void][] = [
  [['theme'], (view, {state}) => view.setTheme(state.get('theme'))],
  [
    ['look'],
    (view, {state}) => {
      view.look = state.get('look');
    },
  ],
  [
    ['range'],
    (view, {state}) => {
      const r = state.get('range');
      view.range = r ? [r[0], r[1]] : null;
    },
  ],
  [
    ['color', 'scene', 'schema'],
    (view, app) => {
      const carried = carriedColor(app),
        attribute = app.state.get('schema')?.colors.find(a => a.name === carried);
      view.colorBy = app.state.get('color') || null;
      view.carried = carried ? {name: carried, unit: attribute?.unit ?? ''} : null;
    },
  ],
  [
    ['overlays'],
    (view, {state}) => {
      const o = state.get('overlays');
      view.overlays = {...o, ground: o.colliders};
    },
  ],
  [
    ['error'],
    (view, {state}) => {
      view.stale = state.get('error') !== null;
    },
  ],
  [
    ['tool', 'mode', 'playing', 'comparing'],
    (view, app) => {
      view.handles = app.state.get('tool') === 'select' && app.canEdit() && view === app.editPane.view;
    },
  ],
];

export function watchLooks(app: App): void {
  for (const [keys, rule] of RULES) app.state.watch(keys, () => app.views.forEach(view => rule(view, app)));
}

/* For a view that comes later. */
export function applyLooks(view: View, app: App): void {
  for (const [, rule] of RULES) rule(view, app);
}
