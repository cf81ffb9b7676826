/* Short messages over the view, read out politely. */
import {el, button} from './dom.ts';
import {icon} from './icons.ts';

const SHOWN_MS = 3000;
const SHOWN_WITH_ACTION_MS = 8000;

export class Toasts {
  readonly element = el('div', {class: 'toasts', role: 'status', 'aria-live': 'polite'});
  private timer = 0;

  show(text: string, o: {bad?: boolean; action?: {text: string; run: () => void}} = {}): void {
    clearTimeout(this.timer);
    const action = o.action;
    this.element.replaceChildren(
      el(
        'div',
        {class: 'toast card' + (o.bad ? ' bad' : '')},
        icon(o.bad ? 'warn' : 'ok'),
        el('span', {}, text),
        action &&
          button({label: action.text, text: action.text, class: 'small'}, () => {
            this.hide();
            action.run();
          }),
      ),
    );
    this.timer = window.setTimeout(() => this.hide(), action || o.bad ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.element.replaceChildren();
  }
}
