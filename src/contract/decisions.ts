/** Decisions: whether a key may be used now. Doors ask: web servers, SSH hosts, networks. */
import { Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { deviceId } from './device-fields.ts';
import { boolean, line, maybe, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { personIds } from './ids.ts';
import { decisionBounds, receiptBounds, textLengths } from './limits.ts';
import { decisionReasons } from './values.ts';

const named = (most: number, description: string, example: string) =>
  maybe(line(most, { description, examples: [example] }));

/** The names of a key, of which a question has one. */
export const keyNames = {
  serialNumber: named(textLengths.serialNumber, 'serial number of the device', 'UK-2026-000001'),
  credentialId: named(
    Math.ceil((receiptBounds.credentialId * 4) / 3),
    'id of a credential that the key has made for this registry, or at a provider of it; base64url without padding',
    'AAAA',
  ),
  sshKey: named(
    decisionBounds.sshKey,
    'SSH public key that was issued at a provider of type ssh, as in a line of authorized_keys',
    'sk-ssh-ed25519@openssh.com AAAA',
  ),
  certificate: named(
    decisionBounds.certificate,
    'SHA-256 of a certificate, in hexadecimal. The registry stores no certificate that names one key: unknown',
    'A'.repeat(64),
  ),
};

/** Operations on decisions. */
export const decisionOperations = additions('Decisions', {
  /** Changes nothing, and writes no entry to the journal, unless the token counts uses. */
  decide: {
    summary: 'Decide whether keys may be used now',
    description: `At most ${decisionBounds.questions} questions, each with one name of a key. The answers are in the order of the questions. A service token with \`decide\` may ask whatever its role; with \`record-use\` beside it, each answer that allows a key counts as a use of its device. After too many unknown keys (DEVMGR_LIMIT_UNKNOWN_KEY), it gets the answer \`unknown\` for every key that is not allowed.`,
    ...adminOnly,
    tokenMay: 'decide',
    anyTokenRole: true,
    limit: 'decide',
    body: Type.Object({
      questions: Type.Array(Type.Object(keyNames), { minItems: 1, maxItems: decisionBounds.questions }),
      advisories: Type.Optional(
        oneOf(['allow', 'refuse'], {
          description:
            'what an advisory about the key does. allow (default): the answer stays true, with the reason `advisory`; refuse: it is false',
        }),
      ),
    }),
    data: Type.Object({
      decisions: Type.Array(
        Type.Object({
          allowed: boolean('whether the key may be used'),
          deviceId: nullable(deviceId),
          personId: nullable(
            Type.String({
              pattern: personIds.pattern,
              description: 'the person of the device; null if it has none',
              examples: ['PER-1'],
            }),
          ),
          reason: oneOf(decisionReasons, {
            description:
              'inactive, locked, deactivated: the state of the device; left: its person has left or waits for a release; proof: it does not meet the policy of proofs; advisory: a security advisory applies; unknown: no device, or not exactly one, has the key',
          }),
          until: timestamp(`until when the answer may be kept: ${decisionBounds.seconds} s`),
        }),
      ),
    }),
    example: { body: { questions: [{ serialNumber: 'UK-2026-000001' }] } },
  },

  /** Decides about all SSH keys of a person: those that are refused are absent. */
  listSshKeys: {
    summary: 'List the SSH keys with which a person may log in now',
    description:
      'For AuthorizedKeysCommand of sshd: the SSH keys of those devices of a user that `decide` allows. An unknown user has none. A service token with `ssh` may ask whatever its role. The ETag stays the same as long as the keys do.',
    ...adminOnly,
    tokenMay: 'ssh',
    anyTokenRole: true,
    limit: 'decide',
    params: Type.Object({
      userName: token({ description: 'user name of the person', examples: ['ada.lovelace'] }),
    }),
    data: Type.Object({
      keys: Type.Array(
        Type.Object({
          key: shown('public key', 'sk-ssh-ed25519@openssh.com AAAA'),
          verifyRequired: boolean('whether it must ask for its PIN at each login'),
          deviceId,
        }),
      ),
    }),
    example: { params: { userName: 'ada.lovelace' } },
  },
});
