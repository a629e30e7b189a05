import type { DataOf } from '../../../contract/define.ts';
import { journalEventTypes } from '../../../contract/event-types.ts';
import { namesIn } from '../../../contract/names.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { WebhookAttempt, WebhookItem } from '../../../contract/webhooks.ts';
import { count } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields, givenTexts } from '../../framework/define.ts';
import { type ArgShape, fileFlag, yesFlag } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, present } from '../../framework/present.ts';
import { presentList } from '../../framework/present-list.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { checkedSecret } from './secret.ts';

const webhookArg: ArgShape = { name: 'WEBHOOK', help: 'id of the webhook, such as WHK-1', offer: 'webhook' };

const typesOf = ({ types }: WebhookItem): string => textsIn(types).join(' ') || 'all';
const number = (value: unknown): string => (typeof value === 'number' ? count(value) : String(value));
const waitingOf = ({ waiting }: WebhookItem): string => (waiting === 100 ? '100 or more' : number(waiting));

const rowsOf = (webhook: WebhookItem): CardRow[] => [
  ['address', safe(webhook.url)],
  ['types', safe(typesOf(webhook))],
  ['state', safe(webhook.state)],
  ['reason', safe(webhook.disabledReason)],
  ['waiting', safe(waitingOf(webhook))],
  ['next attempt', localTime(webhook.nextAttemptAt)],
];

const shown = (context: Context, webhook: WebhookItem, title: string, next?: string): Promise<void> =>
  present(context, {
    data: webhook,
    id: webhook.webhookId,
    title,
    rows: rowsOf(webhook),
    next,
  });

/** Creates a webhook: `POST /api/webhooks`. Standard output gets a secret that the registry made, so that it can go to a file. */
export const webhooksAdd = command({
  description:
    'From now on, the registry posts each event to URL, in order, signed according to Standard Webhooks. An event that the receiver does not accept is retried for three days; then the webhook is disabled.\nWithout --secret-file, the registry creates the secret and writes it to standard output, once: redirect it to a file, and give it to the receiver.',
  args: [{ name: 'URL', help: 'address of the receiver, https://…' }],
  flags: {
    type: { value: 'TYPE', many: true, choices: journalEventTypes, field: 'types', help: 'only these types of event' },
    'secret-file': {
      ...fileFlag('read the secret of the receiver (whsec_…) from the first line of a file; - is standard input'),
      field: 'secret',
    },
  },
  examples: {
    'all events; the new secret goes to a file': 'webhooks add https://hooks.example.com/devmgr >secret',
    'two types of event, with the secret that the receiver has given':
      'webhooks add https://hooks.example.com/devmgr --type DEVICE_LOCKED,DEVICE_DEACTIVATED --secret-file secret',
  },
  async run({ args, flags }, context) {
    const { out, globals, registry } = context;
    const given = await secretFrom(context, flags.secretFile);
    const types = givenTexts(flags.type);
    const body = definedFields({ url: args[0]!, types, secret: given && checkedSecret(given) });
    const { secret, ...webhook } = await registry.call('createWebhook', { body });
    if (globals.json) return out.document({ ...webhook, secret });
    const next = `devmgr webhooks test ${safe(webhook.webhookId)}`;
    if (secret === null) return shown(context, webhook, `${safe(webhook.webhookId)} is created`, next);
    await out.text(`${safe(secret)}\n`);
    out.notice(`${safe(webhook.webhookId)} posts events to ${safe(webhook.url)}. The secret is not shown again.`);
    out.notice(`${out.tint('cyan', 'Next:')} ${next}`);
  },
});

const webhookFields = namesIn(
  'webhookId url types state disabledReason disabledAt createdBy createdAt deliveredThrough waiting failures nextAttemptAt lastDeliveredAt',
) satisfies readonly (keyof WebhookItem)[];

const columns: Column<WebhookItem>[] = [
  { title: 'WEBHOOK', value: webhook => webhook.webhookId },
  { title: 'ADDRESS', value: webhook => webhook.url, shorten: 'end' },
  { title: 'STATE', value: webhook => webhook.state, style: webhook => (webhook.state === 'active' ? null : 'red') },
  { title: 'WAITING', value: waitingOf },
  { title: 'LAST DELIVERED', value: webhook => localTime(webhook.lastDeliveredAt), drop: 1 },
  { title: 'NEXT ATTEMPT', value: webhook => localTime(webhook.nextAttemptAt), drop: 2 },
  { title: 'REASON', value: webhook => webhook.disabledReason, shorten: 'end', drop: 3 },
  { title: 'TYPES', value: typesOf, shorten: 'end', drop: 4 },
];

/** Lists webhooks: `GET /api/webhooks/list`. */
export const webhooksList = command({
  flags: listFlags(webhookFields),
  examples: {
    'webhooks with their state': 'webhooks list',
    'those that are disabled': `webhooks list --jq '.list[] | select(.state == "disabled")'`,
  },
  async run(_, context) {
    const data = await context.registry.call('listWebhooks');
    const none = 'There is no webhook. Create one: devmgr webhooks add URL';
    await presentList(context, data, { fields: webhookFields, columns, id: 'webhookId' }, none);
  },
});

/** Posts a test message: `POST /api/webhooks/{webhookId}/test`. Exit code 1 if the receiver does not accept it. */
export const webhooksTest = command({
  description: 'Posts one signed message of the type WEBHOOK_TEST. Exit code 1 if the receiver does not accept it.',
  args: [webhookArg],
  examples: { 'post a test message': 'webhooks test WHK-1' },
  async run({ args }, context) {
    const data = await context.registry.call('testWebhook', { params: { webhookId: args[0]! } });
    return presentPost(context, data, 'the test message');
  },
});

/** Posts an event again (`POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/replay`). Exit code 1 if it is not accepted. */
export const webhooksReplay = command({
  description:
    'For a receiver that has lost an event. Posts the same message, with the same webhook-id, once; later deliveries do not change. Exit code 1 if the receiver does not accept it.',
  args: [webhookArg, { name: 'EVENT', help: 'id of an event in: devmgr webhooks deliveries WEBHOOK' }],
  examples: { 'post event 17 again': 'webhooks replay WHK-1 17' },
  async run({ args: [webhookId = '', deliveryId = ''] }, context) {
    const data = await context.registry.call('replayWebhookDelivery', { params: { webhookId, deliveryId } });
    return presentPost(context, data, `event ${safe(String(data.eventId))}`);
  },
});

/** Reports the result of one post. Returns the exit code. */
async function presentPost(context: Context, data: DataOf<Routes['testWebhook']>, what: string): Promise<number> {
  const { webhookId, delivered, httpStatus, reason, milliseconds, messageId } = data;
  await present(context, {
    data,
    id: webhookId,
    title: `${safe(webhookId)} ${delivered === true ? 'accepted' : 'did not accept'} ${what}`,
    rows: [
      ['message', safe(messageId)],
      ['status', httpStatus === null ? null : safe(String(httpStatus))],
      ['reason', safe(reason)],
      ['took', `${safe(number(milliseconds))} ms`],
    ],
  });
  return delivered === true ? exitCodes.done : exitCodes.failure;
}

/** Disables a webhook: `POST /api/webhooks/{webhookId}/disable`. */
export const webhooksDisable = command({
  description: 'No event is posted until the webhook is enabled. It then continues where it stopped.',
  args: [webhookArg],
  examples: { 'while the receiver is rebuilt': 'webhooks disable WHK-1' },
  async run({ args }, context) {
    const data = await context.registry.call('disableWebhook', { params: { webhookId: args[0]! } });
    await shown(context, data, `${safe(data.webhookId)} is disabled`, `devmgr webhooks enable ${safe(data.webhookId)}`);
  },
});

/** Enables a webhook: `POST /api/webhooks/{webhookId}/enable`. */
export const webhooksEnable = command({
  description:
    'Continues with the event after the last delivered one. An event that is waiting for its next attempt is posted at once.',
  args: [webhookArg],
  examples: { 'after the receiver was repaired': 'webhooks enable WHK-1' },
  async run({ args }, context) {
    const data = await context.registry.call('enableWebhook', { params: { webhookId: args[0]! } });
    const next = `devmgr webhooks deliveries ${safe(data.webhookId)}`;
    await shown(context, data, `${safe(data.webhookId)} is enabled`, next);
  },
});

/** Removes a webhook: `POST /api/webhooks/{webhookId}/remove`. */
export const webhooksRemove = command({
  description: 'This cannot be undone. Events that were not delivered are not posted.',
  args: [webhookArg],
  flags: yesFlag,
  examples: { 'remove it': 'webhooks remove WHK-1' },
  async run({ args, flags }, context) {
    const webhookId = args[0]!;
    if (!flags.yes && context.canAsk) await demandYes(context.out, `Remove ${webhookId}?`);
    const data = await context.registry.call('removeWebhook', { params: { webhookId } });
    await present(context, { data, id: data.webhookId, title: `${safe(data.webhookId)} is removed`, rows: [] });
  },
});

const attemptFields = namesIn(
  'eventId type messageId attempt at milliseconds delivered httpStatus reason',
) satisfies readonly (keyof WebhookAttempt)[];

const attemptColumns: Column<WebhookAttempt>[] = [
  { title: 'AT', value: attempt => localTime(attempt.at, { seconds: true }) },
  { title: 'EVENT', value: attempt => String(attempt.eventId) },
  { title: 'TYPE', value: attempt => attempt.type, shorten: 'end' },
  { title: 'ATTEMPT', value: attempt => String(attempt.attempt) },
  {
    title: 'RESULT',
    value: attempt => (attempt.delivered === true ? 'delivered' : attempt.reason),
    style: attempt => (attempt.delivered === true ? null : 'red'),
    shorten: 'end',
  },
  { title: 'MS', value: attempt => String(attempt.milliseconds), drop: 1 },
];

/** Lists the last attempts: `GET /api/webhooks/{webhookId}/deliveries`. */
export const webhooksDeliveries = command({
  description: 'Shows the last 50 attempts to deliver an event, the latest first.',
  args: [{ name: 'WEBHOOK', help: 'id of the webhook, such as WHK-1', offer: 'webhook' }],
  flags: listFlags(attemptFields),
  examples: {
    'what has failed, and why': 'webhooks deliveries WHK-1',
    'failed attempts only': `webhooks deliveries WHK-1 --jq '.list[] | select(.delivered | not)'`,
  },
  async run({ args }, context) {
    const data = await context.registry.call('webhookDeliveries', { params: { webhookId: args[0]! } });
    await presentList(
      context,
      data,
      { fields: attemptFields, columns: attemptColumns, id: 'messageId' },
      'No event was posted yet.',
    );
  },
});
