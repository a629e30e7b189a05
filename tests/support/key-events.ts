import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';

type KeyKind = Exclude<KeyEvent['kind'], 'status'>;

/** Records the events of a driver, and lets a test wait for them. */
export interface Recorder {
  readonly events: readonly KeyEvent[];
  readonly listener: (event: KeyEvent) => void;
  /** The next event of this kind that no earlier call has returned. Waits for it if necessary. */
  next(kind: KeyKind): Promise<AttachedKey>;
  /** Resolves when the driver has this state, with a matching detail. */
  state(state: 'ready' | 'unavailable', detail?: RegExp): Promise<void>;
  kinds(): KeyEvent['kind'][];
}

export function recorder(driver: Driver): Recorder {
  const events: KeyEvent[] = [];
  const taken = new Set<KeyEvent>();
  const checks = new Set<() => void>();

  function when<T>(look: () => T | undefined): Promise<T> {
    return new Promise(resolve => {
      const check = () => {
        const found = look();
        if (found === undefined) return;
        checks.delete(check);
        resolve(found);
      };
      checks.add(check);
      check();
    });
  }

  return {
    events,
    listener(event) {
      events.push(event);
      for (const check of [...checks]) check();
    },
    next(kind) {
      return when(() => {
        const event = events.find(candidate => candidate.kind === kind && !taken.has(candidate));
        if (event === undefined || event.kind === 'status') return undefined;
        taken.add(event);
        return event.key;
      });
    },
    async state(state, detail = /./) {
      await when(() => (driver.status().state === state && detail.test(driver.status().detail) ? true : undefined));
    },
    kinds: () => events.map(event => event.kind).filter(kind => kind !== 'status'),
  };
}
