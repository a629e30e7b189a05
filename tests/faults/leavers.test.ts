/**
 * Persons with everything that a person can have leave over SCIM, by the directory and by hand, while daemons are killed: nothing of
 * theirs is left, and everything of the others is.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Home } from '../../daemon/home/home.ts';
import { audit } from '../../daemon/maintenance/audit.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { openPostgresStore } from '../../daemon/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import type { Store } from '../../daemon/store/store.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { startEntra, startOkta } from '../support/issuing-providers.ts';
import {
  codeWith,
  fill,
  giveEverything,
  loanOf,
  ownerOf,
  ownersIn,
  personsIn,
  post,
  type Registry,
  shuffled,
} from '../support/leaver-things.ts';
import { mulberry } from '../support/mulberry.ts';
import { type Node, Nodes } from '../support/nodes.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { patchOp, scimClientWith } from '../support/scim.ts';
import { reading, type Slapd, startSlapd, withSlapd } from '../support/slapd.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** `npm run test:leavers` has 1,000. They stay below the brake, which is at 5 %. */
const LEAVERS = Number(process.env.DEVMGR_LEAVERS ?? 80);
const OTHERS = Math.ceil(LEAVERS * 20.7);
const timeout = 300_000 + 1000 * LEAVERS;
const seed = Number(process.env.DEVMGR_LEAVERS_SEED ?? Date.now() % 1_000_000_000);

interface Daemons {
  /** The daemons that run now. */
  readonly running: readonly Registry[];
  /** Kills one, and resolves when it is back. */
  restart(daemon: number): Promise<void>;
  /** Stops all, changes their store, and starts them again. */
  between(change: (store: Store) => Promise<void>): Promise<void>;
}

/** How a person leaves. */
const ways = ['scim', 'directory', 'hand'] as const;

/** Makes everyone leave through daemons that are killed in between. */
async function everyoneLeaves(daemons: Daemons, slapd: Slapd): Promise<void> {
  const random = mulberry(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const { running } = daemons;
  const names = Array.from({ length: LEAVERS }, (_, i) => `leaver.${i}`);
  const others = Array.from({ length: OTHERS }, (_, i) => `other.${i}`);
  await fill(running[0]!, [...names, ...others]);
  const providers = [await startEntra(), await startOkta()];
  for (const { state, settings } of providers) {
    // It does not list users: nothing is compared.
    state.users = null;
    await post(running[0]!, '/api/providers', { name: settings.type, ...settings });
  }
  const states = providers.map(({ state }) => state);
  // An answer that a kill loses before the credential is issued can be given up only minutes later: these leave at the end.
  const owners = names.map((userName, i) => ownerOf(userName, i + 1, i % 20 === 7));
  const stays = others.slice(0, 20).map((userName, i) => ownerOf(userName, LEAVERS + i + 1, false));
  const accounts = others.slice(stays.length);
  await daemons.between(store => giveEverything(store, [...owners, ...stays], { providers: states, accounts }));
  const { token } = (await post(running[0]!, '/api/tokens', {
    name: 'provider',
    role: 'VIEWER',
    expiresInDays: 1,
    may: ['scim'],
  })) as { readonly token: string };
  const provider = scimClientWith(() => pick(running).url, token);
  const wayOf = (i: number) => ways[i % ways.length]!;
  /** Ids of the persons, by user name. */
  const ids = new Map<string, string>();
  for (const [i, userName] of names.entries())
    if (wayOf(i) === 'scim') ids.set(userName, (await provider('POST', '/Users', { userName })).body.id);
    else if (wayOf(i) === 'hand')
      ids.set(userName, ((await post(running[0]!, '/api/people', { userName })) as { personId: string }).personId);
  const directory = { url: slapd.url, ...reading };
  expect(await running[0]!.call('PUT', '/api/directory', directory)).toMatchObject({ code: 200 });
  expect((await sync(running[0]!)).data).toMatchObject({ problem: null });
  for (const { userName } of stays) await post(running[0]!, '/api/people', { userName });
  for (const userName of names.filter((_, i) => wayOf(i) === 'directory')) {
    const { data } = await running[0]!.call('GET', `/api/people/list?userName=${userName}`);
    ids.set(userName, (data as { list: { personId: string }[] }).list[0]!.personId);
  }
  /** Again and again, through any daemon, until an answer comes that is expected. A daemon that is killed has none. */
  const until = async <A extends { readonly status: number }>(
    send: (registry: Registry) => Promise<A>,
    ...expected: number[]
  ): Promise<A> => {
    for (;;) {
      const answer = await send(pick(running)).catch(() => null);
      if (answer && expected.includes(answer.status)) return answer;
      expect([0, 500, 503]).toContain(answer?.status ?? 0);
      await pause(20);
    }
  };
  /** As a provider or an ADMIN does it: until a request succeeds, now and then once more. */
  const leaves = async (i: number) => {
    const id = ids.get(names[i]!)!;
    const isDeleted = i % 2 === 0;
    for (let left = random() < 0.2 ? 2 : 1; left > 0; left--)
      if (wayOf(i) === 'hand')
        await until(one => one.call('POST', `/api/people/${id}/leave`, { reason: 'has left' }), 200);
      // A repeated DELETE finds no one.
      else if (isDeleted) await until(() => provider('DELETE', `/Users/${id}`), 204, 404);
      else {
        const inactive = patchOp({ op: 'Replace', path: 'active', value: 'False' });
        await until(() => provider('PATCH', `/Users/${id}`, inactive), 200);
      }
  };
  /** Ends what only people can end, then closes the case. False: a credential is not removed yet. */
  const closes = async (i: number): Promise<boolean> => {
    const [path, device] = [`/api/people/${ids.get(names[i]!)}/case`, i + 1];
    const kept = { kind: 'loan', id: loanOf(device), reason: 'lost' };
    await until(one => one.call('POST', `${path}/keep`, kept), 200);
    await until(one => one.call('GET', `/api/devices/DEV-${device}/pin`), 200);
    const { status, message } = await until(one => one.call('POST', `${path}/close`), 200, 400);
    if (status === 400) expect(message).toMatch(/: (credential|issue) CRD-\d+/);
    return status === 200;
  };
  const closed = new Set<number>();
  const everyone = shuffled(names.keys(), random);
  const isLast = (i: number) => owners[i]!.isMade;
  const inTurn = (all: readonly number[]) => {
    const waiting = all.filter(i => wayOf(i) !== 'directory').values();
    const client = async () => {
      for (const i of waiting) {
        await leaves(i);
        if (random() < 0.5 && (await closes(i))) closed.add(i);
      }
    };
    const fromDirectory = async () => {
      const gone = all.filter(i => wayOf(i) === 'directory');
      while (gone.length > 0) {
        for (const i of gone.splice(0, 1 + Math.floor(random() * 40))) await slapd.remove(names[i]!);
        const { data } = await until(sync, 200);
        expect(data).toMatchObject({ problem: null });
      }
    };
    return Promise.all([fromDirectory(), ...Array.from({ length: 6 }, client)]);
  };
  let isRunning = true;
  const killing = (async () => {
    while (isRunning) {
      await pause(300 + 600 * random());
      await daemons.restart(Math.floor(random() * running.length));
    }
  })();
  await inTurn(everyone.filter(i => !isLast(i))).finally(() => {
    isRunning = false;
  });
  await killing;
  await inTurn(everyone.filter(isLast));

  const registry = running[0]!;
  expect(await ownersIn(registry, 'LOCKED')).toEqual([...names].sort());
  expect((await ownersIn(registry, 'ACTIVE')).length).toBe(OTHERS);
  const held = (await registry.call('GET', '/api/people/held')).data as { readonly list: readonly unknown[] };
  expect(held.list).toEqual([]);
  const check = async () => (await registry.call('GET', '/api/people/check')).data as { readonly credentials: number };
  await expect.poll(async () => (await check()).credentials, { timeout: 60_000 }).toBe(0);
  const unmatched = OTHERS - stays.length;
  const unrelated = { unreported: 0, drift: 0, unerased: 0, shipments: 0 };
  const nothing = { devices: 0, accounts: 0, tokens: 0, credentials: 0, ...unrelated };
  expect(await check()).toEqual({ ...nothing, unmatched, cases: LEAVERS - closed.size });
  for (const i of names.keys()) if (!closed.has(i)) expect(await closes(i)).toBe(true);
  expect(await check()).toEqual({ ...nothing, unmatched, cases: 0 });
  for (const type of ['CASE_OPENED', 'CASE_CLOSED'])
    expect((await personsIn(registry, type)).sort(), type).toEqual([...ids.values()].sort());
  // The model: nothing of a leaver is left, and each thing of the others is.
  expect(
    states
      .flatMap(({ accepted }) => accepted)
      .map(({ person }) => person)
      .sort(),
  ).toEqual(stays.map(one => one.userName).sort());
  for (const [i, { userName, token }] of owners.entries()) {
    const { data } = await registry.call('GET', `/api/people/${ids.get(userName)}/case`);
    const { items } = data as { items: { kind: string; state: string }[] };
    expect(items.map(({ kind, state }) => `${kind} ${state}`).sort(), names[i]).toEqual(everyThing);
    expect(await codeWith(registry, token)).toBe(1004);
  }
  for (const { token } of stays) expect(await codeWith(registry, token)).toBe(200);
}

/** Items of a closed case. */
const everyThing = [
  ...['account', 'credential', 'device', 'issue'].map(kind => `${kind} closed`),
  'loan kept',
  ...['passkey', 'pin', 'session', 'token'].map(kind => `${kind} closed`),
];

const sync = (registry: Registry) => registry.call('POST', '/api/directory/sync', {});

const verified = { json: true, device: null, since: null, limit: null, verify: true };

const inDirectory = () => [
  ...Array.from({ length: LEAVERS }, (_, i) => `leaver.${i}`).filter((_, i) => ways[i % ways.length] === 'directory'),
  // Half of the persons at least have to stay, or the answer is doubted.
  ...Array.from({ length: LEAVERS }, (_, i) => `stays.${i}`),
];

withSlapd(`leavers, while daemons are killed (seed ${seed})`, () => {
  it('lose everything on a daemon with SQLite, and no one else does', { timeout }, async () => {
    const slapd = await startSlapd(inDirectory());
    onTestFinished(() => slapd.stop());
    const home = temporaryFolder();
    const start = () => spawnDaemon({ home, webhookAllow: ['127.0.0.1'] });
    const running = [await start()];
    onTestFinished(() => running[0]!.kill());
    const restart = async () => {
      await running[0]!.kill();
      running[0] = await start();
    };
    const between: Daemons['between'] = async change => {
      await running[0]!.stop();
      const opened = await Home.open(home);
      const parts = { file: opened.path('database'), journalKey: await opened.secretKey('journalKey') };
      const store = await openSqliteStore({ subjects, ...parts });
      await store.listsReady;
      await change(store);
      await store.close();
      running[0] = await start();
    };
    await everyoneLeaves({ running, restart, between }, slapd);
    await running[0]!.stop();
    const { stdout } = await runDaemonProgram(audit, { ...verified, home });
    expect(JSON.parse(stdout).problems).toEqual([]);
  });

  needsPostgres('of three nodes', () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.stop());

    it('lose everything on PostgreSQL, and no one else does', { timeout }, async () => {
      const slapd = await startSlapd(inDirectory());
      onTestFinished(() => slapd.stop());
      const nodes = await Nodes.create(server);
      const start = (home = temporaryFolder()) => nodes.start({ home, env: { DEVMGR_WEBHOOK_ALLOW: '127.0.0.1' } });
      const running: Node[] = [await start(), await start(), await start()];
      const restart = async (i: number) => {
        const { home, kill } = running[i]!;
        await kill();
        running[i] = await start(home);
      };
      const between: Daemons['between'] = async change => {
        for (const node of running) await node.stop();
        const home = await Home.open(running[0]!.home, nodes.secrets);
        const journalKey = await home.secretKey('journalKey');
        const store = await openPostgresStore({ subjects, url: nodes.url, env: {}, journalKey });
        await change(store);
        await store.close();
        for (const [i, { home }] of running.entries()) running[i] = await start(home);
      };
      await everyoneLeaves({ running, restart, between }, slapd);
      const { stdout } = await running[0]!.program(audit, verified);
      expect(JSON.parse(stdout).problems).toEqual([]);
    });

    it('are locked within a second on any node', async () => {
      const nodes = await Nodes.create(server);
      const [one, two] = [await nodes.start(), await nodes.start()];
      await fill(one, ['ada', ...Array.from({ length: 9 }, (_, i) => `other.${i}`)]);
      const { personId } = (await post(one, '/api/people', { userName: 'ada' })) as { readonly personId: string };
      const started = performance.now();
      await post(two, `/api/people/${personId}/leave`, { reason: 'has left' });
      expect(await ownersIn(one, 'LOCKED')).toEqual(['ada']);
      expect(performance.now() - started).toBeLessThan(1000);
    });
  });
});
