/** The webhooks of the registry, and what an administrator does with them. */
import type { WebhookItem } from '../../../src/contract/webhooks.ts';
import { settled, useRefresh, useRepeat } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActorLink, Address } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { text, webhooks as words } from '../../text/words.ts';

const CreateWebhook = lazyDialog(async () => (await import('./dialogs.tsx')).CreateWebhook);
const Deliveries = lazyDialog(async () => (await import('./dialogs.tsx')).Deliveries);

const colors = { active: 'good', retrying: 'warn', disabled: 'bad' } as const;

type WebhookColumn = 'url' | 'types' | 'state' | 'waiting' | 'delivered' | 'by';
type WebhookAction = 'deliveries' | 'test' | 'disable' | 'enable' | 'remove';

const changeBy = (operation: 'disableWebhook' | 'enableWebhook' | 'removeWebhook') => ({
  carryOut: ({ webhookId }: WebhookItem, key: string) => call(operation, { params: { webhookId } }, { key }),
});

/** Posts a test message, and reports whether the endpoint took it. */
async function test({ webhookId, url }: WebhookItem, key: string): Promise<string> {
  const { delivered, milliseconds, reason } = await call('testWebhook', { params: { webhookId } }, { key });
  return delivered ? words.taken(url, milliseconds) : words.notTaken(url, reason ?? '');
}

const webhooks: RecordKind<WebhookItem, WebhookColumn, WebhookAction> = {
  keyOf: ({ webhookId }) => webhookId,
  nameOf: ({ url }) => url,
  columns: {
    url: ({ url }) => <Address value={url} />,
    types: ({ types }) => types?.map(type => text.event[type]).join(', ') ?? words.all,
    state: webhook => <State webhook={webhook} />,
    waiting: ({ waiting }) => words.waiting(waiting),
    delivered: ({ lastDeliveredAt }) => <Moment at={lastDeliveredAt} />,
    by: ({ createdBy }) => <ActorLink name={createdBy} />,
  },
  rowHead: 'url',
  classes: { url: 'keep', waiting: 'number', delivered: 'minor', by: 'minor' },
  actions: {
    deliveries: { Dialog: Deliveries },
    test: { carryOut: test },
    disable: {
      ...changeBy('disableWebhook'),
      isDangerous: true,
      undo: 'enable',
      isFor: ({ state }) => state !== 'disabled',
    },
    // One that waits for its next attempt is tried at once.
    enable: { ...changeBy('enableWebhook'), isFor: ({ state }) => state !== 'active' },
    remove: { ...changeBy('removeWebhook'), isDangerous: true },
  },
};

const State = ({ webhook: { state, disabledReason, failures, nextAttemptAt } }: { readonly webhook: WebhookItem }) => (
  <>
    <span class={`badge ${colors[state]}`}>{words.state[state]}</span>{' '}
    {state === 'retrying' && (
      <small>
        {words.failures(failures)} {nextAttemptAt && <Moment at={nextAttemptAt} />}
      </small>
    )}
    {state === 'disabled' && <small>{disabledReason}</small>}
  </>
);

/** All webhooks in order of creation. Their states follow the events that they deliver. */
export function WebhooksPage() {
  const list = useResource(async signal => onePage((await call('listWebhooks', {}, { signal })).list));
  useRefresh(list.reload, () => true, settled);
  useRepeat(list, ({ list: all }) => all.some(({ waiting, state }) => waiting > 0 && state !== 'disabled'));
  return <ListPage path="webhooks" kind={webhooks} words={words} list={list} Create={CreateWebhook} />;
}
