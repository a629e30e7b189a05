/** The frame of all work that one daemon of a registry does at a time. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type DueTask, DueWork } from '../../daemon/background/due-work.ts';
import { Conflict } from '../../daemon/store/commit.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Work of which each look does what the next of `looks` does, and then nothing; with what happens, and the lines of the log. */
function workOf(looks: readonly (() => boolean)[], more: Partial<DueTask> = {}) {
  const done: string[] = [];
  const lines: string[] = [];
  const left = [...looks];
  const task: DueTask = {
    work: 'work',
    undone: 'it stays undone',
    begin: () => void done.push('begin'),
    look: async () => {
      done.push('look');
      return left.shift()?.() ?? false;
    },
    end: async () => void done.push('end'),
    ...more,
  };
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  return { done, lines, work: new DueWork({ store: {}, log }, task) };
}

it('looks at once, again at once if there may be more, and else after a second, until it is stopped', async () => {
  const { done, work } = workOf([() => true, () => false]);
  work.start();
  await vi.advanceTimersByTimeAsync(999);
  expect(done).toEqual(['begin', 'look', 'look']);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual(['begin', 'look', 'look', 'look']);
  await work.stop();
  expect(done.at(-1)).toBe('end');
});

it.each([
  ['is reported', new Error('no'), ['it stays undone']],
  ['that is a conflict is not reported', new Conflict('changed'), []],
])('a failure %s, and the next look is after five seconds', async (_, error, expected) => {
  const failing = () => {
    throw error;
  };
  const { done, lines, work } = workOf([failing]);
  work.start();
  await vi.advanceTimersByTimeAsync(4999);
  expect([done, lines]).toEqual([['begin', 'look'], expected]);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual(['begin', 'look', 'look']);
  await work.stop();
});

it('waits as long as the task does, and before the first look if the task is to', async () => {
  const wait = (turn: AbortSignal) =>
    new Promise<void>(resolve => {
      setTimeout(resolve, 60_000);
      turn.addEventListener('abort', () => resolve());
    });
  const { done, work } = workOf([], { wait, waitsFirst: true });
  work.start();
  await vi.advanceTimersByTimeAsync(59_999);
  expect(done).toEqual(['begin']);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual(['begin', 'look']);
  await work.stop();
});
