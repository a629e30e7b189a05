/** Rules for the changes of service tokens, and their entries. */
import { tokenIds } from '../../src/contract/ids.ts';
import type { ServiceTokenRecord } from '../requests/callers.ts';
import { Conflict } from '../store/commit.ts';
import { fixedReplay } from '../store/write/replay.ts';
import { adding, type ChangeRules, done } from '../store/write/rule.ts';
import type { WantedRows } from '../store/write/source.ts';
import { shownOwner, type TokenChange } from './service-token.ts';
import { serviceTokens, tokenFacts } from './tables.ts';

const needs = ({ token }: { readonly token: number }, wanted: WantedRows) => wanted.add(serviceTokens.byKey, token);

export const tokenChanges: ChangeRules<TokenChange['kind']> = {
  'token.add': adding(serviceTokens, ({ token }) => ({ ...token, lastUsedAt: null, revokedAt: null })),
  'token.revoke': {
    needs,
    check(draft, { token }) {
      if (draft.of(serviceTokens).get(token)?.revokedAt !== null)
        throw new Conflict(`service token ${token} does not exist or is revoked`);
    },
    apply(draft, { token, entry }, context) {
      draft.of(serviceTokens).change({ ...draft.of(serviceTokens).get(token)!, revokedAt: context.at });
      draft.enter(context, entry, null, token);
      return done;
    },
  },
  'token.adopt': {
    needs,
    check(draft, { token, before }) {
      const present = draft.of(serviceTokens).get(token);
      if (present?.revokedAt !== null || present.owner !== before)
        throw new Conflict(`service token ${token} was revoked or taken over at the same time`);
    },
    apply(draft, { token, owner, entry }, context) {
      draft.of(serviceTokens).change({ ...draft.of(serviceTokens).get(token)!, owner });
      draft.enter(context, entry, null, token);
      return done;
    },
  },
  'token.use': {
    needs,
    apply(draft, { token, usedAt }) {
      const before = draft.of(serviceTokens).get(token);
      if (before) draft.of(serviceTokens).change({ ...before, lastUsedAt: Math.max(before.lastUsedAt ?? 0, usedAt) });
      return done;
    },
  },
};

/** A token as engines exchange it. `allowedFrom` and `may`: JSON arrays, null for any address and in earlier databases. */
type ComparedToken = Omit<ServiceTokenRecord, 'allowedFrom' | 'may'> & {
  readonly allowedFrom: string | null;
  readonly may: string | null;
};

/** How a token was used is not in the journal. `numberOf`: of a user, by name. */
export const tokenReplay = (numberOf: (username: string | null) => number | undefined) =>
  fixedReplay<ComparedToken>({
    table: 'service_token',
    added: 'TOKEN_CREATED',
    ended: 'TOKEN_REVOKED',
    endedAt: 'revokedAt',
    fixed: [...tokenFacts, 'owner'],
    moved: { type: 'TOKEN_ADOPTED', field: 'owner' },
    // An entry of an earlier version has no permissions, and no owner: its creator was one, if that user exists.
    said({ actor, at, detail }) {
      const { allowedFrom, may = [] } = detail;
      const networks = allowedFrom === null ? null : JSON.stringify(allowedFrom);
      const { owner = shownOwner(numberOf(actor) ?? null) } = detail;
      return { ...detail, createdBy: actor, createdAt: at, allowedFrom: networks, may: JSON.stringify(may), owner };
    },
    written: ({ may, owner, createdBy }) => ({
      may: may ?? '[]',
      owner: shownOwner(owner ?? numberOf(createdBy) ?? null),
    }),
    format: tokenIds.format,
  });
