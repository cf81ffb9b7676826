/* Places in a scene: ['materials', 'snow', 'young'], ['colliders', 0, 'friction']. Engines write
 * materials.snow.young and colliders[0].friction. */

export type Path = readonly (string | number)[];

export function pathText(path: Path): string {
  return path.map((p, i) => (typeof p === 'number' ? `[${p}]` : i ? `.${p}` : p)).join('');
}
