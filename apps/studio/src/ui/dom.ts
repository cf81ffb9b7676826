/* Elements without a framework. */
import {icon, type IconName} from './icons.ts';

type Listener = (e: never) => void;
export type Attributes = Record<string, string | number | boolean | null | undefined | Listener>;
export type Child = Node | string | null | undefined | false;

/* Attributes: functions named on... listen; true sets an empty attribute; false, null and undefined set none. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') e.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) e.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(name, String(value));
  }
  e.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return e;
}

/* Touches the page only if something changes. */
export function setText(e: Node, text: string): void {
  if (e.textContent !== text) e.textContent = text;
}

export function setAttribute(e: Element, name: string, value: string | number | boolean): void {
  const text = String(value);
  if (e.getAttribute(name) !== text) e.setAttribute(name, text);
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((c): c is Node | string => !!c));
}

/* Keeps keyboard and screen reader inside a dialog, until what is returned is called. */
export function isolate(dialog: HTMLElement): () => void {
  const others = [...(dialog.parentElement?.children ?? [])].filter(
    (e): e is HTMLElement => e instanceof HTMLElement && e !== dialog && !e.inert,
  );
  for (const e of others) e.inert = true;
  return () => {
    for (const e of others) e.inert = false;
  };
}

export type ButtonOptions = {
  icon?: IconName;
  label: string;
  key?: string;
  text?: string;
  textClass?: string;
  class?: string;
  do?: string; /* a name for tests and styles */
  attributes?: Attributes;
};

/* `label` is what screen readers say, `key` the shortcut that the tip adds. */
export function button(o: ButtonOptions, onclick?: (e: MouseEvent) => void): HTMLButtonElement {
  return el(
    'button',
    {
      type: 'button',
      class: ['b', o.class, o.text ? '' : 'icon'].filter(Boolean).join(' '),
      'aria-label': o.label,
      title: o.label + (o.key ? ` (${o.key})` : ''),
      'data-do': o.do,
      onclick: onclick as Listener | undefined,
      ...o.attributes,
    },
    o.icon && icon(o.icon),
    o.text && el('span', {class: o.textClass}, o.text),
  );
}

/* A choice of few. Arrow keys move within it, and one of it is a tab stop. */
export class Segment<T extends string> {
  readonly element: HTMLElement;
  private readonly buttons: HTMLButtonElement[];

  constructor(
    label: string,
    private readonly options: readonly {value: T; text: string; label?: string}[],
    private chosen: T,
    private readonly onchange: (value: T) => void,
    role: 'radio' | 'tab' = 'radio',
  ) {
    this.buttons = options.map(o =>
      el(
        'button',
        {type: 'button', role, 'data-value': o.value, 'aria-label': o.label, onclick: () => this.choose(o.value)},
        o.text,
      ),
    );
    this.element = el(
      'span',
      {
        class: 'seg',
        role: role === 'tab' ? 'tablist' : 'radiogroup',
        'aria-label': label,
        onkeydown: ((e: KeyboardEvent) => this.key(e)) as Listener,
      },
      ...this.buttons,
    );
    this.role = role;
    this.value = chosen;
  }

  private readonly role: 'radio' | 'tab';

  get value(): T {
    return this.chosen;
  }

  set value(value: T) {
    this.chosen = value;
    this.options.forEach((o, i) => {
      const on = o.value === value;
      setAttribute(this.buttons[i], this.role === 'tab' ? 'aria-selected' : 'aria-checked', on);
      this.buttons[i].tabIndex = on ? 0 : -1;
    });
    if (!this.options.some(o => o.value === value)) this.buttons[0].tabIndex = 0;
  }

  private choose(value: T): void {
    if (value === this.chosen) return;
    this.value = value;
    this.onchange(value);
  }

  private key(e: KeyboardEvent): void {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    if (!step) return;
    e.preventDefault();
    e.stopPropagation();
    const at = this.options.findIndex(o => o.value === this.chosen),
      n = this.options.length;
    const next = (Math.max(at, 0) + step + n) % n;
    this.choose(this.options[next].value);
    this.buttons[next].focus();
  }
}

export const isPhone = (): boolean => innerWidth < 720;

export const clamp = (x: number, lo: number, hi: number): number => Math.max(lo, Math.min(hi, x));
