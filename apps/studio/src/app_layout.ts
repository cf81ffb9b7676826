/* Where things stand in the window: panels that fold, the sheet of a phone, the free part that the camera
 * centres on. */
import type {App} from './app.ts';
import {remember, remembered} from './app_state.ts';
import {button, clamp, el, Segment, setAttribute, setText, isPhone} from './ui/dom.ts';
import {icon} from './ui/icons.ts';

const TOOLS_HEIGHT = 52; /* px: the bar over the stage's lower edge */
const RIGHT_LEAST = 280,
  RIGHT_MOST = 560; /* px */

export class AppLayout {
  private readonly left: HTMLElement;
  private readonly sheet: HTMLElement;
  private readonly note = el('div', {class: 'note card', role: 'status', hidden: true});
  private readonly scale = el('div', {class: 'scale', hidden: true});

  constructor(
    private readonly app: App,
    outline: HTMLElement,
    play: HTMLButtonElement,
  ) {
    const {state} = app;
    const tabs = new Segment<'outline' | 'text'>(
      'Outline or text',
      [
        {value: 'outline', text: 'Outline'},
        {value: 'text', text: 'Text'},
      ],
      'outline',
      left => state.set({left}),
      'tab',
    );
    this.left = el(
      'aside',
      {class: 'panel card left', 'aria-label': 'Outline'},
      el(
        'button',
        {
          type: 'button',
          class: 'unfold',
          'aria-label': 'Show the outline',
          onclick: () => state.set({foldLeft: false}),
        },
        icon('list'),
      ),
      el(
        'div',
        {class: 'p-head'},
        tabs.element,
        el('span', {class: 'grow'}),
        app.textPanel.badge,
        button({icon: 'fold', label: 'Fold the outline', class: 'small fold'}, () => state.set({foldLeft: true})),
      ),
      outline,
      app.textPanel.element,
    );
    const sheetTabs = new Segment<'transport' | 'objects' | 'properties'>(
      'Panels',
      [
        {value: 'transport', text: 'Transport'},
        {value: 'objects', text: 'Objects'},
        {value: 'properties', text: 'Properties'},
      ],
      'transport',
      tab => state.set({tab}),
      'tab',
    );
    const grab = el('button', {type: 'button', class: 'grab', 'aria-label': 'Size of the panels'});
    this.sheet = el(
      'div',
      {class: 'sheet'},
      grab,
      el('div', {class: 'tabs'}, play, sheetTabs.element),
      this.left,
      app.properties.element,
      app.dock.element,
    );
    this.stretch(grab);
    app.stage.append(this.note, this.scale);
    app.element.append(app.top.element, app.stage, this.sheet);

    state.watch(['left'], () => {
      const text = state.get('left') === 'text';
      tabs.value = state.get('left');
      outline.hidden = text;
      app.textPanel.element.hidden = !text;
      app.element.classList.toggle('text', text);
    });
    state.watch(['tab'], () => {
      sheetTabs.value = state.get('tab');
      this.sheet.dataset.tab = state.get('tab');
    });
    state.watch(['foldLeft', 'foldRight', 'bare', 'comparing'], () => {
      const l = state.get('foldLeft'),
        r = state.get('foldRight');
      this.left.classList.toggle('folded', l);
      app.properties.element.classList.toggle('folded', r);
      app.element.classList.toggle('fold-left', l);
      app.element.classList.toggle('fold-right', r);
      app.element.classList.toggle('bare', state.get('bare'));
    });
    state.watch(['error', 'shown'], () => this.showNote());
    state.watch(['mode'], () => app.element.classList.toggle('plays', state.get('mode') !== 'scene'));

    this.sizer(app.properties.element.querySelector<HTMLElement>('.sizer')!);
    const watch = new ResizeObserver(() => this.stageChanged());
    watch.observe(app.stage);
    watch.observe(app.viewElement);
  }

  /* The camera centres on the part of the view that no panel covers. */
  stageChanged(): void {
    const s = this.app.stage.getBoundingClientRect(),
      v = this.app.viewElement.getBoundingClientRect();
    const rect = {
      x: s.left - v.left,
      y: s.top - v.top,
      width: Math.max(50, s.width),
      height: Math.max(50, s.height - TOOLS_HEIGHT),
    };
    this.app.view.setStage(rect);
    this.app.compare.stageChanged(rect);
  }

  showScale(): void {
    const bar = this.app.view.scaleBar;
    this.scale.hidden = !bar;
    if (!bar) return;
    setText(this.scale, bar.text);
    const width = `${Math.round(bar.pixels)}px`;
    if (this.scale.style.width !== width) this.scale.style.width = width;
  }

  private showNote(): void {
    const error = this.app.state.get('error'),
      shown = this.app.state.get('shown');
    this.note.hidden = error === null;
    if (!error) return;
    const good = this.app.state.get('scene') ? `The last good scene, frame ${shown?.frame ?? 0}. ` : '';
    const where = error.line ? `Line ${error.line} needs a fix.` : error.text;
    this.note.replaceChildren(
      icon('warn'),
      el('span', {}, good + where),
      button({label: 'Show it', text: 'Show', class: 'small'}, () => {
        this.app.state.set({left: 'text', foldLeft: false, tab: 'objects'});
        this.app.textPanel.reveal((error.line ?? 1) - 1);
      }),
    );
  }

  /* The right panel's edge. */
  private sizer(edge: HTMLElement): void {
    const set = (width: number) => {
      const w = clamp(Math.round(width), RIGHT_LEAST, RIGHT_MOST);
      this.app.element.style.setProperty('--w-right-own', `${w}px`);
      setAttribute(edge, 'aria-valuenow', w);
      remember('right', String(w));
    };
    const before = Number(remembered('right'));
    setAttribute(edge, 'aria-valuemin', RIGHT_LEAST);
    setAttribute(edge, 'aria-valuemax', RIGHT_MOST);
    edge.tabIndex = 0;
    if (before) set(before);
    edge.addEventListener('keydown', e => {
      const by = {ArrowLeft: 16, ArrowRight: -16}[e.key];
      if (!by) return;
      e.preventDefault();
      e.stopPropagation();
      set(this.app.properties.element.offsetWidth + by);
    });
    drag(edge, e => set(innerWidth - e.clientX - 8));
  }

  /* The sheet's height, on phones: a drag, or a tap between three. */
  private stretch(grab: HTMLElement): void {
    const set = (height: number) =>
      this.app.element.style.setProperty('--sheet', `${clamp(height, 72, innerHeight - 160)}px`);
    let moved = false;
    drag(grab, e => {
      moved = true;
      if (isPhone()) set(innerHeight - e.clientY + 8);
    });
    grab.addEventListener('click', () => {
      if (!moved) set(this.sheet.offsetHeight > 400 ? 72 : this.sheet.offsetHeight > 100 ? innerHeight * 0.7 : 344);
      moved = false;
    });
  }
}

function drag(handle: HTMLElement, move: (e: PointerEvent) => void): void {
  handle.addEventListener('pointerdown', e => {
    handle.setPointerCapture(e.pointerId);
    const moved = (m: PointerEvent) => {
      if (Math.hypot(m.clientX - e.clientX, m.clientY - e.clientY) > 3) move(m);
    };
    handle.addEventListener('pointermove', moved);
    const up = () => {
      handle.removeEventListener('pointermove', moved);
      handle.removeEventListener('pointerup', up);
    };
    handle.addEventListener('pointerup', up);
  });
}
