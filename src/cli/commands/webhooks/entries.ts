import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about webhooks, in the order of the help. */
export const webhookEntries: readonly Entry[] = [
  entry(
    'webhooks list',
    'list the webhooks of the registry',
    async () => (await import('./webhooks.ts')).webhooksList,
    'webhooks ls',
  ),
  entry('webhooks add', 'post each event to an address', async () => (await import('./webhooks.ts')).webhooksAdd),
  entry('webhooks test', 'post a test message', async () => (await import('./webhooks.ts')).webhooksTest),
  entry('webhooks disable', 'stop posting to a webhook', async () => (await import('./webhooks.ts')).webhooksDisable),
  entry(
    'webhooks enable',
    'continue where a webhook has stopped',
    async () => (await import('./webhooks.ts')).webhooksEnable,
  ),
  entry(
    'webhooks remove',
    'remove a webhook',
    async () => (await import('./webhooks.ts')).webhooksRemove,
    'webhooks rm',
  ),
  entry(
    'webhooks deliveries',
    'show the last attempts of a webhook',
    async () => (await import('./deliveries.ts')).webhooksDeliveries,
  ),
  entry('webhooks replay', 'post an event again', async () => (await import('./webhooks.ts')).webhooksReplay),
];
