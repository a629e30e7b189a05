/** Dependencies of scenarios: a client of the bench, and the recorded events of drivers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';
import type { BenchCommand, BenchReply } from './bench.ts';
import type { KeySpec, RootName } from './key-models.ts';

/** Plugs keys in and out. Each method rejects if the bench could not carry out the command. */
export class Bench {
  readonly #child: ChildProcess;
  readonly #waiting: ((reply: BenchReply) => void)[] = [];

  constructor() {
    const program = fileURLToPath(new URL('bench.ts', import.meta.url));
    this.#child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout! }).on('line', line => {
      this.#waiting.shift()?.(JSON.parse(line) as BenchReply);
    });
    this.#child.on('exit', (status, signal) => {
      const error = `the bench ended with ${signal ?? `status ${status}`}`;
      for (const reply of this.#waiting.splice(0)) reply({ id: 0, at: 0, error });
    });
  }

  plug(key: KeySpec): Promise<BenchReply> {
    return this.#send({ do: 'plug', key });
  }

  unplug(id: number): Promise<BenchReply> {
    return this.#send({ do: 'unplug', id });
  }

  plugReader(serial: string): Promise<BenchReply> {
    return this.#send({ do: 'plug-reader', serial });
  }

  insert(id: number, iccid: string): Promise<BenchReply> {
    return this.#send({ do: 'insert', id, iccid });
  }

  /** Puts the key of this name on the reader, as a tap does. */
  tap(id: number, unit: string): Promise<BenchReply> {
    return this.#send({ do: 'tap', id, unit });
  }

  remove(id: number): Promise<BenchReply> {
    return this.#send({ do: 'remove', id });
  }

  /** When the card in this reader was powered, in milliseconds since 1970. */
  async poweredAt(id: number): Promise<number> {
    return (await this.#send({ do: 'powered-at', id })).at;
  }

  /** Touches a key as soon as it asks for it. */
  touch(id: number): Promise<BenchReply> {
    return this.#send({ do: 'touch', id });
  }

  /** How many requests for a touch were canceled at this key. */
  async canceled(id: number): Promise<number> {
    return (await this.#send({ do: 'canceled', id })).canceled!;
  }

  /** The root of the keys that prove what they are by this method, in DER. */
  async root(name: RootName): Promise<Buffer> {
    return Buffer.from((await this.#send({ do: 'root', name })).certificate!, 'base64');
  }

  /** Ends the bench. Rejects if a device has received a command that the gate does not list. */
  async end(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const [status] = await exit;
    if (status !== 0) throw new Error(`the bench ended with status ${status}`);
  }

  async #send(command: BenchCommand): Promise<BenchReply> {
    const reply = await new Promise<BenchReply>(resolve => {
      this.#waiting.push(resolve);
      this.#child.stdin!.write(`${JSON.stringify(command)}\n`);
    });
    if (reply.error !== undefined) throw new Error(`${command.do}: ${reply.error}`);
    return reply;
  }
}

/** A key event with its time. */
export interface RecordedEvent {
  readonly kind: 'attached' | 'changed' | 'detached';
  readonly key: AttachedKey;
  /** Milliseconds since 1970 at which the driver reported it. */
  readonly at: number;
}

/** Records the events of drivers, and lets a scenario wait for them. */
export class DriverEvents {
  readonly all: RecordedEvent[] = [];
  readonly #drivers: readonly Driver[];
  readonly #checks = new Set<() => void>();

  constructor(...drivers: readonly Driver[]) {
    this.#drivers = drivers;
  }

  async start(): Promise<void> {
    const listener = (event: KeyEvent): void => {
      if (event.kind !== 'status') this.all.push({ ...event, at: performance.timeOrigin + performance.now() });
      for (const check of [...this.#checks]) check();
    };
    await Promise.all(this.#drivers.map(driver => driver.start(listener)));
  }

  /** The first event from index `from` on that passes the test. Rejects after `limit` milliseconds with the last events. */
  until(what: string, test: (event: RecordedEvent) => boolean, from = 0, limit = 15_000): Promise<RecordedEvent> {
    return this.#when(what, () => this.all.slice(from).find(test), limit);
  }

  /** Resolves when every driver has this state. */
  async state(state: 'ready' | 'unavailable', limit = 30_000): Promise<void> {
    const haveState = () => (this.#drivers.every(driver => driver.status().state === state) ? true : undefined);
    await this.#when(`state ${state}`, haveState, limit);
  }

  #when<T>(what: string, find: () => T | undefined, limit: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        settle();
      };
      const check = (): void => {
        const found = find();
        if (found !== undefined) end(() => resolve(found));
      };
      const timer = setTimeout(() => end(() => reject(new Error(`${what} did not happen; ${this.#summary()}`))), limit);
      this.#checks.add(check);
      check();
    });
  }

  #summary(): string {
    const last = this.all.slice(-5).map(one => `${one.kind} ${one.key.serialNumber}`);
    return `last events: ${last.join(', ')}; ${this.#drivers.map(driver => driver.status().detail).join(' ')}`;
  }
}
