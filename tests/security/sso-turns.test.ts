/** Turns of clients that wait for the provider, with small bounds. */
import { expect, it } from 'vitest';
import { ClientTurns, type TurnBounds } from '../../daemon/single-sign-on/client-turns.ts';

const bounds: TurnBounds = {
  client: 1,
  total: 2,
  waiting: { client: 3, total: 5 },
  patience: 60_000,
  pause: 0,
};

/** Work that is named when it begins, and ends when it is asked to. */
function turnsWith(more: Partial<TurnBounds> = {}) {
  const turns = new ClientTurns({ ...bounds, ...more });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) => {
    const result = turns.run(name[0]!, () => {
      begun.push(name);
      return new Promise<string>(resolve => ends.set(name, () => resolve(name)));
    });
    return result.catch((error: { code: number }) => error.code);
  };
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise(setImmediate);
  };
  return { begun, run, end };
}

it('clients take turns, each has its bound, and each in the order of its requests', async () => {
  const { begun, run, end } = turnsWith();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void run(name);
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun.at(-1)).toBe('a2');
  await end('b1');
  expect(begun.at(-1)).toBe('b2');
  await end('a2');
  expect(begun.at(-1)).toBe('c1');
  await end('c1');
  expect(begun.at(-1)).toBe('a3');
});

it('beyond what may wait, the client with the most is refused, and no one else', async () => {
  const { run, begun, end } = turnsWith();
  for (const name of ['a1', 'b1', 'a2', 'a3']) void run(name);
  const last = run('a4');
  expect(await run('a5')).toBe(429);
  for (const name of ['b2', 'b3']) void run(name);
  // Five wait: a newcomer takes the place of the newest of a.
  void run('c1');
  expect(await last).toBe(429);
  for (const name of ['a1', 'b1', 'a2', 'b2', 'c1', 'a3', 'b3']) await end(name);
  expect(begun.sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1']);
});

it('one that has waited too long is refused, and takes no turn', async () => {
  const { run, begun, end } = turnsWith({ patience: 1 });
  void run('a1');
  expect(await run('a2')).toBe(429);
  await end('a1');
  void run('a3');
  expect(begun).toEqual(['a1', 'a3']);
});
