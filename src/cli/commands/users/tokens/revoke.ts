import { tokenIds } from '../../../../contract/ids.ts';
import type { Client } from '../../../client/client.ts';
import { nullIfRefused } from '../../../client/failures.ts';
import { itemsOf } from '../../../client/pages.ts';
import { Fault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { present } from '../../../framework/present.ts';
import { confirm, demandYes } from '../../../terminal/prompt.ts';
import { safe, textsIn } from '../../../terminal/text.ts';
import { localTime } from '../../../terminal/when.ts';

/** Revokes a service token: `POST /api/tokens/{tokenId}/revoke`. */
export const tokensRevoke = command({
  description:
    'This cannot be undone. The token is refused from the next request on, and its notification streams end. Webhooks that it has created still receive events: they are listed, and at a terminal you are asked whether to remove them.',
  args: [
    {
      name: 'TOKEN',
      help: 'id or name of the token, never the token itself; asked for at a terminal',
      optional: true,
      offer: 'token',
    },
  ],
  flags: { 'remove-made': { help: 'also remove the webhooks that the token has created' } },
  examples: [
    { does: 'by name', line: 'tokens revoke line-3' },
    { does: 'by id', line: 'tokens revoke TOK-1' },
    { does: 'a stolen token, with the webhooks that the thief has created', line: 'tokens revoke TOK-1 --remove-made' },
  ],
  async run({ args, flags }, context) {
    const tokenId = args[0] === undefined ? await picked(context) : await findToken(context.registry, args[0]);
    const data = await context.registry.call('revokeToken', { params: { tokenId } });
    // A server of an earlier version does not know them.
    const webhooks = textsIn(data.made?.webhooks);
    await present(context, {
      data,
      id: data.tokenId,
      title: `${safe(data.tokenId)} ${safe(data.name)} is revoked`,
      rows: [
        ['role', safe(data.role)],
        ['last used', data.lastUsedAt === null ? 'never' : localTime(data.lastUsedAt)],
        ['revoked', localTime(data.revokedAt)],
        ['its webhooks', webhooks.length > 0 ? safe(webhooks.join(' ')) : null],
      ],
    });
    if (webhooks.length === 0) return;
    if (flags.removeMade || (await isRemovalWanted(context, webhooks))) return removeWebhooks(context, webhooks);
    const { out } = context;
    out.notice(`Webhooks that the token has created still receive events: ${safe(webhooks.join(', '))}`);
    out.notice(`Remove them: devmgr tokens revoke ${safe(data.tokenId)} --remove-made`);
  },
});

const isRemovalWanted = async (context: Context, webhooks: readonly string[]): Promise<boolean> =>
  context.canAsk && confirm(context.out, `Remove the webhooks that it has created (${webhooks.join(', ')})?`);

async function removeWebhooks({ registry, out }: Context, webhooks: readonly string[]): Promise<void> {
  for (const webhookId of webhooks) {
    // Another person may have removed it at the same time.
    const removed = await nullIfRefused(registry.call('removeWebhook', { params: { webhookId } }), 404);
    if (removed !== null) out.notice(`${safe(webhookId)} is removed`);
  }
}

/** One of the valid tokens. A person confirms it: two rows of a list are easily confused. */
async function picked(context: Context): Promise<string> {
  const { pickToken } = await import('../../../framework/pickers/listed.ts');
  const { tokenId, name } = await pickToken(context, 'tokens revoke');
  await demandYes(context.out, `Revoke ${name}?`);
  return tokenId;
}

/** The id of a token that is named by id, or by the name that it has while it is not revoked. */
async function findToken(registry: Client, name: string): Promise<string> {
  if (tokenIds.parse(name) !== null) return name;
  for await (const token of itemsOf(registry, 'listTokens'))
    if (token.name === name && token.revokedAt === null) return token.tokenId;
  // Perhaps the token itself was typed: it must not appear in an error.
  throw new Fault('absent', 'no service token with that name is valid', 'see: devmgr tokens list');
}
