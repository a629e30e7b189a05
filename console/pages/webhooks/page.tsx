/** The webhooks of the registry, and what an administrator does with them. */
import type { WebhookItem } from '../../../src/contract/webhooks.ts';
import { settled, useRefresh, useRepeat } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { changesOf } from '../../parts/changes.ts';
import { ActorLink, Address, RecordLink } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage, RecordPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { text, webhooks as words } from '../../text/words.ts';
import { takenBy, useAttempts } from './attempts.tsx';

const CreateWebhook = lazyDialog(async () => (await import('./dialogs.tsx')).CreateWebhook);

const colors = { active: 'good', retrying: 'warn', disabled: 'bad' } as const;

type WebhookColumn = 'url' | 'types' | 'state' | 'waiting' | 'delivered' | 'by';
type WebhookAction = 'enable' | 'test' | 'disable' | 'remove';

const changeBy = (operation: 'disableWebhook' | 'enableWebhook' | 'removeWebhook') => ({
  carryOut: ({ webhookId }: WebhookItem, key: string) => call(operation, { params: { webhookId } }, { key }),
});

/** Posts a test message, and reports whether the endpoint took it. */
async function test({ webhookId, url }: WebhookItem, key: string): Promise<string> {
  return takenBy(url, await call('testWebhook', { params: { webhookId } }, { key }));
}

const webhooks: RecordKind<WebhookItem, WebhookColumn, WebhookAction> = {
  keyOf: ({ webhookId }) => webhookId,
  nameOf: ({ url }) => url,
  columns: {
    url: ({ webhookId, url }) => <RecordLink page="webhooks" id={webhookId} name={<Address value={url} />} />,
    types: ({ types }) => types?.map(type => text.event[type]).join(', ') ?? words.all,
    state: webhook => <State webhook={webhook} />,
    waiting: ({ waiting }) => words.waiting(waiting),
    delivered: ({ lastDeliveredAt }) => <Moment at={lastDeliveredAt} />,
    by: ({ createdBy }) => <ActorLink name={createdBy} />,
  },
  rowHead: 'url',
  classes: { url: 'keep', waiting: 'number', delivered: 'minor', by: 'minor' },
  history: webhookId => changesOf({ webhookId: [webhookId] }),
  useFacts: useAttempts,
  actions: {
    // One that waits for its next attempt is tried at once.
    enable: { ...changeBy('enableWebhook'), isFor: ({ state }) => state !== 'active' },
    test: { carryOut: test },
    disable: {
      ...changeBy('disableWebhook'),
      isDangerous: true,
      undo: 'enable',
      isFor: ({ state }) => state !== 'disabled',
    },
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
function useWebhooks() {
  const list = useResource(async signal => onePage((await call('listWebhooks', {}, { signal })).list));
  useRefresh(list.reload, () => true, settled);
  useRepeat(list, ({ list: all }) => all.some(({ waiting, state }) => waiting > 0 && state !== 'disabled'));
  return list;
}

/** The list of webhooks. */
export const WebhooksPage = () => (
  <ListPage path="webhooks" kind={webhooks} words={words} list={useWebhooks()} Create={CreateWebhook} />
);
/** The webhook that the address names. */
export const WebhookPage = () => <RecordPage path="webhooks" kind={webhooks} words={words} all={useWebhooks()} />;
