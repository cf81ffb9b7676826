/* How parameters are shown: labels, ranges of sliders, groups. What a parameter is comes from the engine's
 * table; this adds only what a table cannot know. A parameter that is named nowhere here still gets a row. */
import type {Param} from '../protocol.ts';
import type {Range} from '../ui/number.ts';

const LABELS: Record<string, string> = {
  young: "Young's modulus",
  poisson: "Poisson's ratio",
  yield: 'Yield stress',
  bulk: 'Bulk modulus',
  hardening_cap: 'Hardening limit',
  liquid_yield: 'Yield of the melt',
  liquid_density: 'Density of the melt',
  liquid_heat_capacity: 'Melt heat capacity',
  liquid_conductivity: 'Melt conductivity',
  fps: 'Per second',
  end: 'End',
  particles_per_cell: 'Per cell',
  dt: 'Fixed step',
  dt_max: 'Longest step',
  dt_min: 'Shortest step',
  dt_implicit: 'Implicit step',
  flip_ratio: 'FLIP ratio',
  flip_interval: 'FLIP interval',
  translate: 'Translation',
  rotate: 'Rotation',
  center: 'Centre',
  from: 'From',
  to: 'To',
  inner: 'Hole',
  tube: 'Tube',
  speed: 'Heat speed',
  theta: 'Theta',
  beta: 'Beta',
  resolution: 'Resolution',
  color: 'Colour',
  surface_velocity: 'Belt velocity',
  power: 'Power',
  contact_friction: 'Object friction',
  tait_exponent: 'Tait exponent',
  low: 'Lowest corner',
  high: 'Highest corner',
  leaving: 'At its walls',
};

export function labelOf(name: string): string {
  const text = LABELS[name] ?? name.replace(/_/g, ' ');
  return text[0].toUpperCase() + text.slice(1);
}

/* Hints behind the table's help, with figures to compare. */
const HINTS: Record<string, string> = {
  density: 'Water has 1,000.',
  young: 'Jelly has 10 kPa, rubber 1 MPa. Steps get shorter as it rises.',
  poisson: '0.45 is nearly incompressible.',
  yield: 'Toothpaste has 100 Pa, clay 5 kPa.',
  latent_heat: 'Ice has 334 kJ/kg, wax 200 kJ/kg.',
  viscosity: 'Water has 0.001, honey 10.',
  heat_capacity: 'Water has 4,186, rock 1,000.',
  conductivity: 'Wax has 0.25, ice 2.2.',
  softening: '0.1 halves it every 7 K.',
  thinning: '0.1 halves it every 7 K.',
  hardening: 'Snow has 5 to 10; 0 is none.',
  hardening_cap: 'Steps shorten by its square root.',
  critical_stretch: 'Snow has 0.005 to 0.0075; less breaks sooner.',
  friction: 'Snow on wood has 0.05 to 0.6.',
  resolution: 'Half of it is eight times the particles in 3D, four times in 2D.',
  friction_angle: 'Dry sand has 35°.',
  cohesion: '800 Pa holds a sand castle.',
  speed: 'Real heat takes hours; 1,000 makes them seconds.',
};

export const hintOf = (name: string): string => HINTS[name] ?? '';

/* Ends of sliders where the table's own are too wide: least, most, and whether the scale is logarithmic. */
const RANGES: Record<string, [number, number, boolean]> = {
  density: [50, 10000, true],
  young: [1e3, 1e8, true],
  poisson: [0, 0.49, false],
  yield: [10, 1e6, true],
  softening: [0, 0.5, false],
  melting_point: [223.15, 473.15, false],
  melting_range: [0, 40, false],
  latent_heat: [1e3, 1e6, true],
  viscosity: [0.001, 1000, true],
  liquid_yield: [0, 100, false],
  thinning: [0, 0.2, false],
  heat_capacity: [100, 5000, false],
  liquid_heat_capacity: [100, 5000, false],
  conductivity: [0.01, 100, true],
  liquid_conductivity: [0.01, 100, true],
  liquid_density: [0, 5000, false],
  hardening: [0, 30, false],
  hardening_cap: [1, 100, true],
  critical_stretch: [0, 0.05, false],
  critical_compression: [0, 0.1, false],
  cohesion: [0, 5000, false],
  hardening_modulus: [0, 1e5, false],
  bulk: [1e4, 1e8, true],
  tait_exponent: [0, 10, false],
  tension: [0, 1e4, false],
  tensile_ratio: [0, 1, false],
  compaction: [0, 0.1, false],
  crush_pressure: [0, 1e5, false],
  exponent: [0.2, 2, false],
  diffusivity: [0, 1e-6, false],
  temperature: [233.15, 393.15, false],
  ambient: [233.15, 353.15, false],
  sky: [233.15, 353.15, false],
  friction: [0, 2, false],
  contact_friction: [0, 2, false],
  damping: [0, 10, false],
  transfer: [0, 1000, false],
  speed: [1, 1e5, true],
  power: [1e3, 1e9, true],
  end: [2, 480, false],
  particles_per_cell: [1, 27, false],
  scale: [0.1, 10, true],
  inherit: [0, 1, false],
  concentration: [0, 1, false],
  until: [0, 10, false],
};

const END = 1e299; /* ends beyond stand for none */

export function rangeOf(param: Param, value: number | null, resolution: number): Range {
  let least = param.least,
    most = param.most;
  if ((least === 0 && most === 0) || least < -END) least = -Infinity;
  if ((param.least === 0 && param.most === 0) || most > END) most = Infinity;
  const known = RANGES[param.name];
  if (known && param.kind !== 'vector' && param.name !== 'transfer')
    return fit({lo: known[0], hi: known[1], log: known[2], least, most}, value);
  if (param.unit === 'm' && Number.isFinite(resolution) && param.name !== 'resolution') {
    const hi = nice(Math.max(3 * (value ?? 0), 40 * resolution));
    return {lo: Math.min(0, value ?? 0), hi, log: false, least, most};
  }
  if (most - least <= 1000 && most < 1e5) return {lo: least, hi: most, log: false, least, most};
  if (value && value > 0) {
    const wide = param.name === 'resolution' || param.name === 'cell_size' ? 4 : 100;
    return {lo: Math.max(nice(value / wide), least), hi: Math.min(nice(value * wide), most), log: true, least, most};
  }
  return {lo: Number.isFinite(least) ? Math.max(0, least) : 0, hi: Math.min(1, most), log: false, least, most};
}

/* Widens a slider so that the value it begins with lies on it. */
function fit(r: Range, value: number | null): Range {
  if (value === null) return r;
  if (value > r.hi) r.hi = nice(value * (r.log ? 10 : 1.5));
  if (value < r.lo && (!r.log || value > 0)) r.lo = r.log ? nice(value / 10) : value;
  return r;
}

/* 1, 2 or 5 times a power of ten, at least about x. */
function nice(x: number): number {
  const e = Math.pow(10, Math.floor(Math.log10(x)));
  return +(e * (x / e <= 1.001 ? 1 : x / e <= 2.001 ? 2 : x / e <= 5.001 ? 5 : 10)).toPrecision(3);
}

/* Groups of rows: a title and the parameters below it. Others of the section come last, under More. */
export type Group = {title: string; names: string[]; shut?: boolean}; /* no names: all of the section */

export const SCENE_GROUPS: {section: string; at: string[]; group: Group}[] = [
  {section: 'simulation', at: ['simulation'], group: {title: 'World', names: ['gravity']}},
  {section: 'the scene', at: [], group: {title: 'World', names: ['resolution']}},
  {
    section: 'simulation',
    at: ['simulation'],
    group: {title: 'World', names: ['particles_per_cell', 'cell_size', 'damping', 'contact_friction']},
  },
  {section: 'frames', at: ['frames'], group: {title: 'Frames', names: ['fps', 'end', 'playback']}},
  {
    section: 'simulation',
    at: ['simulation'],
    group: {title: 'Motion', names: ['transfer', 'flip_ratio', 'integrator', 'spline']},
  },
  {
    section: 'heat',
    at: ['heat'],
    group: {title: 'Heat', names: ['speed', 'ambient', 'transfer', 'emissivity', 'sky'], shut: true},
  },
  {section: 'camera', at: ['camera'], group: {title: 'Camera of pictures', names: [], shut: true}},
  {section: 'light', at: ['light'], group: {title: 'Light of pictures', names: [], shut: true}},
  {section: 'domain', at: ['domain'], group: {title: 'Domain', names: ['low', 'high', 'leaving'], shut: true}},
];

export const OBJECT_GROUPS: Group[] = [
  {title: 'Material', names: ['material', 'temperature', 'density', 'concentration']},
  {title: 'Motion', names: ['velocity', 'spin', 'inherit']},
  {
    title: 'Fill',
    names: ['pattern', 'separation', 'count', 'per_voxel', 'refine', 'refine_distance', 'seed'],
    shut: true,
  },
  {title: 'Contact', names: ['contact', 'body'], shut: true},
];
export const COLLIDER_GROUPS: Group[] = [
  {title: 'Surface', names: ['boundary', 'friction', 'surface_velocity', 'surface_spin']},
  {title: 'Heat', names: ['temperature', 'transfer'], shut: true},
  {title: 'Look', names: ['color'], shut: true},
];
export const MATERIAL_GROUPS: Group[] = [
  {
    title: 'Solid',
    names: [
      'density',
      'young',
      'poisson',
      'critical_compression',
      'critical_stretch',
      'hardening',
      'hardening_cap',
      'friction_angle',
      'cohesion',
      'yield',
      'hardening_modulus',
      'softening',
      'crush_pressure',
      'tensile_ratio',
      'compaction',
      'bulk',
      'tait_exponent',
      'tension',
    ],
  },
  {title: 'Melting', names: ['melting_point', 'melting_range', 'latent_heat']},
  {title: 'Melt', names: ['viscosity', 'exponent', 'liquid_yield', 'thinning', 'liquid_density']},
  {
    title: 'Heat',
    names: ['heat_capacity', 'conductivity', 'liquid_heat_capacity', 'liquid_conductivity', 'diffusivity'],
    shut: true,
  },
];

/* Particles have these in their masses and heats, or are filled by them. */
const IN_PARTICLES = [
  'density',
  'liquid_density',
  'heat_capacity',
  'melting_point',
  'melting_range',
  'latent_heat',
  'liquid_heat_capacity',
  'preset',
  'law',
  'noise',
];

/* Whether a change of this value acts at once while the scene runs. The engine has the last word: it says
 * with each edit what waits for a restart. */
export function actsAtOnce(path: readonly (string | number)[]): boolean {
  const last = String(path[path.length - 1]);
  switch (path[0]) {
    case 'materials':
      return !IN_PARTICLES.includes(last);
    case 'simulation':
      return ['gravity', 'damping', 'contact_friction'].includes(last);
    case 'colliders':
      return [
        'friction',
        'boundary',
        'temperature',
        'transfer',
        'translate',
        'rotate',
        'color',
        'visible',
        'point',
        'center',
        'radius',
        'size',
        'name',
      ].includes(last);
    case 'frames':
      return last === 'end' || last === 'playback';
    case 'camera':
    case 'light':
    case 'output':
    case 'statistics':
    case 'name':
      return true;
    default:
      return last === 'name';
  }
}
