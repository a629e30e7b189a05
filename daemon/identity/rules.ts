/** Rules for the changes of credentials by which keys are recognized, and their entries. */
import { ofDevice } from '../devices/rules.ts';
import { devices } from '../devices/tables.ts';
import { Conflict } from '../store/commit.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Draft } from '../store/write/draft.ts';
import { RowReplay } from '../store/write/replay.ts';
import { type ChangeRules, done, withFields } from '../store/write/rule.ts';
import { fixedFields, type IdentityChange, type IdentityRecord, identityDigest } from './records.ts';
import { identities, openIdentities } from './tables.ts';

const fresh = { lostAt: null, provedAt: null, version: 1 } as const;

export const identityChanges: ChangeRules<IdentityChange['kind']> = {
  'identity.add': {
    needs({ identity, device }, wanted) {
      wanted.add(identities.unique, identity.credentialId);
      if (typeof device === 'object') wanted.add(devices.unique, device.serialNumber);
      else {
        ofDevice.needs({ device }, wanted);
        wanted.add(openIdentities, device);
      }
    },
    check(draft, { identity, device, replaces }) {
      if (draft.of(identities).withKey(identity.credentialId))
        throw new Conflict('the credential was bound at the same time');
      if (typeof device === 'object') {
        if (draft.of(devices).withKey(device.serialNumber))
          throw new Conflict(`${device.serialNumber} was registered at the same time`);
        return;
      }
      ofDevice.check(draft, { device });
      if (
        draft
          .of(identities)
          .all(openIdentities, device)
          .some(({ number }) => number !== replaces)
      )
        throw new Conflict(`device ${device} has another credential now`);
    },
    apply(draft, { identity, device: of, entry }, context) {
      const device = typeof of === 'object' ? draft.of(devices).withKey(of.serialNumber)!.number : of;
      const { at } = context;
      const make = (number: number) => ({ ...identity, ...fresh, device, number, createdAt: at, seenAt: at });
      const { record } = draft.add(identities, make);
      if (typeof of === 'number') raiseVersion(draft, device);
      const detail = { ...entry.detail, identityDigest: identityDigest(record) };
      draft.enter(context, { ...entry, detail }, device, record.number);
      return { kind: 'added', number: record.number };
    },
  },
  'identity.set': {
    needs({ identity, device }, wanted) {
      wanted.add(identities.byKey, identity);
      ofDevice.needs({ device }, wanted);
    },
    check(draft, { identity, before }) {
      if (draft.of(identities).get(identity)?.version !== before)
        throw new Conflict(`identity ${identity} was changed at the same time`);
    },
    apply(draft, { identity, device, before, set, entry }, context) {
      const present = draft.of(identities).get(identity)!;
      draft.of(identities).change({ ...withFields(present, atEntry(set, context)), version: before + 1 });
      if (!entry) return done;
      raiseVersion(draft, device);
      draft.enter(context, entry, device, identity);
      return done;
    },
  },
};

type Set = Extract<IdentityChange, { readonly kind: 'identity.set' }>['set'];

/** A proved value has the time of its entry: the audit compares the two. */
const atEntry = (set: Set, { at }: EntryContext): Set => ({
  ...set,
  ...(set.lostAt == null ? {} : { lostAt: at }),
  ...(set.provedAt == null ? {} : { provedAt: at }),
});

function raiseVersion(draft: Draft, device: number): void {
  const before = draft.of(devices).get(device)!;
  draft.of(devices).change({ ...before, version: before.version + 1 });
}

/** Facts about a credential in the entries. */
type IdentityFacts = Readonly<Record<'digest' | 'createdAt' | 'provedAt' | 'lostAt', unknown>>;

/** Compares the credentials with the journal. */
export const identityReplay = () =>
  new RowReplay<number, IdentityRecord, IdentityFacts>({
    table: 'identity',
    fields: ['number', ...fixedFields, 'createdAt', 'provedAt', 'lostAt'],
    key: ({ number }) => number,
    said({ at, data: { change }, detail: { identityDigest: digest } }, before) {
      if (change === 'bound') return { digest, createdAt: at, provedAt: null, lostAt: null };
      return before && { ...before, [change === 'proved' ? 'provedAt' : 'lostAt']: at };
    },
    found: row => {
      const { createdAt, provedAt, lostAt } = row;
      return { digest: identityDigest(row), createdAt, provedAt, lostAt };
    },
    nameOf: number => `identity ${number}`,
  });
