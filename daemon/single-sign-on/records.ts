/** Single sign-on: its settings, the accounts that belong to a provider, and their sessions. Decisions only, no I/O. */

import { isIdForm } from '../../src/contract/ids.ts';
import { ssoBounds } from '../../src/contract/limits.ts';
import { personKey, withoutAccents } from '../../src/contract/person-key.ts';
import type { SsoSettings } from '../../src/contract/sso.ts';
import { type Role, roles } from '../../src/contract/values.ts';
import type { UserChange } from '../accounts/user.ts';
import { digest } from '../base/sealed.ts';
import type { UserRecord } from '../requests/callers.ts';
import { SESSIONS } from '../store/caller.ts';
import { type DocumentSet, replace, type SettingsRecord } from '../store/document.ts';

/** The grant of terminals without a browser (RFC 8628). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The document with the settings: the journal proves it. */
export const SSO = 'sso';

/** The settings while single sign-on is on. */
export interface SsoConfig extends Pick<SsoSettings, 'roles' | 'groupsClaim' | 'scopes' | 'strong' | 'localAccounts'> {
  readonly issuer: string;
  readonly name: string;
  readonly clientId: string;
  /** The secret of the client, sealed for issuer and client. */
  readonly sealed: string;
  /** Absent in settings of an earlier version. */
  readonly holders?: boolean;
}

/** The settings as they are stored; without `config` single sign-on is off. */
export type SsoRecord = SettingsRecord<SsoConfig | null>;

/** Provider of a session: sessions of another issuer or client end. */
export const providerOf = ({ issuer, clientId }: Pick<SsoConfig, 'issuer' | 'clientId'>): string =>
  digest('provider', issuer, clientId);

/** Names a session at the provider. */
export const sidOf = (issuer: string, sid: string): string => digest('sid', issuer, sid);

/** The id of a session begins with the version of `SESSIONS` at its start. An id of an earlier release names none and counts as 0. */
export const sessionId = (version: number, random: string): string => `${version}.${random}`;

/** The id of a session that a key alone has opened. `passkey`: the number of the key. See `keyOfSession`. */
export const keySessionId = (version: number, random: string, passkey: number): string =>
  `${sessionId(version, random)}.${passkey}`;

/** Why an account may not sign in without the provider; null if it may. `isHere`: on the machine of the daemon. */
export function localRefusal({ localAccounts: { from, names }, name }: SsoConfig, account: string, isHere: boolean) {
  if (names && !names.includes(account)) return `this account cannot sign in here: sign in with ${name}`;
  if (from !== 'LOOPBACK' || isHere) return null;
  return `local accounts can sign in only on the machine of the daemon: sign in with ${name}`;
}

/**
 * Ends all sessions if the provider, the client or the roles of its groups are others, `holders` is turned off, or single sign-on is
 * turned on or off.
 */
export function endingSessions(before: SsoConfig | null, after: SsoConfig | null, version: number): DocumentSet[] {
  if (!before && !after) return [];
  const changed = before && after ? changedParts(before, after) : ['enabled'];
  if (changed.length === 0) return [];
  const entry = { type: 'SSO_SESSIONS_ENDED', detail: { changed } } as const;
  return [replace({ name: SESSIONS, version }, JSON.stringify(changed), entry)];
}

/** Settings that decide who signs in, and with which role. */
const decidingParts = {
  issuer: ({ issuer }: SsoConfig) => issuer,
  clientId: ({ clientId }: SsoConfig) => clientId,
  groupsClaim: ({ groupsClaim }: SsoConfig) => groupsClaim,
  roles: ({ roles: groups }: SsoConfig) => JSON.stringify(roles.map(role => [...new Set(groups[role])].sort())),
};

const changedParts = (before: SsoConfig, after: SsoConfig): string[] =>
  Object.entries(decidingParts)
    .flatMap(([name, part]) => (part(before) === part(after) ? [] : [name]))
    .concat(before.holders && !after.holders ? ['holders'] : []);

/** A person at a provider. */
export interface ProviderSubject {
  readonly issuer: string;
  readonly sub: string;
}

/** Names the account of a person at a provider. Nothing else of the person decides, an e-mail address least of all. */
export const accountKey = ({ issuer, sub }: ProviderSubject): string => digest('account', issuer, sub);

/** The document that reports which account is that of a person. */
export const accountDocument = (key: string): `sso-account:${string}` => `sso-account:${key}`;

/** The account of a person at a provider. */
export interface AccountLink {
  readonly username: string;
  /** Number of the person of the registry that it is, if it has had the role HOLDER. */
  readonly person?: number;
}

/** Records that an account is that of a person. */
export const linkAccount = (before: number, key: string, link: AccountLink): DocumentSet =>
  replace({ name: accountDocument(key), version: before }, JSON.stringify(link), {
    type: 'SSO_ACCOUNT_LINKED',
    detail: { ...link },
  });

/** Who has signed in as a person of the registry: `key` names the account. Another one of the same issuer is refused. */
export interface HolderClaim {
  readonly key: string;
  readonly issuer: string;
}

/** The document that reports which account is that of a person of the registry. */
export const holderDocument = (person: number): `sso-holder:${number}` => `sso-holder:${person}`;

/** Records that a person of the registry signs in with an account. */
export const claimPerson = (before: number, person: number, claim: HolderClaim): DocumentSet =>
  replace({ name: holderDocument(person), version: before }, JSON.stringify(claim), {
    type: 'SSO_HOLDER_LINKED',
    detail: { person },
  });

/** Names that the journal has for others than accounts, and those of roles: an account with one would be mistaken for it. */
const reserved = new Set(
  [...roles, 'HOLDER', 'LOCAL', 'admin', 'daemon', 'directory', 'provider', 'scim', 'token'].map(personKey),
);

/** A name at the provider in the letters of account names; empty if it has other letters than those that lose an accent. */
function plainName(wanted: string): string {
  const plain = withoutAccents(wanted.normalize('NFKC'));
  return /[^\P{L}A-Za-z]/u.test(plain) ? '' : plain.replace(/[^A-Za-z0-9\-_.@]/g, '').slice(0, 56);
}

/**
 * Names for an account in the order of preference; the last one is free unless another account has it already. None is reserved or
 * has the form of an id.
 */
export function usernamesFor(wanted: string | null, key: string): string[] {
  const plain = plainName(wanted ?? '');
  const own = `sso-${key.replace(/[^A-Za-z0-9]/g, '').slice(0, 12)}`;
  const numbered = plain ? [plain, ...[2, 3, 4, 5].map(number => `${plain}-${number}`)] : [];
  return [...numbered.filter(name => !reserved.has(personKey(name)) && !isIdForm(name)), own];
}

/** The role of a person in these groups: the highest; null if the person may not enter. */
export function roleOf(config: Pick<SsoConfig, 'roles'>, groups: readonly string[]): Role | null {
  const has = new Set(groups);
  return roles.find(role => config.roles[role].some(group => has.has(group))) ?? null;
}

/** Report of the provider about a sign-in. */
export interface SignInClaims {
  readonly acr: string | null;
  readonly amr: readonly string[];
  /** Seconds since 1970; null if the provider does not say. */
  readonly authTime: number | null;
}

/** Kind of a sign-in at the provider. If the settings name strong ones, no other one counts as recent. */
export function strengthOf(
  { strong }: Pick<SsoConfig, 'strong'>,
  { acr, amr, authTime }: SignInClaims,
): { readonly signedInAt: number; readonly withKey: boolean } {
  const isNamed = (acr !== null && strong.acr.includes(acr)) || amr.some(method => strong.amr.includes(method));
  const namesNone = strong.acr.length + strong.amr.length === 0;
  return { signedInAt: isNamed || namesNone ? (authTime ?? 0) : 0, withKey: isNamed };
}

/** A session that came from the provider. */
export interface SsoSession {
  /** Random; in the claims of its tokens. */
  readonly id: string;
  readonly provider: string;
  /** Made by `sidOf`; null if the provider names no session. */
  readonly sid: string | null;
  /** The tokens of the provider, sealed. */
  readonly sealed: string;
  /** This and the other times: milliseconds since 1970. When a daemon began to check it at the provider. */
  readonly checkedAt: number;
  /** When the provider has confirmed it last. */
  readonly confirmedAt: number;
  readonly endsAt: number;
  /** Present if a key has opened it on the machine of the daemon. */
  readonly isHere?: boolean;
}

/** The sessions of a user, as they are stored. They change with each check, so the journal does not prove them. */
export interface SsoSessionsRow {
  /** Number of the user. */
  readonly number: number;
  /** Ascends with each change, from 1. */
  readonly version: number;
  readonly sessions: readonly SsoSession[];
}

/** Replaces the sessions of a user. A `Conflict` if their version is not `before`, which is 0 if the user has none. */
export interface SsoSessionsSet {
  readonly kind: 'sso.sessions';
  readonly user: number;
  readonly before: number;
  readonly sessions: readonly SsoSession[];
}

/** The sessions of a user after a change. Those that have ended are left out, and the oldest beyond the most that a user has. */
export function setSessions(
  { number: user, version: before }: Pick<SsoSessionsRow, 'number' | 'version'>,
  sessions: readonly SsoSession[],
  now: number,
): SsoSessionsSet {
  const open = sessions.filter(({ endsAt }) => endsAt > now).slice(-ssoBounds.sessions);
  return { kind: 'sso.sessions', user, before, sessions: open };
}

/** Records that sessions of a user have ended. All daemons learn of it as of a change of the user. */
export const sessionsEnded = ({ number, username }: UserRecord, count: number, reason: string): UserChange => ({
  kind: 'user.set',
  user: number,
  set: {},
  revoke: false,
  entry: { type: 'SSO_SESSION_ENDED', detail: { username, sessions: count, reason } },
});
