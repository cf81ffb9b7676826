/* Pop-up menus: opened at a button, left by Escape, a choice or a click elsewhere; arrow keys move. */
import {el, setAttribute, clamp, type Child} from './dom.ts';
import {icon, type IconName} from './icons.ts';

export type Entry =
  | {kind: 'do'; text: string; icon?: IconName; key?: string; off?: boolean; note?: string; run: () => void}
  | {kind: 'check'; text: string; key?: string; on: boolean; off?: boolean; run: (on: boolean) => void}
  | {kind: 'radio'; text: string; on: boolean; off?: boolean; group: string; run: () => void}
  | {kind: 'title'; text: string}
  | {kind: 'line'}
  | {kind: 'element'; element: HTMLElement}
  | {kind: 'columns'; entries: Entry[]};

let open: {menu: HTMLElement; opener: HTMLElement | null; close: () => void} | null = null;

export function closeMenu(): boolean {
  if (!open) return false;
  open.close();
  return true;
}

function item(entry: Entry, menu: HTMLElement): Child {
  switch (entry.kind) {
    case 'title':
      return el('h3', {role: 'presentation'}, entry.text);
    case 'line':
      return el('hr', {role: 'separator'});
    case 'element':
      return entry.element;
    case 'columns':
      return el('div', {class: 'cols', role: 'presentation'}, ...entry.entries.map(e => item(e, menu)));
    case 'do':
      return el(
        'button',
        {
          type: 'button',
          class: 'mi',
          role: 'menuitem',
          tabindex: -1,
          disabled: entry.off,
          onclick: () => {
            closeMenu();
            entry.run();
          },
        },
        entry.icon && icon(entry.icon),
        el('span', {class: 't'}, entry.text),
        entry.note && el('span', {class: 'sub'}, entry.note),
        entry.key && el('kbd', {}, entry.key),
      );
    case 'check': {
      const b: HTMLElement = el(
        'button',
        {
          type: 'button',
          class: 'mi',
          role: 'menuitemcheckbox',
          tabindex: -1,
          'aria-checked': String(entry.on),
          disabled: entry.off,
          onclick: () => {
            const on = b.getAttribute('aria-checked') !== 'true';
            setAttribute(b, 'aria-checked', on);
            entry.run(on);
          },
        },
        el('span', {class: 'ck'}, icon('ok')),
        el('span', {class: 't'}, entry.text),
        entry.key && el('kbd', {}, entry.key),
      );
      return b;
    }
    case 'radio': {
      const b: HTMLElement = el(
        'button',
        {
          type: 'button',
          class: 'mi',
          role: 'menuitemradio',
          tabindex: -1,
          'data-group': entry.group,
          'aria-checked': String(entry.on),
          disabled: entry.off,
          onclick: () => {
            for (const other of menu.querySelectorAll(`[data-group="${entry.group}"]`))
              setAttribute(other, 'aria-checked', other === b);
            entry.run();
          },
        },
        el('span', {class: 'ck r'}, icon('ok')),
        el('span', {class: 't'}, entry.text),
      );
      return b;
    }
  }
}

/* The right panel's left edge, if a menu of that width fits over the panel: there it hides no part of the view. */
function overPanel(width: number): number {
  const panel = document.querySelector('.panel.right:not(.folded, [hidden])')?.getBoundingClientRect();
  return panel && panel.width >= width ? panel.left : 0;
}

/* A second call with the same opener closes the menu. */
export function showMenu(
  label: string,
  entries: Entry[],
  at: HTMLElement | {x: number; y: number},
  className = '',
): void {
  const opener = at instanceof HTMLElement ? at : null;
  if (open) {
    const same = opener && open.opener === opener;
    open.close();
    if (same) return;
  }
  const menu = el('div', {class: `pop menu ${className}`, role: 'menu', 'aria-label': label});
  menu.append(...entries.map(e => item(e, menu)).filter((n): n is Node => n instanceof Node));
  document.querySelector('.app')!.append(menu);
  const w = menu.offsetWidth,
    h = menu.offsetHeight,
    gap = 8;
  const box = opener ? opener.getBoundingClientRect() : new DOMRect((at as {x: number}).x, (at as {y: number}).y, 0, 0);
  const below = box.bottom + gap,
    above = box.top - gap - h;
  const left = className === 'overlays' ? Math.max(box.left, overPanel(w)) : box.left;
  menu.style.left = clamp(left, gap, innerWidth - w - gap) + 'px';
  menu.style.top =
    clamp(below + h > innerHeight && above > gap ? above : below, gap, Math.max(gap, innerHeight - h - gap)) + 'px';

  const items = () => [...menu.querySelectorAll<HTMLElement>('.mi:not(:disabled),input')];
  const outside = (e: PointerEvent) => {
    const target = e.target as Node;
    if (!menu.contains(target) && !opener?.contains(target)) close();
  };
  const keys = (e: KeyboardEvent) => {
    const list = items(),
      here = list.indexOf(document.activeElement as HTMLElement);
    const to = {ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: list.length - 1}[e.key];
    if (to !== undefined) {
      e.preventDefault();
      list[(to + list.length) % list.length]?.focus();
    } else if (e.key === 'Tab') {
      close();
    } else if (e.key !== 'Escape') {
      return;
    } else {
      e.preventDefault();
      close();
    }
    e.stopPropagation();
  };
  const close = () => {
    if (open?.menu !== menu) return;
    open = null;
    const inside = menu.contains(document.activeElement);
    document.removeEventListener('pointerdown', outside, true);
    menu.remove();
    if (opener) setAttribute(opener, 'aria-expanded', false);
    if (inside) opener?.focus();
  };
  open = {menu, opener, close};
  menu.addEventListener('keydown', keys);
  document.addEventListener('pointerdown', outside, true);
  if (opener) setAttribute(opener, 'aria-expanded', true);
  items()[0]?.focus({preventScroll: true});
}
