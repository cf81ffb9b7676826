/* Icons, 16 pixels a side, drawn with the colour of the text around them. */

const PATHS = {
  play: '<path d="M5 3.2v9.6l8-4.8z" fill="currentColor" stroke-linejoin="round"/>',
  pause: '<path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2.4"/>',
  frame: '<path d="M4 3.5v9l6-4.5z" fill="currentColor"/><path d="M12.5 3.5v9"/>',
  sub: '<path d="M3 5.5v5l4-2.5z" fill="currentColor"/><path d="M9.5 5v6M12.5 6.5v3"/>',
  reset: '<path d="M3.5 8a4.5 4.5 0 1 0 1.4-3.3L3 6.5M3 3v3.5h3.5"/>',
  back: '<path d="M3.5 3.5v9"/><path d="M12 3.5v9l-6-4.5z" fill="currentColor"/>',
  down: '<path d="M5 6.5 8 9.5l3-3"/>',
  up: '<path d="m5 9.5 3-3 3 3"/>',
  plus: '<path d="M8 3.5v9M3.5 8h9"/>',
  x: '<path d="m4.5 4.5 7 7m0-7-7 7"/>',
  ok: '<path d="m3.5 8.5 3 3 6-7"/>',
  eye: '<path d="M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8z"/><circle cx="8" cy="8" r="1.9"/>',
  noeye:
    '<path d="M3 3l10 10M6.2 4.1A6 6 0 0 1 8 3.8c4 0 6.2 4.2 6.2 4.2a11 11 0 0 1-1.8 2.3M4 5.4A10.6 10.6 0 0 0 1.8 8S4 12.2 8 12.200a6 6 0 0 0 2-.35"/>',
  ball: '<circle cx="8" cy="8" r="5"/><path d="M3.2 9.300c2.5 1.6 7.1 1.6 9.6 0" opacity=".6"/>',
  box: '<path d="m8 2.5 5 2.700v5.600l-5 2.7-5-2.700V5.200z"/><path d="m3 5.2 5 2.7 5-2.700M8 7.900v5.6" opacity=".6"/>',
  plane: '<path d="m2 10 4-4.500h8L10 10z"/><path d="M2 12.500h8" opacity=".5"/>',
  mesh: '<path d="M8 2.5 13.5 12h-11z"/><path d="m5.2 7.3 2.8 4.7 2.8-4.700z" opacity=".6"/>',
  emit: '<path d="M6 12.500h4M8 12.500V8"/><circle cx="4" cy="5.5" r="1"/><circle cx="8" cy="3.5" r="1"/><circle cx="12" cy="5.5" r="1"/>',
  scene: '<circle cx="8" cy="8" r="5.5"/><path d="M2.5 8h11M8 2.500c3.5 3.5 3.5 7.5 0 11-3.5-3.5-3.5-7.5 0-11"/>',
  camera: '<rect x="2" y="4.5" width="8.5" height="7" rx="1.5"/><path d="m10.5 7.3 3.5-2v5.400l-3.5-2"/>',
  light:
    '<circle cx="8" cy="8" r="2.8"/><path d="M8 1.800v1.400M8 12.800v1.400M1.8 8h1.400M12.8 8h1.400M3.6 3.600l1 1M11.4 11.400l1 1M12.4 3.600l-1 1M4.6 11.400l-1 1"/>',
  moon: '<path d="M13 9.500A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.500z"/>',
  grid: '<rect x="2.5" y="2.5" width="4.5" height="4.5" rx="1"/><rect x="9" y="2.5" width="4.5" height="4.5" rx="1"/><rect x="2.5" y="9" width="4.5" height="4.5" rx="1"/><rect x="9" y="9" width="4.5" height="4.5" rx="1"/>',
  open: '<path d="M2.5 12V4.500A1 1 0 0 1 3.5 3.500H6.500L8 5.200h4.500a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z"/>',
  save: '<path d="M8 2.500v7.500M5 7l3 3 3-3M3 13h10"/>',
  link: '<path d="M6.8 9.200a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.700l-.8.8M9.2 6.800a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.700l.8-.8"/>',
  layers: '<path d="m8 2.5 6 3.2-6 3.2-6-3.200z"/><path d="m2.5 8.8 5.5 2.9 5.5-2.9" opacity=".7"/>',
  split: '<rect x="2.5" y="3" width="11" height="10" rx="1.5"/><path d="M8 3v10"/>',
  undo: '<path d="M3 6.500h6.500a3.250 3.250 0 0 1 0 6.500H6M3 6.500l3-3M3 6.500l3 3"/>',
  redo: '<path d="M13 6.500H6.500a3.250 3.250 0 0 0 0 6.500H10M13 6.500l-3-3M13 6.500l-3 3"/>',
  cursor: '<path d="m3.5 2.8 9 4.6-4 1.2-1.7 4z"/>',
  probe: '<circle cx="8" cy="8" r="4.5"/><path d="M8 1.500v3M8 11.500v3M1.5 8h3M11.5 8h3"/>',
  hand: '<path d="M5 9V4.300a1 1 0 0 1 2 0V7.500M7 7V3.300a1 1 0 0 1 2 0V7.500M9 7.200V4.300a1 1 0 0 1 2 0V9M5 8.2 4 7a1 1 0 0 0-1.6 1.200l2.3 3.600A4 4 0 0 0 8 13.500h.500A3.5 3.5 0 0 0 12.5 10V6.300a.8.8 0 0 0-1.5 0"/>',
  push: '<path d="M2.5 8h8M7.5 4.8 10.7 8l-3.2 3.200M13.5 3.500v9"/>',
  flame:
    '<path d="M8 14a4 4 0 0 1-4-4c0-2.5 2-3.5 2.5-6 0-.8-.2-1.5-.2-1.500S12 5 12 10a4 4 0 0 1-4 4z"/><path d="M8 14a1.8 1.8 0 0 1-1.8-1.800c0-1.2 1.8-2.4 1.8-2.400s1.8 1.2 1.8 2.400A1.8 1.8 0 0 1 8 14z" opacity=".6"/>',
  drop: '<path d="M8 2.500s4.2 4.3 4.2 7.200a4.2 4.2 0 0 1-8.4 0C3.8 6.8 8 2.5 8 2.500z"/>',
  chart: '<path d="M2.5 2.500v11h11"/><path d="m4.5 10 2.5-3 2.5 1.500L13 4.5"/>',
  fold: '<rect x="2.5" y="3" width="11" height="10" rx="1.5"/><path d="M6 3v10"/>',
  foldr: '<rect x="2.5" y="3" width="11" height="10" rx="1.5"/><path d="M10 3v10"/>',
  warn: '<circle cx="8" cy="8" r="6"/><path d="M8 4.800v3.700M8 11v.1"/>',
  search: '<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>',
  more: '<path d="M3.5 8h.1M8 8h.1M12.5 8h.1" stroke-width="2.2"/>',
  list: '<path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1"/>',
  dials:
    '<path d="M2.5 5h5M11 5h2.500M2.5 11H5M8.5 11h5"/><circle cx="9.2" cy="5" r="1.7"/><circle cx="6.7" cy="11" r="1.7"/>',
  menu: '<path d="M3 4.500h10M3 8h10M3 11.500h10"/>',
  swap: '<path d="M3 5.500h9M9.5 3 12 5.5 9.5 8M13 10.500H4M6.5 8 4 10.5 6.5 13"/>',
  knife: '<path d="M3 13 12.500 3.500a1.8 1.8 0 0 1 .5 2.500L7 12z"/><path d="M3 13l3-.8"/>',
  sun: '<circle cx="8" cy="8" r="2.8"/><path d="M8 1.800v1.400M8 12.800v1.400M1.8 8h1.400M12.8 8h1.400"/>',
  pen: '<path d="m3 13 .8-3L11 2.800a1.3 1.3 0 0 1 2 2L5.800 12.200z"/>',
  revert: '<circle cx="8" cy="8" r="2"/><path d="M2.500 8a5.500 5.500 0 1 1 1.600 3.900M2.500 13v-3h3"/>',
  stop: '<rect x="4" y="4" width="8" height="8" rx="1.5" fill="currentColor"/>',
  trash: '<path d="M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500 5 13h6l.5-8.500"/>',
  copy: '<rect x="5.500" y="5.500" width="7.500" height="7.500" rx="1.5"/><path d="M10.500 3H4.500A1.500 1.500 0 0 0 3 4.500v6"/>',
  capsule: '<rect x="5" y="2" width="6" height="12" rx="3"/>',
  cylinder:
    '<ellipse cx="8" cy="4" rx="4.500" ry="1.700"/><path d="M3.500 4v8c0 .9 2 1.700 4.500 1.700s4.500-.8 4.500-1.700V4"/>',
  cone: '<path d="M8 2.500 12.500 12c0 .9-2 1.700-4.500 1.700S3.500 12.900 3.500 12z"/>',
  torus: '<ellipse cx="8" cy="8" rx="6" ry="4"/><ellipse cx="8" cy="7.500" rx="2.400" ry="1.200"/>',
  inside: '<rect x="2.500" y="2.500" width="11" height="11" rx="1"/><path d="M5 5h6v6H5z" opacity=".6"/>',
  ellipsoid: '<ellipse cx="8" cy="8" rx="6" ry="3.800"/>',
  rectangle: '<rect x="3" y="4" width="10" height="8" rx=".5"/>',
  disc: '<circle cx="8" cy="8" r="5.200"/>',
  ring: '<circle cx="8" cy="8" r="5.500"/><circle cx="8" cy="8" r="2.300"/>',
  polygon: '<path d="m8 2.500 5.500 4-2 6.500h-7l-2-6.500z"/>',
  group: '<rect x="2.500" y="2.500" width="11" height="11" rx="2" stroke-dasharray="2.600 2"/><circle cx="6" cy="9.500" r="1.700"/><path d="M8.500 4.500h3v3h-3z"/>',
  key: '<path d="m8 3.500 4.500 4.500L8 12.500 3.500 8z"/>',
  union: '<circle cx="6" cy="8" r="3.800"/><circle cx="10" cy="8" r="3.800"/>',
  difference: '<circle cx="6.500" cy="8" r="4.500"/><path d="M9.900 5a4 4 0 0 0 0 6" opacity=".6"/>',
  intersection: '<circle cx="6" cy="8" r="3.800" opacity=".5"/><circle cx="10" cy="8" r="3.800" opacity=".5"/><path d="M8 4.800a3.800 3.800 0 0 1 0 6.400 3.800 3.800 0 0 1 0-6.400z" fill="currentColor"/>',
  points: '<path d="M4 4h.1M8 3h.1M12 5h.1M3 8h.1M7.500 8h.1M12 9.500h.1M5 12h.1M9.500 13h.1" stroke-width="2.200"/>',
  sink: '<path d="M2.500 3.500h11L9.500 9v4.500h-3V9z"/>',
} satisfies Record<string, string>;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'i');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.innerHTML = PATHS[name];
  return svg;
}

/* The icon of a shape by its word in scenes. */
export function shapeIcon(word: string): IconName {
  if (word === 'sphere') return 'ball';
  if (word === 'particles') return 'points';
  return word in PATHS ? (word as IconName) : 'box';
}
