/**
 * `watch --forward-to`: posts each event, signed by the scheme of Standard Webhooks:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { randomUUID } from 'node:crypto';
import type { Notification } from '../../../contract/events.ts';
import { environment } from '../../../contract/local.ts';
import { meaningOf, retryAfterSeconds, signedHeaders, statusProblem } from '../../../contract/webhooks/scheme.ts';
import { type AttemptResult, failed } from '../../../delivery/retry.ts';
import type { HttpResponse } from '../../client/http.ts';
import { sendHttp } from '../../client/transport.ts';
import { errorWords, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { isLoopback } from '../../settings/settings.ts';
import { askPassword } from '../../terminal/prompt.ts';
import { checkedSecret } from '../webhooks/secret.ts';
import type { EventTarget } from './delivery.ts';

/** The address to post to. Throws a usage fault, also if it holds a password: other users of the machine could read it. */
export function receiverOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw usage('--forward-to must be an address that starts with https:// or http://');
  if (url.username !== '' || url.password !== '')
    throw usage('--forward-to must not contain a password', 'the signature proves who sent an event');
  return url;
}

/** The secret of the signature: from a file, from the environment, or asked for. Throws a usage fault that does not show it. */
export async function webhookSecret(context: Context, file: string | undefined): Promise<string> {
  const hint = 'name a file with --secret-file, or set DEVMGR_WEBHOOK_SECRET';
  const given = (await secretFrom(context, file)) ?? context.env[environment.webhookSecret];
  if (!given && !context.canAsk) throw usage('--forward-to needs the secret of the receiver', hint);
  return checkedSecret(given || (await askPassword(context.out, 'Secret of the receiver (whsec_…)')));
}

/** Posts events to a receiver. `source` distinguishes the events of this registry there. */
export function webhookTarget(context: Context, url: URL, secret: string, source: string): EventTarget {
  // The query may hold a token of the receiver.
  const name = `${url.origin}${url.pathname}`;
  if (url.protocol === 'http:' && !isLoopback(url.href))
    context.out.warn(`events are sent to ${name} without encryption`);
  const ended = new AbortController();
  /** An event without an id has none that survives a restart: it is not in the journal. */
  const fresh = new WeakMap<Notification, string>();
  const idOf = (event: Notification): string => {
    if (event.id !== undefined) return `evt_${source}_${event.id}`;
    const id = fresh.get(event) ?? `evt_${randomUUID()}`;
    fresh.set(event, id);
    return id;
  };
  const attempt = async (event: Notification): Promise<AttemptResult> => {
    // As webhooks of the registry: who did it, and notes, are for its users.
    const { actor: _actor, changes: _changes, ...shown } = event;
    const body = JSON.stringify(shown);
    const headers = signedHeaders(secret, { id: idOf(event), at: Date.now(), body });
    const { ca } = context.registry;
    try {
      const response = await sendHttp({ method: 'POST', url, headers, body, ca, signal: ended.signal });
      // The body of an answer is not read.
      response.body.on('error', () => undefined).destroy();
      return resultOf(name, response);
    } catch (error) {
      return failed(errorWords(error));
    }
  };
  return { name, attempt, abandon: () => ended.abort() };
}

/** 2xx is success, 410 means that the receiver refuses further events; anything else, also a redirect, is tried again. */
function resultOf(name: string, { status, headers }: Pick<HttpResponse, 'status' | 'headers'>): AttemptResult {
  const result = meaningOf(status);
  const waitSeconds = retryAfterSeconds(headers['retry-after'], Date.now());
  return { result, reason: result === 'delivered' ? null : `${name} ${statusProblem(status)}`, waitSeconds };
}
