/** Dependencies of tests of `enroll --roster`: a station with a roster, keys that no test has used, and what the registry has then. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { AttachedKey } from '../../drivers/driver.ts';
import type { SimulatedDriver } from '../../drivers/simulated/index.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { devmgr, programFile, start, temporaryFolder } from './program.ts';
import { atTerminal, enter, shellAtTerminal } from './screen.ts';

export class RosterReader {
  readonly #driver: SimulatedDriver;
  readonly #daemon: () => TestDaemon;
  #number = 0;

  /** `driver` is that of the daemon. */
  constructor(driver: SimulatedDriver, daemon: () => TestDaemon) {
    this.#driver = driver;
    this.#daemon = daemon;
  }

  /** Plugs in a key that no test has used. */
  plug(): Promise<AttachedKey> {
    return this.#driver.attach(++this.#number);
  }

  /** Plugs the last new key in again. */
  plugAgain(): Promise<AttachedKey> {
    return this.#driver.attach(this.#number);
  }

  /** Unplugs the key that was plugged in last, or the one with this keyId. */
  pull(keyId?: string): Promise<void> {
    return this.#driver.detach(keyId);
  }

  async pullAll(): Promise<void> {
    for (const { keyId } of [...this.#driver.keys()]) await this.pull(keyId);
  }

  /** Plugs a new key in and out. It can be unplugged before its check has ended: a row records this, and it is plugged in again. */
  async pullUntilBound(rows: () => string[]): Promise<void> {
    this.#number++;
    // Each list has the state of the drivers. A key passes when the run has seen it in a list.
    const lists = vi.spyOn(this.#driver, 'status');
    for (let count = rows().length + 1; ; count++) {
      const before = lists.mock.calls.length;
      await this.plugAgain();
      await expect.poll(() => lists.mock.calls.length, { timeout: 20_000 }).toBeGreaterThan(before);
      await this.pull();
      await expect.poll(() => rows().length, { timeout: 20_000 }).toBe(count);
      if (rows().at(-1)!.startsWith('registered,')) return;
    }
  }

  /** A folder with a roster, or none; the command runs in it, with these variables of the environment as well. */
  station(roster: string | null, more: Readonly<Record<string, string>> = {}) {
    const home = temporaryFolder();
    const file = join(home, 'people.csv');
    const out = join(home, 'results.csv');
    const template = join(home, 'label.zpl');
    if (roster !== null) writeFileSync(file, roster);
    writeFileSync(template, '^XA^FD{name} {serialNumber}^FS^XZ');
    const args = [
      'enroll',
      ...(roster === null ? [] : ['--roster', file]),
      '--server',
      this.#daemon().url,
      '--timeout',
      '60',
    ];
    const env = { DEVMGR_TOKEN: this.#daemon().adminToken, ...more };
    return {
      out,
      template,
      rows: () => readFileSync(out, 'utf8').trimEnd().split('\n').slice(1),
      run: (...more: string[]) => devmgr([...args, ...more], { home, env }),
      start: (...more: string[]) => start([...args, ...more], { home, env }),
      inShell: async () => {
        const shell = await shellAtTerminal({ home, env }, 'sh');
        enter(shell, [process.execPath, programFile, ...args]);
        return shell;
      },
      atTerminal: (...more: string[]) =>
        atTerminal([process.execPath, programFile, ...args, ...more], { home, env, columns: 60 }),
      /** A run at a terminal, started by another program. */
      atTerminalBy: (by: readonly string[], ...more: string[]) =>
        atTerminal([...by, process.execPath, programFile, ...args, ...more], { home, env, columns: 100 }),
    };
  }

  /** The userId of the holder of each ACTIVE key, by serial number. */
  async holders(): Promise<Map<string, string>> {
    const holders = new Map<string, string>();
    for (let page = 1; ; page++) {
      const { data } = await this.#daemon().call('GET', `/api/devices/list?status=ACTIVE&size=100&page=${page}`);
      for (const { serialNumber, userId } of data.list) holders.set(serialNumber, userId);
      if (page >= data.pagination.totalPages) return holders;
    }
  }

  /** How many devices the registry has. */
  async total(): Promise<number> {
    return (await this.#daemon().call('GET', '/api/devices/list')).data.pagination.total;
  }
}
