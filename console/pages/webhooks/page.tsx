/** The webhooks of the registry, and what an administrator does with them. */
import { useSignalEffect } from '@preact/signals';
import { webhookBounds } from '../../../src/contract/limits.ts';
import type { WebhookItem } from '../../../src/contract/webhooks.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { lazy } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { dictionary, text } from '../../text/text.ts';

const webhookWords = dictionary('webhooks');

const CreateWebhook = lazy(async () => (await import('./create.tsx')).CreateWebhook);
const Deliveries = lazy(async () => (await import('./deliveries.tsx')).Deliveries);
const Test = lazy(async () => (await import('./dialogs.tsx')).TestWebhook);
const Disable = lazy(async () => (await import('./dialogs.tsx')).DisableWebhook);
const Enable = lazy(async () => (await import('./dialogs.tsx')).EnableWebhook);
const Remove = lazy(async () => (await import('./dialogs.tsx')).RemoveWebhook);

/** Milliseconds after which the list is read again while events wait. */
const WAITING_MS = 5000;

const colors = { active: 'good', retrying: 'warn', disabled: 'bad' } as const;

type WebhookColumn = 'url' | 'types' | 'state' | 'waiting' | 'delivered' | 'by';
type WebhookAction = 'deliveries' | 'test' | 'disable' | 'enable' | 'remove';

const webhooks: RecordKind<WebhookItem, WebhookColumn, WebhookAction> = {
  keyOf: ({ webhookId }) => webhookId,
  nameOf: ({ url }) => url,
  columns: {
    url: ({ url }) => <span class="code">{url}</span>,
    types: ({ types }) => types?.map(type => text.value.event[type]).join(', ') ?? webhookWords.value.all,
    state: webhook => <State webhook={webhook} />,
    waiting: ({ waiting }) => webhookWords.value.waiting(waiting),
    delivered: ({ lastDeliveredAt }) =>
      lastDeliveredAt ? <Moment at={lastDeliveredAt} /> : <small>{text.value.common.never}</small>,
    by: ({ createdBy }) => createdBy,
  },
  rowHead: 'url',
  classes: { waiting: 'number', by: 'minor' },
  actions: {
    deliveries: { Dialog: Deliveries },
    test: { Dialog: Test },
    disable: { Dialog: Disable, isFor: ({ state }) => state !== 'disabled' },
    // One that waits for its next attempt is tried at once.
    enable: { Dialog: Enable, isFor: ({ state }) => state !== 'active' },
    remove: { Dialog: Remove },
  },
};

function State({ webhook: { state, disabledReason, failures, nextAttemptAt } }: { readonly webhook: WebhookItem }) {
  const words = webhookWords.value;
  return (
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
}

/** All webhooks in order of creation. Their states follow the events that they deliver. */
export function WebhooksPage() {
  const list = useResource(async signal => {
    const { list: records } = await call('listWebhooks', {}, { signal });
    const pagination = { page: 1, size: webhookBounds.endpoints, total: records.length, totalPages: 1 };
    return { list: records, pagination };
  });
  useRefresh(list.reload, () => true, settled);
  // The registry has no events for attempts.
  useSignalEffect(() => {
    if (!list.data.value?.list.some(({ waiting, state }) => waiting > 0 && state !== 'disabled')) return;
    const timer = setTimeout(list.reload, WAITING_MS);
    return () => clearTimeout(timer);
  });
  return <ListPage path="webhooks" kind={webhooks} words={webhookWords.value} list={list} Create={CreateWebhook} />;
}
