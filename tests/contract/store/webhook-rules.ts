/** Rules about how far webhooks have come. */
import { expect } from 'vitest';
import { accept } from '../../../daemon/requests/context.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import { create, progressSet, remove, webhooksIn } from '../../../daemon/webhooks/records.ts';
import { addDevice, commit, type Rule, rule } from './fixtures.ts';

const endpoint = {
  url: 'https://hooks.test/',
  types: null,
  sealed: 'sealed',
  createdBy: 'token:line-1',
  madeBy: 'TOK-1',
  createdAt: 1,
};
const made = () => accept(create(webhooksIn(null), endpoint, 7));

export const webhookRules: readonly Rule[] = [
  rule('a webhook is stored with its progress, and removed with it', async ({ store, reopen }) => {
    expect(await store.webhookProgress(1)).toBeNull();
    const { record, progress, changes } = made();
    await commit(store, changes);
    expect(webhooksIn(await store.document('webhooks'))).toEqual({ version: 1, last: 1, list: [record] });
    expect(await store.webhookProgress(1)).toEqual({ version: 1, progress });
    const again = await reopen();
    expect(await again.webhookProgress(1)).toEqual({ version: 1, progress });
    const types = (await again.events({ after: 0, limit: 9 })).map(({ type }) => type);
    expect(types).toEqual(['WEBHOOK_CREATED']);
    await commit(again, remove(webhooksIn(await again.document('webhooks')), record));
    expect(await again.webhookProgress(1)).toBeNull();
    expect(webhooksIn(await again.document('webhooks'))).toEqual({ version: 2, last: 1, list: [] });
  }),

  rule('a progress is replaced from the version that was read, without an entry', async ({ store, reopen }) => {
    const { progress, changes } = made();
    await commit(store, changes);
    const next = { ...progress, through: 8 };
    await commit(store, [progressSet(1, 1, next)]);
    await expect(commit(store, [progressSet(1, 1, progress)])).rejects.toThrow(Conflict);
    await expect(commit(store, [progressSet(2, 1, progress)])).rejects.toThrow(Conflict);
    const again = await reopen();
    expect(await again.webhookProgress(1)).toEqual({ version: 2, progress: next });
    expect(await again.lastEventId()).toBe(1);
  }),

  rule('of progresses that are stored together each is kept', async ({ store }) => {
    const { progress } = made();
    const refused = commit(store, [addDevice('A'), progressSet(3, 9, progress)]);
    const stored = [1, 2].map(number => commit(store, [progressSet(number, 0, { ...progress, through: number })]));
    await expect(refused).rejects.toThrow(Conflict);
    await Promise.all(stored);
    expect((await store.webhookProgress(1))?.progress.through).toBe(1);
    expect((await store.webhookProgress(2))?.progress.through).toBe(2);
    expect(await store.webhookProgress(3)).toBeNull();
    expect(await store.devicesBySerial(['A'])).toEqual(new Map());
  }),
];
