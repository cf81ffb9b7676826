/* The card of a scene without objects: a shape to begin with, or a scene of the gallery. */
import type {App} from '../app.ts';
import {loadGallery} from '../files/gallery.ts';
import {addShape} from '../document/make.ts';
import type {ItemKind} from '../document/model.ts';
import {el, replace} from '../ui/dom.ts';
import {icon, type IconName} from '../ui/icons.ts';

const FOUR = ['snow_wall', 'chocolate', 'dam_break', 'tumble'];

export class EmptyCard {
  readonly element: HTMLElement;
  private readonly shapes = el('div', {class: 'shapes'});
  private readonly four = el('div', {class: 'four'});
  private loaded = false;
  private flat: boolean | null = null;

  constructor(private readonly app: App) {
    this.element = el(
      'div',
      {class: 'empty card', hidden: true},
      el('h2', {}, 'Start with a shape'),
      el('p', {}, 'Pick one and press play. Most values can be changed while it runs.'),
      this.shapes,
      el('div', {class: 'or'}, 'or from the gallery'),
      this.four,
      el('p', {class: 'drop'}, icon('open'), 'Drop a scene (.yaml) or a mesh (.obj, .ply, .stl) anywhere.'),
    );
    app.doc.on('change', () => this.update());
    app.state.watch(['mode', 'drawing', 'schema'], () => this.update());
  }

  private update(): void {
    const {app} = this,
      empty =
        app.doc.text !== '' && app.state.get('drawing') === null && app.isEmpty();
    this.element.hidden = !empty;
    this.element.parentElement?.classList.toggle('has-empty', empty);
    if (!empty) return;
    const flat = app.doc.model.dimension === 2;
    if (flat !== this.flat) {
      this.flat = flat;
      const shape = (name: IconName, text: string, run: () => void) =>
        el('button', {type: 'button', onclick: run}, icon(name), text);
      const add = (kind: ItemKind, word: string, label: string) => () => {
        app.add(addShape(app.doc.text, app.doc.model, kind, word), `Add ${label}`);
      };
      replace(
        this.shapes,
        shape('ball', flat ? 'Disc' : 'Ball', add('object', flat ? 'disc' : 'sphere', flat ? 'a disc' : 'a ball')),
        shape(
          flat ? 'rectangle' : 'box',
          flat ? 'Rectangle' : 'Box',
          add('object', flat ? 'rectangle' : 'box', 'a box'),
        ),
        flat
          ? shape('pen', 'Draw it', () => app.state.set({drawing: 'object', tool: 'select'}))
          : shape('mesh', 'Mesh file', () => app.pickMesh('object')),
        shape('emit', 'Emitter', add('emitter', flat ? 'disc' : 'sphere', 'an emitter')),
      );
    }
    if (!this.loaded) {
      this.loaded = true;
      loadGallery()
        .then(all => {
          const picked = FOUR.map(id => all.find(s => s.id === id)).filter(s => s !== undefined);
          replace(
            this.four,
            ...picked.map(s =>
              el(
                'button',
                {type: 'button', onclick: () => app.open(s.scene, s.title)},
                el('img', {src: s.picture, alt: ''}),
                s.title,
              ),
            ),
          );
        })
        .catch(() => {
          this.loaded = false;
        });
    }
  }
}
