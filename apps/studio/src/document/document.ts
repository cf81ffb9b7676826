/* The scene, which is its text. Edits make new texts; undo and redo walk through them. Edits that follow
 * each other under the same tag, as those of one drag do, are one step. */
import {Emitter} from '../store.ts';
import {parseText} from './edit.ts';
import {readModel, type Model, type Numbers} from './model.ts';

type Step = {text: string; label: string; tag: string};

const STEPS_MOST = 500;
const EMPTY: Model = {name: 'scene', dimension: 3, up: 'y', resolution: 0.02, heat: false, items: [], root: {}, numbers: {}};

export class SceneDocument extends Emitter<{change: {opened: boolean; computed?: true}}> {
  private steps: Step[] = [{text: '', label: '', tag: ''}];
  private at = 0;
  private first = ''; /* as opened */
  private saved = '';
  private model_: Model = EMPTY;
  private opened: Model = EMPTY;
  private isRead_ = true;
  private numbers: Numbers = {};
  title = 'Untitled'; /* as the top bar shows it */

  get text(): string {
    return this.steps[this.at].text;
  }

  /* Of the last text that could be read. */
  get model(): Model {
    return this.model_;
  }

  /* Whether that is the text as it is now. */
  get isRead(): boolean {
    return this.isRead_;
  }

  /* What the engine has made of the text's expressions. */
  setNumbers(numbers: Numbers): void {
    const keys = Object.keys(numbers);
    if (keys.length === Object.keys(this.numbers).length && keys.every(k => this.numbers[k] === numbers[k])) return;
    this.numbers = numbers;
    const {model_, isRead_} = this;
    this.read(this.first);
    this.opened = this.model_;
    this.model_ = model_;
    this.isRead_ = isRead_;
    this.read();
    this.emit('change', {opened: false, computed: true});
  }

  /* As the scene was opened: what changed values are compared with. */
  get baseline(): Model {
    return this.opened;
  }

  get openedText(): string {
    return this.first;
  }

  get edited(): boolean {
    return this.text !== this.saved;
  }

  get undoLabel(): string | null {
    return this.at > 0 ? this.steps[this.at].label : null;
  }

  get redoLabel(): string | null {
    return this.at + 1 < this.steps.length ? this.steps[this.at + 1].label : null;
  }

  /* `newest`: the text with the changes that were made before the page was loaded again. */
  open(text: string, title: string, saved = true, newest = text): void {
    this.steps = [{text, label: '', tag: ''}];
    this.at = 0;
    this.first = text;
    this.saved = saved ? text : '';
    this.title = title;
    this.numbers = {};
    this.model_ = EMPTY;
    this.read();
    this.opened = this.model_;
    if (newest !== text) {
      this.steps.push({text: newest, label: 'Changes before reloading', tag: ''});
      this.at = 1;
      this.read();
    }
    this.emit('change', {opened: true});
  }

  /* `tag`: "" begins a step of its own. */
  edit(text: string, label: string, tag = ''): void {
    if (text === this.text) return;
    const last = this.steps[this.at];
    if (tag && last.tag === tag) {
      last.text = text;
      this.steps.length = this.at + 1;
    } else {
      this.steps.length = this.at + 1;
      this.steps.push({text, label, tag});
      if (this.steps.length > STEPS_MOST) this.steps.shift();
      this.at = this.steps.length - 1;
    }
    this.read();
    this.emit('change', {opened: false});
  }

  /* Ends a drag, or what has the tag given: what comes next under the same tag is another step. */
  settle(tag = this.steps[this.at].tag): void {
    if (this.steps[this.at].tag === tag) this.steps[this.at].tag = '';
  }

  undo(): string | null {
    const label = this.undoLabel;
    if (label !== null) this.walk(-1);
    return label;
  }

  redo(): string | null {
    const label = this.redoLabel;
    if (label !== null) this.walk(1);
    return label;
  }

  markSaved(): void {
    this.saved = this.text;
    this.emit('change', {opened: false});
  }

  private walk(by: number): void {
    this.settle();
    this.at += by;
    this.settle();
    this.read();
    this.emit('change', {opened: false});
  }

  private read(text = this.text): void {
    const doc = parseText(text);
    this.isRead_ = false;
    if (doc.errors.length) return;
    try {
      this.model_ = readModel(doc, this.numbers);
      this.isRead_ = true;
    } catch {
      /* Aliases without end and the like: to be changed in the text. */
    }
  }
}
