/** The secret of a receiver: never on a command line, which other users of the machine can read. */
import { isWebhookSecret, secretShape } from '../../../contract/webhooks/scheme.ts';
import { usage } from '../../fault.ts';

/** The secret without white space around it. Throws a usage fault, which does not show it, if it is not valid. */
export function checkedSecret(text: string): string {
  const secret = text.trim();
  if (!isWebhookSecret(secret))
    throw usage(
      `the secret is not valid: it must be ${secretShape}`,
      'make one: printf \'whsec_%s\\n\' "$(openssl rand -base64 32)"',
    );
  return secret;
}
