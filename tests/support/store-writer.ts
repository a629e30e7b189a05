/**
 * A process that writes into a store until it is killed, as 64 clients would: single registrations, transitions and batches. Each
 * acknowledged commit is a line on stdout: the kind, and the serials or the number it is about.
 */
import { writeSync } from 'node:fs';
import { subjects } from '../../daemon/start/subjects.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { addDevice, commit, setDevice } from '../contract/store/fixtures.ts';
import { journalKey } from './sqlite.ts';

const [file, run] = process.argv.slice(2) as [string, string];
const store = await openSqliteStore({ subjects, file, journalKey });
const acknowledge = (...words: (string | number)[]) => writeSync(1, `${words.join(' ')}\n`);

async function client(name: string): Promise<never> {
  for (let i = 0; ; i++) {
    const serial = `${run}-${name}-${i}`;
    const [outcome] = await commit(store, [addDevice(serial)]);
    acknowledge('added', serial);
    const { number } = outcome as { number: number };
    await commit(store, [setDevice(number, { status: 'LOCKED', lockReason: serial })]);
    acknowledge('locked', serial);
  }
}

async function batches(): Promise<never> {
  for (let i = 0; ; i++) {
    const serials = Array.from({ length: 500 }, (_, j) => `${run}-batch${i}-${j}`);
    await commit(
      store,
      serials.map(serial => addDevice(serial)),
    );
    acknowledge('batch', `${run}-batch${i}`);
  }
}

await Promise.all([batches(), ...Array.from({ length: 64 }, (_, i) => client(`c${i}`))]);
