/* Starts the page: its engine, and the scene to begin with. */
import {App} from './app.ts';
import {findPass, SocketTransport, WorkerTransport} from './engine/transport.ts';
import {loadGallery} from './files/gallery.ts';
import {readLink} from './files/share.ts';
import {listenToKeys} from './keys.ts';
import {el} from './ui/dom.ts';
import {NoGraphics} from './view/view.ts';

const FIRST_SCENE = 'chocolate';

async function firstScene(app: App): Promise<void> {
  try {
    const shared = await readLink(location.hash);
    if (shared) {
      app.open(shared.base ?? shared.scene, shared.title ?? 'Shared scene', {camera: shared.camera});
      if (shared.base) app.change(shared.scene, 'Open the link');
      if (shared.view)
        app.state.set({
          look: shared.view.look ?? 'surface',
          color: shared.view.color ?? '',
        });
      return;
    }
  } catch (e) {
    app.toasts.show(e instanceof Error ? e.message : String(e), {bad: true});
  }
  try {
    const gallery = await loadGallery(),
      first = gallery.find(s => s.id === FIRST_SCENE) ?? gallery[0];
    if (first && app.doc.text === '') app.open(first.scene, first.title);
  } catch (e) {
    if (app.doc.text === '') app.newScene(3);
    app.toasts.show(e instanceof Error ? e.message : String(e), {bad: true});
  }
}

function run(app: App): void {
  listenToKeys(app);
  const pass = findPass();
  app.files.engineTransport = to => (pass ? new SocketTransport(pass, to !== app.engine, to) : new WorkerTransport(to));
  app.engine.connect(app.files.engineTransport);
  if (pass) {
    /* The native engine brings its own scene. */
    app.engine.on('hello', h => {
      if (h.mode === 'scene' && h.text === undefined && app.doc.text === '') void firstScene(app);
    });
  } else {
    void firstScene(app);
  }
  addEventListener('hashchange', () => {
    if (/^#s=/.test(location.hash)) void firstScene(app);
  });
  window.firn = {app, view: app.view, engine: app.engine, document: app.doc};
}

/* For tests and the curious. */
declare global {
  interface Window {
    firn: {app: App; view: App['view']; engine: App['engine']; document: App['doc']};
  }
}

try {
  run(new App());
} catch (e) {
  if (!(e instanceof NoGraphics)) throw e;
  const said = 'The studio draws with WebGL2, which this browser does not have or has switched off.';
  document.getElementById('root')!.replaceChildren(el('p', {class: 'nographics', role: 'alert'}, said));
}
