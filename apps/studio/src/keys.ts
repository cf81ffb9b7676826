/* Shortcuts. Fields keep their own keys; the gallery and the help card keep all. */
import type {App} from './app.ts';
import {duplicate, remove} from './document/make.ts';
import {TOOLS} from './tools/toolbar.ts';
import {closeMenu} from './ui/menu.ts';
import {overlaysMenu} from './panels/overlays.ts';

const RADIUS_STEP = 1.2;

function isField(e: KeyboardEvent): boolean {
  const t = e.target as HTMLElement;
  return (
    t.isContentEditable || (/^(INPUT|SELECT|TEXTAREA)$/.test(t.tagName) && (t as HTMLInputElement).type !== 'range')
  );
}

export function listenToKeys(app: App): void {
  const {state} = app;
  const controlled: Record<string, (e: KeyboardEvent) => void> = {
    z: e => (e.shiftKey ? app.redo() : app.undo()),
    y: () => app.redo(),
    s: () => app.save(),
    o: () => void app.pickFile(),
    e: () => app.toggleRecord(),
    d: () => {
      const item = app.selected();
      if (item.kind === 'scene') return;
      app.add(duplicate(app.doc.text, app.doc.model, item), `Duplicate ${item.name}`);
    },
  };
  const toggle = (key: 'velocity' | 'force' | 'flow' | 'blocks' | 'colliders') => () =>
    state.set({overlays: {...state.get('overlays'), [key]: !state.get('overlays')[key]}});
  const plain: Record<string, (e: KeyboardEvent) => void> = {
    ' ': () => app.time.toggle(),
    ArrowRight: e => app.time.step(e.shiftKey ? 'substep' : 'frame'),
    ArrowLeft: () => app.time.back(),
    r: () => app.time.restart(),
    o: () => app.openGallery(),
    l: () => overlaysMenu(app, app.top.overlays),
    k: () => state.set({graphs: !state.get('graphs')}),
    '\\': () => state.set({bare: !state.get('bare')}),
    f: () => app.frameAll(),
    '?': () => app.openHelp(),
    '/': () => {
      state.set({foldRight: false, tab: 'properties'});
      app.properties.find(true);
    },
    '[': () => state.set({radius: state.get('radius') / RADIUS_STEP}),
    ']': () => state.set({radius: state.get('radius') * RADIUS_STEP}),
    1: toggle('velocity'),
    2: toggle('force'),
    4: toggle('blocks'),
    5: toggle('colliders'),
    6: toggle('flow'),
    3: () =>
      state.set({overlays: {...state.get('overlays'), grid: state.get('overlays').grid === 'off' ? 'mass' : 'off'}}),
    Delete: () => {
      const item = app.selected();
      if (
        item.kind === 'scene' ||
        (item.kind === 'material' && app.doc.model.items.some(i => i.material === item.name))
      )
        return;
      app.change(remove(app.doc.text, app.doc.model, item), `Delete ${item.name}`);
      app.select('');
    },
  };
  plain.Backspace = plain.Delete;
  for (const t of TOOLS) plain[t.key.toLowerCase()] = () => app.setTool(t.name);

  /* Any key makes a button that was clicked :focus-visible, so it counts what it was at first. */
  let reached: EventTarget | null = null;
  addEventListener('focusin', e => {
    reached = (e.target as HTMLElement).matches(':focus-visible') ? e.target : null;
  });
  addEventListener('keydown', e => {
    if (app.modal) {
      /* Wherever the focus is: a click beside its controls takes it away from a dialog. */
      if (e.key === 'Escape') app.closeModal();
      return;
    }
    if (e.defaultPrevented) return;
    if (e.key === 'Escape') {
      if (closeMenu() || app.tools.drop()) return;
      if (state.get('bare')) state.set({bare: false});
      else if (state.get('tool') !== 'select') state.set({tool: 'select'});
      else if (state.get('probe') !== null) app.setProbe(null);
      else if (!isField(e)) app.select('');
      return;
    }
    if (e.ctrlKey || e.metaKey) {
      const run = controlled[e.key.toLowerCase()];
      if (
        !run ||
        e.altKey ||
        (isField(e) && /^[zy]$/i.test(e.key) && !(e.target as HTMLElement).isContentEditable)
      )
        return;
      e.preventDefault();
      run(e);
      return;
    }
    if (e.altKey || isField(e)) return;
    /* Space presses the button that the keyboard has reached, not the one clicked last; arrows move a slider. */
    const target = e.target as HTMLElement;
    if (e.key === ' ' && target.tagName === 'BUTTON') {
      if (target === reached) return;
      target.blur();
    }
    if (/^Arrow/.test(e.key) && (target as HTMLInputElement).type === 'range') return;
    const run = plain[e.key] ?? plain[e.key.toLowerCase()];
    if (!run) return;
    e.preventDefault();
    run(e);
  });
}
