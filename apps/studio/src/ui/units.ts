/* Values with units as people write them: "5 kPa", "20 C", "80 cm". Scenes have SI units; temperatures
 * are in kelvin, and shown in degrees Celsius. */

export type Shown = {text: string; unit: string; factor: number; offset: number};
/* value in SI = (number shown + offset) x factor */

const MINUS = '\u2212';
const KELVIN = 273.15;

const PREFIX: Record<string, number> = {n: 1e-9, u: 1e-6, µ: 1e-6, m: 1e-3, c: 1e-2, k: 1e3, M: 1e6, G: 1e9};
/* Units that are shown with a prefix where that makes them shorter. */
const PREFIXED = new Set(['Pa', 'J/kg', 'J', 'W', 'N', 'W/m3', 'kg m/s']);
const SPELLED: Record<string, string> = {
  'kg/m3': 'kg/m³',
  'm/s2': 'm/s²',
  'm2/s': 'm²/s',
  'W/m3': 'W/m³',
  'W/(m2 K)': 'W/(m² K)',
  degrees: '°',
  'degrees/s': '°/s',
};
/* Other units that may be typed, in the unit of the value. */
const TYPED: Record<string, Record<string, number>> = {
  m: {km: 1e3, dm: 0.1, cm: 0.01, mm: 1e-3, um: 1e-6, µm: 1e-6, in: 0.0254, ft: 0.3048},
  s: {ms: 1e-3, us: 1e-6, µs: 1e-6, min: 60, h: 3600},
  degrees: {deg: 1, '°': 1, rad: 180 / Math.PI, turn: 360, turns: 360},
  'degrees/s': {'°/s': 1, 'deg/s': 1, 'rad/s': 180 / Math.PI, 'turns/s': 360, rpm: 6},
  'kg/m3': {'g/cm3': 1000, 'g/cm³': 1000, 'kg/m³': 1},
  'm/s': {'km/h': 1 / 3.6, 'cm/s': 0.01},
  'm/s2': {g: 9.80665, 'm/s²': 1},
};

/* About `digits` figures, no exponent where it can be helped, a real minus sign. */
export function figures(v: number, digits = 4): string {
  if (v === 0) return '0';
  const size = Math.abs(v);
  const text =
    size >= 1e6 || size < 1e-5
      ? String(+v.toPrecision(digits)).replace('e+', 'e')
      : size >= 1000
        ? Math.round(v).toLocaleString('en')
        : String(+v.toPrecision(digits));
  return text.replace('-', MINUS);
}

export const spellUnit = (unit: string): string => SPELLED[unit] ?? unit;

/* `plain`: in the unit itself, with no prefix. */
export function show(value: number, unit: string, kind = 'real', plain = false): Shown {
  if (kind === 'temperature')
    return {text: figures(+(value - KELVIN).toFixed(2), 5), unit: '°C', factor: 1, offset: KELVIN};
  if (plain) return {text: figures(value, 5), unit: spellUnit(unit), factor: 1, offset: 0};
  const size = Math.abs(value);
  if (PREFIXED.has(unit)) {
    for (const [prefix, factor] of [
      ['G', 1e9],
      ['M', 1e6],
      ['k', 1e3],
    ] as const) {
      if (size >= factor) return {text: figures(value / factor), unit: prefix + spellUnit(unit), factor, offset: 0};
    }
    if (size < 0.1 && size > 0)
      return {text: figures(value * 1e3), unit: 'm' + spellUnit(unit), factor: 1e-3, offset: 0};
  }
  if ((unit === 'm' || unit === 's') && size < 0.0095 && size > 0) {
    return size < 1e-5
      ? {text: figures(value * 1e6), unit: 'µ' + unit, factor: 1e-6, offset: 0}
      : {text: figures(value * 1e3), unit: 'm' + unit, factor: 1e-3, offset: 0};
  }
  return {text: figures(value), unit: spellUnit(unit), factor: 1, offset: 0};
}

export function showWithUnit(value: number, unit: string, kind = 'real'): string {
  const s = show(value, unit, kind);
  return s.unit === '°' ? s.text + s.unit : s.unit ? `${s.text} ${s.unit}` : s.text;
}

/* What was typed, in SI; a bare number has the unit that was shown. null: not a number. */
export function parse(typed: string, unit: string, kind: string, shown: Shown): number | null {
  const m = typed
    .trim()
    .replace(/[\u2212\u2013]/g, '-')
    .match(/^([+-]?(?:\d[\d,\u00a0' ]*\d|\d)?(?:\.\d+|\.)?(?:e[+-]?\d+)?)\s*(.*)$/i);
  if (!m || !/\d/.test(m[1])) return null;
  const number = Number(m[1].replace(/[,\u00a0' ]/g, ''));
  if (!Number.isFinite(number)) return null;
  const word = m[2].trim();
  if (kind === 'temperature') {
    if (!word) return (number + shown.offset) * shown.factor;
    if (/^(°?C)$/i.test(word)) return number + KELVIN;
    if (/^K$/i.test(word)) return number;
    if (/^(°?F)$/i.test(word)) return (number - 32) / 1.8 + KELVIN;
    return null;
  }
  if (!word) return number * shown.factor;
  if (word === unit || word === spellUnit(unit)) return number;
  const other = TYPED[unit]?.[word];
  if (other !== undefined) return number * other;
  for (const base of [unit, spellUnit(unit)]) {
    if (base && word.endsWith(base) && PREFIX[word.slice(0, -base.length)])
      return number * PREFIX[word.slice(0, -base.length)];
  }
  if (word === '%' && unit === '') return number / 100;
  return unit && PREFIX[word] && word !== 'm' ? number * PREFIX[word] : null;
}

/* A scene's value as a number: 34C and "34 °C" are temperatures. */
export function readNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const m = value.trim().match(/^([+-]?[\d.]+(?:e[+-]?\d+)?)\s*(°?C|K)?$/i);
  if (!m) return null;
  const n = Number(m[1]);
  if (!Number.isFinite(n)) return null;
  return m[2] && /C/i.test(m[2]) ? n + KELVIN : n;
}

/* A number as scenes have it. */
export function writeNumber(v: number, kind = 'real'): string {
  if (kind === 'temperature') return `${+(v - KELVIN).toPrecision(6)}C`;
  if (kind === 'whole') return String(Math.round(v));
  const short = +v.toPrecision(5);
  return Math.abs(short) >= 1e5 || (Math.abs(short) < 1e-4 && short !== 0)
    ? short.toExponential().replace('e+', 'e')
    : String(short);
}

/* 201,420 and 9.8 M */
export const count = (n: number): string => Math.round(n).toLocaleString('en');

export function large(n: number): string {
  for (const [unit, factor] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const) {
    if (n >= factor) return `${(n / factor).toFixed(n / factor < 100 ? 1 : 0)} ${unit}`;
  }
  return n.toFixed(0);
}
