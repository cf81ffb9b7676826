/* The gallery: cards of scenes over the whole window. */
import type {App} from '../app.ts';
import {findScenes, fullText, GALLERY_KINDS, loadGallery, speedOf, type GalleryScene} from '../files/gallery.ts';
import {el, button, isolate, replace, setAttribute} from '../ui/dom.ts';
import {icon} from '../ui/icons.ts';
import {count, figures} from '../ui/units.ts';

const GUESS = 4e6; /* particle-steps a second, before any was measured */

export class Gallery {
  private element: HTMLElement | null = null;
  private kind = '';
  private query = '';
  private before: HTMLElement | null = null;
  private release = (): void => undefined;

  constructor(private readonly app: App) {}

  get isOpen(): boolean {
    return this.element !== null;
  }

  async open(): Promise<void> {
    if (this.element) return;
    this.before = document.activeElement as HTMLElement | null;
    const grid = el('div', {class: 'grid'}, el('p', {class: 'sub'}, 'Loading'));
    const find = el('input', {placeholder: 'Search scenes', 'data-find': true, value: this.query, autocomplete: 'off'});
    const chips = ['', ...GALLERY_KINDS].map(kind =>
      el(
        'button',
        {
          type: 'button',
          'aria-pressed': String(kind === this.kind),
          onclick: () => {
            this.kind = kind;
            chips.forEach((c, i) => setAttribute(c, 'aria-pressed', ['', ...GALLERY_KINDS][i] === kind));
            draw();
          },
        },
        kind === '' ? 'All' : kind === '2d' ? '2D' : kind[0].toUpperCase() + kind.slice(1),
      ),
    );
    const element = (this.element = el(
      'div',
      {class: 'gallery', role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Gallery'},
      el(
        'div',
        {class: 'gal-h'},
        el('h1', {}, 'Gallery'),
        el('label', {class: 'find'}, icon('search'), el('span', {class: 'sr'}, 'Search scenes'), find),
        el('div', {class: 'chips', role: 'group', 'aria-label': 'Kind'}, ...chips),
        el('span', {class: 'grow hide-p'}),
        el('span', {class: 'sub hide-p hide-m'}, 'Speeds are for this device'),
        button({icon: 'x', label: 'Close the gallery', key: 'Esc', class: 'solid', do: 'close-gallery'}, () =>
          this.close(),
        ),
      ),
      grid,
    ));
    let all: GalleryScene[] = [];
    const draw = () => {
      const found = findScenes(all, this.query, this.kind);
      replace(grid, ...(found.length ? found.map(s => this.card(s)) : [el('p', {class: 'sub'}, 'No scene matches.')]));
    };
    find.addEventListener('input', () => {
      this.query = find.value;
      draw();
    });
    element.addEventListener('keydown', e => this.key(e));
    this.app.element.append(element);
    this.release = isolate(element);
    find.focus();
    try {
      all = await loadGallery();
      find.placeholder = `Search ${all.length} scenes`;
      draw();
    } catch (e) {
      replace(
        grid,
        el('p', {class: 'sub', role: 'alert'}, e instanceof Error ? e.message : 'The gallery did not load.'),
      );
    }
  }

  close(): void {
    if (!this.element) return;
    this.release();
    this.element.remove();
    this.element = null;
    this.before?.focus({preventScroll: true});
  }

  private card(s: GalleryScene): HTMLElement {
    const speed = speedOf(s.live, s.seconds, this.app.measuredRate() ?? GUESS);
    const card = el(
      'button',
      {
        type: 'button',
        class: 'th' + (this.app.doc.title === s.title ? ' on' : ''),
        'data-scene': s.id,
        onclick: () => this.choose(s, s.scene),
      },
      el(
        'span',
        {class: 'pic'},
        el('img', {src: s.picture, alt: '', loading: 'lazy'}),
        s.dimension === 2 && el('span', {class: 'tag'}, '2D'),
        el('span', {class: 'tag rt'}, speed >= 0.95 ? 'real time' : `${figures(+speed.toPrecision(1))}× real time`),
      ),
      el('h3', {}, s.title, el('span', {}, `${count(s.live.end ?? s.live.particles)} particles`)),
      el('p', {}, s.text),
    );
    if (!s.full) return card;
    return el(
      'div',
      {class: 'cell'},
      card,
      el(
        'button',
        {type: 'button', class: 'b small full', onclick: () => this.choose(s, fullText(s))},
        `Full: ${count(s.full.end ?? s.full.particles)} particles`,
      ),
    );
  }

  private choose(s: GalleryScene, text: string): void {
    this.close();
    this.app.open(text, s.title);
  }

  /* Tab stays inside. */
  private key(e: KeyboardEvent): void {
    if (e.key === 'Escape') {
      e.stopPropagation();
      this.close();
      return;
    }
    if (e.key !== 'Tab' || !this.element) return;
    const stops = [...this.element.querySelectorAll<HTMLElement>('button,input')],
      last = stops[stops.length - 1];
    if (e.shiftKey && document.activeElement === stops[0]) {
      e.preventDefault();
      last.focus();
    } else if (!e.shiftKey && document.activeElement === last) {
      e.preventDefault();
      stops[0].focus();
    }
  }
}
