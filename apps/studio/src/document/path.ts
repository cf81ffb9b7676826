/* Places in a scene: ['materials', 'snow', 'young'], ['colliders', 0, 'friction']. Engines write
 * materials.snow.young and colliders[0].friction. */

export type Path = readonly (string | number)[];

export function pathText(path: Path): string {
  return path.map((p, i) => (typeof p === 'number' ? `[${p}]` : i ? `.${p}` : p)).join('');
}

export const samePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((p, i) => p === b[i]);

/* Whether `path`, as engines write it, lies at or below `above`. */
export function isBelow(path: string, above: string): boolean {
  return path === above || (path.startsWith(above) && /[.[]/.test(path[above.length]));
}
