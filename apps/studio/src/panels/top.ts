/* The bar at the top: the scene's name and what is done with it, the view's settings, the engine. */
import type {App} from '../app.ts';
import {describeEngine} from '../engine/engine.ts';
import {el, button, Segment, setAttribute, setText, replace} from '../ui/dom.ts';
import {icon} from '../ui/icons.ts';
import {showMenu, type Entry} from '../ui/menu.ts';
import {overlaysMenu} from './overlays.ts';

const MARK =
  '<svg width="20" height="20" viewBox="0 0 20 20" fill="currentColor" aria-hidden="true"><circle cx="10" cy="10" r="2.6"/><circle cx="10" cy="3.2" r="2.2"/><circle cx="15.900" cy="6.600" r="1.900"/><circle cx="15.900" cy="13.400" r="1.600"/><circle cx="10" cy="16.800" r="1.400"/><circle cx="4.100" cy="13.400" r="1.600"/><circle cx="4.100" cy="6.600" r="1.900"/></svg>';

export class TopBar {
  readonly element: HTMLElement;
  readonly overlays: HTMLButtonElement;
  private readonly name = el('span', {class: 't'});
  private readonly edited = el('small', {}, 'edited');
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly badge: HTMLButtonElement;
  private readonly record: HTMLButtonElement;
  private readonly recordText = el('span', {class: 'hide-m'}, 'Record');

  constructor(private readonly app: App) {
    const mark = el('span', {class: 'mark', role: 'img', 'aria-label': 'Firn'});
    mark.innerHTML = MARK;
    const name = el(
      'button',
      {
        type: 'button',
        class: 'b name',
        'aria-haspopup': 'menu',
        'data-do': 'scene-menu',
        onclick: (e: MouseEvent) => this.sceneMenu(e.currentTarget as HTMLElement),
      },
      this.name,
      this.edited,
      icon('down'),
    );
    this.undo = button({icon: 'undo', label: 'Undo', key: 'Ctrl Z', class: 'hide-p', do: 'undo'}, () => app.undo());
    this.redo = button({icon: 'redo', label: 'Redo', key: 'Ctrl Shift Z', class: 'hide-p', do: 'redo'}, () =>
      app.redo(),
    );
    const dimensions = new Segment<'2' | '3'>(
      'Dimensions',
      [
        {value: '2', text: '2D'},
        {value: '3', text: '3D'},
      ],
      '3',
      v => app.newScene(v === '2' ? 2 : 3, true),
    );
    dimensions.element.classList.add('hide-p');
    this.overlays = button(
      {
        icon: 'layers',
        label: 'Overlays',
        text: 'Overlays',
        textClass: 'hide-p',
        key: 'L',
        do: 'overlays',
        attributes: {'aria-haspopup': 'menu', 'aria-expanded': 'false'},
      },
      () => overlaysMenu(app, this.overlays),
    );
    const compare = button(
      {
        icon: 'split',
        label: 'Compare two sets of values',
        text: 'Compare',
        textClass: 'hide-m',
        class: 'hide-p',
        do: 'compare',
        attributes: {'aria-pressed': 'false'},
      },
      () => app.toggleCompare(),
    );
    this.record = el(
      'button',
      {
        type: 'button',
        class: 'b hide-p',
        'aria-label': 'Record a video',
        title: 'Record a video (Ctrl E)',
        'data-do': 'record',
        'aria-pressed': 'false',
        onclick: () => app.toggleRecord(),
      },
      el('i', {class: 'dot'}),
      this.recordText,
    );
    this.badge = el('button', {
      type: 'button',
      class: 'badge hide-p',
      'data-do': 'engine',
      'aria-haspopup': 'menu',
      onclick: () => this.engineMenu(),
    });
    const theme = button({icon: 'light', label: 'Light or dark', class: 'hide-p', do: 'theme'}, () =>
      app.toggleTheme(),
    );
    this.element = el(
      'header',
      {class: 'top card', 'aria-label': 'Scene and view'},
      mark,
      name,
      button(
        {icon: 'grid', label: 'Gallery', text: 'Gallery', textClass: 'hide-m hide-p', key: 'O', do: 'gallery'},
        () => app.openGallery(),
      ),
      el('span', {class: 'sep hide-p'}),
      this.undo,
      this.redo,
      el('span', {class: 'sep hide-p'}),
      button(
        {icon: 'open', label: 'Open', text: 'Open', textClass: 'hide-s', key: 'Ctrl O', class: 'hide-p', do: 'open'},
        () => void app.pickFile(),
      ),
      button(
        {icon: 'save', label: 'Save', text: 'Save', textClass: 'hide-s', key: 'Ctrl S', class: 'hide-p', do: 'save'},
        () => app.save(),
      ),
      button(
        {icon: 'link', label: 'Share a link', text: 'Share', textClass: 'hide-s', do: 'share'},
        () => void app.share(),
      ),
      el('span', {class: 'grow'}),
      dimensions.element,
      this.overlays,
      compare,
      this.record,
      button({icon: 'more', label: 'More', class: 'only-p', do: 'more', attributes: {'aria-haspopup': 'menu'}}, e =>
        this.moreMenu(e.currentTarget as HTMLElement),
      ),
      el('span', {class: 'sep hide-p'}),
      this.badge,
      theme,
      el(
        'button',
        {
          type: 'button',
          class: 'b icon hide-p strong',
          'aria-label': 'Shortcuts',
          title: 'Shortcuts (?)',
          'data-do': 'keys',
          onclick: () => app.openHelp(),
        },
        '?',
      ),
    );

    app.doc.on('change', () => this.show());
    app.state.watch(['scene', 'mode'], () => {
      const d = app.state.get('scene')?.dimension ?? app.doc.model.dimension;
      dimensions.value = d === 2 ? '2' : '3';
      this.show();
    });
    app.state.watch(['connection', 'schema', 'mode'], () => this.showEngine());
    app.state.watch(['theme'], () => replace(theme, icon(app.state.get('theme') === 'dark' ? 'light' : 'moon')));
    app.state.watch(['comparing'], () => setAttribute(compare, 'aria-pressed', app.state.get('comparing')));
    app.state.watch(['recording'], () => this.showRecording(0));
  }

  showRecording(seconds: number): void {
    const on = this.app.state.get('recording');
    setAttribute(this.record, 'aria-pressed', on);
    setAttribute(this.record, 'aria-label', on ? 'Stop recording' : 'Record a video');
    setText(
      this.recordText,
      on ? `Stop, ${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}` : 'Record',
    );
  }

  private show(): void {
    const {doc} = this.app;
    setText(this.name, this.app.title);
    this.edited.hidden = !doc.edited || this.app.files.cache !== null;
    document.title = `${this.app.title} · Firn studio`;
    const off = this.app.state.get('mode') !== 'scene';
    this.undo.disabled = off || doc.undoLabel === null;
    this.redo.disabled = off || doc.redoLabel === null;
    setAttribute(this.undo, 'title', doc.undoLabel === null ? 'Undo (Ctrl Z)' : `Undo: ${doc.undoLabel} (Ctrl Z)`);
    setAttribute(
      this.redo,
      'title',
      doc.redoLabel === null ? 'Redo (Ctrl Shift Z)' : `Redo: ${doc.redoLabel} (Ctrl Shift Z)`,
    );
  }

  private showEngine(): void {
    const text = describeEngine(this.app.engine),
      c = this.app.state.get('connection');
    replace(this.badge, el('i', {class: c}), text);
    setAttribute(this.badge, 'aria-label', `Engine: ${text}`);
  }

  private sceneMenu(at: HTMLElement): void {
    const {app} = this;
    showMenu(
      'Scene',
      [
        {kind: 'do', text: 'New 3D scene', icon: 'plus', run: () => app.newScene(3)},
        {kind: 'do', text: 'New 2D scene', icon: 'plus', run: () => app.newScene(2)},
        {kind: 'line'},
        {kind: 'do', text: 'Open a file', icon: 'open', key: 'Ctrl O', run: () => void app.pickFile()},
        {kind: 'do', text: 'Save the scene', icon: 'save', key: 'Ctrl S', run: () => app.save()},
        {kind: 'do', text: 'Share a link', icon: 'link', run: () => void app.share()},
        {kind: 'line'},
        ...app.fileEntries(),
        {kind: 'line'},
        {kind: 'do', text: 'Frame everything', icon: 'camera', key: 'F', run: () => app.frameAll()},
        {kind: 'do', text: 'Back to how it was opened', icon: 'revert', off: !app.doc.edited, run: () => app.revert()},
      ],
      at,
    );
  }

  private moreMenu(at: HTMLElement): void {
    const {app} = this,
      entries: Entry[] = [
        {kind: 'do', text: 'Undo', icon: 'undo', off: app.doc.undoLabel === null, run: () => app.undo()},
        {kind: 'do', text: 'Redo', icon: 'redo', off: app.doc.redoLabel === null, run: () => app.redo()},
        {kind: 'line'},
        {kind: 'do', text: 'Compare two sets of values', icon: 'split', run: () => app.toggleCompare()},
        {
          kind: 'do',
          text: app.state.get('recording') ? 'Stop recording' : 'Record a video',
          icon: 'camera',
          run: () => app.toggleRecord(),
        },
        {kind: 'do', text: 'Light or dark', icon: 'light', run: () => app.toggleTheme()},
        {kind: 'do', text: 'Shortcuts', icon: 'list', run: () => app.openHelp()},
        {kind: 'line'},
        {kind: 'element', element: el('p', {class: 'hint'}, describeEngine(app.engine))},
      ];
    showMenu('More', entries, at);
  }

  private engineMenu(): void {
    const h = this.app.engine.hello;
    const lines =
      this.app.state.get('connection') === 'lost'
        ? [
            this.app.engine.reason ||
              (h?.engine === 'wasm' || !h
                ? 'No answer from the engine. Load the page again, or open the address that firn view printed last.'
                : 'No answer from firn view. The page connects again by itself.'),
          ]
        : h?.mode === 'cache' && this.app.files.cache
          ? ['The page plays the files itself.']
          : h
            ? [
              `Firn ${h.version}, instruction set ${h.isa}.`,
              h.engine === 'wasm'
                ? 'The engine runs in this page. For all cores, run “firn view scene.yaml” in a terminal.'
                : 'The engine runs on this machine, behind this page.',
            ]
          : ['The engine is starting.'];
    showMenu(
      'Engine',
      [
        ...lines.map(l => ({kind: 'element' as const, element: el('p', {class: 'hint'}, l)})),
        ...(this.app.files.cache
          ? [
              {kind: 'line' as const},
              {
                kind: 'do' as const,
                text: 'Back to the scene',
                icon: 'revert' as const,
                run: () => this.app.files.backToScene(),
              },
            ]
          : []),
        ...(h?.mode === 'run'
          ? [
              {kind: 'line' as const},
              {
                kind: 'do' as const,
                text: 'Stop the run',
                icon: 'stop' as const,
                run: () => this.app.engine.send({do: 'stop'}),
              },
            ]
          : []),
      ],
      this.badge,
    );
  }
}
