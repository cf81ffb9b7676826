/* The gallery's scenes, as gallery.mjs wrote them: beside the page, or inside it when it is one file. */

export type GalleryCount = {
  resolution: number; /* m */
  particles: number; /* at the start */
  end?: number; /* at the end, if some are emitted */
  substeps: number; /* of the whole scene, at least */
};
export type GalleryScene = {
  id: string;
  title: string;
  text: string;
  kinds: string[]; /* snow, jelly, sand, water, clay, melting, 2d */
  dimension: 2 | 3;
  seconds: number; /* simulated */
  live: GalleryCount; /* as the scene's text has it */
  full?: GalleryCount;
  picture: string; /* an address, or a data URL */
  scene: string; /* YAML */
};

/* In the order of the page's chips. */
export const GALLERY_KINDS = ['snow', 'melting', 'jelly', 'sand', 'water', 'clay', '2d'];

let loaded: Promise<GalleryScene[]> | undefined;

/* Once; a failure is forgotten, so that the next call tries again. */
export function loadGallery(): Promise<GalleryScene[]> {
  loaded ??= read().catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
}

async function read(): Promise<GalleryScene[]> {
  const inside = document.getElementById('gallery-data');
  if (inside?.textContent) return JSON.parse(inside.textContent) as GalleryScene[];
  const answer = await fetch('gallery.json');
  if (!answer.ok) throw new Error(`The gallery did not load (${answer.status}).`);
  return await answer.json() as GalleryScene[];
}

/* Those whose words hold all of the query's; kind "" is every kind. */
export function findScenes(all: GalleryScene[], query: string, kind: string): GalleryScene[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(s => {
    const about = [s.id.replace(/_/g, ' '), s.title, s.text, ...s.kinds].join(' ').toLowerCase();
    return (!kind || s.kinds.includes(kind)) && words.every(w => about.includes(w));
  });
}

/* The scene's text at its full resolution. */
export function fullText(s: GalleryScene): string {
  return s.full ? s.scene.replace(/^resolution:.*$/m, `resolution: ${s.full.resolution}`) : s.scene;
}

/* How many times the clock's speed a machine reaches that does `rate` particle-steps a second; at most, as
 * steps may get shorter than the plan's. */
export function speedOf(count: GalleryCount, seconds: number, rate: number): number {
  const particles = count.end ? (count.particles + count.end) / 2 : count.particles;
  return rate * seconds / (particles * count.substeps);
}
