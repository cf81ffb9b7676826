/* What shoot.mjs shows. A `set` runs in the page, with the names of view.ts. */

const ground = `{name: 'ground', kind: 'collider', shape: 'plane', params: {}, position: [0, 0, 0], rotation: [0, 0, 0], selected: false, visible: true, collider: 0}`;
const make = (body) => `async (view, cache) => { const ground = ${ground}; const W = window; ${body} }`;
const SNOW = '[0.73, 0.78, 0.86]', JELLY = '[0.9, 0.1, 0.08]', WATER = '[0.35, 0.75, 0.85]', CHOCOLATE = '[0.16, 0.065, 0.03]';

const ball = `
  const cloud = {places: [], tags: []};
  W.fill((p) => Math.hypot(p[0], p[1] - 0.6, p[2]) < 0.25, [-0.25, 0.35, -0.25], [0.25, 0.85, 0.25], 0.0187, 0, cloud);
  W.show(view, {scene: W.sceneOf('ball', 3, 0.0187, [['jelly', ${JELLY}]], ['ball']), shapes: [ground], cloud});`;
const wall = `W.show(view, {scene: W.sceneOf('wall', 3, 0.012, [['snow', ${SNOW}], ['snow', ${SNOW}]], ['ball']), shapes: [ground], cloud: cache});
  view.camera = {target: [-0.42, 0.25, 0.03], azimuth: -47, elevation: 14, distance: 2.6};`;
const tumble = `
  const at = {position: [0, 0, 0], rotation: [0, 0, 0], visible: true, selected: false, kind: 'collider'};
  W.show(view, {scene: W.sceneOf('tumble', 3, 0.022, [['jelly', ${JELLY}], ['jelly', ${JELLY}]], ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']), cloud: cache,
    shapes: [ground, {...at, name: 'dome', shape: 'sphere', params: {center: [0, -0.1, 0], radius: 0.28}},
             {...at, name: 'rim', shape: 'torus', params: {center: [0, 0.03, 0], radius: 0.78, tube: 0.09}}]});
  view.camera = {...view.camera, elevation: 20, distance: 3};`;
const flat = `
  const cloud = {places: [], tags: [], velocity: [], values: []};
  W.fill((p) => true, [-0.5, 0.1, 0], [-0.1, 0.5, 0], 0.0125, 0, cloud);
  W.fill((p) => Math.hypot(p[0] - 0.3, p[1] - 0.22) < 0.2, [0.1, 0.02, 0], [0.5, 0.42, 0], 0.0125, 1 << 16 | 1, cloud);
  for (let i = 0; i < cloud.tags.length; i++) {
    const x = cloud.places[3 * i], y = cloud.places[3 * i + 1];
    cloud.velocity.push(Math.sin(6 * y), Math.cos(7 * x) - 0.3, 0);
    cloud.values.push(Math.hypot(Math.sin(6 * y), Math.cos(7 * x) - 0.3));
  }
  const scene = W.sceneOf('flat', 2, 0.0125, [['jelly', [0.68, 0.09, 0.12]], ['jelly', [0.11, 0.45, 0.32]]], ['square', 'disc']);
  const shape = {kind: 'object', position: [0, 0, 0], rotation: [0, 0, 0], visible: true, selected: false};
  const shapes = [ground, {...shape, name: 'square', shape: 'rectangle', params: {center: [-0.3, 0.3], size: [0.4, 0.4]}},
    {...shape, name: 'disc', shape: 'disc', params: {center: [0.3, 0.22], radius: 0.2}},
    {...shape, kind: 'collider', name: 'peg', item: 'colliders.1', shape: 'disc', params: {center: [0, 0.1], radius: 0.06}}];
  W.show(view, {scene, shapes, cloud});`;
const grid = `
  const nodes = [], cell = 0.025, seen = new Set();
  for (let i = 0; i < cloud.tags.length; i++) for (let a = -1; a <= 1; a++) for (let b = -1; b <= 1; b++) {
    const x = Math.round(cloud.places[3 * i] / cell) + a, y = Math.round(cloud.places[3 * i + 1] / cell) + b;
    if (seen.has(x + ',' + y)) continue;
    seen.add(x + ',' + y);
    nodes.push(x * cell, y * cell, 0, 1 + Math.sin(x), Math.sin(y / 5), Math.cos(x / 5), 0, Math.sin(x / 3), 1, 0);
  }
  view.setGrid({kind: 3, number: 1, count: nodes.length / 10, cell, nodes: new Float32Array(nodes)});`;

export const cases = {
  'ball-dark': {set: make(ball)},
  'ball-light': {set: make(ball + `view.setTheme('light');`)},
  'ball-points': {set: make(ball + `view.look = 'points';`)},
  'ball-mesh': {set: make(ball + `view.look = 'mesh';`)},
  'ball-phone': {width: 390, height: 844, set: make(ball + `view.setTheme('light'); view.setStage({x: 0, y: 44, width: 390, height: 380}); view.frame();`)},
  'empty-light': {set: make(`view.setTheme('light'); W.show(view, {scene: W.sceneOf('e', 3, 0.02, [], []), shapes: [ground], cloud: null});`)},
  'empty-dark': {set: make(`W.show(view, {scene: W.sceneOf('e', 3, 0.02, [], []), shapes: [ground], cloud: null});`)},
  'wall-dark': {cache: ['snow_wall', 15], set: make(wall)},
  'wall-light': {cache: ['snow_wall', 15], set: make(wall + `view.setTheme('light');`)},
  'wall-speed': {cache: ['snow_wall', 15], set: make(`
    cache.values = cache.tags.map((_, i) => Math.hypot(...cache.velocity.slice(3 * i, 3 * i + 3)));
    view.carried = {name: 'speed', unit: 'm/s'}; view.colorBy = 'speed';` + wall + `
    view.overlays = {velocity: true}; view.setTool({at: [-0.5, 0.3, 0.05], radius: 0.12, arrow: [-0.3, 0.15, 0]});`)},
  'tumble-dark': {cache: ['tumble', 20], set: make(tumble)},
  'tumble-light': {cache: ['tumble', 20], set: make(tumble + `view.setTheme('light');`)},
  'tumble-mesh': {cache: ['tumble', 20], set: make(tumble + `view.look = 'mesh';`)},
  'dam-light': {cache: ['dam_break', 16], set: make(`W.show(view, {scene: W.sceneOf('dam', 3, 0.025, [['water', ${WATER}]], ['water']), cloud: cache, shapes: [ground]}); view.setTheme('light');`)},
  'dam-dark': {cache: ['dam_break', 16], set: make(`W.show(view, {scene: W.sceneOf('dam', 3, 0.025, [['water', ${WATER}]], ['water']), cloud: cache, shapes: [ground,
    {name: 'tank', kind: 'collider', shape: 'inside', params: {center: [0, 0.5, 0], size: [1.2, 1, 0.4]}, position: [0, 0, 0], rotation: [0, 0, 0], visible: true, selected: false}]});`)},
  'chocolate-dark': {cache: ['chocolate', 40], set: make(`W.show(view, {scene: W.sceneOf('c', 3, 0.00625, [['chocolate', ${CHOCOLATE}]], ['block']), shapes: [ground], cloud: cache});`)},
  'flat-dark': {set: make(flat + grid + `view.overlays = {velocity: true, grid: 'mass', blocks: true}; view.look = 'points'; view.carried = {name: 'speed', unit: 'm/s'}; view.colorBy = 'speed';`)},
  'flat-light': {set: make(flat + grid + `view.setTheme('light'); view.overlays = {velocity: true, grid: 'mass', blocks: true}; view.look = 'points'; view.highlight(700); view.carried = {name: 'speed', unit: 'm/s'}; view.colorBy = 'speed';`)},
  'flat-surface': {set: make(flat + grid + `view.overlays = {force: true}; view.setShapes(shapes.map((s) => ({...s, selected: s.name === 'disc'})));`)},
  'shapes-dark': {set: make(`
    const kinds = [['sphere', {radius: 0.2}], ['box', {size: [0.4, 0.3, 0.3]}], ['capsule', {from: [0, -0.1, 0], to: [0, 0.15, 0], radius: 0.1}], ['cylinder', {radius: 0.15, height: 0.4}],
      ['cone', {radius: 0.2, height: 0.4}], ['torus', {radius: 0.18, tube: 0.06}], ['ellipsoid', {radii: [0.2, 0.12, 0.15]}], ['inside', {size: [0.4, 0.4, 0.4]}], ['plane', {normal: [0.3, 1, 0], point: [0.4, -0.3, -1.6]}]];
    const shapes = kinds.map(([shape, params], i) => ({name: shape, kind: 'collider', shape, params, position: [(i % 4) * 0.6 - 0.9, 0.3, Math.floor(i / 4) * 0.7 - 0.5], rotation: [0, 20, 10], visible: true, selected: shape === 'box'}));
    W.show(view, {scene: W.sceneOf('s', 3, 0.02, [], []), shapes: [ground, ...shapes], cloud: null}); view.camera = {...view.camera, elevation: 24};`)},
};
