/* A typed emitter, and the page's state: plain values that tell who listens when they change. */

export class Emitter<Events extends object> {
  private readonly listeners = new Map<keyof Events, Set<(value: never) => void>>();

  on<K extends keyof Events>(name: K, listener: (value: Events[K]) => void): () => void {
    let set = this.listeners.get(name);
    if (!set) this.listeners.set(name, (set = new Set()));
    set.add(listener as (value: never) => void);
    return () => set.delete(listener as (value: never) => void);
  }

  emit<K extends keyof Events>(name: K, value: Events[K]): void {
    for (const listener of this.listeners.get(name) ?? []) (listener as (value: Events[K]) => void)(value);
  }
}

export class Store<State extends object> {
  private readonly watchers: {keys: (keyof State)[]; run: () => void}[] = [];

  constructor(private readonly values: State) {}

  get<K extends keyof State>(key: K): State[K] {
    return this.values[key];
  }

  /* Watchers of what differs run once each, before this returns. */
  set(changes: Partial<State>): void {
    const changed = (Object.keys(changes) as (keyof State)[]).filter(k => this.values[k] !== changes[k]);
    for (const key of changed) this.values[key] = changes[key] as State[typeof key];
    for (const w of this.watchers) if (w.keys.some(k => changed.includes(k))) w.run();
  }

  /* Runs at once, and after each change of one of the keys. */
  watch(keys: (keyof State)[], run: () => void): void {
    this.watchers.push({keys, run});
    run();
  }
}
