/* What the page and an engine say to each other. The engine is the library firn_live, in a Worker as
 * WebAssembly or behind a WebSocket of `firn view`; both speak exactly this.
 *
 * `firn view` prints an address that ends in #live=TOKEN. The page connects to /live?token=TOKEN, once. The
 * first message, `session`, has a secret for the connections after it: /live?secret=SECRET opens another
 * session, &session=NUMBER goes back to one that was dropped less than a minute ago.
 *
 * The page sends commands, one JSON object a message. The engine answers with events, one JSON object a
 * message, and with binary messages, little-endian, that begin with a 64-byte header. */

export type Vec3 = [number, number, number];

/* ---- page to engine ---- */

export type Tool = 'grab' | 'push' | 'cut' | 'emit' | 'heat';

export type Command =
  /* A new scene, in YAML: filled, at its first frame, paused. Answered by `scene` or `error`. */
  | {do: 'open'; text: string}
  /* The open scene's text has changed. What can act at once does so (`live` of the answer); at the first
   * frame, before anything moved, everything does. The rest waits for `restart`. Answered by `scene` or
   * `error`; after an error the engine keeps the last good scene. */
  | {do: 'edit'; text: string}
  /* Starts the newest good text from its first frame, paused. */
  | {do: 'restart'}
  /* Speed: simulated seconds per second of the clock at most; 0: as fast as it goes. */
  | {do: 'play'; speed: number}
  | {do: 'pause'}
  | {do: 'step'; unit: 'frame' | 'substep'}
  /* To a frame that was already computed, or of a cache. Play goes on from there. */
  | {do: 'seek'; frame: number}
  /* What pictures carry. `color` is an attribute ("speed", "temperature", ...; "": none). */
  | {do: 'want'; color?: string; velocity?: boolean; grid?: boolean; totals?: boolean}
  /* Held down until null. `at` and `velocity` in m and m/s; strength in N (push) or K/s (heat). Grab takes
   * material to `velocity`, push presses along it, emit gives it to what comes. While time stands still cut,
   * emit and heat act once a command. */
  | {do: 'tool'; tool: Tool | null; at?: Vec3; radius?: number; velocity?: Vec3; strength?: number; material?: string}
  /* Reports a particle with every frame, by its id; null ends it. */
  | {do: 'probe'; id: number | null}
  /* All particles with the attributes named (default: all), answered by a `points` message. */
  | {do: 'points'; token: number; attributes?: string[]}
  | {do: 'hash'; token: number}
  /* The page has shown this picture. At most two pictures are under way. */
  | {do: 'shown'; picture: number}
  /* Ends a run that is watched (`firn run --live`), with a checkpoint. */
  | {do: 'stop'};

/* To a Worker only: a file that the page's scenes may name, as "points.ply". */
export type FilePut = {file: string; bytes: ArrayBuffer};

/* ---- engine to page: events ---- */

export type Param = {
  name: string;
  kind: 'real' | 'temperature' | 'whole' | 'choice' | 'vector' | 'flag' | 'text' | 'value';
  unit: string;
  fallback: string; /* the default as a scene has it, "" for none */
  least: number; most: number; /* both 0: any; ends beyond 1e299 stand for none */
  help: string;
  choices?: string[];
  alias?: string;
  keys?: boolean; /* it can be {keys: {0: value, 1: value}, interpolation: smooth}, or an expression of time */
};
export type Section = {name: string; help: string; shape: boolean; dimensions: number; filled: number; params: Param[]};
export type Law = {name: string; help: string; params: string[]; melts: boolean; liquid: boolean};
export type Preset = {name: string; help: string; law: string; values: Record<string, number>};
export type Attribute = {name: string; unit: string; help: string; components: number; heat: boolean};
export type Schema = {
  sections: Section[]; /* of scenes, then shapes */
  laws: Law[];
  presets: Preset[];
  attributes: Attribute[];
  colors: Attribute[]; /* what `want.color` takes */
  looks: {name: string; help: string}[];
  limits: {name: string; help: string}[];
};

/* How a material takes light: the numbers of `a look` in scenes. */
export type Look = {
  clarity: number; /* 1: all light passes */
  depth: number; /* of clear material that leaves its colour, as a part of the scene's size */
  subsurface: number; /* part of the light that comes out from below the skin */
  gloss: number;
  roughness: number;
  index: number; /* of refraction */
  smooth: number; /* particle spacings over which the surface is smoothed */
  grain: number;
  glint: number;
};
export type MaterialInfo = {
  name: string;
  law: string;
  preset: string; /* "": none */
  color: Vec3; /* linear, of the look */
  tint: number; /* of 1: each object turns the hue by the golden angle; 0: all have the same */
  look?: Look; /* not of caches */
  values: Record<string, number>; /* as simulated, noise aside */
};
export type ColliderInfo = {
  name: string;
  shape: string; /* "plane", "mesh", ... */
  visible: boolean;
  mesh: boolean; /* a `mesh` message shows it */
  entry?: number; /* of `colliders` in the text, which copies share; -1: of another file */
  scale?: number; /* of all its lengths, by copies and groups */
};
export type SceneInfo = {
  name: string;
  dimension: 2 | 3;
  first: number; last: number; fps: number; playback: number;
  resolution: number; cell_size: number;
  heat: boolean;
  up: 'y' | 'z';
  materials: MaterialInfo[]; /* by the number in tags */
  objects: {name: string; material: string; count: number; entry?: number}[]; /* by the number in tags; what the tool
    emits has the number behind the last */
  colliders: ColliderInfo[]; /* in the scene's order */
  numbers?: Record<string, number>; /* what comes out of expressions, by their text; in SI and degrees */
  colors?: string[]; /* of a cache or a watched run: what `want.color` can be there */
};

export type Totals = {
  mass: number; momentum: Vec3; kinetic: number; elastic: number; gravitational: number;
  heat: number; liquid: number; max_speed: number;
};
export type Pose = {
  position: Vec3;
  rotation: [number, number, number, number]; /* w, x, y, z */
  gone?: true; /* the collider's `until` has passed */
};

export type Event =
  /* Of `firn view` alone, and its first: resumed, if the session is the one asked for. */
  | {event: 'session'; secret: string; session: number; resumed: boolean}
  | {event: 'hello'; engine: 'wasm' | 'native'; version: string; threads: number; isa: string;
     mode: 'scene' | 'cache' | 'run'; schema: Schema;
     /* The scene that the server was started with, unless it comes from the page. `open`: the page has come back to
      * a session with a scene; `newest`: whose text came last, if it is another. */
     text?: string; file?: string; open?: true; newest?: string}
  | {event: 'scene'; scene: SceneInfo; live: string[]; restart: string[]} /* paths that changed */
  | {event: 'error'; from: 'scene' | 'step' | 'command'; text: string; line?: number; column?: number}
  | {event: 'state'; playing: boolean; speed: number; frame: number; time: number;
     done: boolean; /* at the last frame */
     kept: [number, number]} /* frames that `seek` reaches */
  /* Comes before the picture of the same number. */
  | {event: 'frame'; picture: number; frame: number; part: number; /* of the frame, 0 to below 1 */
     time: number; particles: number;
     steps: number; dt: number; limit: string; integrator: string; blocks: number;
     seconds: number; /* of the clock that simulating took since the last */
     simulated: number; /* s simulated since the last */
     totals?: Totals;
     poses: Pose[]; /* of colliders, in the scene's order */
     probe?: Record<string, number | number[] | string>}
  | {event: 'hash'; token: number; hash: string}
  | {event: 'log'; text: string};

/* ---- engine to page: binary ---- */

export const MAGIC = 0x4e524946; /* "FIRN" */
export enum Kind { picture = 1, tags, grid, points, mesh }

/* Header, for all: u32 magic @0, u32 kind @4, u32 number @8, u32 count @12.
 *
 * picture: number: of the picture. f64 time @16, f32 origin[3] @24, f32 step @36 (m), u32 dimension @40,
 *   u32 parts @44 (1: color, 2: velocity), f32 least, most of the color @48, @52.
 *   Then count x 2 u32: position = origin + step x (x, y, z), 21 bits each:
 *     x = a & 0x1fffff, y = a >>> 21 | (b & 0x3ff) << 11, z = b >>> 10 & 0x1fffff.
 *   Then, if parts has 1, count x u16 from `least` (0) to `most` (65535), padded to 4 bytes.
 *   Then, if parts has 2, count x 3 f32 velocities, m/s.
 *   Particles are in the order of their ids.
 * tags: sent before a picture whose particles are others than before. number: of that picture.
 *   count x u32: object << 16 | material. Then count x u32: id.
 * grid: number: of its picture. f32 cell @16. count x 10 f32: position[3], mass, velocity[3], force[3].
 * points: number: the token. count: bytes of JSON that follow:
 *   {count, columns: [{name, type: "f32", components, words?: string[]}]}; then, each padded to 8 bytes
 *   from the message's start, the columns.
 * mesh: number: of the collider. u32 vertices @16, u32 triangles @20; f32 x 3 vertices, u32 x 3 triangles,
 *   in the collider's frame; sent after `scene`, and again when a mesh changes. */
export const HEADER = 64;
