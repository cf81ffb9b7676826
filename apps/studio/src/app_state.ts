/* What the page remembers besides the scene. */
import type {SceneInfo, Schema} from './protocol.ts';
import type {Connection, ErrorEvent, FrameEvent} from './engine/engine.ts';

export type ToolName = 'select' | 'probe' | 'grab' | 'push' | 'cut' | 'heat' | 'emit';
export type Speed = '0.25' | '0.5' | '1' | '0'; /* times real time; 0: as fast as it goes */
export type Look = 'surface' | 'points' | 'mesh';
export type Overlays = {
  velocity: boolean;
  force: boolean;
  flow: boolean; /* velocities at nodes */
  grid: 'off' | 'mass' | 'speed';
  blocks: boolean;
  colliders: boolean;
};

export type State = {
  theme: 'dark' | 'light';
  connection: Connection;
  schema: Schema | null;
  mode: 'scene' | 'cache' | 'run';
  scene: SceneInfo | null;
  error: ErrorEvent | null; /* of the text */
  selection: string; /* an item's key; "": the scene */
  hidden: ReadonlySet<string>; /* names */
  waiting: readonly string[]; /* paths that wait for a restart */
  tool: ToolName;
  radius: number;
  strength: Record<'push' | 'heat', number>;
  material: string; /* that Emit pours; "": the first */
  look: Look;
  color: string; /* attribute; "": by material; "object": by object */
  range: readonly [number, number] | null; /* of the colours; null: automatic */
  overlays: Overlays;
  left: 'outline' | 'text';
  foldLeft: boolean;
  foldRight: boolean;
  bare: boolean;
  graphs: boolean;
  tab: 'transport' | 'objects' | 'properties';
  drawing: 'object' | 'collider' | null; /* an outline, by hand */
  speed: Speed;
  playing: boolean;
  done: boolean;
  frame: number; /* the newest frame of the engine, with its part */
  time: number;
  kept: readonly [number, number];
  scrub: number | null; /* a kept frame that is shown instead */
  shown: FrameEvent | null;
  probe: number | null; /* id of a particle */
  recording: boolean;
  comparing: boolean;
};

function systemTheme(): 'dark' | 'light' {
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`firn.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`firn.${key}`, value);
  } catch {
    /* Private windows: it lasts as long as the page. */
  }
}

export function firstState(): State {
  const theme = remembered('theme');
  return {
    theme: theme === 'dark' || theme === 'light' ? theme : systemTheme(),
    connection: 'connecting',
    schema: null,
    mode: 'scene',
    scene: null,
    error: null,
    selection: '',
    hidden: new Set(),
    waiting: [],
    tool: 'select',
    radius: 0.06,
    strength: {push: 400, heat: 50},
    material: '',
    look: 'surface',
    color: '',
    range: null,
    overlays: {velocity: false, force: false, flow: false, grid: 'off', blocks: false, colliders: true},
    left: 'outline',
    foldLeft: false,
    foldRight: false,
    bare: false,
    graphs: innerHeight >= 1000,
    tab: 'transport',
    drawing: null,
    speed: '1',
    playing: false,
    done: false,
    frame: 0,
    time: 0,
    kept: [0, 0],
    scrub: null,
    shown: null,
    probe: null,
    recording: false,
    comparing: false,
  };
}
