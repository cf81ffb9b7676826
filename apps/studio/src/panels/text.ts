/* The scene as text: line numbers, colours, and an error under its line with what would mend it.
 *
 * The lines are drawn from `text`; the browser never edits them. Every input is turned into a change of
 * `text` (beforeinput), after which the lines that differ are drawn anew and the caret is put back. Only
 * while an input method composes does the browser write, and its result is read when it is done. */
import type {App} from '../app.ts';
import {el, button} from '../ui/dom.ts';
import {icon} from '../ui/icons.ts';
import {fixesOf, highlight} from './highlight.ts';

const SEND_AFTER_MS = 300;
const SETTLE_AFTER_MS = 1000; /* a pause ends a step of undo */
const INDENT = '  ';

export class TextPanel {
  readonly element = el('div', {
    class: 'code',
    tabindex: 0,
    role: 'textbox',
    'aria-multiline': 'true',
    'aria-label': 'Scene text',
    contenteditable: 'true',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocorrect: 'off',
  });
  readonly badge = el('span', {class: 'chip errors', hidden: true});
  private text = '';
  private lines: HTMLElement[] = [];
  private timer = 0;
  private settling = 0;
  private composing = false;
  private errorKey = '';

  constructor(private readonly app: App) {
    this.element.addEventListener('beforeinput', e => this.beforeInput(e));
    this.element.addEventListener('keydown', e => this.key(e));
    this.element.addEventListener('compositionstart', () => {
      this.composing = true;
    });
    this.element.addEventListener('compositionend', () => {
      this.composing = false;
      const at = this.selection();
      const text = this.readLines();
      this.lines.forEach(l => l.remove());
      this.lines = [];
      this.put(text, at[1], at[1]);
      this.later();
    });
    this.element.addEventListener('copy', e => this.copy(e));
    this.element.addEventListener('cut', e => this.copy(e));
    this.element.addEventListener('blur', () => {
      this.send();
      this.settle();
    });
    app.doc.on('change', () => {
      if (app.state.get('left') === 'text') this.show();
    });
    app.state.watch(['left', 'error'], () => this.show());
  }

  /* Brings a line into sight and puts the caret there. */
  reveal(line: number): void {
    const start = this.offsetOfLine(line);
    this.element.focus();
    this.select(start, start);
    this.lines[line]?.scrollIntoView({block: 'center'});
  }

  private show(): void {
    if (this.app.state.get('left') !== 'text') return;
    if (!this.timer && this.text !== this.app.doc.text) {
      const focused = document.activeElement === this.element,
        [a, b] = focused ? this.selection() : [0, 0];
      this.draw(this.app.doc.text);
      if (focused) this.select(Math.min(a, this.text.length), Math.min(b, this.text.length));
    }
    this.showError();
  }

  /* ---- drawing ---- */

  private draw(text: string): void {
    const before = this.text.split('\n'),
      after = text.split('\n');
    if (!this.lines.length) before.length = 0;
    this.text = text;
    let head = 0,
      tail = 0;
    while (head < before.length && head < after.length && before[head] === after[head]) head++;
    while (
      tail < before.length - head &&
      tail < after.length - head &&
      before[before.length - 1 - tail] === after[after.length - 1 - tail]
    )
      tail++;
    const fresh = after.slice(head, after.length - tail).map(l => this.line(l));
    for (const old of this.lines.slice(head, before.length - tail)) old.remove();
    const next = this.lines[before.length - tail] ?? null;
    for (const f of fresh) this.element.insertBefore(f, next);
    this.lines.splice(head, before.length - tail - head, ...fresh);
    this.lines.forEach((l, i) => {
      if (l.dataset.n !== String(i + 1)) l.dataset.n = String(i + 1);
    });
    if (fresh.length) this.errorKey = '';
  }

  private line(text: string): HTMLElement {
    return el('div', {class: 'ln'}, ...(text === '' ? [el('br')] : highlight(text)));
  }

  private showError(): void {
    const error = this.app.state.get('error');
    this.badge.hidden = !error;
    if (error && !this.badge.firstChild) this.badge.append(icon('warn'), '1 error');
    const key = error ? `${error.line} ${error.column} ${error.text} ${this.text.length}` : '';
    if (key === this.errorKey) return;
    this.errorKey = key;
    this.element.querySelectorAll('.fix').forEach(f => f.remove());
    this.element.querySelectorAll('.bad').forEach(b => b.classList.remove('bad'));
    if (!error) return;
    const at = Math.max(1, Math.min(this.lines.length, error.line ?? 1)) - 1,
      line = this.lines[at];
    if (!line) return;
    line.classList.add('bad');
    const source = this.text.split('\n')[at] ?? '';
    const text = error.text[0].toUpperCase() + error.text.slice(1);
    const fix = el(
      'div',
      {class: 'fix', role: 'alert', contenteditable: 'false'},
      el(
        'p',
        {},
        el('b', {}, /[.?!]$/.test(text) ? text : text + '.'),
        error.line ? ` Line ${error.line}${error.column ? `, column ${error.column}` : ''}.` : '',
      ),
      ...fixesOf(error.text, source, error.column ?? 1).map(f =>
        button({label: f.label, text: f.label, class: 'small'}, () => {
          const from = this.offsetOfLine(at) + f.from;
          this.put(
            this.text.slice(0, from) + f.text + this.text.slice(from + f.to - f.from),
            from + f.text.length,
            from + f.text.length,
          );
          this.send('Mend the text');
        }),
      ),
      this.app.doc.undoLabel !== null &&
        button({label: 'Undo the edit', text: 'Undo the edit', class: 'small'}, () => this.app.undo()),
    );
    line.after(fix);
    if (document.activeElement !== this.element) fix.scrollIntoView({block: 'center'});
  }

  /* ---- the caret, as offsets of the text ---- */

  private offsetOfLine(line: number): number {
    let at = 0;
    const all = this.text.split('\n');
    for (let i = 0; i < line && i < all.length; i++) at += all[i].length + 1;
    return at;
  }

  private offset(node: Node, offset: number): number {
    const line = this.lines.findIndex(l => l === node || l.contains(node));
    if (line < 0) {
      /* Between lines: the element itself, or the box of an error. */
      const kids = [...this.element.childNodes];
      const at = node === this.element ? offset : kids.findIndex(k => k.contains(node));
      const n = kids.slice(0, Math.max(0, at)).filter(k => this.lines.includes(k as HTMLElement)).length;
      return n >= this.lines.length ? this.text.length : this.offsetOfLine(n);
    }
    const range = document.createRange();
    range.selectNodeContents(this.lines[line]);
    range.setEnd(node, offset);
    return this.offsetOfLine(line) + range.toString().length;
  }

  private selection(): [number, number] {
    const s = getSelection();
    if (!s || !s.rangeCount || !this.element.contains(s.anchorNode)) return [this.text.length, this.text.length];
    const r = s.getRangeAt(0);
    return [this.offset(r.startContainer, r.startOffset), this.offset(r.endContainer, r.endOffset)];
  }

  private point(offset: number): [Node, number] {
    const before = this.text.slice(0, offset).split('\n'),
      line = this.lines[before.length - 1];
    let left = before[before.length - 1].length;
    const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let t = walk.nextNode(); t; t = walk.nextNode()) {
      const n = (t as Text).length;
      if (left <= n) return [t, left];
      left -= n;
    }
    return [line, 0];
  }

  private select(from: number, to: number): void {
    if (!this.lines.length) return;
    getSelection()?.setBaseAndExtent(...this.point(from), ...this.point(to));
  }

  /* ---- input ---- */

  private put(text: string, from: number, to: number): void {
    this.draw(text);
    this.select(from, to);
    const line = this.lines[text.slice(0, to).split('\n').length - 1];
    line?.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }

  private insert(from: number, to: number, by: string): void {
    this.put(this.text.slice(0, from) + by + this.text.slice(to), from + by.length, from + by.length);
    this.later();
  }

  private beforeInput(e: InputEvent): void {
    if (this.composing || e.inputType === 'insertCompositionText') return;
    e.preventDefault();
    if (e.inputType === 'historyUndo' || e.inputType === 'historyRedo') {
      if (e.inputType === 'historyUndo') this.app.undo();
      else this.app.redo();
      return;
    }
    const r = e.getTargetRanges()[0];
    let [from, to] = r
      ? [this.offset(r.startContainer, r.startOffset), this.offset(r.endContainer, r.endOffset)]
      : this.selection();
    if (e.inputType.startsWith('delete')) {
      /* Some browsers give no range over the end of a line. */
      if (from === to && e.inputType === 'deleteContentBackward') from = Math.max(0, from - 1);
      if (from === to && e.inputType === 'deleteContentForward') to = Math.min(this.text.length, to + 1);
      this.insert(from, to, '');
      return;
    }
    if (e.inputType === 'insertParagraph' || e.inputType === 'insertLineBreak') {
      const start = this.text.lastIndexOf('\n', from - 1) + 1,
        line = this.text.slice(start, from);
      const indent =
        line.match(/^ */)![0] +
        (/:\s*$/.test(line) ? INDENT : /^\s*- /.test(line) && !/}\s*$/.test(line) ? INDENT : '');
      this.insert(from, to, `\n${indent}`);
      return;
    }
    const data = e.data ?? e.dataTransfer?.getData('text/plain') ?? '';
    if (data) this.insert(from, to, data.replace(/\r\n?/g, '\n').replace(/\t/g, INDENT));
  }

  private key(e: KeyboardEvent): void {
    if (e.key === 'Tab' && !e.ctrlKey && !e.altKey && !e.metaKey && this.escaped !== true) {
      e.preventDefault();
      const [from, to] = this.selection();
      if (!e.shiftKey) {
        this.insert(from, to, INDENT);
      } else {
        const start = this.text.lastIndexOf('\n', from - 1) + 1,
          n = Math.min(2, this.text.slice(start).match(/^ */)![0].length);
        this.put(
          this.text.slice(0, start) + this.text.slice(start + n),
          Math.max(start, from - n),
          Math.max(start, to - n),
        );
        this.later();
      }
    }
    /* Escape lets the next Tab leave the text, so that the keyboard is not trapped. */
    this.escaped = e.key === 'Escape';
    if (e.key !== 'Escape' && !((e.ctrlKey || e.metaKey) && /^[szyoe]$/i.test(e.key))) e.stopPropagation();
    if ((e.ctrlKey || e.metaKey) && /^[zy]$/i.test(e.key)) this.send();
  }

  private escaped = false;

  private copy(e: ClipboardEvent): void {
    const [from, to] = this.selection();
    if (from === to) return;
    e.preventDefault();
    e.clipboardData?.setData('text/plain', this.text.slice(from, to));
    if (e.type === 'cut') this.insert(from, to, '');
  }

  private readLines(): string {
    return [...this.element.children]
      .filter(c => !c.classList.contains('fix'))
      .map(l => (l.textContent ?? '').replace(/\n$/, ''))
      .join('\n');
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.send(), SEND_AFTER_MS);
  }

  private send(label = 'Edit the text'): void {
    clearTimeout(this.timer);
    const waits = this.timer !== 0;
    this.timer = 0;
    if (waits || this.text !== this.app.doc.text) {
      if (this.app.state.get('left') === 'text' && this.lines.length) this.app.change(this.text, label, 'text');
      clearTimeout(this.settling);
      this.settling = window.setTimeout(() => this.settle(), SETTLE_AFTER_MS - SEND_AFTER_MS);
    }
  }

  private settle(): void {
    clearTimeout(this.settling);
    if (!this.timer) this.app.doc.settle('text');
  }
}
