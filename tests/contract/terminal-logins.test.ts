/** Requests of terminals: in the memory of a daemon, and in a database that several nodes share. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryTerminalLogins } from '../../daemon/store/memory/short-lived.ts';
import { type WaitingTerminals, waitingBounds } from '../../daemon/store/short-lived.ts';
import { second } from '../support/clock.ts';
import { openNodes } from '../support/limit-stores.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';

const { perNetwork, total } = waitingBounds;
const life = 300 * second;
const request = (code: string, network = 'home') => ({
  code,
  terminal: `terminal ${code}`,
  network,
  shown: `{"of":"${code}"}`,
});

/** Where requests are kept. */
interface Place {
  /** Handles of the same requests. */
  readonly nodes: readonly [WaitingTerminals, WaitingTerminals];
  advance(milliseconds: number): Promise<void>;
  /** Adds requests in order, each with its network and a code of that and a number: `home-1`. */
  fill(networks: readonly string[]): Promise<void>;
  /** How many are stored, expired ones too. */
  stored(): Promise<number>;
}

const numbered = (networks: readonly string[]) => networks.map((network, i) => request(`${network}-${i + 1}`, network));

async function inMemory(): Promise<Place> {
  let now = 0;
  const requests = new MemoryTerminalLogins(() => now);
  return {
    nodes: [requests, requests],
    async advance(milliseconds) {
      now += milliseconds;
    },
    async fill(networks) {
      for (const one of numbered(networks)) await requests.add(one, life);
    },
    stored: async () => requests.size,
  };
}

async function inDatabase(server: PostgresServer): Promise<Place> {
  const { clock, stores, query } = await openNodes(server, 2);
  const rows = ({ code, terminal, network, shown }: ReturnType<typeof request>) =>
    `('${code}', '${terminal}', '${network}', '${shown}', ${clock.wall() + life})`;
  return {
    nodes: [stores[0]!.shortLived!.terminalLogins, stores[1]!.shortLived!.terminalLogins],
    advance: clock.advance,
    async fill(networks) {
      const values = numbered(networks).map(rows).join(',');
      await query(`INSERT INTO terminal_login (code, terminal, network, shown, ends_at) VALUES ${values}`);
    },
    stored: async () => (await query('SELECT FROM terminal_login')).length,
  };
}

function suite(name: string, open: () => Promise<Place>): void {
  describe(`requests of terminals in ${name}`, () => {
    it('are shown as often as wanted, and approved and taken once, by whichever node', async () => {
      const { nodes } = await open();
      await nodes[0].add(request('K'), life);
      const both = Array.from({ length: 10 }, (_, i) => nodes[i % 2]!);
      expect(await Promise.all(both.map(node => node.find('K')))).toEqual(both.map(() => '{"of":"K"}'));
      const done = await Promise.all(
        both.flatMap((node, i) => [node.find('K').then(() => null), node.approve('K', `{"login":${i}}`)]),
      );
      expect(done.filter(shown => shown !== null)).toEqual(['{"of":"K"}']);
      expect(await nodes[0].find('K')).toBeNull();
      const taken = await Promise.all(both.map(node => node.take('terminal K')));
      expect(taken.filter(login => login !== null)).toEqual([expect.stringMatching(/^\{"login":\d\}$/)]);
      expect(await nodes[1].approve('K', '{}')).toBeNull();
    });

    it('cannot be taken before the approval', async () => {
      const { nodes } = await open();
      await nodes[0].add(request('K'), life);
      expect(await nodes[1].take('terminal K')).toBeNull();
      expect(await nodes[1].approve('K', '{"login":1}')).toBe('{"of":"K"}');
      expect(await nodes[0].take('terminal K')).toBe('{"login":1}');
    });

    it('end, and the next request removes them', async () => {
      const { nodes, advance, stored } = await open();
      for (const code of ['waits', 'approved']) await nodes[0].add(request(code), life);
      await nodes[0].approve('approved', '{}');
      await advance(life);
      expect(await nodes[0].find('waits')).toBeNull();
      expect(await nodes[0].approve('waits', '{}')).toBeNull();
      expect(await stored()).toBe(2);
      await nodes[1].add(request('next'), life);
      expect(await stored()).toBe(1);
      await nodes[1].approve('next', '{}');
      await advance(life);
      expect(await nodes[0].take('terminal next')).toBeNull();
    });

    it('of one network displace only their own, the oldest that waits', async () => {
      const { nodes, fill, stored } = await open();
      await fill(['other', ...new Array<string>(perNetwork).fill('home')]);
      await nodes[0].approve('home-2', '{"login":2}');
      await nodes[0].add(request('home-a'), life);
      expect(await nodes[1].find('home-3')).not.toBeNull();
      await nodes[1].add(request('home-b'), life);
      expect(await nodes[0].find('home-3')).toBeNull();
      expect(await nodes[0].find('home-4')).not.toBeNull();
      expect(await nodes[0].find('other-1')).not.toBeNull();
      expect(await nodes[0].take('terminal home-2')).toBe('{"login":2}');
      expect(await stored()).toBe(perNetwork + 1);
    });

    it('of the networks that have the most go first if there are too many', async () => {
      const { nodes, fill, stored } = await open();
      const crowds = Array.from({ length: total - 1 }, (_, i) => `crowd-${i % (total / perNetwork)}`);
      await fill(['small', ...crowds]);
      await nodes[0].add(request('late', 'late'), life);
      expect(await stored()).toBe(total);
      expect(await nodes[0].find('crowd-0-2')).toBeNull();
      expect(await nodes[0].find('crowd-1-3')).not.toBeNull();
      for (let i = 0; i < 5; i++) await nodes[i % 2]!.add(request(`more-${i}`, `more-${i}`), life);
      expect(await stored()).toBe(total);
      for (const code of ['small-1', 'late', 'more-0', 'more-4']) expect(await nodes[1].find(code)).not.toBeNull();
    });

    it('of networks with one each go in the order of their age', async () => {
      const { nodes, fill, stored } = await open();
      await fill(Array.from({ length: total }, (_, i) => `n${i}`));
      await nodes[0].add(request('n1-again', 'n1'), life);
      expect(await nodes[0].find('n1-2')).toBeNull();
      await nodes[0].add(request('new', 'new'), life);
      expect(await nodes[0].find('n0-1')).toBeNull();
      expect(await nodes[0].find('n2-3')).not.toBeNull();
      expect(await stored()).toBe(total);
    });
  });
}

suite('memory', inMemory);

needsPostgres('requests of terminals on several nodes', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());
  suite('PostgreSQL', () => inDatabase(server));
});
