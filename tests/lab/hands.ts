/** The scenarios' hands on the bench, and their eyes on a driver. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';
import type { Order, Report } from './bench.ts';
import type { KeyOrder } from './recipes.ts';

export class Hands {
  readonly #child: ChildProcess;
  readonly #waiting: ((report: Report) => void)[] = [];

  constructor() {
    const program = fileURLToPath(new URL('bench.ts', import.meta.url));
    this.#child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout! }).on('line', line => {
      this.#waiting.shift()?.(JSON.parse(line) as Report);
    });
  }

  plug(key: KeyOrder): Promise<Report> {
    return this.#order({ do: 'plug', key });
  }

  pull(place: number): Promise<Report> {
    return this.#order({ do: 'pull', place });
  }

  plugReader(serial: string): Promise<Report> {
    return this.#order({ do: 'plug-reader', serial });
  }

  insert(place: number, iccid: string): Promise<Report> {
    return this.#order({ do: 'insert', place, iccid });
  }

  remove(place: number): Promise<Report> {
    return this.#order({ do: 'remove', place });
  }

  /** When the card in this reader was given power. */
  async poweredAt(place: number): Promise<number> {
    return (await this.#order({ do: 'powered-at', place })).at;
  }

  end(): void {
    this.#child.stdin?.end();
  }

  async #order(order: Order): Promise<Report> {
    const report = await new Promise<Report>(resolve => {
      this.#waiting.push(resolve);
      this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
    });
    if (report.error !== undefined) throw new Error(`${order.do}: ${report.error}`);
    return report;
  }
}

export interface Seen {
  readonly kind: 'attached' | 'changed' | 'detached';
  readonly key: AttachedKey;
  /** Milliseconds since 1970 at which the driver told it. */
  readonly at: number;
}

export class Eyes {
  readonly seen: Seen[] = [];
  readonly #drivers: readonly Driver[];
  readonly #checks = new Set<() => void>();

  constructor(...drivers: readonly Driver[]) {
    this.#drivers = drivers;
  }

  async start(): Promise<void> {
    const listener = (event: KeyEvent): void => {
      if (event.kind !== 'status') this.seen.push({ ...event, at: performance.timeOrigin + performance.now() });
      for (const check of [...this.#checks]) check();
    };
    await Promise.all(this.#drivers.map(driver => driver.start(listener)));
  }

  /** The first thing told from `from` on that passes the test; fails after `limit` milliseconds with what was told instead. */
  until(what: string, test: (seen: Seen) => boolean, from = 0, limit = 15_000): Promise<Seen> {
    return this.#when(what, () => this.seen.slice(from).find(test), limit);
  }

  /** Resolves when each driver says this of itself. */
  async state(state: 'ready' | 'unavailable', limit = 30_000): Promise<void> {
    await this.#when(
      `state ${state}`,
      () => (this.#drivers.every(driver => driver.status().state === state) ? true : undefined),
      limit,
    );
  }

  #when<T>(what: string, look: () => T | undefined, limit: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        settle();
      };
      const check = (): void => {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
      };
      const timer = setTimeout(() => {
        const told = this.seen.slice(-5).map(one => `${one.kind} ${one.key.serialNumber}`);
        end(() =>
          reject(
            new Error(
              `${what} was never seen; last: ${told.join(', ')}; ${this.#drivers.map(driver => driver.status().detail).join(' ')}`,
            ),
          ),
        );
      }, limit);
      this.#checks.add(check);
      check();
    });
  }
}
