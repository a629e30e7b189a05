/** A directory with many persons, and what is read of it when. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DirectoryRuns } from '../../daemon/directory/work.ts';
import { openDirectorySync } from '../support/directory-sync.ts';
import { reading, type Slapd, startSlapd, withSlapd } from '../support/slapd.ts';

const MINUTE = 60_000;
const count = 20_000;
const signal = new AbortController().signal;

withSlapd('a directory with 20,000 persons', () => {
  let opened: Awaited<ReturnType<typeof openDirectorySync>>;
  let slapd: Slapd;
  let clock = Date.now();
  const now = () => clock;
  beforeAll(async () => {
    slapd = await startSlapd(Array.from({ length: count }, (_, i) => `person-${i}`));
    opened = await openDirectorySync(now);
    await opened.set({ url: slapd.url, ...reading, everyMinutes: 5, fullEveryMinutes: 60 });
  }, 120_000);
  afterAll(async () => {
    await slapd?.stop();
    await opened?.cleanup();
  });

  it('is read whole, page by page', async () => {
    const { store, sync } = opened;
    const report = await sync.run({ isAll: true }, signal);
    expect(report).toMatchObject({ problem: null, counts: { read: count, new: count, skipped: 0 } });
    expect(report.list).toHaveLength(1000);
    const one = { descending: false, offset: 0, limit: 1 };
    expect((await store.people({ source: 'directory', active: true, ...one })).total).toBe(count);
  }, 120_000);

  it('gives what 500 changes make of its persons, and no more', async () => {
    const { store, sync } = opened;
    for (let i = 0; i < 100; i++) {
      await slapd.change(`person-${i}`, { mail: `new-${i}@example.com` });
      await slapd.rename(`person-${100 + i}`, `renamed-${i}`);
      await slapd.move(`person-${200 + i}`);
      await slapd.remove(`person-${300 + i}`);
      await slapd.add(`added-${i}`);
    }
    const { counts, problem } = await sync.run({ isAll: true }, signal);
    expect(problem).toBeNull();
    expect(counts).toEqual({ read: count, new: 100, changed: 200, left: 100, back: 0, held: 0, skipped: 0 });
    expect(await store.personByName('person-150')).toBeNull();
    expect(await store.personByName('person-250')).toMatchObject({ active: true });
    expect(await store.personByName('person-350')).toMatchObject({ active: false, removedAt: clock });
    expect((await sync.run({ isAll: true }, signal)).counts).toMatchObject({ new: 0, changed: 0, left: 0 });
  }, 120_000);

  it('is asked for changes between two whole runs', async () => {
    const { settings, sync } = opened;
    const runs = new DirectoryRuns({ settings, sync, log: pino({ level: 'silent' }), now });
    const lastRun = async () => (await settings.lastRun())!;
    await runs.look(signal);
    expect((await lastRun()).at).toBe(clock);
    const before = clock;
    await slapd.change('person-1', { mail: 'again@example.com' });
    await slapd.remove('person-2');
    clock += 4 * MINUTE;
    await runs.look(signal);
    expect((await lastRun()).at).toBe(before);
    clock += MINUTE;
    // The first run of this daemon is a whole one.
    await runs.look(signal);
    expect(await lastRun()).toMatchObject({ kind: 'ALL', counts: { changed: 1, left: 1 } });
    await slapd.change('person-1', { mail: 'once.more@example.com' });
    await slapd.remove('person-3');
    clock += 5 * MINUTE;
    await runs.look(signal);
    expect(await lastRun()).toMatchObject({ kind: 'CHANGES', counts: { changed: 1, left: 0 } });
    expect((await lastRun()).counts.read).toBeLessThan(count / 2);
    clock += 55 * MINUTE;
    await runs.look(signal);
    expect(await lastRun()).toMatchObject({ kind: 'ALL', counts: { left: 1 } });
  }, 120_000);
});
