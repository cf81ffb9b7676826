/* How soon a change is seen, and whether the page freezes:
 *   node dev/latency.mjs [--native SCENE.yaml] [--scene NAME] [--size WxH]
 * Plays a scene of the gallery, or of `firn view`, and changes gravity 40 times, as a drag of its arrow does. For each
 * change: milliseconds and displayed frames until a picture that was simulated with it is on the screen. Then the
 * page's longest tasks. Software rendering makes displayed frames long: count frames, not milliseconds. */
import {join} from 'node:path';
import {Browser, ready, root, servePage, startServer} from '../test/browser/studio.mjs';

const args = process.argv.slice(2);
const option = name => (args.includes(name) ? args[args.indexOf(name) + 1] : null);
const [width, height] = (option('--size') ?? '1280x800').split('x').map(Number);
const native = option('--native'), name = option('--scene') ?? 'creature_small';
const server = native ? await startServer(join(root, 'build/firn'), ['view', native]) : await servePage();
const browser = await Browser.launch();
const page = await browser.open(server.address, {width, height});
await ready(page);
if (!native) {
  await page.evaluate(async id => {
    const list = await (await fetch('gallery.json')).json();
    const found = (list.scenes ?? list).find(s => s.id === id);
    window.firn.app.state.set({scene: null, shown: null});
    window.firn.app.open(found.scene, found.title);
  }, name);
  await ready(page);
}
const result = await page.evaluate(async () => {
  const {app, engine} = window.firn, tasks = [], ms = [], frames = [];
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(e => Math.round(e.duration)))).observe({entryTypes: ['longtask']});
  const tick = () => new Promise(requestAnimationFrame);
  const next = (event, test) => new Promise(resolve => {
    const off = engine.on(event, e => { if (test(e)) { off(); resolve(e); } });
  });
  const text = window.firn.document.text.replace(/end: *\d+/, 'end: 5000'); /* so that it does not end meanwhile */
  app.change(text, 'End');
  await next('scene', () => true);
  engine.send({do: 'play', speed: 1});
  for (let k = 0; k < 40; k++) {
    for (let i = 0; i < 5; i++) await tick();
    const g = (-9.81 + 0.01 * (k + 1)).toFixed(2), begin = performance.now();
    let count = 0, wanted = Infinity;
    void next('scene', () => true).then(() => next('picture', p => p.frame.steps > 0)).then(p => { wanted = p.picture.number; });
    app.change(/^simulation:/m.test(text) ? text.replace(/^simulation: *\{/m, `simulation: {gravity: [0, ${g}, 0], `)
                                          : `${text}\nsimulation: {gravity: [0, ${g}, 0]}\n`, 'Gravity');
    do { await tick(); count++; } while ((app.state.get('shown')?.picture ?? 0) < wanted && performance.now() - begin < 5000);
    ms.push(performance.now() - begin);
    frames.push(count);
  }
  const begin = performance.now();
  for (let i = 0; i < 30; i++) await tick();
  return {tasks, ms, frames, interval: (performance.now() - begin) / 30, engine: engine.hello.engine};
});
const at = (list, part) => [...list].sort((a, b) => a - b)[Math.floor(part * (list.length - 1))];
console.log(`${native ?? name}, ${result.engine}: a displayed frame every ${result.interval.toFixed(0)} ms`);
console.log(`change to picture: median ${at(result.frames, 0.5)} frames (${at(result.ms, 0.5).toFixed(0)} ms), ` +
            `most ${at(result.frames, 1)} frames (${at(result.ms, 1).toFixed(0)} ms)`);
console.log(`tasks over 50 ms: ${result.tasks.length}${result.tasks.length ? `, longest ${Math.max(...result.tasks)} ms` : ''}`);
await browser.close();
await server.stop();
