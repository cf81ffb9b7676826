/* The card of shortcuts. */
import type {App} from '../app.ts';
import {el, button, isolate} from '../ui/dom.ts';

const SHORTCUTS: [string, [string, ...string[]][]][] = [
  [
    'Time',
    [
      ['Play or pause', 'Space'],
      ['One frame', '→'],
      ['One substep', 'Shift', '→'],
      ['Back one frame', '←'],
      ['Reset', 'R'],
      ['Record', 'Ctrl', 'E'],
    ],
  ],
  [
    'Tools',
    [
      ['Select', 'V'],
      ['Probe a particle', 'P'],
      ['Grab', 'G'],
      ['Push', 'B'],
      ['Cut', 'X'],
      ['Heat', 'H'],
      ['Emit', 'E'],
      ['Radius', '[', ']'],
    ],
  ],
  [
    'Page',
    [
      ['Gallery', 'O'],
      ['Overlays', 'L'],
      ['Hide all panels', '\\'],
      ['Frame everything', 'F'],
      ['Graphs', 'K'],
      ['Undo', 'Ctrl', 'Z'],
      ['Redo', 'Ctrl', 'Shift', 'Z'],
      ['Save', 'Ctrl', 'S'],
      ['Find a property', '/'],
      ['Duplicate, delete', 'Ctrl D', 'Del'],
      ['This card', '?'],
    ],
  ],
];

export class Help {
  private element: HTMLElement | null = null;
  private before: HTMLElement | null = null;
  private release = (): void => undefined;

  constructor(private readonly app: App) {}

  get isOpen(): boolean {
    return this.element !== null;
  }

  open(): void {
    if (this.element) return this.close();
    this.before = document.activeElement as HTMLElement | null;
    const close = button({icon: 'x', label: 'Close', do: 'close-keys'}, () => this.close());
    this.element = el(
      'div',
      {
        class: 'scrim',
        onclick: (e: MouseEvent) => {
          if (e.target === this.element) this.close();
        },
        onkeydown: (e: KeyboardEvent) => {
          if (e.key === 'Escape' || e.key === '?') {
            e.stopPropagation();
            this.close();
          } else if (e.key === 'Tab') {
            e.preventDefault();
          }
        },
      },
      el(
        'div',
        {class: 'keys card', role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Shortcuts'},
        el('h2', {}, 'Shortcuts ', close),
        el(
          'div',
          {class: 'k3'},
          ...SHORTCUTS.map(([title, list]) =>
            el(
              'div',
              {},
              el('h3', {}, title),
              el(
                'ul',
                {},
                ...list.map(([name, ...keys]) =>
                  el('li', {}, name, el('span', {}, ...keys.map(k => el('kbd', {}, k)))),
                ),
              ),
            ),
          ),
        ),
        el(
          'p',
          {class: 'sub'},
          'Drag to turn the view, right-drag or Shift to move it, wheel to zoom. Drag a number to change it: Shift for ten times faster, Alt for ten times finer. Double-click a label to reset.',
        ),
      ),
    );
    this.app.element.append(this.element);
    this.release = isolate(this.element);
    close.focus();
  }

  close(): void {
    if (!this.element) return;
    this.release();
    this.element.remove();
    this.element = null;
    this.before?.focus({preventScroll: true});
  }
}
