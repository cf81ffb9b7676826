/* `firn bench live` for WebAssembly, in Node.js: whether scenes keep up with the clock.
 *   node dev/realtime.mjs [--threads N] [--seconds N] SCENE[@RESOLUTION]...
 * Scenes are files of scenes/ by their names. Every picture counts as shown at once; drawing is not in it. */
import {sceneText} from '../gallery.mjs';
import {createEngine} from '../test/wasm/support.mjs';

const args = process.argv.slice(2);
const take = (name, fallback) => (args.includes(name) ? +args.splice(args.indexOf(name), 2)[1] : fallback);
const threads = take('--threads', 1), seconds = take('--seconds', 4);
console.log(`WebAssembly, ${threads} thread${threads === 1 ? '' : 's'}`);
console.log('scene                        particles   x real  simulate  pictures     per s   p-steps/s');
for (const arg of args) {
  const [name, resolution] = arg.split('@');
  const text = sceneText(name, resolution ? +resolution : undefined);
  const engine = await createEngine(threads);
  engine.send({do: 'open', text: text.replace(/frames: *\{[^}]*\}/, 'frames: {end: 2000}')});
  engine.send({do: 'play', speed: 1});
  engine.events.length = 0;
  const begin = performance.now();
  let working = 0, simulating = 0, simulated = 0, steps = 0, pictures = 0, particles = 0;
  while (performance.now() - begin < 1000 * seconds) {
    const turn = performance.now(), wait = engine.turn(0.008);
    for (const e of engine.events) {
      if (e.event === 'error') throw new Error(e.text);
      if (e.event !== 'frame') continue;
      engine.send({do: 'shown', picture: e.picture});
      pictures++;
      simulating += e.seconds;
      simulated += e.simulated;
      steps += e.steps * e.particles;
      particles = e.particles;
    }
    engine.events.length = engine.bytes.length = 0;
    working += (performance.now() - turn) / 1000;
    if (wait > 0) await new Promise(resolve => setTimeout(resolve, Math.min(1000 * wait, 100)));
  }
  const clock = (performance.now() - begin) / 1000;
  console.log([arg.padEnd(28), String(particles).padStart(9), (simulated / clock).toFixed(3).padStart(8),
               (simulating / simulated).toFixed(3).padStart(9), ((working - simulating) / simulated).toFixed(3).padStart(9),
               (pictures / clock).toFixed(1).padStart(9), (steps / simulating).toExponential(2).padStart(11)].join(' '));
}
process.exit(0);
