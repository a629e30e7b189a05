/** Rules for the changes and guards of the keys that users sign in with, and their entries. */
import { passkeyIds, userIds } from '../../src/contract/ids.ts';
import { Conflict } from '../store/commit.ts';
import { fixedReplay } from '../store/write/replay.ts';
import { adding, type ChangeRules, done, type GuardRules } from '../store/write/rule.ts';
import type { WantedRows } from '../store/write/source.ts';
import { guardHolds, type PasskeyChange, type PasskeyRecord, type PasskeysGuard } from './passkey.ts';
import { keysOfUser, passkeys } from './tables.ts';

const needs = ({ passkey }: { readonly passkey: number }, wanted: WantedRows) => wanted.add(passkeys.byKey, passkey);
const fresh = { lastUsedAt: null, removedAt: null, version: 0, used: [] };

export const passkeyChanges: ChangeRules<PasskeyChange['kind']> = {
  'passkey.add': adding(passkeys, ({ passkey }) => ({ ...passkey, ...fresh })),
  'passkey.remove': {
    needs,
    check(draft, { passkey }) {
      if (draft.of(passkeys).get(passkey)?.removedAt !== null)
        throw new Conflict(`passkey ${passkey} does not exist or is removed`);
    },
    apply(draft, { passkey, entry }, context) {
      draft.of(passkeys).change({ ...draft.of(passkeys).get(passkey)!, removedAt: context.at });
      draft.enter(context, entry, null, passkey);
      return done;
    },
  },
  'passkey.use': {
    needs,
    check(draft, { passkey, before }) {
      const present = draft.of(passkeys).get(passkey);
      if (present?.removedAt !== null || present.version !== before)
        throw new Conflict(`passkey ${passkey} was used or removed at the same time`);
    },
    apply(draft, { passkey, before, signCount, usedAt, used }) {
      const present = draft.of(passkeys).get(passkey)!;
      draft.of(passkeys).change({ ...present, version: before + 1, signCount, lastUsedAt: usedAt, used });
      return done;
    },
  },
};

export const passkeyGuards: GuardRules<PasskeysGuard['kind']> = {
  passkeys: {
    needs: ({ owner }, wanted) => wanted.add(keysOfUser, owner),
    broken(draft, guard) {
      const present = draft.of(passkeys).all(keysOfUser, guard.owner);
      const holds = guardHolds(
        guard,
        present.map(({ number }) => number),
      );
      return holds ? null : `the keys of user ${guard.owner} were changed at the same time`;
    },
  },
};

/** How a key was used is not in the journal. */
export const passkeyReplay = () =>
  fixedReplay<PasskeyRecord>({
    table: 'passkey',
    added: 'PASSKEY_ADDED',
    ended: 'PASSKEY_REMOVED',
    endedAt: 'removedAt',
    fixed: ['owner', 'name', 'credentialId', 'publicKey', 'rpId', 'aaguid', 'createdAt'],
    said: ({ at, detail }) => ({ ...detail, owner: detail.user, createdAt: at }),
    written: ({ owner }) => ({ owner: userIds.format(owner) }),
    format: passkeyIds.format,
  });
