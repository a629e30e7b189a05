import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeadFile, readHeads } from '../../daemon/home/head-file.ts';
import { HeadKeeper } from '../../daemon/home/head-keeper.ts';
import { Home } from '../../daemon/home/home.ts';
import { addDevice, commit } from '../contract/store/fixtures.ts';
import { journalKey, openTemporary } from '../support/sqlite.ts';

const keys = { current: journalKey, next: null };
const others = { current: new Uint8Array(32).fill(1), next: null };
let dir: string;
let home: Home;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-heads-'));
  home = await Home.open(dir);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const head = (id: number) => ({ id, mac: `code-${id}` });
const ids = async () => (await readHeads(home, keys)).anchors.heads.map(({ id }) => id);

it('the file of heads is bounded, verifies after it was compacted, and keeps what the journal contradicts', async () => {
  const file = await HeadFile.open(home, keys);
  for (let id = 1; id <= 5000; id++) {
    await file.append('head', head(id), id);
    if (file.isFull) await file.compact(async line => line.id !== 7);
  }
  const found = await ids();
  expect(found.length).toBeLessThan(2000);
  expect([found[0], found.at(-1)]).toEqual([7, 5000]);
  expect((await stat(home.path('journalHeads'))).size).toBeLessThan(400_000);
  expect((await readHeads(home, keys)).problems).toEqual([]);
  expect((await HeadFile.open(home, keys)).last).toEqual({ ...head(5000), at: 5000, kind: 'head' });
});

it('lines before the last restore no longer hold', async () => {
  const file = await HeadFile.open(home, keys);
  await file.append('head', head(9), 1);
  await file.append('restored', head(4), 2);
  await file.append('head', head(5), 3);
  expect(await ids()).toEqual([4, 5]);
});

it('an interrupted restore is complete if the journal ends where the backup ends', async () => {
  const file = await HeadFile.open(home, keys);
  await file.append('head', head(9), 1);
  await file.append('restoring', head(4), 2);
  expect(await ids()).toEqual([]);
  await file.settleRestore({ ...head(4), mac: 'another' });
  expect(await ids()).toEqual([9]);
  await file.append('restoring', head(4), 3);
  await (await HeadFile.open(home, keys)).settleRestore(head(4));
  expect(await ids()).toEqual([4]);
  expect((await HeadFile.open(home, keys)).last).toEqual({ ...head(4), at: 3, kind: 'restored' });
});

it('another key of the journal does not verify the file', async () => {
  const file = await HeadFile.open(home, keys);
  await file.append('head', head(1), 1);
  const { problems, anchors } = await readHeads(home, others);
  expect([problems, anchors.heads]).toEqual([[expect.stringMatching(/^line 1 of journal-heads/)], []]);
  await file.useKey(new Uint8Array(32).fill(1));
  expect((await readHeads(home, others)).problems).toEqual([]);
});

it('a head is signed half a minute after a commit, without a stop, and once for many commits', async () => {
  const opened = await openTemporary();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const keeper = await HeadKeeper.start({
      home,
      store: opened.store,
      keys: async () => keys,
      now: () => 1,
      warn: expect.unreachable,
    });
    await keeper.write();
    expect(await readFile(home.path('journalHeads'), 'utf8')).toBe('');
    for (let i = 0; i < 5; i++) await commit(opened.store, [addDevice(`S${i}`)]);
    expect(await ids()).toEqual([]);
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(async () => expect(await ids()).toEqual([5]), { interval: 5 });
    vi.advanceTimersByTime(600_000);
    await commit(opened.store, [addDevice('T')]);
    await keeper.stop();
    expect(await ids()).toEqual([5, 6]);
  } finally {
    vi.useRealTimers();
    await opened.cleanup();
  }
});

it('a head that cannot be signed is reported, and signed after the next commit', async () => {
  const opened = await openTemporary();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const keeper = await HeadKeeper.start({ home, store: opened.store, keys: async () => keys, now: () => 1, warn });
  await commit(opened.store, [addDevice('S')]);
  const broken = vi.spyOn(HeadFile.prototype, 'append').mockRejectedValueOnce(new Error('disk full'));
  await keeper.write();
  expect(warnings).toEqual([expect.stringContaining('could not be signed')]);
  broken.mockRestore();
  await keeper.stop();
  expect(await ids()).toEqual([1]);
  await opened.cleanup();
});

/** Daemons on one folder of secrets, each with a home of its own. */
async function sharingDaemons(count: number) {
  const homes = [];
  for (let i = 0; i < count; i++) {
    const own = join(dir, `home-${i}`);
    homes.push(await Home.open(own, join(dir, 'secrets')));
  }
  const opened = await openTemporary();
  const keepers: HeadKeeper[] = [];
  for (const sharing of homes)
    keepers.push(
      await HeadKeeper.start({
        home: sharing,
        store: opened.store,
        keys: async () => keys,
        now: () => 1,
        warn: expect.unreachable,
      }),
    );
  return { homes, keepers, opened };
}

it('daemons that share the file write one chain of lines, each head once', async () => {
  const { homes, keepers, opened } = await sharingDaemons(3);
  for (let i = 0; i < 20; i++) {
    await commit(opened.store, [addDevice(`S${i}`)]);
    await Promise.all(keepers.map(keeper => keeper.write()));
  }
  const { problems, anchors } = await readHeads(homes[0]!, keys);
  expect(problems).toEqual([]);
  expect(anchors.heads.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  await Promise.all(keepers.map(keeper => keeper.stop()));
  await opened.cleanup();
});

it('daemons that share the file enter a restore once', async () => {
  const opened = await openTemporary();
  const homes = [await Home.open(join(dir, 'a'), join(dir, 's')), await Home.open(join(dir, 'b'), join(dir, 's'))];
  await commit(opened.store, [addDevice('S')]);
  await (await HeadFile.open(homes[0]!, keys)).append('restored', (await opened.store.journalHead())!, 1);
  const started = homes.map(sharing =>
    HeadKeeper.start({
      home: sharing,
      store: opened.store,
      keys: async () => keys,
      now: () => 1,
      warn: expect.unreachable,
    }),
  );
  for (const keeper of await Promise.all(started)) await keeper.stop();
  const entries = await opened.store.events({ after: 0, limit: 10, types: ['REGISTRY_RESTORED'] });
  expect(entries).toHaveLength(1);
  await opened.cleanup();
});

it('a daemon signs its heads with the new key after its copy of the keys was brought up to date', async () => {
  const opened = await openTemporary();
  const warnings: string[] = [];
  let present = keys;
  const keeper = await HeadKeeper.start({
    home,
    store: opened.store,
    keys: async () => present,
    now: () => 1,
    warn: message => warnings.push(message),
  });
  await commit(opened.store, [addDevice('S')]);
  await keeper.write();
  present = others;
  await commit(opened.store, [addDevice('T')]);
  await keeper.stop();
  const { problems, anchors } = await readHeads(home, others);
  expect([warnings, problems, anchors.heads.map(({ id }) => id)]).toEqual([[], [], [1, 2]]);
  await opened.cleanup();
});
