import { namesIn } from '../../../contract/names.ts';
import type { WebhookAttempt } from '../../../contract/webhooks.ts';
import { command } from '../../framework/define.ts';
import { listFlags } from '../../framework/format.ts';
import { presentList } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { localTime } from '../../terminal/when.ts';

const fields = namesIn(
  'eventId type messageId attempt at milliseconds delivered httpStatus reason',
) satisfies readonly (keyof WebhookAttempt)[];

const columns: Column<WebhookAttempt>[] = [
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
  flags: listFlags(fields),
  examples: [
    { does: 'what has failed, and why', line: 'webhooks deliveries WHK-1' },
    { does: 'failed attempts only', line: `webhooks deliveries WHK-1 --jq '.list[] | select(.delivered | not)'` },
  ],
  async run({ args }, context) {
    const data = await context.registry.call('webhookDeliveries', { params: { webhookId: args[0]! } });
    await presentList(context, data, { fields, columns, id: 'messageId' }, 'No event was posted yet.');
  },
});
