/* Every control does something: buttons, menus, keys and rows of values. Tables name what each must change; a control
 * that is in the page and in no table fails. */
import assert from 'node:assert/strict';
import {openScene, ready, SQUARE, step, studio, until} from './studio.mjs';

const s = studio({width: 1500, height: 950}), {claim, press} = s;
const SCENE = SQUARE.replace('frames', 'heat: {speed: 1}\nframes');
const CUBE = `firn: 1
name: cube
resolution: 0.05
materials: {soft: {preset: jelly_soft}}
objects:
  - {name: cube, material: soft, shape: {box: {center: [0, 0.5, 0], size: [0.4, 0.4, 0.4]}}}
`;

/* In the page: what controls there are, and what they change. */
function install() {
  const nameOf = e => (e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent).trim();
  const shown = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
  const all = within => [...document.querySelectorAll(`${within} :is(button, input, select, [role=slider], [role=separator], [role=button])`)]
    .filter(e => shown(e) && e.localName !== 'hr');
  const LOOKS = {
    text: a => a.doc.text, camera: a => a.view.camera, hidden: a => [...a.state.get('hidden')],
    menu: () => document.querySelector('.menu')?.getAttribute('aria-label'), hash: () => location.hash,
    dialog: () => document.querySelector('[aria-modal]')?.getAttribute('aria-label'),
    find: () => !document.querySelector('.right .find').hidden, width: () => document.querySelector('.right').offsetWidth,
    cards: () => document.querySelectorAll('.gallery .th').length,
  };
  window.controls = {
    names: (within, without) => [...new Set(all(within).filter(e => !e.closest(without)).map(nameOf))],
    find: (within, name) => all(within).find(e => nameOf(e) === name && !e.disabled),
    look: what => JSON.stringify((LOOKS[what] ?? (a => a.state.get(what)))(window.firn.app) ?? null),
  };
}

/* Waits until it has changed; says what did not. */
async function changes(what, name, act) {
  const {page} = s;
  if (what === 'download' || what === 'filechooser') return Promise.all([page.waitForEvent(what), act()]);
  const before = await page.evaluate(w => window.controls.look(w), what);
  await act();
  await page.waitForFunction(([w, b]) => window.controls.look(w) !== b, [what, before], {timeout: 15_000, polling: 30})
    .catch(() => assert.fail(`${name} does not change ${what}: ${before}`));
}

async function use(within, name) {
  const control = (await s.page.evaluateHandle(([w, n]) => window.controls.find(w, n), [within, name])).asElement();
  assert.ok(control, `there is no control ${name} in ${within}`);
  const role = await control.getAttribute('role');
  if (role !== 'slider' && role !== 'separator') return control.click();
  await control.focus();
  await press('ArrowLeft');
}

const PREPARE = {
  edited: () => s.page.evaluate(t => window.firn.app.change(t, 'Edit'), SCENE.replace('0.4}', '0.5}')),
  undone: async () => {
    await PREPARE.edited();
    await s.page.evaluate(() => window.firn.app.undo());
  },
  stepped: () => step(s.page, 2),
  text: () => s.page.evaluate(() => window.firn.app.state.set({left: 'text'})),
  folded: () => s.page.evaluate(() => window.firn.app.state.set({foldLeft: true, foldRight: true})),
  slow: () => s.page.evaluate(() => window.firn.app.time.setSpeed('0.5')),
  block: () => s.page.evaluate(() => window.firn.app.selectNamed('block')),
  bare: () => s.page.evaluate(() => window.firn.app.state.set({bare: false})),
  other: () => s.page.evaluate(() => window.firn.app.state.set({tool: 'cut'})),
  zoomed: () => s.page.evaluate(() => window.firn.view.zoom(2)),
  grid: () => s.page.evaluate(() => window.firn.app.state.set({overlays: {...window.firn.app.state.get('overlays'), grid: 'speed'}})),
};

async function start(prepare) {
  const {page} = s;
  await page.evaluate(() => {
    const {app} = window.firn;
    if (app.state.get('recording')) app.toggleRecord();
    if (app.compare.pane) app.compare.end();
    app.closeMenu();
    app.closeModal();
    app.properties.find(false);
    history.replaceState(null, '', location.pathname);
    if (app.state.get('playing')) app.time.toggle();
    app.time.setSpeed('1');
    app.state.set({left: 'outline', foldLeft: false, foldRight: false, bare: false, tool: 'select', graphs: false, look: 'surface', color: '',
      overlays: {velocity: false, force: false, flow: false, grid: 'off', blocks: false, colliders: true}});
    document.activeElement?.blur();
  });
  await openScene(page, SCENE);
  await page.evaluate(install);
  if (prepare) await PREPARE[prepare]();
}

/* Runs a table of [what changes, how things are before]. */
async function run(table, act) {
  for (const [name, [what, prepare]] of Object.entries(table)) {
    await start(prepare);
    await changes(what, name, () => act(name));
  }
}

const PAGE = {
  'Gallery': ['dialog'], 'Undo': ['text', 'edited'], 'Redo': ['text', 'undone'], 'Open': ['filechooser'], 'Save': ['download'],
  'Share a link': ['hash', 'zoomed'], '2D': ['text', 'edited'], '3D': ['text'], 'Overlays': ['menu'], 'Compare two sets of values': ['comparing'],
  'Record a video': ['recording'], 'Light or dark': ['theme'], 'Shortcuts': ['dialog'],
  'Outline': ['left', 'text'], 'Text': ['left'], 'Fold the outline': ['foldLeft'], 'Show the outline': ['foldLeft', 'folded'],
  'Add an object': ['menu'], 'Add a collider': ['menu'], 'Add an emitter': ['menu'], 'Add a material': ['menu'],
  'Add a group, a sink or a heat source': ['menu'], 'Hide block': ['hidden'], 'Hide ground': ['text'],
  'Find a property': ['find'], 'Fold the properties': ['foldRight'], 'Show the properties': ['foldRight', 'folded'],
  'Width of the properties': ['width'], 'Combine with another shape': ['menu', 'block'], 'Duplicate, rename, delete': ['menu', 'block'],
  'Select': ['tool', 'other'], 'Probe': ['tool'], 'Grab': ['tool'], 'Push': ['tool'], 'Cut': ['tool'], 'Heat': ['tool'], 'Emit': ['tool'],
  'Frame': ['scrub', 'stepped'], 'Reset to the start': ['time', 'stepped'], 'Back one frame': ['scrub', 'stepped'], 'Play': ['playing'],
  'Step one frame': ['frame'], 'Step one substep': ['time'], 'A quarter of real time': ['speed'], 'Half of real time': ['speed'],
  'Real time': ['speed', 'slow'], 'As fast as possible': ['speed'], 'Graphs': ['graphs'],
};

claim('every control of the page is in the table, and has its effect', async page => {
  await start('block');
  const engine = await page.locator('.badge').getAttribute('aria-label'), title = 'Testedited'; /* with a mark that is hidden */
  const there = await page.evaluate(() => window.controls.names('.app', '.row, .menu, .sec-h > [aria-expanded]'));
  assert.deepEqual(there.filter(n => !(n in PAGE) && n !== engine && n !== title), []);
  /* 2D is where it is: it acts from a 3D scene. */
  await run({...PAGE, [engine]: ['menu'], [title]: ['menu']}, async name => {
    if (name === '2D') {
      await page.evaluate(() => window.firn.app.newScene(3));
      await changes('text', name, () => use('.top', name));
      return use('.top', '3D');
    }
    return use('.app', name);
  });
});

/* The names of the card, and what their keys change. */
const KEYS = {
  'Play or pause': ['playing', , 'Space'], 'One frame': ['frame', , 'ArrowRight'], 'One substep': ['time', , 'Shift+ArrowRight'],
  'Back one frame': ['scrub', 'stepped', 'ArrowLeft'], 'Reset': ['time', 'stepped', 'r'], 'Record': ['recording', , 'Control+e'],
  'Select': ['tool', 'other', 'v'], 'Probe a particle': ['tool', , 'p'], 'Grab': ['tool', , 'g'], 'Push': ['tool', , 'b'], 'Cut': ['tool', , 'x'],
  'Heat': ['tool', , 'h'], 'Emit': ['tool', , 'e'], 'Radius': ['radius', , '[', ']'], 'Gallery': ['dialog', , 'o'], 'Overlays': ['menu', , 'l'],
  'Hide all panels': ['bare', 'bare', '\\'], 'Frame everything': ['camera', 'zoomed', 'f'], 'Graphs': ['graphs', , 'k'], 'Undo': ['text', 'edited', 'Control+z'],
  'Redo': ['text', 'undone', 'Control+Shift+z', 'Control+y'], 'Save': ['download', , 'Control+s'], 'Find a property': ['find', , '/'],
  'Duplicate, delete': ['text', 'block', 'Control+d', 'Delete', 'Backspace'], 'This card': ['dialog', , '?'],
};
/* Not on the card, but in menus and tips. */
const MORE_KEYS = {
  'Velocity': ['overlays', , '1'], 'Force': ['overlays', , '2'], 'Nodes': ['overlays', , '3'], 'Blocks': ['overlays', , '4'],
  'Colliders': ['overlays', , '5'], 'Flow': ['overlays', , '6'], 'Open': ['filechooser', , 'Control+o'], 'Let go of the tool': ['tool', 'other', 'Escape'],
  'Let go of the selection': ['selection', 'block', 'Escape'],
};

claim('every key of the card is in the table, and has its effect', async page => {
  await start();
  await press('?');
  const names = await page.locator('.keys li').evaluateAll(list => list.map(l => l.firstChild.textContent));
  assert.deepEqual(names.filter(n => !(n in KEYS)), []);
  for (const [name, [what, prepare, ...keys]] of Object.entries({...KEYS, ...MORE_KEYS})) {
    for (const key of keys) {
      await start(prepare);
      await changes(what, `${name} (${key})`, () => press(key));
    }
  }
});

claim('every item of the menus has its effect', async page => {
  const MENUS = {
    'Overlays': {
      'Velocity': ['overlays'], 'Force': ['overlays'], 'Grid nodes': ['overlays'], 'Active blocks': ['overlays'], 'Colliders and ground': ['overlays'],
      'Grid velocity': ['overlays'], 'Mass': ['overlays', 'grid'], 'Speed': ['overlays'], 'Points': ['look'], 'Mesh': ['look'], 'Object': ['color'],
    },
    'scene-menu': {
      'New 3D scene': ['text'], 'New 2D scene': ['text'], 'Open a file': ['filechooser'], 'Save the scene': ['download'], 'Share a link': ['hash', 'zoomed'],
      'Save a picture (PNG)': ['download'], 'Record a picture sequence': ['recording'], 'Record a particle sequence (PRT)': ['recording'], 'Save particles (PRT)': ['download'], 'Save particles (geo)': ['download'],
      'Frame everything': ['camera', 'zoomed'], 'Back to how it was opened': ['text', 'edited'],
    },
    'item-menu': {'Duplicate': ['text', 'block'], 'Delete': ['text', 'block'], 'Hide': ['hidden', 'block'], 'Show in the text': ['left', 'block']},
  };
  /* Attributes to colour by are the engine's. */
  const colors = ['Volume ratio', 'Packing'];
  for (const [menu, table] of Object.entries(MENUS)) {
    const open = () => page.locator(`[data-do=${menu.toLowerCase()}]`).click();
    await start(menu === 'item-menu' ? 'block' : undefined);
    await open();
    const texts = await page.locator('.menu .mi .t').allInnerTexts();
    const rest = texts.filter(t => !(t in table));
    if (menu === 'Overlays') {
      assert.deepEqual(rest.slice(0, 2), ['Surface', 'Material']);
      for (const t of rest.slice(2)) table[t] = ['color'];
      assert.ok(colors.every(c => rest.includes(c)), rest.join());
    } else {
      assert.deepEqual(rest, []);
    }
    await run(table, async name => {
      await open();
      /* "Speed" is what nodes and what particles can show; the nodes' comes first. */
      await page.locator('.menu .mi', {has: page.getByText(name, {exact: true})}).first().click();
    });
  }
});

claim('everything that can be added is accepted', async page => {
  const answered = () => until(page, () => window.firn.engine.waiting === false);
  await start();
  await page.setViewportSize({width: 900, height: 480}); /* little to draw */
  await page.evaluate(() => window.firn.app.state.set({look: 'points'}));
  for (const text of [SCENE, CUBE]) {
    await openScene(page, text);
    await page.evaluate(install);
    for (const add of ['Add an object', 'Add a collider', 'Add an emitter', 'Add a material', 'Add a group, a sink or a heat source']) {
      await use('.app', add);
      const items = (await page.locator('.menu .mi .t').allInnerTexts()).filter(t => t !== 'Mesh file' && t !== 'Draw an outline');
      await press('Escape');
      assert.ok(items.length >= 2, add);
      for (const item of items) {
        await use('.app', add);
        await changes('text', item, () => page.evaluate(t => [...document.querySelectorAll('.menu .mi')]
          .find(e => e.querySelector('.t').textContent === t).click(), item));
        await answered();
        assert.equal(await page.evaluate(() => window.firn.app.state.get('error')?.text ?? null), null, `${add}: ${item}`);
        await page.evaluate(() => window.firn.app.undo());
        await answered();
      }
    }
  }
  await page.setViewportSize({width: 1500, height: 950});
});

claim('every row of the properties changes the text, and undo takes it back', async page => {
  for (const item of ['', 'objects.0', 'colliders.0', 'materials.soft']) {
    await start();
    await page.evaluate(key => window.firn.app.select(key), item);
    /* All in the page: hundreds of round trips would take a minute. */
    const still = await page.evaluate(async () => {
      const {app} = window.firn, wrong = [];
      const pause = () => new Promise(done => setTimeout(done, 0));
      for (const head of document.querySelectorAll('.right .sec-h > [aria-expanded]')) {
        const was = head.getAttribute('aria-expanded');
        head.click();
        if (head.getAttribute('aria-expanded') === was) wrong.push(`section ${head.textContent}`);
        if (was === 'true') head.click();
      }
      const rows = [...document.querySelectorAll('.right .row[data-p]')].map(r => r.dataset.p);
      for (const [i, name] of rows.entries()) {
        const count = document.querySelectorAll('.right .row[data-p]')[i]?.querySelectorAll('input, select, .seg').length ?? 0;
        for (let k = 0; k < count; k++) {
          const row = document.querySelectorAll('.right .row[data-p]')[i], control = row?.querySelectorAll('input, select, .seg')[k];
          if (!control || row.dataset.p !== name) break;
          const before = app.doc.text;
          if (control.matches('.seg')) {
            control.querySelector('[aria-checked=false]').click();
          } else if (control.localName === 'select') {
            if (control.options.length < 2) continue;
            control.selectedIndex = (control.selectedIndex + 1) % control.options.length;
            control.dispatchEvent(new Event('change'));
          } else if (control.type === 'range') {
            if (row.classList.contains('none')) continue; /* nothing to start from: it is typed */
            control.value = Number(control.value) > 500 ? 300 : 700;
            control.dispatchEvent(new Event('input'));
            control.dispatchEvent(new Event('change'));
          } else {
            control.value = row.querySelector('[inputmode]') ? String((parseFloat(control.value) || 0) + 1) : 'other';
            control.dispatchEvent(new Event('change'));
          }
          if (app.doc.text === before) wrong.push(`${name} ${control.localName} ${control.type ?? ''} ${control.value ?? ''}`);
          app.undo();
          await pause();
          if (app.doc.text !== before) wrong.push(`undo of ${name}`);
        }
      }
      return {wrong, rows: rows.length};
    });
    assert.deepEqual(still.wrong, [], item);
    assert.ok(still.rows >= 4, `${item} has ${still.rows} rows`);
  }
});

claim('the gallery searches, sorts and opens; an empty scene offers a start', async page => {
  await start();
  await press('o');
  await page.locator('.gallery .th').first().waitFor();
  const chips = await page.locator('.gallery .chips button').allInnerTexts();
  for (const chip of chips.slice(1)) {
    await changes('cards', chip, () => page.locator('.gallery .chips').getByText(chip, {exact: true}).click());
    await page.locator('.gallery .chips').getByText('All', {exact: true}).click();
  }
  await changes('cards', 'search', () => page.getByLabel('Search scenes').fill('creature'));
  await page.getByLabel('Search scenes').fill('');
  await changes('text', 'a card', () => page.locator('.gallery .th').nth(3).click());
  await ready(page);
  for (const [dimension, shapes] of [[2, ['Disc', 'Rectangle', 'Draw it', 'Emitter']], [3, ['Ball', 'Box', 'Mesh file', 'Emitter']]]) {
    for (const shape of shapes) {
      await page.evaluate(d => window.firn.app.newScene(d), dimension);
      await page.locator('.empty').waitFor();
      const what = {'Draw it': 'drawing', 'Mesh file': 'filechooser'}[shape] ?? 'text';
      await changes(what, shape, () => page.locator('.empty .shapes').getByText(shape, {exact: true}).click());
      await page.evaluate(() => window.firn.app.state.set({drawing: null}));
    }
  }
  await page.evaluate(() => window.firn.app.newScene(3));
  await changes('text', 'a scene of the card', () => page.locator('.empty .four button').first().click());
  await ready(page);
});

claim('the axes turn the view, gravity is aimed, the strip scrubs, colours get a range', async page => {
  await openScene(page, CUBE);
  await page.evaluate(install);
  for (const axis of ['x', 'y', 'z']) await changes('camera', axis, () => page.getByRole('button', {name: `Look along ${axis}`}).click());
  await start();
  const tip = await page.locator('.gravity .tip').boundingBox();
  await changes('text', 'gravity', async () => {
    await page.mouse.move(tip.x + tip.width / 2, tip.y + tip.height / 2);
    await page.mouse.down();
    await page.mouse.move(tip.x + 60, tip.y - 10, {steps: 4});
    await page.mouse.up();
  });
  await start('stepped');
  const strip = await page.locator('.strip').boundingBox();
  await changes('scrub', 'the strip', () => page.mouse.click(strip.x + 2, strip.y + 20));
  await start('stepped');
  await page.evaluate(() => window.firn.app.state.set({color: 'speed'}));
  await page.getByRole('button', {name: 'Range of the colours'}).click();
  await changes('range', 'Most', async () => {
    await page.getByLabel('Most').fill('7');
    await page.getByLabel('Most').press('Enter');
  });
  await changes('range', 'Automatic', () => page.getByRole('menuitemcheckbox', {name: 'Automatic'}).click());
});

claim('options of tools act', async page => {
  await start();
  for (const [key, label, what] of [['x', 'Radius', 'radius'], ['b', 'Strength', 'strength'], ['h', 'Heat', 'strength']]) {
    await press(key);
    const slider = page.locator('.tools .opt').getByLabel(label, {exact: true});
    await slider.focus();
    await changes(what, label, () => press('ArrowRight'));
  }
  await page.evaluate(t => window.firn.app.change(t, 'Edit'), SCENE.replace('objects:', '  hard: {preset: jelly_hard}\nobjects:'));
  await until(page, () => window.firn.app.state.get('scene').materials.length === 2);
  await press('e');
  await changes('material', 'Material', () => page.locator('.tools .opt select').selectOption('hard'));
});
